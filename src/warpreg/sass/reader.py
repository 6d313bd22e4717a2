"""Read recorded hardware traces in two passes, over texts and over steps; memory does not depend on a trace's length.

The launches of a kernel share its code: instructions and edges of any launch are used for all.
"""

from __future__ import annotations

import tempfile
import weakref
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from warpreg.ir.kernel import Kernel
from warpreg.sass.errors import SassTraceError
from warpreg.sass.isa.opcodes import UnknownOpcodes
from warpreg.sass.listing import Copy, read_list, recording_name
from warpreg.sass.parse.header import Header
from warpreg.sass.parse.source import Source
from warpreg.sass.rebuild.catalogue import Catalogue
from warpreg.sass.rebuild.first_pass import TraceText
from warpreg.sass.rebuild.program import Seen
from warpreg.sass.rebuild.second_pass import Rebuilding
from warpreg.trace import Trace, TraceWriter

IN_MEMORY_BYTES = 1 << 18
"""A path of at most this size is kept in memory."""


@dataclass(frozen=True, eq=False)
class RecordedLaunch:
    """One launch of a trace: the reconstructed kernel, its path with addresses, and the header.

    ``visits`` uint64[blocks] counts visits of basic blocks; ``digest`` is the SHA-256 of the trace's text.
    """

    header: Header
    kernel: Kernel
    trace: Trace
    warp_instructions: int
    visits: NDArray[np.uint64]
    digest: str


@dataclass(frozen=True)
class Recording:
    """The launches of a list of traces in order, and the copies to the device; ``unknown`` counts executions of opcodes
    that are in no table and were treated as integer arithmetic."""

    name: str
    launches: tuple[RecordedLaunch, ...]
    copies: tuple[Copy, ...] = ()
    unknown: Mapping[str, int] = field(default_factory=dict)


def read_recording(path: Path, unknown: UnknownOpcodes = "error") -> Recording:
    """The traces that a ``kernelslist.g`` lists, or one ``.traceg``.

    ``unknown`` selects the treatment of opcodes that are in no table.  Raises SassTraceError for a malformed list or
    trace, for traces of different tracer or binary versions, and for unknown opcodes unless they count as ALU; OSError.
    """
    listed = read_list(path)
    catalogues: dict[str, Catalogue] = {}
    with tempfile.TemporaryDirectory() as folder:
        texts: list[TraceText] = []
        for trace in listed.traces:
            with (Path(folder) / str(len(texts))).open("wb") as file:
                like = texts[0].header if texts else None
                texts.append(TraceText(Source(trace), TraceWriter(file, {}), catalogues, like))
                texts[-1].read()
        strangers: Counter[str] = sum((catalogue.unknown() for catalogue in catalogues.values()), Counter())
        if strangers and unknown == "error":
            raise _unknown(catalogues, strangers)
        launches = tuple(_launches(texts, Path(folder)))
    return Recording(recording_name(path), launches, listed.copies, strangers)


def _launches(texts: Sequence[TraceText], folder: Path) -> Iterator[RecordedLaunch]:
    """The launches of all traces in order, from their steps in numbered files; a kernel is built after the paths of all
    its launches."""
    paths: dict[int, tuple[Trace, NDArray[np.uint64]]] = {}
    kernels: dict[str, Kernel] = {}
    for name in dict.fromkeys(text.header.kernel for text in texts):
        numbers = [number for number, text in enumerate(texts) if text.header.kernel == name]
        if len(texts[numbers[0]].catalogue) == 0:
            raise SassTraceError(f"{texts[numbers[0]].source.name}: no warp executes an instruction")
        rebuilding = Rebuilding(texts[numbers[0]].catalogue)
        for number in numbers:
            file = _nameless_file()
            with (folder / str(number)).open("rb") as steps:
                paths[number] = rebuilding.path(texts[number], Trace(steps, texts[number].source.name), file)
            weakref.finalize(paths[number][0], file.close)
        kernels[name] = rebuilding.kernel([texts[number] for number in numbers])
    for number, text in enumerate(texts):
        trace, visits = paths[number]
        kernel = kernels[text.header.kernel]
        yield RecordedLaunch(text.header, kernel, trace, text.instructions, visits, text.source.digest)


def _unknown(catalogues: Mapping[str, Catalogue], strangers: Counter[str]) -> SassTraceError:
    first: dict[str, Seen] = {}
    for catalogue in catalogues.values():
        for seen in catalogue.seen:
            first.setdefault(seen.line.opcode, seen)
    listed = "; ".join(f"{op} executed {n} times, first at {first[op].location}" for op, n in strangers.most_common())
    place = first[strangers.most_common(1)[0][0]].location
    return SassTraceError(f"{place}: opcodes that are in no table (--unknown-opcodes alu counts them as ALU): {listed}")


def _nameless_file() -> BinaryIO:
    return cast(BinaryIO, tempfile.SpooledTemporaryFile(IN_MEMORY_BYTES))
