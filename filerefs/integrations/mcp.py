"""
MCP: a server that reads and lists the files of one folder, and a prompt that has the files a message names in it.

    filerefs mcp --root ~/project            # over standard input and output, for editors and agents

    server = build_server("project")         # the same as an object: a `mcp.server.Server`
    app = server.streamable_http_app()

A server cannot change what the person types elsewhere: `@path` works in the arguments of the prompt `with_files`, and the
model fetches everything else by tools and resources.
"""

from __future__ import annotations

import base64
import threading
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import quote, unquote

import filerefs
from filerefs.completion import Completer
from filerefs.integrations.shared import folder_loader, open_files, project_tools, tell
from filerefs.retrieval import fetch

try:
    import anyio
    from mcp import types
    from mcp.server import Server, ServerRequestContext
    from mcp.server.stdio import stdio_server
    from mcp.shared.exceptions import MCPError

    from filerefs.integrations.mcp_roots import ClientRoots
except ImportError as error:
    from filerefs.integrations.extras import lacking

    raise lacking(__name__, "mcp", error) from error

if TYPE_CHECKING:
    import os
    from collections.abc import AsyncGenerator, Callable

    from filerefs import Attached, Preprocessor, Turn
    from filerefs.completion import Completions

    Context: TypeAlias = ServerRequestContext[Any, Any]
    Page: TypeAlias = types.PaginatedRequestParams | None

__all__ = ["Project", "build_server", "serve"]

SCHEME: Final = "project://"
TEMPLATE: Final = "project://{+path}"
PROMPT: Final = "with_files"

_INSTRUCTIONS = (
    "Read-only access to the files of one project folder. read_ref returns a file, lines of it or a folder's list; list_files shows "
    "names. project_list and project_get return the project's instruction files (AGENTS.md): read them before changing anything."
)
_READ_ONLY = types.ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
# The protocol allows so many values of a completion.
_MOST_VALUES = 100
# Seconds that a completion waits for names, which are gathered when the first is asked for.
_PATIENCE = 0.5


def build_server(
    files: Preprocessor | str | os.PathLike[str] = ".",
    *,
    on_turn: Callable[[Turn], None] | None = None,
    media: bool = False,
    roots: Callable[[str], Preprocessor] | None = None,
) -> Server[Any]:
    """
    Return a server with the tools `read_ref`, `list_files`, `project_list` and `project_get`, resources, and the prompt `with_files`.

    Nothing is written, and nothing outside of the folder is read.  What is refused is answered with a sentence; only
    resources, which have no other way, answer with an error of the protocol.

    Args:
        files: The folder that names are relative to, or a `Preprocessor` for everything else that can be set; the server
            does not close it.
        on_turn: Called with each turn of the prompt that has references or warnings, in a thread.
        media: Whether images and PDFs that the prompt's message names are messages of their own behind it.  A
            `Preprocessor` says so itself.
        roots: What opens a folder that the client names as its root: the first that can be opened takes the place of
            *files*.  For servers with one client, such as over standard input; None does not ask.

    Raises:
        RootNotFoundError: If *files* is a path and no folder is there.

    .. versionadded:: 0.1
    """
    own = Project(open_files(files, media=media), on_turn)
    chosen = ClientRoots(own, None if roots is None else lambda path: Project(roots(path), on_turn))
    return _Handlers(chosen).server()


async def serve(server: Server[Any]) -> None:
    """Serve one client over standard input and output, until it closes the input; standard output is the protocol's alone."""
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


class Project:
    """
    The folder that a server is about: everything in here may block, and is called in threads.

    Attributes:
        files: What reads.
        tools: The tools by their names.

    .. versionadded:: 0.1
    """

    def __init__(self, files: Preprocessor, on_turn: Callable[[Turn], None] | None = None) -> None:
        self.files = files
        self._on_turn = on_turn
        self.tools = {tool.name: tool for tool in project_tools(files)}
        self._instructions = folder_loader(files)
        self._lock = threading.Lock()
        self._completer: Completer | None = None

    def read(self, uri: str) -> types.ReadResourceResult:
        """Return what *uri* names, as text that says which file it is."""
        if not uri.startswith(SCHEME):
            raise MCPError(types.INVALID_PARAMS, f"No such resource: the addresses here begin with {SCHEME}.")
        fetched = fetch(self.files, unquote(uri.removeprefix(SCHEME), errors="surrogateescape"))
        if not fetched.found:
            raise MCPError(types.INVALID_PARAMS, fetched.text, {"uri": uri})
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, text=fetched.text, mime_type="text/markdown")])

    def resources(self) -> list[types.Resource]:
        """Return the instruction files: what else there is, the template and its completion say."""
        docs = [doc for doc in self._instructions.read() if doc.origin in ("chain", "import")]
        return [types.Resource(uri=SCHEME + quote(doc.name, errors="surrogateescape"), name=_sendable(doc.name), mime_type="text/markdown") for doc in docs]

    def expand(self, message: str) -> types.GetPromptResult:
        """Return *message* rewritten, behind the section with its files; what went wrong is the description."""
        turn = self.files.preprocess(message)
        tell(self._on_turn, turn)
        texts = [turn.section, turn.message] if turn.section else [turn.message]
        contents = [*(types.TextContent(type="text", text=text) for text in texts), *map(_content, turn.media)]
        messages = [types.PromptMessage(role="user", content=content) for content in contents]
        return types.GetPromptResult(description="\n".join(turn.warnings) or None, messages=messages)

    def complete_path(self, typed: str) -> types.Completion:
        """Return the paths that *typed* may be the beginning of, or a part."""
        found = self._complete('@"' + typed.replace("\\", "\\\\").replace('"', '\\"'))
        return _completion(found, [candidate.path for candidate in found.candidates])

    def complete_message(self, typed: str) -> types.Completion:
        """Return *typed* with the mention at its end completed; nothing if there is none."""
        found = self._complete(typed)
        if found.token is None:
            return types.Completion(values=[])
        return _completion(found, [typed[: found.token.start] + candidate.text for candidate in found.candidates])

    def _complete(self, text: str) -> Completions:
        with self._lock:
            if self._completer is None:
                self._completer = Completer(self.files.root)
            completer = self._completer
        return completer.complete(text, limit=_MOST_VALUES, wait=_PATIENCE)

    def rest(self) -> None:
        """Stop what runs in the background; it begins again when it is asked for."""
        with self._lock:
            completer, self._completer = self._completer, None
        if completer is not None:
            completer.close()


