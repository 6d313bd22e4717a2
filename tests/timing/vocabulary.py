"""Queries of a timed run in the terms of docs/reference/timing.md.

``run.warp(0).issues("add.s32 R1, R0, 3").at(17)``, ``run.bank(3).reads("R7").at(18)``, ``run.bank(3).busy_at(18)``,
``run.stalls.dominated_by("memory")``.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from tests.timing.launches import Launched
from tests.timing.machine_files import machine_of
from tests.timing.reference.hooks import Behaviour
from tests.timing.reference.log import BankAccess, Issue
from tests.timing.reference.machine import Sm
from tests.timing.reference.memory import FixedLatency, Memory
from tests.timing.reference.program import steps
from tests.timing.reference.simulation import Outcome, StandstillError, simulate

from warpreg.designs import Design, program_table
from warpreg.designs.interface.parameters import Value
from warpreg.designs.interface.program import placed
from warpreg.designs.loading.fetch import banks_of, collectors_of, machine_banks
from warpreg.ir.kernel import Kernel
from warpreg.timing.launch.deadlock import no_progress
from warpreg.timing.launch.unfinished_loads import never_completed


@dataclass(frozen=True)
class Cycles:
    """When something happened, in order; ``what`` names it in a failure."""

    what: str
    cycles: list[int]

    def at(self, *expected: int) -> None:
        """It happened in exactly these cycles."""
        assert self.cycles == list(expected), f"{self.what}: expected {list(expected)}, found {self.cycles}"

    def every(self, period: int, first: int | None = None) -> None:
        """It happened once in ``period`` cycles, from ``first`` on."""
        start = self.cycles[0] if first is None else first
        self.at(*(start + period * i for i in range(len(self.cycles))))

    @property
    def first(self) -> int:
        return self.cycles[0]

    @property
    def last(self) -> int:
        return self.cycles[-1]


@dataclass(frozen=True)
class Stalls:
    """Slot-cycles by cause."""

    counts: Counter[str]

    def dominated_by(self, cause: str) -> None:
        """The cause is the most frequent one of occupied slots, and next to nothing has no name."""
        occupied = Counter({name: n for name, n in self.counts.items() if name != "empty" or name == cause})
        assert occupied.most_common(1)[0][0] == cause, f"expected most {cause}, found {occupied}"
        assert self.counts["other"] * 100 < self.counts.total()

    def sum_to(self, slot_cycles: int) -> None:
        assert self.counts.total() == slot_cycles


class Timed:
    """A launch with what the timing core made of it."""

    def __init__(self, launched: Launched, outcome: Outcome, sm: int = 0) -> None:
        self.launched, self.outcome, self._sm = launched, outcome, sm
        self.cycles = outcome.cycles
        self.stalls = Stalls(outcome.stalls)
        self._text = [str(instruction) for instruction in launched.kernel.instructions()]

    def on(self, sm: int) -> Timed:
        """The same run, seen on another SM."""
        return Timed(self.launched, self.outcome, sm)

    def warp(self, index: int, block: int = 0) -> WarpView:
        return WarpView(self, index, block)

    def bank(self, index: int) -> BankView:
        return BankView(self, index)

    def issues(self) -> list[Issue]:
        return self.outcome.logs[self._sm].issues

    def accesses(self) -> list[BankAccess]:
        return self.outcome.logs[self._sm].accesses

    def text(self, pc: int) -> str:
        return self._text[pc]


@dataclass(frozen=True)
class WarpView:
    """A warp by its index in its thread block."""

    run: Timed
    index: int
    block: int

    def issues(self, text: str = "") -> Cycles:
        """When it issued the instructions that start with ``text``."""
        own = (i for i in self.run.issues() if (i.warp, i.block) == (self.index, self.block))
        cycles = [issue.cycle for issue in own if self.run.text(issue.pc).startswith(text)]
        return Cycles(f"warp {self.index} issues {text}", cycles)


@dataclass(frozen=True)
class BankView:
    """A bank of the register file."""

    run: Timed
    index: int

    def reads(self, register: str) -> Cycles:
        return self._accesses("read", register)

    def writes(self, register: str) -> Cycles:
        return self._accesses("write", register)

    def extras(self, register: str) -> Cycles:
        """Accesses that belong to no operand."""
        return self._accesses("extra", register)

    def busy_at(self, cycle: int) -> None:
        assert any(a.bank == self.index and a.cycle == cycle for a in self.run.accesses()), "the bank is idle"

    def idle_at(self, cycle: int) -> None:
        assert not any(a.bank == self.index and a.cycle == cycle for a in self.run.accesses()), "the bank is busy"

    def _accesses(self, action: str, register: str) -> Cycles:
        found = [a for a in self.run.accesses() if (a.bank, a.action, f"R{a.word}") == (self.index, action, register)]
        return Cycles(f"bank {self.index} {action}s {register}", [access.cycle for access in found])


def timed(
    launched: Launched,
    sm: Sm,
    memory: Memory | None = None,
    sms: int = 1,
    resident: int = 8,
    design: Design | None = None,
    **parameters: Value,
) -> Timed:
    """Run a launch; memory answers after 20 cycles unless told otherwise, without a design all is in the MRF."""
    behaviour = behaviour_of(launched.kernel, sm, design, **parameters)
    try:
        outcome = simulate(
            sm,
            memory or FixedLatency(20),
            steps(
                launched,
                sm.worker,
                behaviour.program,
                sm.pipes if sm.follows_control else None,
                sm.opcodes,
                sm.constants,
            ),
            behaviour,
            sms,
            resident,
        )
    except StandstillError as error:
        if error.held:
            raise never_completed(launched.kernel, behaviour.name, error.cycle, error.held) from error
        raise no_progress(launched.kernel, behaviour.name, error.cycle, error.waiting) from error
    return Timed(launched, outcome)


def behaviour_of(kernel: Kernel, sm: Sm, design: Design | None, **parameters: Value) -> Behaviour:
    """A design for a kernel, compiled and with its state."""
    program, machine = program_table(kernel), machine_of(sm)
    if design is None:
        return Behaviour(program, banks=machine_banks(machine))
    values = design.configure(**parameters)
    program = placed(design.compile(program, values, kernel), sm.slots, sm.schedulers)
    return Behaviour(
        program,
        design.hooks,
        design.initial_state(values, program, kernel=kernel),
        design.name,
        len(design.levels),
        design.declaration.main_mask,
        len(design.events),
        len(design.declaration.resources),
        banks_of(design, values, machine),
        design.tables(values, machine),
        design.paths(values, machine),
        design.levels,
        collectors_of(design, values, machine, program),
        design.stages(values),
    )
