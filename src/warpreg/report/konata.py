"""A trace in the text format of the pipeline viewer Konata (Kanata log format, version 4).

An instruction is a row.  Its stages are what its warp waited for, named by the cause of the stall account, and then
those of the table `STAGES`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from warpreg.gpu.pipes import MEM, TEX
from warpreg.report.trace_instructions import NOT_SEEN, IssuedInstruction, instructions
from warpreg.timing.launch.tracing import TraceOfRun

STAGES = {
    "Is": "issue, and the wait in a latch for a collector",
    "Oc": "operand collector",
    "Ex": "function unit",
    "Me": "load-store queue and memory",
    "Wb": "results wait for their banks",
}
COMPLETE, CUT = 0, 1
"""Types of R: complete, or still under way at the end of the window (Konata draws it as flushed)."""
BEGIN, STAGE, END = range(3)
"""Order of commands in a cycle: rows begin, stages follow each other, rows end."""


def write_konata(trace: TraceOfRun, file: Path) -> None:
    """Write the instructions that issued in the window."""
    file.write_text("".join(f"{line}\n" for line in lines(trace)), encoding="utf-8")


def lines(trace: TraceOfRun) -> Iterator[str]:
    """The lines of the file."""
    slots = trace.result.slots
    found = sorted(instructions(trace), key=lambda made: (_begin(made), made.number))
    rows = {made.number: row for row, made in enumerate(found)}
    commands = (one for made in found for one in _commands(made, rows, slots, trace.end))
    timed = sorted(commands, key=lambda one: one[:2])
    yield "Kanata\t0004"
    now = timed[0][0] if timed else trace.begin
    yield f"C=\t{now}"
    retired = 0
    for cycle, _, line in timed:
        if cycle != now:
            yield f"C\t{cycle - now}"
            now = cycle
        if line.startswith("R\t"):
            row, kind = line.split("\t")[1:]
            line = f"R\t{row}\t{retired}\t{kind}"
            retired += 1
        yield line


def _begin(made: IssuedInstruction) -> int:
    """The first cycle that a row shows."""
    return made.waits[0][1] if made.waits else made.issued


def _commands(made: IssuedInstruction, rows: Mapping[int, int], slots: int, end: int) -> Iterator[tuple[int, int, str]]:
    """cycle, order in it, and command; of R without the number of its retirement."""
    number, begin = rows[made.number], _begin(made)
    yield begin, BEGIN, f"I\t{number}\t{made.sequence}\t{made.sm * slots + made.slot}"
    label = f"SM {made.sm} warp {made.slot} pc {made.pc}: {made.text}"
    yield begin, BEGIN, f"L\t{number}\t0\t{label}"
    yield begin, BEGIN, f"L\t{number}\t1\t{_details(made)}"
    for cause, first, _ in made.waits:
        yield first, STAGE, f"S\t{number}\t0\t{cause.replace(' ', '_')}"
    for producer in made.producers:
        yield made.issued, STAGE, f"W\t{number}\t{rows[producer]}\t0"
    for name, cycle in _stages(made):
        yield cycle, STAGE, f"S\t{number}\t0\t{name}"
    last = made.issued + 1 if made.is_control else made.done
    is_cut = last == NOT_SEEN
    yield (end if is_cut else last), END, f"R\t{number}\t{CUT if is_cut else COMPLETE}"


def _stages(made: IssuedInstruction) -> Iterator[tuple[str, int]]:
    yield "Is", made.issued
    if made.entered != NOT_SEEN:
        yield "Oc", made.entered
    if made.dispatched != NOT_SEEN:
        yield ("Me" if made.pipe in (MEM, TEX) else "Ex"), made.dispatched
    if made.result != NOT_SEEN:
        yield "Wb", made.result


def _details(made: IssuedInstruction) -> str:
    waits = ", ".join(f"{cause} {end - first}" for cause, first, end in made.waits)
    return f"thread block {made.block}; issued in cycle {made.issued}; waited: {waits or 'not at all'}"
