"""If-conversion: replaces short branches by guarded instructions, as NVIDIA's compilers do.

::

    @p bra J                      mul r, a, b
    A: mul r, a, b                @!p st [x], r
       st [x], r         ->       J: ...
    J: ...

Only unrolling changes a kernel's blocks after it.  Later passes keep every block, so that one recorded path serves all
versions of a kernel.  Instructions whose results are not live after the branch run unguarded; loads, stores, atomics
and live results are guarded.  Of two alternatives, the first may write their common results in all threads, and two
moves become a select.  Both orders are tried.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from warpreg.analysis.liveness import liveness
from warpreg.codegen.machine.side_effects import is_pure, reads_parameter
from warpreg.ir.instruction import Guard, Instruction
from warpreg.ir.kernel import Block, Kernel
from warpreg.ir.operands import Immediate, Label, Operand, Register

LIMIT = 7
"""The most instructions of an alternative, without those that are free in machine code; as in ptxas's output."""
SELECTED = frozenset({"b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64"})
ABSORBED = frozenset({"mul", "shl", "cvt"})
"""Opcodes that are merged into the sum that reads them: a multiply-add, a scaled or a widened address."""


def predicated(kernel: Kernel, limit: int = LIMIT) -> Kernel:
    """The kernel with alternatives of at most ``limit`` instructions if-converted, and blocks renumbered."""
    return _Predication(kernel, limit).result()


@dataclass
class _Body:
    """A block under construction."""

    label: str
    instructions: list[Instruction]
    successors: tuple[int, ...]

    @property
    def branch(self) -> Instruction | None:
        last = self.instructions[-1] if self.instructions else None
        return last if last and last.traits.is_branch else None

    @property
    def ends(self) -> bool:
        """Whether the last instruction is a branch, or one at which the warp may stop."""
        return bool(self.instructions) and self.instructions[-1].traits.ends_block

    def straight(self) -> list[Instruction] | None:
        """The instructions without a final unconditional branch; None for a block that ends with another branch."""
        branch = self.branch
        if branch and branch.traits.is_direct and branch.guard is None:
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
        """If-convert the branch of a block if its alternatives are short enough."""
        body = self.bodies[index]
        branch = body.branch
        if branch is None or branch.guard is None or not branch.traits.is_direct or len(set(body.successors)) != 2:
            return False
        taken, fall = body.successors
        arms = [(i, g) for i, g in ((taken, branch.guard), (fall, _negated(branch.guard))) if self._is_arm(i, index)]
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
        self, codes: list[tuple[list[Instruction], Guard]], arms: list[tuple[int, Guard]], live_out: frozenset[str]
    ) -> list[Instruction] | None:
        """The code of all alternatives in sequence; None if a result would have to be written twice."""
        codes = [(_without_copies(code, live_out), guard) for code, guard in codes]
        if len(codes) == 1:
            code, guard = codes[0]
            return _guarded(code, guard, live_out)
        (first, guard), (second, opposite) = codes
        needed = self.live_in[arms[1][0]]
        if not _runs_unguarded(first, live_out - needed):
            return None
        return _selected([*_guarded(first, guard, needed), *_guarded(second, opposite, live_out)])

    def _join(self, index: int, join: int) -> None:
        """Continue at the join: by merging with it, falling through or branching."""
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
    return instruction.guard is None and (is_pure(instruction) or instruction.traits.accesses_elements)


def _length(code: list[Instruction]) -> int:
    """The number of machine instructions for ``code``: a product or shift that only a sum reads is part of the sum."""
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
    """1, or 0 for an instruction that machine code encodes as an operand of another one."""
    if reads_parameter(instruction) or instruction.opcode == "cvta":
        return 0
    return 0 if instruction.opcode == "mov" and isinstance(instruction.operands[1], Immediate) else 1


def _negated(guard: Guard) -> Guard:
    return Guard(guard.register, not guard.negated)


def _guarded(code: list[Instruction], guard: Guard, live_out: frozenset[str]) -> list[Instruction]:
    """``code`` under a guard, except pure instructions that no thread can observe.

    Those write nothing in ``live_out`` and read nothing that is written only under the guard.
    """
    held: set[str] = set()
    result = []
    for instruction in code:
        free = (is_pure(instruction) or reads_parameter(instruction)) and not any(
            r.name in live_out for r in instruction.defined
        )
        if free and not any(r.name in held for r in instruction.used):
            held.difference_update(r.name for r in instruction.defined)
            result.append(instruction)
        else:
            held.update(r.name for r in instruction.defined)
            result.append(replace(instruction, guard=guard))
    return result


def _runs_unguarded(code: list[Instruction], live_out: frozenset[str]) -> bool:
    """Whether all live results can be written in every thread: pure, with operands defined in every thread."""
    held: set[str] = set()
    for instruction in code:
        free = is_pure(instruction) or reads_parameter(instruction)
        if not free or any(r.name in held for r in instruction.used):
            held.update(r.name for r in instruction.defined)
        else:
            held.difference_update(r.name for r in instruction.defined)
    return not held & live_out


def _without_copies(code: list[Instruction], live_out: frozenset[str]) -> list[Instruction]:
    """``add t, a, b; mov r, t`` writes r directly if nothing else reads t and nothing in between accesses r."""
    code = list(code)
    position = len(code)
    while position:
        position -= 1
        copy = code[position]
        if copy.opcode != "mov" or len(copy.operands) != 2:
            continue
        target, source = copy.operands
        made = _copied_definition(code, position, target, source, live_out)
        if made is not None and isinstance(target, Register):
            code[made] = replace(code[made], operands=(target, *code[made].operands[1:]))
            del code[position]
    return code


def _copied_definition(
    code: list[Instruction], position: int, target: Operand, source: Operand, live_out: frozenset[str]
) -> int | None:
    """The position of the definition of a copied value, if the copy is its only reader."""
    if not isinstance(target, Register) or not isinstance(source, Register) or target.type.bits != source.type.bits:
        return None
    readers = sum(source in i.used for i in code)
    definitions = [i for i, one in enumerate(code) if source in one.defined]
    if readers != 1 or len(definitions) != 1 or source.name in live_out or definitions[0] >= position:
        return None
    between = code[definitions[0] : position]
    alone = code[definitions[0]].operands[0] == source
    return definitions[0] if alone and not any(target in (*i.defined, *i.used) for i in between) else None


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
    """The position of an unguarded move to the same register, with no read of it or write to its source in between."""
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
    """Whether a move can be replaced by a select."""
    if instruction.opcode != "mov" or len(instruction.operands) != 2 or not instruction.types:
        return False
    target, source = instruction.operands
    plain = isinstance(target, Register) and isinstance(source, (Register, Immediate))
    return plain and instruction.modifiers[-1] in SELECTED
