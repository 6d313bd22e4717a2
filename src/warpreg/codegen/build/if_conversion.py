"""If-conversion: short branches become instructions under a guard, as NVIDIA's compilers do.

::

    @p bra J                      mul r, a, b
    A: mul r, a, b                @!p st [x], r
       st [x], r         ->       J: ...
    J: ...

It is the last step of making a kernel's blocks.  What comes later keeps every block, so that one recorded path serves
all versions of a kernel.  Instructions that only compute what no one outside reads run unguarded; loads, stores,
atomics and results that live on stand under the guard.  Of two alternatives the first may set their common results
for all threads, and two moves become a selection.  Both orders are tried.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from warpreg.analysis.liveness import liveness
from warpreg.codegen.machine.side_effects import is_pure, reads_parameter
from warpreg.ir.instruction import Guard, Instruction
from warpreg.ir.kernel import BRANCHES, EXITS, STOPS, Block, Kernel
from warpreg.ir.operands import Immediate, Label, Operand, Register

LIMIT = 7
"""Most instructions of an alternative, those that cost nothing in machine code not counted; as in ptxas's output."""
ENDS = BRANCHES | EXITS | STOPS
SELECTED = frozenset({"b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64"})
ABSORBED = frozenset({"mul", "shl", "cvt"})
"""What becomes part of the sum that reads it: a multiply-add, a scaled or a widened address."""
MEMORY = frozenset({"ld", "ldu", "st", "atom", "red"})


def predicated(kernel: Kernel, limit: int = LIMIT) -> Kernel:
    """The kernel without its short alternatives, blocks renumbered; each had at most ``limit`` instructions."""
    return _Predication(kernel, limit).result()


@dataclass
class _Body:
    """A block in the making."""

    label: str
    instructions: list[Instruction]
    successors: tuple[int, ...]

    @property
    def branch(self) -> Instruction | None:
        last = self.instructions[-1] if self.instructions else None
        return last if last and last.opcode in BRANCHES else None

    @property
    def ends(self) -> bool:
        """Whether the last instruction decides where to go, or lets the warp stop."""
        return bool(self.instructions) and self.instructions[-1].opcode in ENDS

    def straight(self) -> list[Instruction] | None:
        """The instructions without an unconditional branch at the end; None for a block that ends in another way."""
        branch = self.branch
        if branch and branch.opcode == "bra" and branch.guard is None:
            return self.instructions[:-1]
        return None if self.ends or len(self.successors) != 1 else self.instructions