def _content(medium: Attached) -> types.ImageContent | types.EmbeddedResource:
    """Return an image as such, anything else as an embedded resource."""
    data, kind = base64.b64encode(medium.data or b"").decode(), medium.media_type or "application/octet-stream"
    if kind.startswith("image/"):
        return types.ImageContent(type="image", data=data, mime_type=kind)
    resource = types.BlobResourceContents(uri=SCHEME + quote(medium.path, errors="surrogateescape"), mime_type=kind, blob=data)
    return types.EmbeddedResource(type="resource", resource=resource)


def _sendable(text: str) -> str:
    """Return *text* without lone surrogates, which stand in names that are no UTF-8 and cannot be sent."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _completion(found: Completions, values: list[str]) -> types.Completion:
    whole = [value for value in values if _sendable(value) == value]
    return types.Completion(values=whole, has_more=found.incomplete or len(values) == _MOST_VALUES)


class _Handlers:
    """What the protocol asks for, each answered by the project in a thread."""

    def __init__(self, roots: ClientRoots[Project]) -> None:
        self._roots = roots
        self._running = 0

    def server(self) -> Server[Any]:
        return Server(
            "filerefs",
            version=filerefs.__version__,
            title="Files of a project",
            instructions=_INSTRUCTIONS,
            lifespan=self._run,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
            on_completion=self._complete,
        )

    @asynccontextmanager
    async def _run(self, _: Server[Any]) -> AsyncGenerator[dict[str, Any], None]:
        self._running += 1
        try:
            yield {}
        finally:
            self._running -= 1
            if not self._running:
                for project in self._roots.opened:
                    await anyio.to_thread.run_sync(project.rest)

    async def _list_tools(self, _context: Context, _page: Page) -> types.ListToolsResult:
        tools = [
            types.Tool(name=tool.name, description=tool.description, input_schema=dict(tool.parameters), annotations=_READ_ONLY)
            for tool in self._roots.own.tools.values()
        ]
        return types.ListToolsResult(tools=tools)

    async def _call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult | types.InputRequiredResult:
        project = await self._roots.find(context, params.input_responses)
        if isinstance(project, types.InputRequiredResult):
            return project
        if params.name not in project.tools:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")
        answer = await anyio.to_thread.run_sync(project.tools[params.name].run, params.arguments or {})
        return types.CallToolResult(content=[types.TextContent(type="text", text=_sendable(answer))])

    async def _list_resources(self, context: Context, _page: Page) -> types.ListResourcesResult:
        project = await self._roots.known(context)
        resources = [] if project is None else await anyio.to_thread.run_sync(project.resources)
        return types.ListResourcesResult(resources=resources)

    async def _list_templates(self, _context: Context, _page: Page) -> types.ListResourceTemplatesResult:
        template = types.ResourceTemplate(
            uri_template=TEMPLATE,
            name="project file",
            description="A file of the project, lines of it (project://src/app.py:10-40), or the list of a folder (project://docs/).",
            mime_type="text/markdown",
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def _read_resource(self, context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult | types.InputRequiredResult:
        project = await self._roots.find(context, params.input_responses)
        if isinstance(project, types.InputRequiredResult):
            return project
        return await anyio.to_thread.run_sync(project.read, str(params.uri))

    async def _list_prompts(self, _context: Context, _page: Page) -> types.ListPromptsResult:
        argument = types.PromptArgument(name="message", description="What to say; files are named as in `explain @src/app.py`.", required=True)
        prompt = types.Prompt(name=PROMPT, title="Message with files", description="A message, with the files that it names.", arguments=[argument])
        return types.ListPromptsResult(prompts=[prompt])

    async def _get_prompt(self, context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult | types.InputRequiredResult:
        message = (params.arguments or {}).get("message")
        if params.name != PROMPT or message is None:
            raise MCPError(types.INVALID_PARAMS, f"There is one prompt, {PROMPT}, with one argument, message.")
        project = await self._roots.find(context, params.input_responses)
        if isinstance(project, types.InputRequiredResult):
            return project
        return await anyio.to_thread.run_sync(project.expand, message)

    async def _complete(self, context: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        project = await self._roots.known(context)
        about = params.ref.name if isinstance(params.ref, types.PromptReference) else params.ref.uri
        name, typed = params.argument.name, params.argument.value
        completion = types.Completion(values=[])
        if project is not None and (about, name) == (PROMPT, "message"):
            completion = await anyio.to_thread.run_sync(partial(project.complete_message, typed))
        elif project is not None and (about, name) == (TEMPLATE, "path"):
            completion = await anyio.to_thread.run_sync(partial(project.complete_path, typed))
        return types.CompleteResult(completion=completion)
