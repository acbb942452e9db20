"""What is typed while the toolkit asks for rows: prompt_toolkit passes some of it over."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from prompt_toolkit.application.current import get_app_or_none

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from prompt_toolkit.buffer import Buffer
    from prompt_toolkit.document import Document


def typed_now(buffer: Buffer) -> Callable[[], bool]:
    """Return a function that tells whether what is typed now is still the same."""
    document = buffer.document
    return lambda: (buffer.text, buffer.cursor_position) == (document.text, document.cursor_position)


@contextlib.contextmanager
def watch(document: Document) -> Generator[Callable[[], bool]]:
    """
    Give a function that tells whether what is typed now is still the same; and see to it that no key is passed over.

    The toolkit ignores what is typed while it asks for the rows of *document*, and asks again behind that only where
    that text goes on.  Where a row was taken meanwhile, it does not.
    """
    app = get_app_or_none()
    if app is None:
        yield lambda: True
        return
    buffer, typed = app.current_buffer, False

    def note(_: object) -> None:
        nonlocal typed
        typed = True

    buffer.on_text_insert += note
    try:
        yield typed_now(buffer)
    finally:
        buffer.on_text_insert -= note
        if typed and not buffer.document.text_before_cursor.startswith(document.text_before_cursor):
            asyncio.get_running_loop().call_soon(buffer.start_completion)
