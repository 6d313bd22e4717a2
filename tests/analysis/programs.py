"""Small kernels for tests: from successor lists, from a few instructions per block, and at random."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypothesis import strategies as st

from warpreg.ir.instruction import Guard, Instruction
from warpreg.ir.kernel import Block, Kernel
from warpreg.ir.module import Module
from warpreg.ir.operands import Immediate, Label, Pair, Register
from warpreg.ir.types import B32, PRED

MODULE = Module("8.0", ("sm_75",), 64, ())
NAMES = ("a", "b", "c", "d")
PREDICATES = ("flag", "p")
FLAG = Register("flag", PRED)


def register(name: str) -> Register:
    """A 32-bit virtual register."""
    return Register(name, B32)


def add(target: str, *sources: str, when: str = "") -> Instruction:
    """``add target, sources``; a second source that is missing is 1; ``when`` guards it, as ``p`` or ``!p``."""
    operands = [register(s) for s in sources]
    filler = [Immediate(1)] * (2 - len(operands))
    return Instruction("add", ("s32",), (register(target), *operands, *filler), _guard(when))


def setp(targets: str, *sources: str, when: str = "") -> Instruction:
    """``setp target, sources``; ``p|q`` are two targets; a second source that is missing is 1; ``when`` as in `add`."""
    predicates = [Register(name, PRED) for name in targets.split("|")]
    target = Pair(predicates[0], predicates[1]) if len(predicates) > 1 else predicates[0]
    operands = [register(s) for s in sources]
    filler = [Immediate(1)] * (2 - len(operands))
    return Instruction("setp", ("lt", "s32"), (target, *operands, *filler), _guard(when))


def _guard(when: str) -> Guard | None:
    return Guard(Register(when.lstrip("!"), PRED), when.startswith("!")) if when else None


def kernel(successors: Sequence[Sequence[int]], bodies: Mapping[int, Sequence[Instruction]] | None = None) -> Kernel:
    """One block for each list of successors; two successors are a branch guarded by ``flag``."""
    blocks = []
    for index, targets in enumerate(successors):
        body = (bodies or {}).get(index, ())
        blocks.append(Block(index, f"B{index}", (*body, *_end(targets)), tuple(targets)))
    return Kernel("test", (), tuple(blocks), MODULE)


def _end(targets: Sequence[int]) -> tuple[Instruction, ...]:
    if not targets:
        return (Instruction("ret", (), ()),)
    guard = Guard(FLAG) if len(targets) > 1 else None
    return (Instruction("bra", (), (Label(f"B{targets[0]}"),), guard),)


@st.composite
def graphs(draw: st.DrawFn, max_blocks: int = 9) -> list[list[int]]:
    """Successor lists of up to two, every block reachable from block 0."""
    count = draw(st.integers(1, max_blocks))
    edges = draw(st.lists(st.lists(st.integers(0, count - 1), max_size=2), min_size=count, max_size=count))
    reached = [0]
    for block in reached:
        reached += [t for t in dict.fromkeys(edges[block]) if t not in reached]
    number = {block: i for i, block in enumerate(reached)}
    return [[number[t] for t in edges[block]] for block in reached]


GUARDS = st.sampled_from(["", "", "", "", "flag", "!flag", "p", "!p"])
COMPARED = st.sampled_from(["flag", "p", "p|flag", "flag|p"])


@st.composite
def under_one_guard(draw: st.DrawFn) -> list[Instruction]:
    """A guarded write of a name and a read under the same guard, whose predicate may be written in between."""
    guard, name, other = draw(GUARDS.filter(bool)), draw(st.sampled_from(NAMES)), draw(st.sampled_from(NAMES))
    between = draw(st.lists(st.builds(setp, COMPARED, st.sampled_from(NAMES), when=GUARDS), max_size=2))
    return [add(name, when=guard), *between, add(other, name, when=guard)]


@st.composite
def programs(draw: st.DrawFn) -> Kernel:
    """A random graph with up to eight additions and comparisons a block, some guarded.

    Comparisons write the predicates of guards before and after them.
    """
    shape = draw(graphs(6))
    name = st.sampled_from(NAMES)
    addition = st.builds(add, name, name, when=GUARDS)
    fresh = st.builds(add, name)
    comparison = st.builds(setp, COMPARED, name, when=GUARDS)
    piece = st.one_of(
        st.builds(add, name, name, name, when=GUARDS).map(_alone),
        addition.map(_alone),
        fresh.map(_alone),
        comparison.map(_alone),
        under_one_guard(),
    )
    bodies = {i: [one for part in draw(st.lists(piece, max_size=4)) for one in part] for i in range(len(shape))}
    return kernel(shape, bodies)


def _alone(instruction: Instruction) -> list[Instruction]:
    return [instruction]
