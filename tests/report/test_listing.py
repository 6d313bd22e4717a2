"""The annotated listing of a kernel small enough to draw by hand."""

from __future__ import annotations

from warpreg.ir.instruction import Guard, Instruction
from warpreg.ir.kernel import Block, Kernel
from warpreg.ir.module import Module
from warpreg.ir.operands import Address, Immediate, Register
from warpreg.ir.types import B64, PRED, S32
from warpreg.report.listing import listing

R0, R1, R4 = (Register(f"R{n}", S32, n) for n in (0, 1, 4))
WIDE = Register("R2", B64, 2)
P0 = Register("P0", PRED, 0)


def kernel(*instructions: Instruction) -> Kernel:
    module = Module("8.0", ("sm_75",), 64, ())
    return Kernel("k", (), (Block(0, "ENTRY", instructions, ()),), module, register_count=5, predicate_count=1)


def example() -> Kernel:
    return kernel(
        Instruction("mov", ("u32",), (R0, Immediate(7))),
        Instruction("mov", ("b64",), (WIDE, Immediate(64))),
        Instruction("add", ("s32",), (R1, R0, R0)),
        Instruction("setp", ("lt", "s32"), (P0, R1, R0)),
        Instruction("add", ("s32",), (R1, R1, Immediate(1)), Guard(P0)),
        Instruction("mov", ("u32",), (R4, Immediate(0))),
        Instruction("st", ("global", "s32"), (Address(WIDE), R1)),
    )


def test_ranges_start_pass_and_end() -> None:
    (block,) = listing(example()).blocks
    assert [line.ranges for line in block.lines] == [
        "┬     ",  # R0 begins
        "│ ┬┬  ",  # the pair R2, R3 begins
        "├┬││  ",  # R0 is read and lives on, R1 begins
        "┴├││ ┬",  # R0 is read for the last time; P0 begins
        " ┼││ ┴",  # guarded: R1 is merged; P0 ends
        " │││· ",  # R4 is never read
        " ┴┴┴  ",
    ]


def test_pressure_counts_32_bit_registers_and_no_predicates() -> None:
    listed = listing(example())
    assert [line.pressure for line in listed.blocks[0].lines] == [1, 3, 4, 3, 3, 3, 0]
    assert listed.pressure == 4


def test_the_header_numbers_the_columns() -> None:
    assert listing(example()).header() == ("0    P", "012340")


def test_plain_text_has_one_line_for_each_instruction_and_block() -> None:
    lines = list(listing(example()).text())
    assert lines[2] == "block 0 ENTRY (end)"
    assert lines[6] == "    3 ┴├││ ┬    3  setp.lt.s32 P0, R1, R0"
    assert len(lines) == 2 + 1 + 7
