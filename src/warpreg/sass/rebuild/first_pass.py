"""First pass, from a trace's text to steps: the scanner reads instructions; this module handles all other lines and new
instructions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.recipe import compiled, read_only
from warpreg.ir.errors import Location
from warpreg.sass.errors import SassTraceError
from warpreg.sass.parse.header import AS_WRITTEN, NEWEST_TRACER, Header, HeaderOverride
from warpreg.sass.parse.line import parse_line
from warpreg.sass.parse.scan import LANES, scan
from warpreg.sass.parse.source import PADDING, Source
from warpreg.sass.parse.state import At, Phase, Stop
from warpreg.sass.parse.structure import Structure
from warpreg.sass.rebuild.catalogue import Catalogue
from warpreg.sass.rebuild.walk import PREVIOUS, THREADS, new_state, observe
from warpreg.sass.selection import Selection
from warpreg.trace import Stream, TraceWriter

BUFFER_WORDS = 1 << 16
LOCAL_UNIT = 16


class TraceText:
    """One trace in the first pass: `read` writes its steps and address records to ``steps``.

    ``catalogues`` contains the static instructions of kernels, by name; ``catalogue`` is that of this kernel after the
    header.  ``like`` is the header of another trace of the same list, whose versions must be equal.  Numbers that are
    ``given`` take the place of those of the header; ``blocks`` are the thread blocks that are read, None for all.
    """

    def __init__(
        self,
        source: Source,
        steps: TraceWriter,
        catalogues: dict[str, Catalogue],
        like: Header | None = None,
        given: HeaderOverride = AS_WRITTEN,
        blocks: Selection | None = None,
    ) -> None:
        self.source = source
        self.catalogue = Catalogue()
        self._catalogues = catalogues
        self._writer, self._like = steps, like
        self._state = np.zeros(At.COUNT, np.int64)
        self._state[At.LINE] = 1
        self._state[At.COPY] = -1
        self._walk = new_state(0)
        self._bases = np.zeros(2, np.uint64)
        self._steps = np.zeros(BUFFER_WORDS, np.uint32)
        self._addresses = np.zeros(BUFFER_WORDS, np.uint32)
        self._lanes, self._values = np.zeros(LANES, np.int64), np.zeros(LANES, np.uint64)
        self._compiled_scan = compiled(scan, self._scan_arguments(read_only(np.zeros(0, np.uint8)), 0))
        self._hash = hashlib.sha256()
        self._structure = Structure(source.name, self._state, self._steps, given, blocks)

    @property
    def header(self) -> Header:
        """Parameters of the launch; available after the header has been read."""
        return self._structure.header

    @property
    def launched(self) -> Header:
        """The same with a grid of the thread blocks that are read, in a row unless they are all."""
        count = self._structure.thread_blocks
        return self.header if count == self.header.thread_blocks else replace(self.header, grid=(count, 1, 1))

    @property
    def digest(self) -> str:
        """SHA-256 of the text that is read, before compression."""
        return self._hash.hexdigest()

    @property
    def instructions(self) -> int:
        """Warp-instructions executed."""
        return int(self._state[At.EXECUTED])

    @property
    def local_bytes(self) -> int:
        """Bytes of local memory of a thread, as far as addresses show."""
        return -(-int(self._state[At.LOCAL_TOP]) // LOCAL_UNIT) * LOCAL_UNIT

    def read(self) -> None:
        """Read the trace, up to the last thread block that is wanted.  Raises SassTraceError with file and line, and
        OSError."""
        for piece in self.source.pieces():
            self._read_piece(piece)
            if self._structure.is_complete:
                break
        with self._placed():
            self._structure.end()
        self._state[At.COPY] = -1
        self._flush()
        if self._walk[PREVIOUS] >= 0:
            self.catalogue.program.stops[self._walk[PREVIOUS]] = 1
        self._writer.finish({})
        self._steps = self._addresses = self._structure.steps = np.zeros(0, np.uint32)

    def _read_piece(self, piece: bytes) -> None:
        text, read_from = np.frombuffer(piece + PADDING, np.uint8), 0
        self._state[At.TEXT] = 0
        while not self._structure.is_complete:
            if self._structure.phase == Phase.SKIPPED:
                self._hash.update(text[read_from : self._state[At.TEXT]].data)
                read_from = self._skip(piece)
            stop = self._scan(text, len(piece))
            if stop == Stop.END:
                break
            if stop == Stop.FULL:
                self._flush()
                continue
            start = int(self._state[At.TEXT])
            end = piece.index(b"\n", start)
            line = piece[start:end].decode("utf-8", "replace").strip()
            with self._placed():
                if stop == Stop.OTHER:
                    self._follow(line)
                    self._state[At.TEXT] = end + 1
                    self._state[At.LINE] += 1
                else:
                    self._learn(line, stop == Stop.NEW)
        self._hash.update(text[read_from : self._state[At.TEXT]].data)

    def _skip(self, piece: bytes) -> int:
        """Go past thread blocks that are not selected; returns where the text goes on."""
        start = int(self._state[At.TEXT])
        end = self._structure.skip(piece, start)
        self._state[At.TEXT] = end
        self._state[At.LINE] += piece.count(b"\n", start, end)
        return end

    def _scan(self, text: NDArray[np.uint8], end: int) -> int:
        return int(self._compiled_scan(*self._scan_arguments(text, end)))

    def _scan_arguments(self, text: NDArray[np.uint8], end: int) -> tuple[Any, ...]:
        known, written = self.catalogue, (self._steps, self._addresses, self._lanes, self._values)
        return (text, end, self._state, self._bases, known.keys, known.numbers, known.sites, *written)

    def _follow(self, text: str) -> None:
        """Process a line that is not an instruction."""
        state, phase = self._state, self._structure.phase
        self._structure.line(text)
        if phase == Phase.HEADER and self._structure.phase != Phase.HEADER:
            header = self._structure.header
            if self._like is not None:
                _expect_same_versions(header, self._like)
            self.catalogue = self._catalogues.setdefault(header.kernel, self.catalogue)
            self.catalogue.begin_launch()
            self._bases[:] = header.shared_base, header.local_base
            self._walk[THREADS] = header.threads
            state[At.SOURCE_LINES] = header.has_source_lines
            state[At.TRAILING] = header.tracer_version == NEWEST_TRACER

    def _learn(self, text: str, well_laid_out: bool) -> None:
        """Add an instruction that the scanner does not know; raises SassTraceError for a malformed one."""
        line = parse_line(text, bool(self._state[At.SOURCE_LINES]))
        if not well_laid_out:
            raise SassTraceError("expected words with one space between them, and no more behind the immediate")
        if self.catalogue.is_full:
            self._flush()
            self.catalogue.grow()
        key = int(self._state[At.KEY]) % (1 << 64)
        self.catalogue.add(key, line, Location(self.source.name, int(self._state[At.LINE])))

    def _flush(self) -> None:
        """Write out and observe the contents of the buffers, except the record of a copy whose second line may
        follow.
        """
        state = self._state
        steps = self._steps[: state[At.STEPS]]
        if steps.size:
            arguments = steps, self.catalogue.program, self._walk
            compiled(observe, arguments)(*arguments)
            self._writer.append(Stream.PATH, steps)
        used = int(state[At.ADDRESSES])
        kept = int(state[At.COPY_RECORD]) if state[At.COPY] >= 0 else used
        if kept:
            self._writer.append(Stream.ADDRESSES, self._addresses[:kept])
        self._addresses[: used - kept] = self._addresses[kept:used].copy()
        state[At.STEPS], state[At.ADDRESSES], state[At.COPY_RECORD] = 0, used - kept, 0

    @contextmanager
    def _placed(self) -> Iterator[None]:
        """Add file and line to errors that lack them."""
        try:
            yield
        except SassTraceError as error:
            text = str(error)
            if text.startswith(self.source.name):
                raise
            raise SassTraceError(f"{self.source.name}:{int(self._state[At.LINE])}: {text}") from None


def _expect_same_versions(header: Header, other: Header) -> None:
    for what, version, expected in (
        ("tracer version", header.tracer_version, other.tracer_version),
        ("binary version", header.binary_version, other.binary_version),
    ):
        if version != expected:
            raise SassTraceError(f"{what} {version}, but the first trace of the list has {expected}")
