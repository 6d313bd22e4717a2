"""The recorded path: a stream of 32-bit words with the basic blocks that each warp executed, and the active masks.

The low two bits of a word are its kind, the rest its payload:

    VISIT         the current warp executes block ``payload`` with the active mask of its last visit
    VISIT_MASK    the same with a new active mask, which is the next word
    WARP          the following visits belong to warp ``payload`` of the thread block
    THREAD_BLOCK  the next word is the linear index of a thread block that starts; its warps' masks are reset

Thread blocks are sequential.  Every instruction of a visited block was issued once.

On disk, `NEXT` may take the place of an index, so that equal thread blocks have equal words.
"""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class RecordedPath(Protocol):
    """Anything that a path can be read from: a recorded trace, or a substitute."""

    def path_chunks(self) -> Iterable[NDArray[np.uint32]]:
        """Chunks of path words; a record never spans two."""


class PathWord(enum.IntEnum):
    """Low two bits of a word."""

    VISIT = 0
    VISIT_MASK = 1
    WARP = 2
    THREAD_BLOCK = 3


NEXT = 0xFFFFFFFF
"""The index of a thread block on disk: as many as were begun by a `NEXT` before.

Behind `PathWord.THREAD_BLOCK` it cannot be mistaken: behind a mask of 3 lanes, it would be a word of no kind.
"""


def numbered(chunks: Iterable[NDArray[np.uint32]]) -> Iterator[NDArray[np.uint32]]:
    """The chunks with every `NEXT` replaced by the index."""
    begun = 0
    for chunk in chunks:
        at = np.flatnonzero(chunk[:-1] == PathWord.THREAD_BLOCK) + 1
        at = at[chunk[at] == NEXT]
        if at.size:
            words = chunk.copy()
            words[at] = np.arange(begun, begun + at.size, dtype=np.uint32)
            words.setflags(write=False)
            begun += at.size
            yield words
        else:
            yield chunk


def words_digest(chunks: Iterable[NDArray[np.uint32]]) -> str:
    """SHA-256 of the words of a path, independent of the chunks."""
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(np.ascontiguousarray(chunk, "<u4").data)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Visit:
    """One execution of a basic block by a warp."""

    thread_block: int
    warp: int
    block: int
    mask: int


def visits(chunks: Iterable[NDArray[np.uint32]]) -> Iterator[Visit]:
    """Decode a path; slow and simple, for tests and small traces."""
    thread_block, warp = 0, 0
    masks: dict[int, int] = {}
    for chunk in chunks:
        words = iter(chunk.tolist())
        for word in words:
            kind, payload = word & 3, word >> 2
            if kind == PathWord.THREAD_BLOCK:
                thread_block, masks = next(words), {}
            elif kind == PathWord.WARP:
                warp = payload
            else:
                if kind == PathWord.VISIT_MASK:
                    masks[warp] = next(words)
                yield Visit(thread_block, warp, payload, masks[warp])
