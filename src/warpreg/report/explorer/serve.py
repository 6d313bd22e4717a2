"""The server of an explorer: the page, and what it asks for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

from warpreg.report.explorer.compilations import SECONDS, Compilations, SupersededError, compilations
from warpreg.report.explorer.subject import Subject, read_edit
from warpreg.report.explorer.write import page
from warpreg.report.loopback import JSON, TEXT, Answer, LoopbackServer, Request, Routes, listening, new_token


@contextmanager
def exploring(subject: Subject, port: int = 0, seconds: float = SECONDS) -> Iterator[LoopbackServer]:
    """A server of the explorer of a source; its address contains a new token.  Raises LoopbackError."""
    with compilations(subject, seconds) as running, listening(_routes(subject, running), port, new_token()) as server:
        yield server


def _routes(subject: Subject, running: Compilations) -> Routes:
    shown = page(subject).encode()

    def compile_text(request: Request) -> Answer:
        name, edit = read_edit(request.body, subject)
        try:
            return Answer(running.answer(name, edit), JSON)
        except SupersededError as error:
            return Answer(f"{error}\n".encode(), TEXT, HTTPStatus.CONFLICT)

    return {("GET", "/"): lambda request: Answer(shown), ("POST", "/compile"): compile_text}
