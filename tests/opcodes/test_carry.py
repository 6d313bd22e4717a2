"""Carry chains that mix sums and differences: the flag is the carry of the machine's adder, not a borrow."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference.interpreter import Reference

from warpreg.codegen import CompileOptions
from warpreg.simt import Device

CASES = {
    "sub.cc.u32 %z, 1, 2; addc.u32 %r, 0, 0;": 0,
    "sub.cc.u32 %z, 2, 1; addc.u32 %r, 0, 0;": 1,
    "sub.cc.u32 %z, 2, 2; addc.u32 %r, 0, 0;": 1,
    "add.cc.u32 %z, -1, 1; subc.u32 %r, 7, 0;": 7,
    "add.cc.u32 %z, 1, 1; subc.u32 %r, 7, 0;": 6,
    "sub.cc.s32 %z, 1, 2; subc.cc.s32 %z, 5, 5; addc.s32 %r, 0, 0;": 0,
    "sub.cc.u64 %w, 0, 1; addc.u32 %r, 3, 4;": 7,
    "sub.cc.u64 %w, 1, 0; addc.u32 %r, 3, 4;": 8,
    "add.cc.u64 %w, -1, 1; subc.u64 %w, 9, 1; cvt.u32.u64 %r, %w;": 8,
    "add.cc.u32 %z, -1, 1; subc.u64 %w, 0, 0; shr.u64 %w, %w, 40; cvt.u32.u64 %r, %w;": 0,
    "add.cc.u32 %z, 1, 1; subc.u64 %w, 0, 0; shr.u64 %w, %w, 40; cvt.u32.u64 %r, %w;": 0xFFFFFF,
    "mad.lo.cc.u32 %z, -1, 1, 1; subc.u32 %r, 7, 0;": 7,
    "sub.cc.u32 %z, 1, 2; madc.lo.u32 %r, 2, 3, 4;": 10,
}
"""What a chain leaves in ``%r``: a difference a - b is the sum a + ~b + 1, and ``subc`` adds the flag in place of 1."""


def text(chain: str, constant: bool) -> str:
    """The chain on constants, or on registers that hold them."""
    loads = ""
    if not constant:
        statements = []
        for number, statement in enumerate(chain.split(";")[:-1]):
            opcode, operands = statement.strip().split(" ", 1)
            first, *rest = operands.split(", ")
            kind = opcode.rsplit(".", 1)[1]
            for place, operand in enumerate(rest):
                if not operand.startswith("%") and not opcode.startswith(("shr", "cvt")):
                    name = f"%k{number}_{place}"
                    loads += (
                        f".reg .b{kind[1:]} {name}; add.{kind} {name}, {'%o' if kind[1:] == '32' else '%q'}, {operand};"
                    )
                    rest[place] = name
            statements.append(f"{opcode} {', '.join((first, *rest))};")
        chain = " ".join(statements)
    return f""".version 8.0
.target sm_75
.address_size 64
.entry k(.param .u64 out, .param .u32 o) {{
.reg .u64 %a, %w, %q; .reg .u32 %r, %z, %o;
ld.param.u64 %a, [out]; ld.param.u32 %o, [o]; cvt.u64.u32 %q, %o;
{loads}
{chain}
st.global.u32 [%a], %r;
ret;
}}
"""


@pytest.mark.slow
@pytest.mark.parametrize("constant", [True, False], ids=["constants", "registers"])
@pytest.mark.parametrize("chain", CASES)
def test_the_flag_is_the_carry(chain: str, constant: bool) -> None:
    program = text(chain, constant)
    reference = Reference(program)
    buffer = reference.buffer(bytes(4))
    reference.launch("k", 1, 1, [buffer, 0])
    assert int.from_bytes(buffer.data, "little") == CASES[chain]
    for options in (None, CompileOptions(), CompileOptions(level="ptx")):
        device = Device(program, options=options)
        out = device.zeros(1, np.uint32)
        device.launch("k", 1, 1, out, 0)
        assert out.download()[0] == CASES[chain]
