"""A small server on loopback that speaks the chat-completions protocol, with streaming; it keeps what it was sent."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


class ChatServer(ThreadingHTTPServer):
    """Answers each request with the next of *answers*: pieces to stream, or the number of an HTTP error."""

    daemon_threads = True

    def __init__(self, answers: list[list[str] | int]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers = answers
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.goes_on = threading.Event()
        self.goes_on.set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: ChatServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(request)
        self.server.keys.append(self.headers.get("Authorization"))
        answer = self.server.answers.pop(0)
        if self.path != "/v1/chat/completions" or isinstance(answer, int):
            self._send_error(answer if isinstance(answer, int) else 404)
        else:
            self._stream(request["model"], answer)

    def _send_error(self, code: int) -> None:
        body = json.dumps({"error": {"message": "the model is on holiday", "type": "bad"}}).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, model: str, pieces: list[str]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for number, piece in enumerate(pieces):
            if number:
                self.server.goes_on.wait(30)
            choice = {"index": 0, "delta": {"role": "assistant", "content": piece}, "finish_reason": None}
            self._event({"id": "x", "object": "chat.completion.chunk", "created": 1, "model": model, "choices": [choice]})
        choice = {"index": 0, "delta": {}, "finish_reason": "stop"}
        self._event({"id": "x", "object": "chat.completion.chunk", "created": 1, "model": model, "choices": [choice]})
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def _event(self, value: dict[str, Any]) -> None:
        self.wfile.write(b"data: " + json.dumps(value).encode() + b"\n\n")
        self.wfile.flush()

    def handle_one_request(self) -> None:
        """Answer one request; who asked may be gone before the end, since an answer can be interrupted."""
        try:
            super().handle_one_request()
        except ConnectionError:
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Say nothing: the tests look at what was sent."""


@contextmanager
def serving(*answers: list[str] | int) -> Iterator[ChatServer]:
    """Run a server until the block is left."""
    with ChatServer(list(answers)) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.goes_on.set()
            server.shutdown()
            thread.join()
