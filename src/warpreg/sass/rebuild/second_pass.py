"""Second pass, from steps to launches: lay out basic blocks, turn steps into paths, and build the graph from the
edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.recipe import compiled, read_only
from warpreg.ir.kernel import Kernel
from warpreg.sass.rebuild import walk
from warpreg.sass.rebuild.catalogue import Catalogue
from warpreg.sass.rebuild.first_pass import TraceText
from warpreg.sass.rebuild.flow import NONE, Edges, Layout, basic_blocks, empty_edges
from warpreg.sass.rebuild.program import Join, build_kernel, has_record
from warpreg.trace import Stream, Trace, TraceWriter

ANY_WORDS = read_only(np.zeros(0, np.uint32))
EDGES_A_BLOCK = 8
"""Initial slots per block in the set of edges; the set grows if they do not suffice."""


class KernelRebuilder:
    """Reconstruction of a kernel after all its launches were read: request the path of each, then the kernel."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._blocks = basic_blocks(catalogue.program, len(catalogue))
        begun = [b for b, members in enumerate(self._blocks) if catalogue.program.entry[members[0]]]
        self._entries: list[tuple[int, int]] = []
        if len(begun) > 1:
            self._blocks.insert(0, [])
            self._entries = [(0, 1 + b) for b in begun]
        self._edges = empty_edges(1 << (EDGES_A_BLOCK * (len(self._blocks) + 32)).bit_length())

    def path(self, text: TraceText, steps: Trace, file: BinaryIO) -> tuple[Trace, NDArray[np.uint64]]:
        """Write the path with addresses of the ``steps`` of ``text`` to ``file``; returns it and its visits
        uint64[blocks].

        Raises OSError.
        """
        header, layout = text.launched, self._layout()
        written = TraceWriter(
            file,
            {"kernel": header.kernel, "grid": header.grid, "block": header.block, "blocks": len(self._blocks)},
        )
        self._contract(steps, layout, header.threads, written)
        stored = {stream.name.lower(): size for stream, size in written.stored_bytes.items()}
        written.finish({"warp_instructions": text.instructions, "stored_bytes": stored})
        return Trace(file, steps.name), layout.visits

    def kernel(self, texts: Sequence[TraceText], join: Join | None = None) -> Kernel:
        """The kernel for the launches of ``texts``, with the edges that lanes took in any path, and with what ``join``
        adds to instructions.  Raises SassTraceError if it finds nothing."""
        taken = self._edges.keys[self._edges.keys >= 0].tolist()
        edges = [*self._entries, *((key >> 32, key & 0xFFFFFFFF) for key in sorted(taken))]
        return build_kernel(
            [text.header for text in texts],
            self._catalogue.seen,
            self._catalogue.program,
            self._blocks,
            edges,
            max(text.local_bytes for text in texts),
            join,
        )

    def _layout(self) -> Layout:
        count = len(self._catalogue.program.pc)
        home, first = np.full(count, NONE, np.int32), np.full(count, NONE, np.int32)
        for index, members in enumerate(self._blocks):
            home[members] = index
            first[members[:1]] = index
        recorded = np.zeros(count, np.uint8)
        recorded[: len(self._catalogue)] = [has_record(seen.line) for seen in self._catalogue.seen]
        return Layout(home, first, recorded, np.zeros(count, np.int64), np.zeros(max(1, len(self._blocks)), np.uint64))

    def _contract(self, steps: Trace, layout: Layout, threads: int, written: TraceWriter) -> None:
        records = steps.address_chunks()
        addresses = np.zeros(0, np.uint32)
        state = walk.new_state(threads)
        for chunk in steps.path_chunks():
            path_out = np.zeros(walk.MAX_PATH_WORDS * chunk.size, np.uint32)
            state[walk.STEP] = state[walk.PATH_OUT] = 0
            while True:
                out = np.zeros(2 * addresses.size, np.uint32)
                state[walk.ADDRESSES_OUT] = 0
                rest = self._catalogue.program, layout, self._edges, state, path_out, out
                contract = compiled(walk.contract, (ANY_WORDS, ANY_WORDS, *rest))
                stop = contract(chunk, addresses, *rest)
                if state[walk.ADDRESSES_OUT]:
                    written.append(Stream.ADDRESSES, out[: state[walk.ADDRESSES_OUT]])
                if stop == walk.WANTS_ADDRESSES:
                    addresses = next(records)
                    state[walk.ADDRESS] = 0
                elif stop == walk.EDGES_FULL:
                    self._edges = _wider(self._edges)
                else:
                    break
            written.append(Stream.PATH, path_out[: state[walk.PATH_OUT]])


def _wider(edges: Edges) -> Edges:
    wider = empty_edges(2 * edges.keys.size)
    wider.last[:] = edges.last
    compiled(walk.copy_edges, (edges, wider))(edges, wider)
    return wider
