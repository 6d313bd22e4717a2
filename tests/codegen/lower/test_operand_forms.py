"""An instruction with invalid operands is rejected with its place before any pass."""

from __future__ import annotations

import re

import pytest
from tests.codegen.texts import kernel

from warpreg.ir.errors import UnsupportedError


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("add.s32 %r1, %r2;", "add.s32 does not take 1 results and 1 sources"),
        ("add %r1, %r2, %r3;", "add is not supported"),
        ("add.s32 7, %r2, %r3;", "cannot write '7'"),
        ("add.s64 %rd1, %r2, %rd3;", "has '%r2' where a s64 is read"),
        ("add.s32 %rs1, %r2, %r3;", "has '%rs1' where a s32 is written"),
        ("add.s32 %r1, %p2, %r3;", "has '%p2' where a s32 is read"),
        ("selp.s32 %r1, %r2, %r3, %r4;", "has '%r4' where a pred is read"),
        ("setp.eq.s32 %r1, %r2, %r3;", "has '%r1' where a pred is written"),
        ("ld.global.u32 %r1, %rd1;", "has 0 addresses, expected 1"),
        ("ld.global.v4.u32 %r1, [%rd1];", "does not take 1 results and 1 sources"),
        ("st.global.u32 [%rs1], %r1;", "has '[%rs1]' where a u64 is read"),
        ("st.global.u32 [%rd1], [%rd2];", "has 2 addresses, expected 1"),
        ("cvta.to.global.u64 %rd1;", "does not take 1 results and 0 sources"),
        ("mov.b64 %rd1, {%r1, %rs2};", "has '%rs2' where a b32 is read"),
    ],
)
def test_operands_that_do_not_belong(statement: str, said: str) -> None:
    with pytest.raises(UnsupportedError, match=re.escape(said)) as caught:
        kernel("\n" + statement + "\nret;")
    assert str(caught.value).startswith("<ptx>:")


def test_an_opcode_without_a_row_waits_until_it_is_run() -> None:
    kernel("frobnicate.s32 %r1, %p1, {%r2};\nret;")
