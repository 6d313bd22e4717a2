"""What a program chooses once, before anything is compiled: where code is kept, which packages are plain, whether the
threads are its own, and what it does around a copy of its process.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Protocol
from weakref import WeakSet


class Storage(Protocol):
    """A place for compiled code that outlives the process: entries by kind and key."""

    def read(self, kind: str, key: str) -> bytes | None:
        """The content of an entry; None if it is missing or not to be trusted."""

    def write(self, kind: str, key: str, content: bytes) -> None:
        """Keep an entry, as far as that is possible."""

    def held(self, key: str) -> AbstractContextManager[None]:
        """Hold a lock, so that of several processes that need an entry at once, one makes it."""


class NoStorage:
    """The default: nothing is kept."""

    def read(self, kind: str, key: str) -> bytes | None:
        """Nothing."""
        return None

    def write(self, kind: str, key: str, content: bytes) -> None:
        """Forget it."""

    def held(self, key: str) -> AbstractContextManager[None]:
        """No lock."""
        return nullcontext()


_storage: Storage = NoStorage()
_plain: tuple[str, ...] = ()
_has_own_threads = False
_own: WeakSet[threading.Thread] = WeakSet()
_around_copies: list[Callable[[], AbstractContextManager[None]]] = []


def use(storage: Storage, plain: tuple[str, ...] = ()) -> None:
    """Keep compiled code in this storage.

    ``plain`` are beginnings of the names of modules whose functions contain nothing that numba must rewrite (closures,
    array expressions, type-dependent branches); the search for it takes a sixth of a compilation.
    """
    global _storage, _plain
    _storage, _plain = storage, plain


def storage() -> Storage:
    """The storage that was chosen."""
    return _storage


def is_plain(module: str) -> bool:
    """Whether the functions of a module contain nothing that numba must rewrite."""
    return module.startswith(_plain)


def own_threads() -> None:
    """Say that all threads of this process from now on are the program's own: it may be copied without them.  Without
    effect where other threads run already.
    """
    global _has_own_threads
    _has_own_threads = has_own_threads()


def own_thread(thread: threading.Thread) -> None:
    """Say that a thread is the program's own."""
    _own.add(thread)


def has_own_threads() -> bool:
    """Whether all threads of this process are the program's own."""
    return _has_own_threads or not foreign_threads()


def foreign_threads() -> set[threading.Thread]:
    """The threads of this process that are neither this one nor the program's own."""
    others = set(threading.enumerate()) - {threading.current_thread()}
    return {thread for thread in others if thread not in _own}


def around_copies(context: Callable[[], AbstractContextManager[None]]) -> None:
    """Enter this context around each copy of the process, before the locks of the compilers are taken: a thread that
    it waits for may need them.
    """
    _around_copies.append(context)


@contextmanager
def ready_for_copy() -> Iterator[None]:
    """The contexts that were chosen."""
    with ExitStack() as entered:
        for context in _around_copies:
            entered.enter_context(context())
        yield
