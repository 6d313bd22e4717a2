"""Reports how much of a long piece of work is done to an observer, such as the command line, which shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Work:
    """``done`` of ``total`` units; ``place`` says where in words, ``launch 3 of 40``."""

    done: float
    total: float
    unit: str
    place: str = ""

    @property
    def fraction(self) -> float:
        """From 0 to 1."""
        return min(1.0, self.done / self.total) if self.total else 0.0


Observer = Callable[[Work], None]
"""What `observed_work` takes."""
_OBSERVER: ContextVar[Observer | None] = ContextVar("observer", default=None)


@contextmanager
def observed_work(observer: Observer | None) -> Iterator[None]:
    """Report work of this thread to ``observer``, which may end it with an error; None: report it to nobody."""
    token = _OBSERVER.set(observer)
    try:
        yield
    finally:
        _OBSERVER.reset(token)


def is_observed() -> bool:
    """Whether anybody wants to know."""
    return _OBSERVER.get() is not None


def reached(work: Work) -> None:
    """Report what is done."""
    observer = _OBSERVER.get()
    if observer is not None:
        observer(work)


@contextmanager
def part_of(before: float, total: float, unit: str, place: str) -> Iterator[None]:
    """What is reported inside is a part of larger work in the same ``unit``, of which ``before`` was done already."""
    outer = _OBSERVER.get()
    if outer is None:
        yield
        return

    def both(work: Work) -> None:
        places = ", ".join(filter(None, (place, work.place)))
        outer(Work(min(total, before + work.done), total, unit, places))

    both(Work(0, total, unit))
    with observed_work(both):
        yield
