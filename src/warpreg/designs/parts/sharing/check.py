"""Verifies code with acquires and releases: what its execution tracks, and a static analysis.

The analysis follows, forward over all paths, which register of the kernel before each register holds.  It shares no
code with `staging` and `compaction`.  What an extended register holds is lost at each acquire and release.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from warpreg.analysis.cfg import control_flow
from warpreg.designs.errors import DesignError
from warpreg.designs.interface.checked import Checked
from warpreg.designs.parts.sharing.division import Division
from warpreg.designs.parts.sharing.instructions import ACQUIRE, NOTHING, RELEASE, action_of, waiting_points
from warpreg.designs.parts.sharing.staging import INSERTED
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Register
from warpreg.simt.block.section_taints import SectionEvent, SectionTaints

LOST = -1
Holds = dict[int, int]
"""By register: the register of the kernel before whose value it holds, or LOST; unknown if it is not there."""


@dataclass(frozen=True, slots=True)
class MisplacedRead:
    """A read of ``register``, which need not hold the value; if ``certain``, it does not whenever its block runs."""

    pc: int
    register: int
    certain: bool

    def __str__(self) -> str:
        return f"instruction {self.pc} reads R{self.register}, which need not hold the value"


def checked_division(before: Kernel, division: Division) -> Checked:
    """What verifies the compiled code of a kernel."""
    return Checked(division.kernel, section_taints(division), lambda: findings(before, division))


def section_taints(division: Division) -> SectionTaints:
    """The events of the compiled code."""
    kernel = division.kernel
    if control_flow(kernel).predecessors[0] or not kernel.blocks[0].instructions:
        raise DesignError(f"{kernel.name}: the first block is empty or in a loop, so it cannot be checked")
    waits = waiting_points(kernel)
    events = {
        pc: _event(instruction, pc, division.base, pc in waits) for pc, instruction in enumerate(kernel.instructions())
    }
    nothing = SectionEvent()
    return SectionTaints(
        division.base,
        max(division.registers, kernel.register_count),
        {pc: event for pc, event in events.items() if event != nothing},
    )


def _event(instruction: Instruction, pc: int, base: int, waits: bool) -> SectionEvent:
    action = action_of(instruction)
    return SectionEvent(
        begins=pc == 0,
        acquires=action == ACQUIRE,
        releases=action == RELEASE,
        waits=waits,
        reads=tuple(dict.fromkeys(word for word in _words(instruction.used) if word >= base)),
        writes=tuple(dict.fromkeys(word for word in _words(instruction.defined) if word >= base)),
    )


def findings(before: Kernel, division: Division) -> list[MisplacedRead]:
    """The reads that may not find their value, in order of pc."""
    walk = _Walk(before, division)
    entering: dict[int, Holds] = {0: {r: r if r < division.base else LOST for r in range(before.register_count)}}
    successors = control_flow(division.kernel).successors
    work = [0]
    while work:
        block = work.pop()
        holds = dict(entering[block])
        for _ in walk.through(block, holds):
            pass
        for successor in successors[block]:
            joined = _joined(entering.get(successor), holds)
            if joined != entering.get(successor):
                entering[successor] = joined
                work.append(successor)
    return [
        MisplacedRead(pc, register, (pc, register) in certain)
        for block in sorted(entering)
        for certain in [set(walk.through(block, {}, is_known=False))]
        for pc, register in walk.through(block, dict(entering[block]))
    ]


def _joined(one: Holds | None, other: Holds) -> Holds:
    """What holds on both ways."""
    if one is None:
        return dict(other)
    return {register: held if other.get(register, LOST) == held else LOST for register, held in one.items()}


class _Walk:
    """Applies the instructions of a block to what registers hold."""

    def __init__(self, before: Kernel, division: Division) -> None:
        self.old = list(before.instructions())
        self.new = list(division.kernel.instructions())
        self.first = division.kernel.first_pcs()
        self.division = division

    def through(self, block: int, holds: Holds, is_known: bool = True) -> Iterator[tuple[int, int]]:
        """Apply a block; yields pc and register of the reads that may be wrong.

        Without ``is_known``, registers that are not in ``holds`` may hold anything.
        """
        for pc in range(self.first[block], self.first[block + 1]):
            instruction, original = self.new[pc], self.division.original[pc]
            if action_of(instruction) != NOTHING:
                for register in range(self.division.base, self.division.registers):
                    holds[register] = LOST
            elif original == INSERTED:
                (target,), (source,) = _words(instruction.defined), _words(instruction.used)
                holds.pop(target, None)
                if source in holds:
                    holds[target] = holds[source]
            else:
                yield from self._reads(pc, self.old[original], holds, is_known)
                self._writes(self.old[original], instruction, holds)

    def _reads(self, pc: int, old: Instruction, holds: Holds, is_known: bool) -> Iterator[tuple[int, int]]:
        for register, meant in zip(_words(self.new[pc].used), _words(old.used), strict=True):
            if (is_known or register in holds) and holds.get(register, LOST) != meant:
                yield pc, register

    def _writes(self, old: Instruction, instruction: Instruction, holds: Holds) -> None:
        for register, meant in zip(_words(instruction.defined), _words(old.defined), strict=True):
            for other, held in holds.items():
                if held == meant:
                    holds[other] = LOST
            holds[register] = meant


def _words(registers: tuple[Register, ...]) -> list[int]:
    return [word for register in registers for word in register.words]
