"""A small random kernel on which a design reads a wrong value or fails a check of its hooks."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from warpreg.checks.random_kernels import Program, launched, ptx, random_program, shrunk
from warpreg.checks.subject import Subject, follow, record_for, tracker_for
from warpreg.checks.value_tracker import Tracker, WrongRead
from warpreg.designs import Design
from warpreg.designs.interface.parameters import Value
from warpreg.ir.errors import WarpregError
from warpreg.ir.kernel import Kernel
from warpreg.ir.work_observer import Work, reached
from warpreg.replay import Suspend

MAX_TRIALS = 400
"""Programs that are tried to make one smaller."""
WRONG_READ = "wrong read"


@dataclass(frozen=True)
class Counterexample:
    """A kernel as the design has rewritten it, and what fails at ``pc`` (None: before the first instruction).

    ``notes`` by pc are what became of the value that is read wrongly; ``ptx`` is the kernel before the compiler, and
    ``suspend`` as in a replay.
    """

    kernel: Kernel
    pc: int | None
    message: str
    notes: Mapping[int, str]
    ptx: str
    suspend: Suspend

    def __str__(self) -> str:
        suspended = ", with warps suspended before each possible wait" if self.suspend == "static" else ""
        return f"{self.kernel.instruction_count} instructions{suspended}: {self.message}"


@dataclass(frozen=True)
class Search:
    """What was followed, and the kernel that fails, if there is one."""

    reads: int
    not_followed: int
    counterexample: Counterexample | None = None


@dataclass(frozen=True)
class _Trial:
    """One program under the design: its tracker, and the kind of failure with pc and message, if there is one."""

    tracker: Tracker | None
    kernel: Kernel
    pc: int | None
    kind: str = ""
    message: str = ""
    notes: Mapping[int, str] = field(default_factory=dict)


def counterexample(
    design: Design, values: Mapping[str, Value], kernels: int, seed: int, machine: str, trials: int = MAX_TRIALS
) -> Search:
    """Follow values on random kernels until one fails; it is made smaller as long as the same check fails.

    Every second replay without a schedule suspends warps before each possible wait.
    """
    reads = not_followed = 0
    for number in range(kernels):
        reached(Work(number, kernels, "kernels"))
        program = random_program(random.Random(f"{seed} {number}"))
        suspend: Suspend = "static" if number % 2 else "never"
        trial = _trial(program, design, values, machine, suspend)
        if trial.kind:
            small = shrunk(program, _same(trial, design, values, machine, suspend), trials)
            shown = _trial(small, design, values, machine, suspend)
            failing = Counterexample(shown.kernel, shown.pc, shown.message, shown.notes, ptx(small), suspend)
            return Search(reads, not_followed, failing)
        assert trial.tracker is not None
        reads, not_followed = reads + trial.tracker.reads, not_followed + trial.tracker.not_followed
    return Search(reads, not_followed)


def _same(
    first: _Trial, design: Design, values: Mapping[str, Value], machine: str, suspend: Suspend
) -> Callable[[Program], bool]:
    return lambda program: _trial(program, design, values, machine, suspend).kind == first.kind


def _trial(program: Program, design: Design, values: Mapping[str, Value], machine: str, suspend: Suspend) -> _Trial:
    launch = launched(program, record_for(design))
    tracker, failure = None, ""
    try:
        subject = Subject.of("", launch, design, machine)
        tracker = tracker_for(design, values, subject)
        follow(tracker, design, values, subject, suspend)
    except WarpregError as error:
        failure = str(error)
    kernel = launch.kernel if tracker is None else tracker.kernel
    if tracker is not None and tracker.wrong is not None:
        return _Trial(tracker, kernel, tracker.wrong.pc, WRONG_READ, str(tracker.wrong), _notes(tracker.wrong))
    pc = None if tracker is None or tracker.pc < 0 else tracker.pc
    return _Trial(tracker, kernel, pc, failure.partition(": ")[0], failure)


def _notes(wrong: WrongRead) -> dict[int, str]:
    """By pc, what became of the value, and where it is read wrongly."""
    notes: dict[int, list[str]] = {}
    for pc, what in wrong.history:
        notes.setdefault(pc, []).append(what)
    notes.setdefault(wrong.pc, []).append(
        f"reads R{wrong.register} from {wrong.level}, but its value is in {wrong.held}{wrong.advice}"
    )
    return {pc: "; ".join(dict.fromkeys(words)) for pc, words in notes.items()}
