"""Rematerialization: recomputes cheap values where they are read instead of keeping them in registers.

A value is cheap if a few integer instructions make it from constants, special registers and values that are live at the
read anyway (after Briggs, Cooper and Torczon, "Rematerialization", PLDI 1992, who recompute what needs no live value).
Where more words are live than there should be, values that are live but not read there are candidates; those with the
fewest added instructions per freed word come first.  No value is recomputed in a loop that its definition is not in, so
no thread executes a recomputation more often than the definition.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count

from warpreg.analysis.pressure import pressure
from warpreg.codegen.machine.operand_rewriting import rename_registers
from warpreg.codegen.machine.side_effects import FIXED_SPECIALS
from warpreg.codegen.machine.uniform import uniform_values
from warpreg.codegen.passes.base import with_blocks
from warpreg.codegen.passes.dead_code import EliminateDeadCode
from warpreg.codegen.passes.shorten.ranges import Ranges
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Register, Special

CHEAP = frozenset({"mov", "add", "sub", "and", "or", "xor", "not", "neg", "shl", "shr", "lop3", "iadd3", "cvt"})
LONGEST = 3
"""Instructions that recompute a value, at most."""


@dataclass(frozen=True)
class RematerializeValues:
    """Recompute values in the blocks that read them while more than ``words`` words are live.

    ``uniform``: the target has uniform registers; values that they can hold stay, since they cost no register.
    """

    words: int
    uniform: bool = False

    def run(self, kernel: Kernel) -> Kernel:
        numbers = count()
        before = kernel
        while max(highest := pressure(kernel).highest) > self.words:
            ranges = Ranges(kernel, uniform_values(kernel) if self.uniform else frozenset())
            search = _Search(ranges, {b: most - self.words for b, most in enumerate(highest) if most > self.words})
            if not (chosen := search.chosen()):
                break
            kernel = _recomputed(kernel, search, chosen, numbers)
        return kernel if kernel is before else EliminateDeadCode().run(kernel)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A value, the blocks that would recompute it, those in which it would no longer be live, the other values on which
    this depends, and the instructions added per freed word."""

    name: str
    readers: frozenset[int]
    freed: frozenset[int]
    operands: frozenset[str]
    price: float


@dataclass
class _Search:
    """``excess`` are the words over the limit by block."""

    ranges: Ranges
    excess: dict[int, int]

    def chosen(self) -> list[_Candidate]:
        """Candidates that do not depend on each other, until no block has words over the limit."""
        found = sorted((c for n in self.ranges.home if (c := self._candidate(n))), key=lambda c: (c.price, c.name))
        taken: list[_Candidate] = []
        touched: set[str] = set()
        for one in found:
            if {one.name, *one.operands} & touched or all(self.excess[b] <= 0 for b in one.freed):
                continue
            taken.append(one)
            touched |= {one.name, *one.operands}
            for block in one.freed:
                self.excess[block] -= _words(self.ranges.makers[one.name])
        return taken

    def chain(self, name: str, block: int) -> tuple[str, ...] | None:
        """The values to compute in a block for this one, which is the last; None if they are too many."""
        maker = self.ranges.makers.get(name)
        if maker is None or not self._is_cheap(maker):
            return None
        chain: tuple[str, ...] = ()
        for register in maker.used:
            if register.name not in chain and not self.is_live(register.name, block):
                needed = self.chain(register.name, block)
                if needed is None:
                    return None
                chain += tuple(n for n in needed if n not in chain)
        return (*chain, name) if len(chain) < LONGEST else None

    def is_live(self, name: str, block: int) -> bool:
        """Whether a register has its value at the start of a block anyway."""
        return block in self.ranges.alive(name)

    def _candidate(self, name: str) -> _Candidate | None:
        """The value if recomputing it lowers the words of a block over the limit."""
        ranges, maker = self.ranges, self.ranges.makers[name]
        over = ranges.alive(name) & self.excess.keys() if self._is_cheap(maker) else frozenset[int]()
        if not over:
            return None
        home, reads = ranges.home[name], ranges.reads[name].keys()
        chains = {b: self.chain(name, b) for b in reads if b != home and not ranges.is_repeated(b, home)}
        recomputed = {b: chain for b, chain in chains.items() if chain}
        freed = over - ranges.alive_for(name, reads - recomputed.keys()) - recomputed.keys()
        if not freed:
            return None
        added = sum(map(len, recomputed.values())) - (reads <= recomputed.keys())
        operands = {r.name for chain in recomputed.values() for n in chain for r in ranges.makers[n].used}
        return _Candidate(name, frozenset(recomputed), freed, frozenset(operands), added / _words(maker))

    def _is_cheap(self, maker: Instruction) -> bool:
        """Whether it is an integer instruction with one result that is the same later."""
        if maker.opcode not in CHEAP or len(maker.defined) != 1 or maker.defined[0].is_predicate:
            return False
        if any(r.is_predicate for r in maker.used) or any(t.is_float for t in maker.types):
            return False
        is_fixed = all(o.name in FIXED_SPECIALS for o in maker.sources if isinstance(o, Special))
        return is_fixed and self.ranges.is_movable(maker)


def _words(maker: Instruction) -> int:
    return maker.defined[0].type.words


def _recomputed(kernel: Kernel, search: _Search, chosen: list[_Candidate], numbers: Iterator[int]) -> Kernel:
    """The kernel with each candidate recomputed in front of its first read in each of its blocks."""
    by_block: dict[int, list[_Candidate]] = defaultdict(list)
    for one in chosen:
        for block in one.readers:
            by_block[block].append(one)
    bodies = {}
    for block, wanted in by_block.items():
        copies = _Copies(search, block, {one.name for one in wanted}, numbers)
        bodies[block] = [new for i in kernel.blocks[block].instructions for new in copies.visit(i)]
    return with_blocks(kernel, bodies)


@dataclass
class _Copies:
    """The registers that hold recomputed values in a block."""

    search: _Search
    block: int
    wanted: set[str]
    numbers: Iterator[int]
    copies: dict[str, Register] = field(default_factory=dict)

    def visit(self, instruction: Instruction) -> Iterator[Instruction]:
        """The instruction with recomputed operands, after what recomputes them."""
        for register in instruction.used:
            if register.name in self.wanted and register.name not in self.copies:
                for name in self.search.chain(register.name, self.block) or ():
                    yield from self._copy(name, instruction)
        yield self._renamed(instruction, self.copies)

    def _copy(self, name: str, reader: Instruction) -> Iterator[Instruction]:
        if name in self.copies:
            return
        maker = self.search.ranges.makers[name]
        (old,) = maker.defined
        made = self._renamed(maker, self.copies)
        self.copies[name] = replace(old, name=f"{name}.again{next(self.numbers)}")
        yield replace(made, operands=(self.copies[name], *made.sources), source=reader.source)

    def _renamed(self, instruction: Instruction, names: Mapping[str, Register]) -> Instruction:
        if not any(r.name in names for r in instruction.used):
            return instruction
        return rename_registers(instruction, lambda r: names.get(r.name, r))
