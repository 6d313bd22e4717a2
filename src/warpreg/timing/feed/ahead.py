"""Split thread blocks of a recorded run while others are timed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

from warpreg.timing.feed.feed import ThreadBlocks


def ahead(batches: Iterable[ThreadBlocks]) -> Iterator[ThreadBlocks]:
    """The same batches; the next one is made in another thread while the caller works on one."""
    source = iter(batches)
    with ThreadPoolExecutor(1) as pool:
        following = pool.submit(next, source, None)
        while (batch := following.result()) is not None:
            following = pool.submit(next, source, None)
            yield batch
