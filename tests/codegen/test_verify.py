"""Kernels that violate an invariant are rejected with the place."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.codegen.texts import kernel

from warpreg.codegen.pipeline import compile
from warpreg.codegen.verify import VerificationError, verify
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Block, Kernel
from warpreg.ir.operands import Immediate, Label, Register
from warpreg.ir.types import B32, B64, PRED

BODY = "mov.u32 %r1, %tid.x; setp.lt.s32 %p1, %r1, 5; @%p1 bra A; mov.u32 %r1, 0; A: st.shared.u32 [0], %r1; ret;"


def broken(program: Kernel, block: int, **changes: object) -> Kernel:
    """The kernel with one block changed."""
    blocks = list(program.blocks)
    blocks[block] = replace(blocks[block], **changes)  # type: ignore[arg-type]
    return replace(program, blocks=tuple(blocks), analyses={})


def appended(program: Kernel, instruction: Instruction) -> Kernel:
    """The kernel with one instruction more at the start of block 1."""
    return broken(program, 1, instructions=(instruction, *program.blocks[1].instructions))


def test_a_built_and_a_compiled_kernel_are_well_formed() -> None:
    program = kernel(BODY)
    verify(program)
    verify(compile(program), program)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"index": 4}, "has index 4"),
        ({"successors": (2, 7)}, "go beyond the kernel"),
        ({"successors": (2,)}, "has 1 successors after '@%p1 bra A'"),
        ({"successors": (1, 2)}, r"should go to \$B1"),
    ],
)
def test_wrong_control_flow_is_found(changes: dict[str, object], message: str) -> None:
    with pytest.raises(VerificationError, match=message):
        verify(broken(kernel(BODY), 0, **changes))


def test_a_branch_within_a_block_is_found() -> None:
    with pytest.raises(VerificationError, match="'bra A' does not end the block"):
        verify(appended(kernel(BODY), Instruction("bra", (), (Label("A"),))))


def test_an_operand_of_the_wrong_width_is_found() -> None:
    narrow = Instruction("add", ("s64",), (Register("w", B64), Register("n", B32), Immediate(1)))
    with pytest.raises(VerificationError, match="'n' does not fit a slot of type s64"):
        verify(appended(kernel(BODY), narrow))
    flag = Instruction("mov", ("u32",), (Register("n", B32), Register("p", PRED)))
    with pytest.raises(VerificationError, match="'p' does not fit"):
        verify(appended(kernel(BODY), flag))


def test_an_odd_pair_and_a_register_beyond_the_count_are_found() -> None:
    program = compile(kernel(BODY))
    odd = Instruction("mov", ("b64",), (Register("R1", B64, 1), Immediate(0)))
    with pytest.raises(VerificationError, match="not an aligned group of 2"):
        verify(appended(program, odd))
    with pytest.raises(VerificationError, match="beyond 1 registers"):
        verify(appended(program, Instruction("mov", ("b32",), (Register("R9", B32, 9), Immediate(0)))))


def test_a_new_undefined_read_is_found() -> None:
    program = kernel(BODY)
    headless = broken(program, 0, instructions=program.blocks[0].instructions[1:])
    verify(headless)
    with pytest.raises(VerificationError, match="'%r1' is read where nothing defines it"):
        verify(headless, program)


def test_changed_blocks_are_found() -> None:
    program = kernel(BODY)
    with pytest.raises(VerificationError, match="blocks or successors changed"):
        verify(replace(program, blocks=(Block(0, "", (Instruction("ret", (), ()),), ()),), analyses={}), program)
