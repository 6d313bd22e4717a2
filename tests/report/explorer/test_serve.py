"""Who reaches the server of an explorer: its own page with its token, and nobody else."""

from __future__ import annotations

import contextlib
import http.client
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from tests.report.explorer.samples import SUBJECT, request

from warpreg.report import loopback
from warpreg.report.explorer.serve import exploring
from warpreg.report.loopback import LoopbackServer

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server() -> Iterator[LoopbackServer]:
    with exploring(SUBJECT) as found:
        thread = threading.Thread(target=found.run, daemon=True)
        thread.start()
        yield found
        found.shutdown()
        thread.join()


def ask(
    server: LoopbackServer, path: str | None = None, method: str = "POST", body: bytes | None = None, **headers: str
) -> tuple[int, str, Any]:
    """What the server answers to a request, by default a good one to compile."""
    connection = http.client.HTTPConnection(loopback.HOST, server.server_port, timeout=60)
    target = f"{server.prefix}/compile" if path is None else path
    sent = request() if body is None and method == "POST" else body
    connection.request(method, target, sent, headers)
    response = connection.getresponse()
    found = response.status, response.read().decode(), response.headers
    connection.close()
    return found


def test_its_page_gets_an_answer(server: LoopbackServer) -> None:
    status, text, headers = ask(server, Origin=f"http://127.0.0.1:{server.server_port}")
    assert (status, json.loads(text)["problems"]) == (200, [])
    assert not [name for name in headers if name.lower().startswith("access-control")]


def test_the_page_runs_and_asks_nothing_else(server: LoopbackServer) -> None:
    status, page, headers = ask(server, f"{server.prefix}/", "GET")
    assert status == 200
    for rule in ("default-src 'none'", "script-src 'sha256-", "connect-src 'self'", "base-uri 'none'"):
        assert rule in page
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "http://" not in page
    assert "https://" not in page


def test_addresses_are_not_guessed(server: LoopbackServer) -> None:
    with exploring(SUBJECT) as other:
        assert other.prefix != server.prefix
        assert len(other.prefix) == 33


@pytest.mark.parametrize("path", ["/", "/compile", "/x/compile", "//compile", "", "/" + "a" * 32 + "/compile"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_without_the_token_there_is_no_answer(server: LoopbackServer, path: str, method: str) -> None:
    assert ask(server, path, method)[0] == 403


@pytest.mark.parametrize("host", ["example.org", "127.0.0.1.example.org", "192.168.0.1"])
def test_another_host_is_refused(server: LoopbackServer, host: str) -> None:
    assert ask(server, Host=host)[0] == 403


@pytest.mark.parametrize("origin", ["http://example.org", "null", "http://localhost:1", "https://127.0.0.1"])
def test_another_origin_is_refused(server: LoopbackServer, origin: str) -> None:
    status, _, headers = ask(server, Origin=origin)
    assert status == 403
    assert headers["Access-Control-Allow-Origin"] is None


def test_a_question_of_another_origin_before_a_request_is_refused(server: LoopbackServer) -> None:
    status, _, headers = ask(server, method="OPTIONS", Origin="http://example.org")
    assert (status, headers["Access-Control-Allow-Origin"]) == (501, None)


def test_a_body_that_is_too_large_is_refused(server: LoopbackServer) -> None:
    body = request(text=" " * loopback.MAX_BODY_BYTES)
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # refused while it is sent
        assert ask(server, body=body)[0] == 413


def test_a_length_of_thousands_of_digits_is_refused(server: LoopbackServer) -> None:
    assert ask(server, body=b"", **{"Content-Length": "9" * 5000})[0] == 413


@pytest.mark.parametrize("path", ["/../../etc/passwd", "/etc/passwd", "/%2e%2e/", "/compile/", "/explorer.js"])
def test_there_are_no_files(server: LoopbackServer, path: str) -> None:
    status, text, _ = ask(server, server.prefix + path, "GET")
    assert (status, "root" in text) == (404, False)


def test_a_bad_request_is_answered_with_its_reason(server: LoopbackServer) -> None:
    assert ask(server, body=b"{}")[:2] == (400, "page: expected str, found None\n")
