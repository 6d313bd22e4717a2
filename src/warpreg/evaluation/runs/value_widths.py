"""Widths and deltas of the values that each static instruction writes, along the recorded path of a run."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.options import Mode
from piecewise_numba.recipe import compiled
from warpreg.designs.interface.patterns import delta_bytes
from warpreg.evaluation.runs.run import Run
from warpreg.ir.kernel import Kernel
from warpreg.trace import long_arrays
from warpreg.trace.path import PathWord
from warpreg.trace.patterns import pattern_of
from warpreg.trace.widths import WidthReader, places, words_written

BYTES = 4
"""The largest width of a value."""
KINDS = 256
"""Number of different bytes that a run may record."""
VISIT_MASK = int(PathWord.VISIT_MASK)

Longs = NDArray[np.int64]


def value_widths(run: Run, kernel: Kernel, mode: Mode = "compiled") -> Longs:
    """int64[instructions, BYTES]: warp-registers that an instruction has written, by significant bytes, 1 to 4.

    Raises TraceError for a run without widths.
    """
    return _counts(run, kernel, "the widths of values", mode)[:, 1 : BYTES + 1]


def value_deltas(run: Run, kernel: Kernel, mode: Mode = "compiled") -> Longs:
    """int64[instructions, BYTES + 1]: the same by the bytes of the differences to the first lane, 0 to 4.

    Raises TraceError for a run without patterns.
    """
    counts = _counts(run, kernel, "the deltas of values", mode, patterns=True)
    result = np.zeros((len(counts), BYTES + 1), np.int64)
    for byte in range(1, KINDS):
        result[:, delta_bytes(pattern_of(byte))] += counts[:, byte]
    return result


def _counts(run: Run, kernel: Kernel, reader_name: str, mode: Mode, patterns: bool = False) -> Longs:
    """int64[instructions, KINDS]: warp-registers by recorded byte."""
    path, result_places = run.path(kernel), places(kernel, kernel)
    reader = WidthReader(path, result_places, reader_name, mode, patterns)
    counts = np.zeros((result_places.place.size, KINDS), np.int64)
    typical: Any = np.zeros(0, np.uint32), result_places.first, np.zeros(0, np.uint8), counts
    tallied = tally if mode == "interpreted" else compiled(tally, typical)
    for chunk in path.path_chunks():
        tallied(long_arrays.joined([chunk]), result_places.first, reader.of(chunk), counts)
    reader.finish()
    written = [words_written(one) for one in kernel.instructions()]
    result = np.zeros((len(written), KINDS), np.int64)
    np.add.at(result, np.repeat(np.arange(len(written)), written), counts)
    return result


def tally(path: NDArray[np.uint32], first: Longs, widths: NDArray[np.uint8], counts: Longs) -> None:
    """Count the widths of the visits by result row; ``widths`` has one byte for each row of each visit."""
    position = at = 0
    while position < path.size:
        word: Any = np.int64(path[position])
        kind = word & 3
        if kind <= VISIT_MASK:
            block = word >> 2
            for row in range(first[block], first[block + 1]):
                counts[row, widths[at]] += 1
                at += 1
        position += 2 if kind & 1 else 1