@dataclass
class _Predication:
    kernel: Kernel
    limit: int
    bodies: dict[int, _Body] = field(default_factory=dict)
    predecessors: Counter[int] = field(default_factory=Counter)
    live_in: list[frozenset[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        live = liveness(self.kernel)
        self.live_in = [frozenset(live.names(bits)) for bits in live.live_in]
        for block in self.kernel.blocks:
            self.bodies[block.index] = _Body(block.label, list(block.instructions), block.successors)
            self.predecessors.update(set(block.successors))

    def result(self) -> Kernel:
        changed = False
        for index in sorted(self.bodies, reverse=True):
            while index in self.bodies and self._convert(index):
                changed = True
        return self._numbered() if changed else self.kernel

    def _convert(self, index: int) -> bool:
        """Take in the alternatives of one block's branch, if they are short enough."""
        body = self.bodies[index]
        branch = body.branch
        if branch is None or branch.guard is None or branch.opcode != "bra" or len(set(body.successors)) != 2:
            return False
        taken, fall = body.successors
        arms = [(i, g) for i, g in ((taken, branch.guard), (fall, _opposite(branch.guard))) if self._is_arm(i, index)]
        after = {self.bodies[i].successors[0] for i, _ in arms}
        if len(arms) == 2 and len(after) == 1:
            (join,) = after
            return self._take(index, arms, join) or self._take(index, arms[::-1], join)
        for arm, other in ((a, taken if a[0] == fall else fall) for a in arms):
            if self.bodies[arm[0]].successors == (other,):
                return self._take(index, [arm], other)
        return False

    def _is_arm(self, index: int, branching: int) -> bool:
        straight = self.bodies[index].straight()
        if straight is None or index in (0, branching) or self.predecessors[index] != 1:
            return False
        return all(map(_is_convertible, straight)) and _length(straight) <= self.limit

    def _take(self, index: int, arms: list[tuple[int, Guard]], join: int) -> bool:
        body = self.bodies[index]
        codes = [(self.bodies[i].straight() or [], g) for i, g in arms]
        predicate = codes[0][1].register
        if any(predicate in i.defined for code, _ in codes for i in code):
            return False
        merged = self._alternatives(codes, arms, self.live_in[join])
        if merged is None:
            return False
        body.instructions[-1:] = merged
        body.successors = (join,)
        for arm, _ in arms:
            del self.bodies[arm]
        self.predecessors[join] -= 1
        self._join(index, join)
        return True

    def _alternatives(
        self, codes: list[tuple[list[Instruction], Guard]], arms: list[tuple[int, Guard]], wanted: frozenset[str]
    ) -> list[Instruction] | None:
        """The code of all alternatives, one after the other; None where a result would have to be set twice."""
        codes = [(_without_copies(code, wanted), guard) for code, guard in codes]
        if len(codes) == 1:
            code, guard = codes[0]
            return _guarded(code, guard, wanted)
        (first, guard), (second, opposite) = codes
        needed = self.live_in[arms[1][0]]
        if not _sets_alone(first, wanted - needed):
            return None
        return _selected([*_guarded(first, guard, needed), *_guarded(second, opposite, wanted)])

    def _join(self, index: int, join: int) -> None:
        """Go on to the join: by merging with it, falling into it or branching."""
        body, following = self.bodies[index], self.bodies[join]
        following_in_order = min((i for i in self.bodies if i > index), default=-1)
        if self.predecessors[join] == 1 and join == following_in_order:
            body.instructions += following.instructions
            body.successors = following.successors
            del self.bodies[join]
        elif join != following_in_order:
            body.instructions.append(Instruction("bra", (), (Label(following.label),)))

    def _numbered(self) -> Kernel:
        number = {old: new for new, old in enumerate(sorted(self.bodies))}
        blocks = tuple(
            Block(number[old], body.label, tuple(body.instructions), tuple(number[s] for s in body.successors))
            for old, body in sorted(self.bodies.items())
        )
        return replace(self.kernel, blocks=blocks, analyses={})


def _is_convertible(instruction: Instruction) -> bool:
    return instruction.guard is None and (is_pure(instruction) or instruction.opcode in MEMORY)


def _length(code: list[Instruction]) -> int:
    """How many instructions machine code has for these: a product or shift that only a sum reads is part of it."""
    reads = Counter(r.name for instruction in code for r in instruction.used)
    absorbed: set[str] = set()
    length = 0
    for instruction in reversed(code):
        target = instruction.operands[0] if instruction.operands else None
        part = instruction.opcode in ABSORBED and isinstance(target, Register) and target.name in absorbed
        length += 0 if part else _cost(instruction)
        if instruction.opcode == "add" or (part and instruction.opcode == "shl"):
            absorbed.update(r.name for r in instruction.used if reads[r.name] == 1)
    return length


def _cost(instruction: Instruction) -> int:
    """1, or 0 for what machine code has as an operand of another instruction."""
    if reads_parameter(instruction) or instruction.opcode == "cvta":
        return 0
    return 0 if instruction.opcode == "mov" and isinstance(instruction.operands[1], Immediate) else 1


def _opposite(guard: Guard) -> Guard:
    return Guard(guard.register, not guard.negated)


def _guarded(code: list[Instruction], guard: Guard, wanted: frozenset[str]) -> list[Instruction]:
    """``code`` under a guard, but for what computes only for readers that are not under it and are not ``wanted``."""
    held: set[str] = set()
    result = []
    for instruction in code:
        free = (is_pure(instruction) or reads_parameter(instruction)) and not any(
            r.name in wanted for r in instruction.defined
        )
        if free and not any(r.name in held for r in instruction.used):
            held.difference_update(r.name for r in instruction.defined)
            result.append(instruction)
        else:
            held.update(r.name for r in instruction.defined)
            result.append(replace(instruction, guard=guard))
    return result


def _sets_alone(code: list[Instruction], wanted: frozenset[str]) -> bool:
    """Whether all results that live on can be set for every thread: pure, and of operands that every thread has."""
    held: set[str] = set()
    for instruction in code:
        free = is_pure(instruction) or reads_parameter(instruction)
        if not free or any(r.name in held for r in instruction.used):
            held.update(r.name for r in instruction.defined)
        else:
            held.difference_update(r.name for r in instruction.defined)
    return not held & wanted


def _without_copies(code: list[Instruction], wanted: frozenset[str]) -> list[Instruction]:
    """``add t, a, b; mov r, t`` sets r itself where nothing else wants t and r is left alone in between."""
    code = list(code)
    position = len(code)
    while position:
        position -= 1
        copy = code[position]
        if copy.opcode != "mov" or len(copy.operands) != 2:
            continue
        target, source = copy.operands
        made = _maker(code, position, target, source, wanted)
        if made is not None and isinstance(target, Register):
            code[made] = replace(code[made], operands=(target, *code[made].operands[1:]))
            del code[position]
    return code


def _maker(
    code: list[Instruction], position: int, target: Operand, source: Operand, wanted: frozenset[str]
) -> int | None:
    """Where the value that a copy moves is made, if the copy is its only reader."""
    if not isinstance(target, Register) or not isinstance(source, Register) or target.type.bits != source.type.bits:
        return None
    readers = sum(source in i.used for i in code)
    makers = [i for i, one in enumerate(code) if source in one.defined]
    if readers != 1 or len(makers) != 1 or source.name in wanted or makers[0] >= position:
        return None
    between = code[makers[0] : position]
    alone = code[makers[0]].operands[0] == source
    return makers[0] if alone and not any(target in (*i.defined, *i.used) for i in between) else None


def _selected(code: list[Instruction]) -> list[Instruction]:
    """``mov r, a; @p mov r, b`` as ``selp r, b, a, p``."""
    result: list[Instruction] = []
    for instruction in code:
        first = _overwritten(result, instruction)
        if first is None or instruction.guard is None:
            result.append(instruction)
            continue
        target, chosen = instruction.operands
        other = result.pop(first).operands[1]
        guard = instruction.guard
        values = (other, chosen) if guard.negated else (chosen, other)
        result.append(replace(instruction, opcode="selp", operands=(target, *values, guard.register), guard=None))
    return result


def _overwritten(code: list[Instruction], move: Instruction) -> int | None:
    """Where the same register is moved to for all threads, with nothing in between that reads it or sets its source."""
    if not _is_word_move(move) or move.guard is None:
        return None
    target = move.operands[0]
    for position in reversed(range(len(code))):
        earlier = code[position]
        if target in earlier.defined:
            plain = _is_word_move(earlier) and earlier.guard is None and earlier.modifiers == move.modifiers
            later = {r for i in code[position + 1 :] for r in i.defined}
            return position if plain and earlier.operands[1] not in later else None
        if target in earlier.used:
            return None
    return None


def _is_word_move(instruction: Instruction) -> bool:
    """A move that a selection can stand for."""
    if instruction.opcode != "mov" or len(instruction.operands) != 2 or not instruction.types:
        return False
    target, source = instruction.operands
    plain = isinstance(target, Register) and isinstance(source, (Register, Immediate))
    return plain and instruction.modifiers[-1] in SELECTED
