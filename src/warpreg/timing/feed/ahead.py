"""Split thread blocks of a recorded run while others are timed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

from warpreg.timing.feed.feed import ThreadBlocks


def ahead(batches: Iterable[ThreadBlocks], count: int) -> Iterator[ThreadBlocks]:
    """The same batches.  Until ``count`` thread blocks are there, the next batch is made in another thread while the
    caller works on one.
    """
    source = iter(batches)
    batch = next(source, None)
    if batch is not None and batch.count < count:
        with ThreadPoolExecutor(1) as pool:
            while batch is not None and batch.count < count:
                count -= batch.count
                following = pool.submit(next, source, None)
                yield batch
                batch = following.result()
    while batch is not None:
        yield batch
        batch = next(source, None)
