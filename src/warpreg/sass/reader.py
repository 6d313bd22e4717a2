"""Read recorded hardware traces in two passes, over texts and over steps; memory does not depend on a trace's length.

The launches of a kernel share its code: instructions and edges of any launch are used for all.
"""

from __future__ import annotations

import tempfile
import weakref
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from warpreg.ir.kernel import Kernel
from warpreg.ir.work_observer import Work, reached
from warpreg.sass.choice import AS_RECORDED, TraceChoice
from warpreg.sass.errors import SassTraceError
from warpreg.sass.listing import Copy, KernelList, read_list, recording_name
from warpreg.sass.parse.header import Header, HeaderOverride
from warpreg.sass.parse.source import Source
from warpreg.sass.rebuild.catalogue import Catalogue
from warpreg.sass.rebuild.first_pass import TraceText
from warpreg.sass.rebuild.program import Join, StaticInstruction
from warpreg.sass.rebuild.second_pass import KernelRebuilder
from warpreg.trace import Trace, TraceWriter

TOLD = 3
"""Different numbers of headers in a note."""
IN_MEMORY_BYTES = 1 << 18
"""A path of at most this size is kept in memory."""


@dataclass(frozen=True, eq=False)
class RecordedLaunch:
    """One launch of a trace: the reconstructed kernel, its path with addresses, and the header, whose grid is that of
    the thread blocks that were read.

    ``visits`` uint64[blocks] counts visits of basic blocks; ``digest`` is the SHA-256 of the text that was read.
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
    that are in no table and were treated as integer arithmetic; ``notes`` say what was not read and what took the place
    of the headers."""

    name: str
    launches: tuple[RecordedLaunch, ...]
    copies: tuple[Copy, ...] = ()
    unknown: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def read_recording(
    path: Path, choice: TraceChoice = AS_RECORDED, registers: int | None = None, join: Join | None = None
) -> Recording:
    """The traces that a ``kernelslist.g`` lists, or one ``.traceg``, or the part of them that is chosen.

    ``registers`` of a thread take the place of a number in a header that cannot be right.  Instructions get what
    ``join`` adds to them.  Raises SassTraceError for a malformed list or trace, for traces of different tracer or
    binary versions, for a choice of what is not there, for unknown opcodes unless they count as ALU, and where ``join``
    finds nothing; OSError.
    """
    listed = read_list(path, choice.kernels)
    given = HeaderOverride(registers, choice.binary_version)
    catalogues: dict[str, Catalogue] = {}
    with tempfile.TemporaryDirectory() as folder:
        texts: list[TraceText] = []
        sizes = [trace.stat().st_size if trace.exists() else 0 for trace in listed.traces]
        for trace in listed.traces:
            reached(Work(sum(sizes[: len(texts)]), sum(sizes), "bytes of traces", trace.name))
            with (Path(folder) / str(len(texts))).open("wb") as file:
                like = texts[0].header if texts else None
                writer = TraceWriter(file, {})
                texts.append(TraceText(Source(trace), writer, catalogues, like, given, choice.blocks))
                texts[-1].read()
        strangers: Counter[str] = sum((catalogue.unknown() for catalogue in catalogues.values()), Counter())
        if strangers and choice.unknown_opcodes == "error":
            raise _unknown(catalogues, strangers)
        launches = tuple(_launches(texts, Path(folder), join))
    notes = tuple(_notes(listed, texts, choice, given))
    return Recording(recording_name(path), launches, listed.copies, strangers, notes)


def _notes(listed: KernelList, texts: Sequence[TraceText], choice: TraceChoice, given: HeaderOverride) -> Iterator[str]:
    """What was not read, and what took the place of the headers."""
    headers = [text.header for text in texts]
    if listed.note:
        yield listed.note
    if choice.blocks is not None:
        most = max(header.thread_blocks for header in headers)
        yield f"blocks {choice.blocks.below(most)} of {_told(header.thread_blocks for header in headers)}"
    for what, number in (("registers", given.registers), ("binary version", given.binary_version)):
        written = [dict(header.replaced)[what] for header in headers if what in dict(header.replaced)]
        if written:
            yield f"{what} {number} (header: {_told(written)})"


def _told(values: Iterable[object]) -> str:
    """Different values, of many the first ones."""
    different = list(dict.fromkeys(map(str, values)))
    return ", ".join(different[:TOLD]) + (" ..." if len(different) > TOLD else "")


def _launches(texts: Sequence[TraceText], folder: Path, join: Join | None) -> Iterator[RecordedLaunch]:
    """The launches of all traces in order, from their steps in numbered files; a kernel is built after the paths of all
    its launches."""
    paths: dict[int, tuple[Trace, NDArray[np.uint64]]] = {}
    kernels: dict[str, Kernel] = {}
    for name in dict.fromkeys(text.header.kernel for text in texts):
        numbers = [number for number, text in enumerate(texts) if text.header.kernel == name]
        if len(texts[numbers[0]].catalogue) == 0:
            raise SassTraceError(f"{texts[numbers[0]].source.name}: no warp executes an instruction")
        rebuilding = KernelRebuilder(texts[numbers[0]].catalogue)
        for number in numbers:
            file = _nameless_file()
            with (folder / str(number)).open("rb") as steps:
                paths[number] = rebuilding.path(texts[number], Trace(steps, texts[number].source.name), file)
            weakref.finalize(paths[number][0], file.close)
        kernels[name] = rebuilding.kernel([texts[number] for number in numbers], join)
    for number, text in enumerate(texts):
        trace, visits = paths[number]
        kernel = kernels[text.header.kernel]
        _check_registers(text, kernel)
        yield RecordedLaunch(text.launched, kernel, trace, text.instructions, visits, text.digest)


def _check_registers(text: TraceText, kernel: Kernel) -> None:
    """Raise SassTraceError for a register demand of the user that is less than the registers of the instructions."""
    demand, used = text.header.registers, kernel.register_count
    if text.header.has_given_registers and used > demand:
        written = dict(text.header.replaced).get("registers", "none")
        raise SassTraceError(
            f"{text.source.name}: instructions name registers up to R{used - 1}: expected --registers {used} or more in"
            f" place of the header's {written}, found {demand}"
        )


def _unknown(catalogues: Mapping[str, Catalogue], strangers: Counter[str]) -> SassTraceError:
    first: dict[str, StaticInstruction] = {}
    for catalogue in catalogues.values():
        for seen in catalogue.seen:
            first.setdefault(seen.line.opcode, seen)
    listed = "; ".join(f"{op} executed {n} times, first at {first[op].location}" for op, n in strangers.most_common())
    place = first[strangers.most_common(1)[0][0]].location
    return SassTraceError(f"{place}: opcodes that are in no table (--unknown-opcodes alu counts them as ALU): {listed}")


def _nameless_file() -> BinaryIO:
    return cast(BinaryIO, tempfile.SpooledTemporaryFile(IN_MEMORY_BYTES))
