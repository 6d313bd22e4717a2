"""From steps to a launch: basic blocks are laid out, the steps become a path through them, the edges make the graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from warpreg.ir.kernel import Kernel
from warpreg.sass import walk
from warpreg.sass.catalogue import Catalogue
from warpreg.sass.flow import NONE, Edges, Layout, basic_blocks, empty_edges
from warpreg.sass.header import Header
from warpreg.sass.program import build_kernel, has_record
from warpreg.sass.text import TraceText
from warpreg.trace import Stream, Trace, TraceWriter

Blocks = list[list[int]]
EDGES_A_BLOCK = 8
"""Room in the set of edges, a block; it grows where that is too little."""


@dataclass(frozen=True, eq=False)
class Rebuilt:
    """A kernel, the path of its launch with addresses, and uint64[blocks] visits of its blocks."""

    kernel: Kernel
    trace: Trace
    visits: NDArray[np.uint64]


def rebuild(header: Header, text: TraceText, steps: Trace, file: BinaryIO) -> Rebuilt:
    """The launch that ``steps`` recorded of ``text``; ``file`` takes its path.  Raises OSError."""
    catalogue = text.catalogue
    blocks, entries = _laid_out(catalogue)
    layout = _layout(catalogue, blocks)
    totals = {"warp_instructions": text.instructions}
    written = TraceWriter(
        file, {"kernel": header.kernel, "grid": header.grid, "block": header.block, "blocks": len(blocks)}
    )
    edges = _contract(steps, catalogue, layout, header.threads, written)
    stored = {stream.name.lower(): size for stream, size in written.stored_bytes.items()}
    written.finish({**totals, "stored_bytes": stored})
    taken = [*entries, *((int(key) >> 32, int(key) & 0xFFFFFFFF) for key in edges.keys[edges.keys >= 0])]
    kernel = build_kernel(header, catalogue.seen, catalogue.program, blocks, taken, text.local_bytes)
    return Rebuilt(kernel, Trace(file, steps.name), layout.visits)


def _laid_out(catalogue: Catalogue) -> tuple[Blocks, list[tuple[int, int]]]:
    """The blocks, and edges from the first one if warps begin in several: that is an empty block before them then."""
    blocks = basic_blocks(catalogue.program, len(catalogue))
    begun = [b for b, members in enumerate(blocks) if catalogue.program.entry[members[0]]]
    if len(begun) <= 1:
        return blocks, []
    return [[], *blocks], [(0, 1 + b) for b in begun]


def _layout(catalogue: Catalogue, blocks: Sequence[Sequence[int]]) -> Layout:
    count = len(catalogue.program.pc)
    home, first = np.full(count, NONE, np.int32), np.full(count, NONE, np.int32)
    for index, members in enumerate(blocks):
        home[list(members)] = index
        first[members[:1]] = index
    recorded = np.zeros(count, np.uint8)
    recorded[: len(catalogue)] = [has_record(seen.line) for seen in catalogue.seen]
    return Layout(home, first, recorded, np.zeros(count, np.int64), np.zeros(max(1, len(blocks)), np.uint64))


def _contract(steps: Trace, catalogue: Catalogue, layout: Layout, threads: int, written: TraceWriter) -> Edges:
    edges = empty_edges(1 << (EDGES_A_BLOCK * (layout.visits.size + 32)).bit_length())
    records = steps.address_chunks()
    addresses = np.zeros(0, np.uint32)
    state = walk.new_state(threads)
    for chunk in steps.path_chunks():
        path_out = np.zeros(walk.MOST_PATH_WORDS * chunk.size, np.uint32)
        state[walk.STEP] = state[walk.PATH_OUT] = 0
        while True:
            out = np.zeros(2 * addresses.size, np.uint32)
            state[walk.ADDRESSES_OUT] = 0
            stop = walk.contract(chunk, addresses, catalogue.program, layout, edges, state, path_out, out)
            if state[walk.ADDRESSES_OUT]:
                written.append(Stream.ADDRESSES, out[: state[walk.ADDRESSES_OUT]])
            if stop == walk.WANTS_ADDRESSES:
                addresses = next(records)
                state[walk.ADDRESS] = 0
            elif stop == walk.EDGES_FULL:
                edges = _wider(edges)
            else:
                break
        written.append(Stream.PATH, path_out[: state[walk.PATH_OUT]])
    return edges


def _wider(edges: Edges) -> Edges:
    wider = empty_edges(2 * edges.keys.size)
    wider.last[:] = edges.last
    for key in edges.keys[edges.keys >= 0].tolist():
        walk.add_edge(wider, key >> 32, key & 0xFFFFFFFF)
    return wider
