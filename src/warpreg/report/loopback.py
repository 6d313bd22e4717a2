"""A web server for pages of this machine's user: it listens on the loopback address only.

Other web pages that the user has open must not reach it, nor other users of the machine what has a *token*: an
unguessable first part of all paths.  A request whose ``Host`` is no name of the loopback address
is refused, which ends attacks that make a foreign name resolve to it (DNS rebinding); so is one that another page sends
(its ``Origin``).  A page carries its own content security policy.
"""

from __future__ import annotations

import contextlib
import re
import secrets
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl

from warpreg.ir.errors import WarpregError

HOST = "127.0.0.1"
HOSTS = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:\d+)?", re.IGNORECASE)
"""What a request may name as its host; the port may be that of a tunnel."""
HTML, JSON, TEXT = "text/html; charset=utf-8", "application/json", "text/plain; charset=utf-8"
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
MAX_BODY_BYTES = 1 << 20
"""A larger request is refused."""
TOKEN_BYTES = 24
POLL_S = 0.1
"""Seconds until a server notices that it shall stop."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a page asks for; ``query`` has the last value of each name."""

    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a page gets."""

    content: bytes
    kind: str = HTML
    status: HTTPStatus = HTTPStatus.OK


Routes = Mapping[tuple[str, str], Callable[[Request], Answer]]
"""By method and path, ``("GET", "/")``, the function that answers.  Functions may be called by several threads."""


class LoopbackError(WarpregError):
    """A port on which nothing can listen."""


def new_token() -> str:
    """A token for the address of a server that nobody can guess."""
    return secrets.token_urlsafe(TOKEN_BYTES)


@contextmanager
def listening(routes: Routes, port: int = 0, token: str = "") -> Iterator[LoopbackServer]:
    """A server at ``port`` (0: any free one); inside, call its `run`.  Raises LoopbackError for a port that is in use
    or not allowed.

    With a ``token``, requests outside ``/TOKEN/`` are refused; routes are named without it.
    """
    try:
        server = LoopbackServer(routes, port, token)
    except (OSError, OverflowError) as error:
        why = error.strerror if isinstance(error, OSError) else "expected 0 to 65535"
        raise LoopbackError(f"{HOST}:{port}: {why}") from error
    try:
        yield server
    finally:
        server.server_close()


class LoopbackServer(ThreadingHTTPServer):
    """Answers the requests of pages; an open connection does not keep it from ending."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, routes: Routes, port: int, token: str = "") -> None:
        self.routes = routes
        self.prefix = f"/{token}" if token else ""
        super().__init__((HOST, port), _Handler)

    @property
    def address(self) -> str:
        """The address of the first page."""
        return f"http://{HOST}:{self.server_port}{self.prefix}/"

    def run(self, *, show: bool = False) -> None:
        """Answer until ``shutdown`` or Ctrl-C, which is no error; ``show`` opens the user's browser."""
        if show:  # beside the server, for a browser of the terminal lasts until its user leaves it
            threading.Thread(target=webbrowser.open, args=[self.address], daemon=True).start()
        with contextlib.suppress(KeyboardInterrupt):
            self.serve_forever(POLL_S)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that has left in the middle of a request is no error; of others, print the traceback."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: LoopbackServer
    timeout = 30  # seconds; each request has a connection of its own, so none outlives the server

    def do_GET(self) -> None:
        self._respond("GET")

    def do_POST(self) -> None:
        self._respond("POST")

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing of requests."""

    def version_string(self) -> str:
        return "warpreg"

    def _respond(self, method: str) -> None:
        answer = self._refusal()
        if answer is None:
            place, _, query = self.path.partition("?")
            path = place[len(self.server.prefix) :]
            respond = self.server.routes.get((method, path))
            if respond is None:
                answer = _refused(HTTPStatus.NOT_FOUND, f"{method} {path}: nothing is here")
            else:
                answer = _answered(respond, Request(dict(parse_qsl(query)), self.rfile.read(self._length)))
        self._send(answer)

    def _refusal(self) -> Answer | None:
        """Why a request is not answered; None if it is."""
        host, origin = self.headers.get("Host", ""), self.headers.get("Origin")
        if not HOSTS.fullmatch(host):
            return _refused(HTTPStatus.FORBIDDEN, f"expected a host of the loopback address, found {host!r}")
        if origin is not None and origin != f"http://{host}":
            return _refused(HTTPStatus.FORBIDDEN, f"expected a page of http://{host}, found {origin!r}")
        prefix = self.server.prefix.encode()
        if not secrets.compare_digest(self.path.encode()[: len(prefix)], prefix):
            return _refused(HTTPStatus.FORBIDDEN, "expected the token of this server as the first part of the path")
        if not 0 <= self._length <= MAX_BODY_BYTES:
            return _refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"expected at most {MAX_BODY_BYTES} bytes")
        return None

    @property
    def _length(self) -> int:
        """Bytes of the body; -1 for a length that is no number, and for a body without one."""
        text = self.headers.get("Content-Length", "0")
        return int(text) if text.isdecimal() and "Transfer-Encoding" not in self.headers else -1

    def _send(self, answer: Answer) -> None:
        with contextlib.suppress(ConnectionError):
            self.send_response(answer.status)
            for name, value in HEADERS.items():
                self.send_header(name, value)
            self.send_header("Content-Type", answer.kind)
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)


def _answered(respond: Callable[[Request], Answer], request: Request) -> Answer:
    """The answer; an error of the function is one, so that the page can show it."""
    try:
        return respond(request)
    except WarpregError as error:
        return _refused(HTTPStatus.BAD_REQUEST, str(error))
    except Exception as error:
        return _refused(HTTPStatus.INTERNAL_SERVER_ERROR, f"{type(error).__name__}: {error}")


def _refused(status: HTTPStatus, why: str) -> Answer:
    return Answer(f"{why}\n".encode(), TEXT, status)
