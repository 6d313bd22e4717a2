"""Single instructions of a listing: their operands, and what is refused."""

from __future__ import annotations

import re

import pytest

from warpreg import ptx
from warpreg.codegen import build_kernel
from warpreg.ir.errors import UnsupportedError, WarpregError
from warpreg.ir.instruction import Instruction
from warpreg.ir.opcodes.sass.pattern import operand_pattern
from warpreg.ir.operands import Address, Immediate, Register
from warpreg.machine_code import listing
from warpreg.machine_code.code import Code
from warpreg.machine_code.cubin import Cubin, KernelRecord
from warpreg.machine_code.lift import lift

MODULE = ptx.parse(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry f() { ret; }")


def lifted(text: str, immediate: int = 0) -> Instruction:
    """An instruction whose encoding has these bits for a constant."""
    lines = [(text, immediate << 32), ("EXIT", 0)]
    body = [
        f"  /*{16 * n:04x}*/  {code} ;  /* 0x{lower:016x} */\n  /* 0x{0:016x} */\n"
        for n, (code, lower) in enumerate(lines)
    ]
    function = listing.parse("Function : f\n" + "".join(body)).functions["f"]
    records = Cubin({"f": KernelRecord("f", 16, parameter_base=0x160)}, {}, {}, {})
    return next(iter(lift(Code(function, "sm_80", records), build_kernel(MODULE, "f")).instructions()))


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("FSEL R0, R0, +QNAN , !P0", 0x7FFFFFFF),
        ("FSEL R0, R0, -QNAN , P0", 0xFFF00000),
        ("FADD R0, R0, +SNAN", 0x7F800001),
    ],
)
def test_a_nan_has_the_bits_of_the_encoding(text: str, bits: int) -> None:
    """0xfff00000 is the upper word of an infinite double."""
    assert lifted(text, bits).sources[1] == Immediate(bits, "f32")


def test_a_nan_of_a_double_is_its_upper_word() -> None:
    assert lifted("DADD R0, R0, +QNAN", 0x7FF80000).sources[1] == Immediate(0x7FF80000 << 32, "f64")


def test_a_constant_may_be_listed_with_a_space() -> None:
    """As ``nvdisasm`` does in front of a part."""
    found = lifted("PLOP3.LUT P1, PT, R0.SIGN, c[0x0] [0x164].SIGN, R2.SIGN, 0x2, 0x0")
    assert str(found.sources[1]) == "c[0][0x164].SIGN"


@pytest.mark.parametrize("type_", ["64", "S64", "U64", "F64"])
def test_an_atomic_of_64_bits_takes_a_pair(type_: str) -> None:
    for opcode, position in (("RED", 1), ("ATOMG", 1), ("ATOMS", 1)):
        pattern = operand_pattern(opcode, ("MIN", type_))
        assert pattern
        assert str(pattern.sources[position].kind) == "b64"


@pytest.mark.parametrize("text", ["QSPC.E.S P5, RZ, [RZ.U32+UR4]", "LDG.E R0, [R2.U32+UR4+0x8]"])
def test_a_uniform_register_of_a_wide_address_is_a_pair(text: str) -> None:
    (address,) = (source for source in lifted(text).sources if isinstance(source, Address))
    assert address.uniform
    assert (address.uniform.type.bits, address.base.type.bits if isinstance(address.base, Register) else 32) == (64, 32)


@pytest.mark.parametrize("text", ["ATOMS.EXCH.128 R4, [R0], R4", "RED.E.ADD.BF16x2.RN.STRONG.GPU [R2.64], R0"])
def test_modifiers_that_no_row_has_are_refused(text: str) -> None:
    with pytest.raises(UnsupportedError, match=text.split()[0].replace(".", r"\.")):
        lifted(text)


@pytest.mark.parametrize(
    ("text", "purpose"),
    [
        ("HGMMA.64x64x16.F32 R24, gdesc[UR8], RZ, !UPT", "multiplies matrices of a warp group (wgmma)"),
        ("UTMALDG.2D [UR8], [UR4], desc[UR6]", "copies tensors (cp.async.bulk.tensor)"),
        ("SYNCS.ARRIVE.TRANS64.TMASK.ART0 R2, [R2+URZ], R9", "arrives without completing a phase (mbarrier.arrive."),
        ("STAS [R4.64], R0", "writes to shared memory of a cluster of thread blocks (st.async, red.async)"),
        ("UCGABAR_ARV", "belongs to a cluster of thread blocks"),
        ("ATOMS.ARRIVE.64 R2, [URZ]", "counts arrivals (mbarrier on sm_80)"),
        ("HMMA.SP.16816.F32 R4, R4, R6, RZ, R6, 0x0", "multiplies sparse matrices (mma.sp)"),
        ("R2B.RESULT RZ, P0", "sets a barrier from a register"),
    ],
)
def test_what_is_refused_says_what_it_does(text: str, purpose: str) -> None:
    opcode = text.split()[0]
    with pytest.raises(UnsupportedError, match=f"^listing:2: {re.escape(opcode)} {re.escape(purpose)}.*, which is not"):
        lifted(text)


def test_an_address_is_that_of_the_instruction_or_of_a_label() -> None:
    """``LEPC`` is the second instruction, at byte 0x10."""
    text = (
        "Function : f\n /*0000*/ NOP ;\n /*0010*/ LEPC R4 ;\n.L_x_1:\n /*0020*/ LEPC R6, `(.L_x_1) ;\n /*0030*/ EXIT ;"
    )
    records = Cubin({"f": KernelRecord("f", 16, parameter_base=0x160)}, {}, {}, {})
    kernel = lift(Code(listing.parse(text).functions["f"], "sm_80", records), build_kernel(MODULE, "f"))
    found = [i for i in kernel.instructions() if i.opcode == "LEPC"]
    assert [i.sources for i in found] == [(Immediate(0x10),), (Immediate(0x20),)]


def test_a_word_that_no_launch_writes_is_refused() -> None:
    """The generic address of bank 3."""
    with pytest.raises(WarpregError, match=r"nothing is known to be at c\[0\]\[0x50\]"):
        lifted("MOV R0, c[0x0][0x50]")
