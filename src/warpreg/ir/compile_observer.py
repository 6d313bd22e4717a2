"""Reports what is being compiled to an observer, such as the command line, which shows it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol


class CompileObserver(Protocol):
    """What `observed` takes."""

    def begin(self, kernel: str) -> None:
        """The compiler begins to work on a kernel."""
        ...

    def step(self, name: str) -> None:
        """It begins a pass, named as its class, or another step."""
        ...

    def end(self) -> None:
        """It does something else again, or has failed."""
        ...


_OBSERVER: ContextVar[CompileObserver | None] = ContextVar("observer", default=None)


@contextmanager
def observed(observer: CompileObserver) -> Iterator[None]:
    """Report compilations of this thread to ``observer``."""
    token = _OBSERVER.set(observer)
    try:
        yield
    finally:
        _OBSERVER.reset(token)


@contextmanager
def compiling(kernel: str) -> Iterator[None]:
    """Report the compilation of a kernel; not nested."""
    observer = _OBSERVER.get()
    if observer is None:
        yield
        return
    observer.begin(kernel)
    try:
        yield
    finally:
        observer.end()


def compile_step(name: str) -> None:
    """Report the next step of the compilation."""
    observer = _OBSERVER.get()
    if observer is not None:
        observer.step(name)
