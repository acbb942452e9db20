"""MCP: which folder a server is about, where its client may say: asked once, when it first matters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar
from urllib.parse import unquote, urlsplit

import anyio
from mcp import types
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from filerefs import RootError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from mcp.server import ServerRequestContext

_KEY: Final = "roots"
# From this version of the protocol on a server asks by its answer, and the client comes again with what was asked for.
_ASKS_BY_ANSWER: Final = "2026-07-28"
# Seconds that a client has to say what its roots are.
_PATIENCE: Final = 10.0
_ROOTS: Final = types.ClientCapabilities(roots=types.RootsCapability())

Item = TypeVar("Item")


class ClientRoots(Generic[Item]):
    """
    What a server serves: its own, or what *open_root* makes of the first root of its client that can be opened.

    Attributes:
        own: What is served where the client has nothing to say.
        opened: Everything that was served so far.
    """

    def __init__(self, own: Item, open_root: Callable[[str], Item] | None = None) -> None:
        self.own = own
        self.opened = [own]
        self._open_root: Callable[[str], Item] = open_root or (lambda _: own)
        self._chosen: Item | None = own if open_root is None else None
        self._lock = anyio.Lock()

    async def find(self, context: ServerRequestContext[Any, Any], answers: Mapping[str, Any] | None) -> Item | types.InputRequiredResult:
        """Return what is served, or the question that the client answers by coming again with *answers*."""
        async with self._lock:
            if self._chosen is None and _can_ask_only_by_answer(context):
                answer = (answers or {}).get(_KEY)
                if not isinstance(answer, types.ListRootsResult):
                    return types.InputRequiredResult(input_requests={_KEY: types.ListRootsRequest()})
                self._choose(answer.roots)
            return await self._settle(context)

    async def known(self, context: ServerRequestContext[Any, Any]) -> Item | None:
        """Return what is served; None if that is not known yet, and this request is none that can be answered by a question."""
        async with self._lock:
            return None if self._chosen is None and _can_ask_only_by_answer(context) else await self._settle(context)

    async def _settle(self, context: ServerRequestContext[Any, Any]) -> Item:
        if self._chosen is None:
            self._choose(await _ask(context))
        return self.own if self._chosen is None else self._chosen

    def _choose(self, roots: Iterable[types.Root]) -> None:
        for root in roots:
            path = unquote(urlsplit(str(root.uri)).path, errors="surrogateescape")
            try:
                self._chosen = self._open_root(path)
            except RootError:
                continue  # a root that is no folder here: the next may be one
            self.opened.append(self._chosen)
            return
        self._chosen = self.own


def _can_ask_only_by_answer(context: ServerRequestContext[Any, Any]) -> bool:
    return context.protocol_version >= _ASKS_BY_ANSWER and context.session.check_client_capability(_ROOTS)


async def _ask(context: ServerRequestContext[Any, Any]) -> list[types.Root]:
    if not context.session.check_client_capability(_ROOTS):
        return []
    try:
        answer = await context.session.send_request(types.ListRootsRequest(), types.ListRootsResult, request_read_timeout_seconds=_PATIENCE)
    except (MCPError, ValidationError):
        return []  # it cannot say after all, and the server's own folder is served
    return answer.roots
