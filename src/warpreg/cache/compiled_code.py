"""Compiled code in the cache: where `piecewise_numba` keeps what it has compiled."""

from __future__ import annotations

from contextlib import AbstractContextManager

from piecewise_numba import settings

PLAIN = ("warpreg.counting.", "warpreg.replay.", "warpreg.timing.")
"""Packages whose functions contain nothing that numba must rewrite."""


def read(kind: str, key: str) -> bytes | None:
    """Compiled code from the cache, or else that which is installed beside the package; None if neither has it."""
    from warpreg.cache import store

    content = store.read(kind, key)
    if content is None:
        from warpreg.cache import installed_code

        content = installed_code.read(kind, key)
    return content


class CompiledCode:
    """The cache as a storage of compiled code; its modules are imported when first used."""

    def read(self, kind: str, key: str) -> bytes | None:
        """The content of an entry, of the cache or installed; None if it is missing, damaged or refused."""
        return read(kind, key)

    def write(self, kind: str, key: str, content: bytes) -> None:
        """Store an entry."""
        from warpreg.cache import store

        store.write(kind, key, content)

    def held(self, key: str) -> AbstractContextManager[None]:
        """Hold the lock of a key."""
        from warpreg.cache.lock import held

        return held(key)


def keep_compiled_code() -> None:
    """Keep what is compiled in this process in the cache."""
    settings.use(CompiledCode(), PLAIN)
