"""Blocks in which singly assigned values are defined, read and live, kept up to date while a pass moves code.

The definition of a singly assigned register dominates its reads.  So an instruction without side effects that reads
only such registers has the same result at every point that its old place dominates: on the way there, no operand is
defined again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from warpreg.analysis.cfg import control_flow
from warpreg.analysis.definitions import single_definitions
from warpreg.analysis.dominators import dominators
from warpreg.codegen.machine.side_effects import is_pure
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel


class Ranges:
    """``home`` is the block that defines each singly assigned register; ``reads`` are the blocks that read a register,
    and how often; ``makers`` the defining instructions.  ``fixed`` are registers that stay as they are."""

    def __init__(self, kernel: Kernel, fixed: frozenset[str] = frozenset()) -> None:
        self.kernel, self.fixed = kernel, fixed
        self.flow, self.tree = control_flow(kernel), dominators(kernel)
        self.makers: Mapping[str, Instruction] = single_definitions(kernel).defining
        self.home: dict[str, int] = {}
        self.reads: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        for block in kernel.blocks:
            for instruction in block.instructions:
                self.home |= {r.name: block.index for r in instruction.defined if r.name in self.makers}
                for register in instruction.used:
                    self.reads[register.name][block.index] += 1
        self._alive: dict[str, frozenset[int]] = {}
        self._repeated: dict[tuple[int, int], bool] = {}

    def is_movable(self, instruction: Instruction) -> bool:
        """Whether its result is the same wherever its place dominates."""
        registers = (*instruction.defined, *instruction.used)
        if instruction.guard or any(r.name not in self.makers or r.name in self.fixed for r in registers):
            return False
        return is_pure(instruction)

    def move(self, instruction: Instruction, block: int) -> None:
        """An instruction has moved to a block."""
        (old,) = {self.home[r.name] for r in instruction.defined}
        self.home |= {r.name: block for r in instruction.defined}
        for register in instruction.used:
            counts = self.reads[register.name]
            counts[block] += 1
            counts[old] -= 1
            if not counts[old]:
                del counts[old]
        for register in (*instruction.defined, *instruction.used):
            self._alive.pop(register.name, None)

    def alive(self, name: str) -> frozenset[int]:
        """The blocks at whose start a singly assigned register is live."""
        if name not in self._alive:
            self._alive[name] = self.alive_for(name, self.reads[name])
        return self._alive[name]

    def alive_for(self, name: str, readers: Iterable[int]) -> frozenset[int]:
        """The blocks at whose start it would be live if only these blocks read it."""
        home = self.home[name]
        work, blocks = [b for b in readers if b != home], set[int]()
        while work:
            block = work.pop()
            if block not in blocks and block != home:
                blocks.add(block)
                work.extend(self.flow.predecessors[block])
        return frozenset(blocks)

    def is_repeated(self, block: int, other: int) -> bool:
        """Whether a thread can run ``block`` again without ``other``: it is in a loop that ``other`` is not in."""
        key = (block, other)
        if key not in self._repeated:
            work, seen = list(self.flow.successors[block]), {other}
            while work:
                following = work.pop()
                if following not in seen:
                    seen.add(following)
                    work.extend(self.flow.successors[following])
            self._repeated[key] = block in seen and block != other
        return self._repeated[key]
