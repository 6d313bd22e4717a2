"""Recorded hardware traces as runs, for all designs and cores."""

from __future__ import annotations

import dataclasses
import hashlib
import time
from pathlib import Path
from typing import TYPE_CHECKING

from warpreg.evaluation.runs.provenance import DIGITS, NOTE
from warpreg.evaluation.runs.run import CompileChoice, Run, RunError
from warpreg.sass.choice import AS_RECORDED, TraceChoice
from warpreg.sass.listing import is_trace
from warpreg.simt import Launch

if TYPE_CHECKING:
    from warpreg.sass.reader import Recording

__all__ = ["AS_RECORDED", "TraceChoice", "export_run", "is_trace", "recorded_run"]


def recorded_run(name: str, reading: TraceChoice = AS_RECORDED, choice: CompileChoice | None = None) -> Run:
    """The run that a ``kernelslist.g``, ``.traceg`` or ``.tracez`` recorded, or the part that ``reading`` selects.

    Of ``choice`` only ``registers`` applies: the code is already compiled.  Raises SassTraceError for a malformed file,
    for one with opcodes that are in no table (unless they count as ALU), for a selection of what is not there and for
    one that differs from its listing, MachineCodeError for a listing that cannot be read, RunError for another choice,
    OSError.
    """
    from warpreg.machine_code.joining import joined
    from warpreg.sass.reader import read_recording  # imported only here: takes half a second

    registers = _only_registers(name, choice)
    listing = None if reading.listing is None else joined(reading.listing)
    started = time.perf_counter()
    join = None if listing is None else listing.annotation
    recording = read_recording(Path(name), reading, registers, join)
    seconds = (time.perf_counter() - started) / len(recording.launches)
    header = recording.launches[0].header
    options = {
        "binary_version": header.binary_version,
        "tracer_version": header.tracer_version,
        "trace": hashlib.sha256("".join(one.digest for one in recording.launches).encode()).hexdigest()[:DIGITS],
        "registers": registers,
    }
    if listing is not None:
        options["listing"] = listing.digest[:DIGITS]
    if recording.unknown:
        options["unknown_opcodes_as_alu"] = dict(sorted(recording.unknown.items()))
    if recording.notes:
        options[NOTE] = "; ".join(recording.notes)
    return Run(recording.name, _launches(recording, seconds), options=options, copies=recording.copies)


def export_run(run: Run, folder: Path) -> Path:
    """Write the launches of a run, recorded with addresses, as traces; returns the ``kernelslist.g``.

    Raises RunError for a run without a recorded path, SassTraceError for one without addresses, OSError.
    """
    from warpreg.sass.export.export import ExportedLaunch, export
    from warpreg.timing.feed.memory_sites import step_bytes

    launches = []
    for launch in run.launches:
        if launch.trace is None:
            raise RunError(
                f"{run.name}: the run has no recorded path; record one with Record(path=True, addresses=True)"
            )
        launches.append(
            ExportedLaunch(launch.kernel, launch.trace, launch.grid, launch.block, launch.shared_bytes, step_bytes)
        )
    return export(launches, folder)


def _launches(recording: Recording, seconds: float) -> tuple[Launch, ...]:
    return tuple(
        Launch(
            kernel=one.kernel,
            grid=one.header.grid,
            block=one.header.block,
            arguments=(),
            warp_instructions=one.warp_instructions,
            block_visits=one.visits,
            seconds=seconds,
            recording=one.trace,
            shared_bytes=one.header.shared_bytes,
        )
        for one in recording.launches
    )


def _only_registers(name: str, choice: CompileChoice | None) -> int | None:
    if choice is None:
        return None
    choice.options()
    if dataclasses.replace(choice, registers=None) != CompileChoice():
        raise RunError(
            f"{name}: a recorded trace is compiled already; of the compiler's options only --registers applies"
        )
    return choice.registers
