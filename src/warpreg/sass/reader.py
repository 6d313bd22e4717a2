"""Reads recorded hardware traces: the text once through, then its steps once through, in memory that does not grow with
the length of a trace."""

from __future__ import annotations

import tempfile
import weakref
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Literal, cast

import numpy as np
from numpy.typing import NDArray

from warpreg.ir.errors import Location
from warpreg.ir.kernel import Kernel
from warpreg.sass.catalogue import Catalogue
from warpreg.sass.errors import SassTraceError
from warpreg.sass.header import Header
from warpreg.sass.listing import LIST_SUFFIX, Copy, read_list
from warpreg.sass.rebuild import rebuild
from warpreg.sass.source import Source
from warpreg.sass.text import TraceText
from warpreg.trace import Trace, TraceWriter

IN_MEMORY_BYTES = 1 << 20
"""Streams of at most this size never see the disk."""

UnknownOpcodes = Literal["error", "alu"]


@dataclass(frozen=True, eq=False)
class RecordedLaunch:
    """One launch of a trace: the kernel rebuilt, its path with addresses, and what the header says.

    ``visits`` uint64[blocks] counts visits of basic blocks; ``digest`` is the SHA-256 of the trace's text; ``unknown``
    counts executions of opcodes that are in no table and were taken as integer arithmetic.
    """

    header: Header
    kernel: Kernel
    trace: Trace
    warp_instructions: int
    visits: NDArray[np.uint64]
    digest: str
    unknown: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Recording:
    """The launches of a list of traces in order, and what was copied to the device."""

    name: str
    launches: tuple[RecordedLaunch, ...]
    copies: tuple[Copy, ...] = ()

    @property
    def unknown(self) -> Counter[str]:
        """Executions of opcodes that were taken as integer arithmetic."""
        return sum((launch.unknown for launch in self.launches), Counter())


def read_recording(path: Path, unknown: UnknownOpcodes = "error") -> Recording:
    """The traces that a ``kernelslist.g`` lists, or one ``.traceg``.

    ``unknown`` says what becomes of opcodes that are in no table.  Raises SassTraceError for a malformed list or trace,
    for traces of different tracer or binary versions, and for unknown opcodes unless they count as ALU; OSError.
    """
    listed = read_list(path)
    launches: list[RecordedLaunch] = []
    for trace in listed.traces:
        launches.append(read_launch(trace, unknown, launches[0].header if launches else None))
    is_list = path.suffix == LIST_SUFFIX
    name = path.absolute().parent.name if is_list else path.name.partition(".traceg")[0]
    return Recording(name, tuple(launches), listed.copies)


def read_launch(path: Path, unknown: UnknownOpcodes = "error", like: Header | None = None) -> RecordedLaunch:
    """One trace; ``like`` is the header of another with which it must have its versions in common.  Raises as
    `read_recording` does."""
    with _nameless_file() as steps_file:
        text = TraceText(Source(path), TraceWriter(steps_file, {}), like)
        header = text.read()
        strangers = text.catalogue.unknown()
        if strangers and unknown == "error":
            raise _unknown(text.source.name, text.catalogue, strangers)
        file = _nameless_file()
        steps = Trace(steps_file, text.source.name)
        rebuilt = rebuild(header, text, steps, file)
        weakref.finalize(rebuilt.trace, file.close)
    return RecordedLaunch(
        header, rebuilt.kernel, rebuilt.trace, text.instructions, rebuilt.visits, text.source.digest, strangers
    )


def _unknown(name: str, catalogue: Catalogue, strangers: Counter[str]) -> SassTraceError:
    first: dict[str, Location] = {}
    for seen in catalogue.seen:
        first.setdefault(seen.line.opcode, seen.location)
    listed = "; ".join(f"{op} executed {n} times, first at line {first[op].line}" for op, n in strangers.most_common())
    line = min(first[opcode].line for opcode in strangers)
    return SassTraceError(
        f"{name}:{line}: opcodes that are in no table, --unknown-opcodes alu to count as ALU: {listed}"
    )


def _nameless_file() -> BinaryIO:
    return cast(BinaryIO, tempfile.SpooledTemporaryFile(IN_MEMORY_BYTES))
