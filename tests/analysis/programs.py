"""Small kernels for tests: from successor lists, from a few instructions per block, and at random."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypothesis import strategies as st

from warpreg.ir.instruction import Guard, Instruction
from warpreg.ir.kernel import Block, Kernel
from warpreg.ir.module import Module
from warpreg.ir.operands import Immediate, Label, Register
from warpreg.ir.types import B32, PRED

MODULE = Module("8.0", ("sm_75",), 64, ())
NAMES = ("a", "b", "c", "d")
FLAG = Register("flag", PRED)


def register(name: str) -> Register:
    """A 32-bit virtual register."""
    return Register(name, B32)


def add(target: str, *sources: str, when: str = "") -> Instruction:
    """``add target, sources``; a second source that is missing is 1; ``when`` guards it."""
    operands = [register(s) for s in sources]
    guard = Guard(Register(when, PRED)) if when else None
    filler = [Immediate(1)] * (2 - len(operands))
    return Instruction("add", ("s32",), (register(target), *operands, *filler), guard)


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


@st.composite
def programs(draw: st.DrawFn) -> Kernel:
    """A random graph with up to four additions a block, some guarded."""
    shape = draw(graphs(6))
    name = st.sampled_from(NAMES)
    instruction = st.builds(add, name, name, name, when=st.sampled_from(["", "", "", "flag"]))
    bodies = {i: draw(st.lists(instruction, max_size=4)) for i in range(len(shape))}
    return kernel(shape, bodies)
