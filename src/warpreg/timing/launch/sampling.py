"""Windows: a part of the thread blocks of a launch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from warpreg.timing.errors import TimingError
from warpreg.timing.feed.feed import ThreadBlocks


@dataclass(frozen=True, slots=True)
class Window:
    """Thread blocks ``first`` to ``first + count`` - 1 of a launch, as far as they exist.  Raises TimingError for an
    empty window.
    """

    count: int
    first: int = 0

    def __post_init__(self) -> None:
        if self.count < 1 or self.first < 0:
            raise TimingError(f"a sample takes 1 thread block or more from 0 on, found {self.count} from {self.first}")

    @property
    def end(self) -> int:
        """The first thread block after it."""
        return self.first + self.count

    def of(self, batches: Iterable[ThreadBlocks]) -> Iterator[ThreadBlocks]:
        """The thread blocks of a launch inside the window; stops reading after it."""
        for batch in batches:
            if batch.first >= self.end:
                return
            low, high = max(self.first - batch.first, 0), min(self.end - batch.first, batch.count)
            if low < high:
                yield part(batch, low, high)


def part(batch: ThreadBlocks, low: int, high: int) -> ThreadBlocks:
    """Thread blocks ``low`` to ``high`` - 1 of a batch."""
    if (low, high) == (0, batch.count):
        return batch
    rows = slice(low * batch.warps, high * batch.warps + 1)
    visit_start, access_start = batch.visit_start[rows], batch.access_start[rows]
    widths = width_start = None
    if batch.widths is not None and batch.width_start is not None:
        width_start = batch.width_start[rows]
        widths, width_start = batch.widths[width_start[0] : width_start[-1]], width_start - width_start[0]
    return ThreadBlocks(
        batch.first + low,
        batch.warps,
        batch.visits[visit_start[0] : visit_start[-1]],
        visit_start - visit_start[0],
        batch.accesses[access_start[0] : access_start[-1]],
        access_start - access_start[0],
        widths,
        width_start,
    )
