"""Where machine code has an instruction of the PTX, by the blocks around it."""

from __future__ import annotations

from collections import Counter

from tests.codegen.texts import kernel

from warpreg.ir.kernel import Kernel
from warpreg_workbench.compiler.instruction_placement import LOOP, SEVERAL, SINKS, STAYS, machine_places, places
from warpreg_workbench.compiler.vendor_compiler import DisassemblyLine

BODY = """ld.shared.u32 %r9, [0];
shr.u32 %r2, %r9, 5;
mov.u32 %r3, %tid.x;
L: st.shared.u32 [8], %r9;
setp.lt.s32 %p1, %r9, 9;
@%p1 bra L;
st.shared.u32 [4], %r2;
st.shared.u32 [12], %r3;
ret;"""
"""%r2 and %r3 could be computed behind the loop."""


def lines(program: Kernel) -> dict[str, int]:
    """The line of each instruction by its text."""
    return {str(i): i.location.line for i in program.instructions() if i.location}


def listed(program: Kernel, *code: tuple[str, str]) -> list[DisassemblyLine]:
    """Machine code: opcodes and the PTX that they come from; ``label:`` begins a block."""
    at = lines(program)
    return [
        DisassemblyLine(opcode.split(":")[-1], "", (".L",) if ":" in opcode else (), at[text]) for opcode, text in code
    ]


def test_a_machine_block_is_that_of_most_of_its_fixed_instructions() -> None:
    program = kernel(BODY)
    code = listed(
        program,
        ("LDS", "ld.shared.u32 %r9, [0]"),
        ("SHF.R", "shr.u32 %r2, %r9, 5"),
        ("L:STS", "st.shared.u32 [8], %r9"),
        ("BRA", "@%p1 bra L"),
        ("S2R", "mov.u32 %r3, %tid.x"),
        ("STS", "st.shared.u32 [4], %r2"),
        ("STS", "st.shared.u32 [12], %r3"),
        ("EXIT", "ret"),
    )
    at, found = lines(program), machine_places(program, code)
    assert found[at["shr.u32 %r2, %r9, 5"]] == {0}
    assert found[at["mov.u32 %r3, %tid.x"]] == {2}
    assert found[at["st.shared.u32 [8], %r9"]] == {1}
    assert Counter(places(program, code)) == {(LOOP, STAYS): 1, (LOOP, SINKS): 1}


def test_an_instruction_in_both_blocks_is_in_several() -> None:
    """That of %r2 is in none: the machine code has folded it into another."""
    program = kernel(BODY)
    code = listed(
        program,
        ("LDS", "ld.shared.u32 %r9, [0]"),
        ("S2R", "mov.u32 %r3, %tid.x"),
        ("L:STS", "st.shared.u32 [8], %r9"),
        ("BRA", "@%p1 bra L"),
        ("S2R", "mov.u32 %r3, %tid.x"),
        ("STS", "st.shared.u32 [12], %r3"),
    )
    assert Counter(places(program, code)) == {(LOOP, SEVERAL): 1}
