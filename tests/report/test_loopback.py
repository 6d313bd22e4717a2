"""The server on the loopback address: what it answers, what it refuses, and how it ends."""

from __future__ import annotations

import http.client
import json
import socket
import struct
import threading
import time
import urllib.request
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from warpreg.report import loopback
from warpreg.report.loopback import JSON, Answer, LoopbackError, LoopbackServer, Request, listening

ROUTES = {
    ("GET", "/"): lambda request: Answer(b"<p>page</p>"),
    ("GET", "/asked"): lambda request: Answer(json.dumps(dict(request.query)).encode(), JSON),
    ("POST", "/said"): lambda request: Answer(request.body[::-1], JSON),
}


@contextmanager
def running() -> Iterator[LoopbackServer]:
    with listening(ROUTES) as server:
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def server() -> Iterator[LoopbackServer]:
    with running() as found:
        yield found


def ask(
    server: LoopbackServer, path: str = "/", method: str = "GET", body: bytes | None = None, **headers: str
) -> tuple[int, str, Any]:
    connection = http.client.HTTPConnection(loopback.HOST, server.server_port, timeout=10)
    connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    response = connection.getresponse()
    found = response.status, response.read().decode(), response.headers
    connection.close()
    return found


def test_it_listens_on_the_loopback_address_only(server: LoopbackServer) -> None:
    assert server.server_address[0] == "127.0.0.1"
    assert server.address == f"http://127.0.0.1:{server.server_port}/"


def test_a_page_its_query_and_what_it_sends_are_answered(server: LoopbackServer) -> None:
    status, text, headers = ask(server)
    assert (status, text) == (200, "<p>page</p>")
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
    assert json.loads(ask(server, "/asked?a=1&b=x%20y&a=2")[1]) == {"a": "2", "b": "x y"}
    assert ask(server, "/said", "POST", b"abc")[1] == "cba"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:9000", "[::1]:80", "LOCALHOST:1"])
def test_names_of_the_loopback_address_may_have_the_port_of_a_tunnel(server: LoopbackServer, host: str) -> None:
    assert ask(server, Host=host)[0] == 200


@pytest.mark.parametrize("host", ["example.org", "127.0.0.1.example.org", "localhost.example.org:80", "", "10.0.0.1"])
def test_another_host_is_refused(server: LoopbackServer, host: str) -> None:
    status, text, _ = ask(server, Host=host)
    assert (status, text) == (403, f"expected a host of the loopback address, found {host!r}\n")


@pytest.mark.parametrize("origin", ["http://example.org", "null", "http://localhost:1"])
def test_a_request_of_another_page_is_refused(server: LoopbackServer, origin: str) -> None:
    status, text, _ = ask(server, "/said", "POST", b"abc", Host="localhost", Origin=origin)
    assert (status, text) == (403, f"expected a page of http://localhost, found {origin!r}\n")
    assert ask(server, "/said", "POST", b"abc", Host="localhost", Origin="http://localhost")[0] == 200


def test_what_is_not_there_is_said(server: LoopbackServer) -> None:
    assert ask(server, "/other")[:2] == (404, "GET /other: nothing is here\n")
    assert ask(server, "/", "POST", b"")[:2] == (404, "POST /: nothing is here\n")
    assert ask(server, "/", "DELETE")[0] == 501


@pytest.mark.parametrize("length", ["-1", "x", str(loopback.MAX_BODY_BYTES + 1)])
def test_a_body_without_a_proper_length_is_refused(server: LoopbackServer, length: str) -> None:
    assert ask(server, "/said", "POST", Content_Length=length)[0] == 413
    assert ask(server, "/said", "POST", Transfer_Encoding="chunked")[0] == 413


@pytest.mark.parametrize(("port", "why"), [(None, "Address already in use"), (70_000, "expected 0 to 65535")])
def test_a_port_that_cannot_be_had_is_named(server: LoopbackServer, port: int | None, why: str) -> None:
    wanted = server.server_port if port is None else port
    with pytest.raises(LoopbackError, match=f"127.0.0.1:{wanted}: {why}"), listening(ROUTES, wanted):
        pass


def test_it_opens_the_browser_and_ends_at_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    def interrupted(self: LoopbackServer, poll_s: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("webbrowser.open", shown.append)
    monkeypatch.setattr(LoopbackServer, "serve_forever", interrupted)
    with listening(ROUTES) as server:
        server.run(show=True)
    assert shown == [server.address]


def test_an_error_of_a_page_ends_its_request_only(server: LoopbackServer) -> None:
    def fails(request: Request) -> Answer:
        raise ValueError("wrong")

    with listening({**ROUTES, ("GET", "/fails"): fails}) as other:
        thread = threading.Thread(target=other.run, daemon=True)
        thread.start()
        status, text, _ = ask(other, "/fails")
        assert (status, text) == (500, "ValueError: wrong\n")
        assert ask(other)[0] == 200
        other.shutdown()
        thread.join()


def test_a_token_is_the_first_part_of_every_path() -> None:
    with listening(ROUTES, token="secret") as other:
        thread = threading.Thread(target=other.run, daemon=True)
        thread.start()
        assert other.address.endswith("/secret/")
        assert ask(other, "/secret/")[:2] == (200, "<p>page</p>")
        assert ask(other, "/secret/said", "POST", b"abc")[1] == "cba"
        for path in ("/", "/said", "/secre/", "/Secret/", ""):
            assert ask(other, path)[0] == 403
        assert ask(other, "/secretly")[0] == 404
        other.shutdown()
        thread.join()


def test_a_target_that_is_no_address_is_answered(server: LoopbackServer) -> None:
    with socket.create_connection((loopback.HOST, server.server_port)) as connection:
        connection.sendall(b"GET http://[ HTTP/1.0\r\nHost: localhost\r\n\r\n")
        with connection.makefile("rb") as answer:
            assert answer.read().endswith(b"GET http://[: nothing is here\n")


@pytest.mark.parametrize(
    "sent",
    [b"GET /", b"GET / HTTP/1.1\r\nHost", b"POST /said HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nx"],
)
def test_a_browser_that_leaves_is_no_error(
    server: LoopbackServer, sent: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_connection((loopback.HOST, server.server_port)) as connection:
        connection.sendall(sent)
        time.sleep(0.05)  # until it is read
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset, not an end
    time.sleep(0.05)
    assert ask(server)[0] == 200
    assert capsys.readouterr().err == ""


def test_a_browser_of_the_terminal_is_answered_while_it_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    """``webbrowser.open`` returns when its user leaves it."""
    got: list[bytes] = []
    with listening(ROUTES) as server:

        def visit(address: str) -> None:
            try:
                with urllib.request.urlopen(address, timeout=10) as answer:
                    got.append(answer.read())
            finally:
                server.shutdown()

        monkeypatch.setattr(webbrowser, "open", visit)
        server.run(show=True)
    assert got == [b"<p>page</p>"]
