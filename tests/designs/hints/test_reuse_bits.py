"""Reuse flags of a kernel's sources, and those of the greedy pass where a kernel has none."""

from __future__ import annotations

from dataclasses import replace

from tests.timing.assembly import assemble, code

from warpreg.designs import program_table
from warpreg.designs.parts.hints.reuse_bits import code_bits, greedy_bits, uses_cache
from warpreg.ir.control_code import ControlCode
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.opcodes.sass.pattern import encoded_place

LINES = "mad.lo.s32 R1, R2, R4, R6\nmad.lo.s32 R3, R2, R8, R6\nadd.s32 R2, R2, R4"


def test_the_greedy_pass_keeps_what_the_next_read_of_the_place_names() -> None:
    """R2 at position 0 twice in a row, R6 at position 2 once; R4 meets R8 at position 1, and R8 meets R4."""
    kernel = code(LINES)
    assert greedy_bits(program_table(kernel), kernel).tolist() == [1, 0, 1, 1, 0, 0, 0, 0]


def test_flags_of_the_code_stand_when_a_design_inserts_instructions() -> None:
    """One instruction without a control code does not make the others' flags a matter of the greedy pass."""
    kernel = code(LINES)
    (block,) = kernel.blocks
    first, *rest = block.instructions
    marked = replace(first, control=ControlCode(), reuse=(1,))
    kernel = _with(kernel, (marked, assemble("mov.b32 R9, R9"), *rest))
    assert kernel.has_control_codes
    assert code_bits(program_table(kernel), kernel).tolist() == [0, 1, 0, 0, 0, 0, 0, 0, 0]


def test_a_flag_does_not_stand_over_a_write() -> None:
    """R2 is kept for the next read of its place.  With a move to R2 in between, that read would get the old value; a
    move to R3 is no matter.
    """
    for inserted, stands in (("mov.b32 R2, R9", 0), ("mov.b32 R3, R9", 1)):
        kernel = code("add.s32 R1, R2, R4\nadd.s32 R5, R2, R6")
        (block,) = kernel.blocks
        first, last = block.instructions
        marked = replace(first, control=ControlCode(), reuse=(0,))
        kernel = _with(kernel, (marked, assemble(inserted), last))
        assert code_bits(program_table(kernel), kernel).tolist() == [stands, 0, 0, 0, 0]


def test_a_counter_of_the_result_means_a_variable_latency() -> None:
    """Conversions and the like are arithmetic whose results have a counter; loads never use the cache."""
    kernel = code("add.s32 R1, R2, R3\nadd.s32 R1, R2, R3\nld.shared.u32 R1, [R2]")
    (block,) = kernel.blocks
    first, *rest = block.instructions
    counted = replace(first, control=ControlCode(write=0))
    assert uses_cache(_with(kernel, (counted, *rest))).tolist() == [0, 1, 0]


def _with(kernel: Kernel, instructions: tuple[Instruction, ...]) -> Kernel:
    (block,) = kernel.blocks
    return replace(kernel, blocks=(replace(block, instructions=instructions),))


def test_a_source_has_its_place_of_the_encoding() -> None:
    """``FADD`` names its second source in the third place, ``MOV`` its only one in the second (flags of ``ptxas``)."""
    places = {"FADD": (0, 2), "DADD": (0, 2), "MOV": (1,), "FFMA": (0, 1, 2), "IADD3": (0, 1, 2)}
    for opcode, expected in places.items():
        assert tuple(encoded_place(opcode, position) for position in range(len(expected))) == expected
