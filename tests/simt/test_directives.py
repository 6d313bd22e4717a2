"""A module with every directive: declarations take effect, advice changes nothing."""

from __future__ import annotations

import numpy as np
import pytest

from warpreg import ptx
from warpreg.codegen import CompileOptions
from warpreg.ir.instruction import Instruction
from warpreg.simt import Device

TEXT = """# 1 "kernel.cu"
#line 12 "other.cu"
// one comment
/* another
 one */
.version 8.6
.target sm_90, debug
.address_size 64
.file 1 "a.cu"
.file 2 "b.cu", 1234, 99
.extern .shared .align 16 .b8 dynamic[];
.visible .global .align 4 .u32 table[2][3] = {{1, 2, 3}, {4, 5, 6}};
.global .u64 places[2] = {generic(table), table+4};
.global .u8 bytes[8] = {0xFF(table), 0xFF00(table), 0xFF0000(table), 0xFF000000(table), 0xFF00000000(table),
    0xFF0000000000(table), 0xFF000000000000(table), 0xFF00000000000000(table)};
.global .b128 wide;
.weak .global .u32 weak_one = 5;
.common .global .u32 common_one;
.global .attribute(.managed) .u32 managed_one;
.const .f32 numbers[3] = {1.0, -2.5e3, 0f3F800000};
.visible .func (.param .b32 r) increment(.param .b32 x)
{
    .reg .b32 a;
    ld.param.b32 a, [x];
    add.u32 a, a, 1;
    st.param.b32 [r], a;
    ret;
}
.visible .func (.param .b32 r) other_name(.param .b32 x);
.alias other_name, increment;
.weak .entry weak_entry() { ret; }
.visible .entry k(.param .u64 .ptr .global .align 16 out)
.maxntid 256, 1, 1
.minnctapersm 2
.maxnreg 64
.pragma "nounroll";
{
    .reg .b64 %rd<4>;
    .reg .b32 %r<9>;
    .reg .pred %p<3>;
    .loc 1 5 3
    ld.param.u64 %rd1, [out];
    .loc 2 7 9, function_name $info, inlined_at 1 5 3
    ld.global.u32 %r1, [table+16];
    .pragma "nounroll";
    setp.ne.u32 %p1, %r1, 5;
    setp.ne.u32 %p2, %r1, 4;
    @!%p1 st.global.u32 [%rd1], %r1;
    { .reg .b32 %r1; mov.u32 %r1, 9; @%p2 st.global.u32 [%rd1+4], %r1;
      { .reg .b32 %r1; mov.u32 %r1,
          11; @%p2 st.global.u32 [%rd1+8], %r1; } }
    ld.global.u8 %r2, [bytes+1];
    ld.global.u32 %r4, [places];
    shr.u32 %r4, %r4, 8;
    and.b32 %r4, %r4, 255;
    sub.u32 %r2, %r2, %r4;
    st.global.u32 [%rd1+12], %r2;
    { .param .b32 a; .param .b32 b;
      st.param.b32 [a], 41; call (b), other_name, (a); ld.param.b32 %r5, [b]; }
    @%p2 st.global.u32 [%rd1+16], %r5;
    @%p2 bra done;
    trap;
done:
    ret;
}
.visible .entry clustered() .reqntid 32 .explicitcluster .maxclusterrank 8 { ret; }
.visible .entry one() .reqntid 32, 1, 1 .reqnctapercluster 1, 1, 1 .blocksareclusters { ret; }
.section .debug_str
{
$info:
.b8 107
}
"""


@pytest.mark.parametrize("options", [None, CompileOptions()])
def test_a_module_of_every_directive_runs(options: CompileOptions | None) -> None:
    device = Device(TEXT, options=options)
    out = device.zeros(5, np.uint32)
    device.launch("k", 1, 1, out)
    assert out.download().tolist() == [5, 9, 11, 0, 42]
    for name in ("weak_entry", "clustered", "one"):
        device.launch(name, 1, 32)


def test_preprocessor_lines_leave_the_places_of_instructions_alone() -> None:
    kernel = next(k for k in ptx.parse(TEXT).kernels if k.name == "k")
    first = next(s for s in kernel.body or () if isinstance(s, Instruction))
    line = TEXT[: TEXT.index("ld.param.u64 %rd1")].count("\n") + 1
    assert first.location is not None
    assert (first.location.line, first.location.column) == (line, 5)


def test_a_number_sign_inside_a_line_is_an_error() -> None:
    with pytest.raises(ptx.PtxError, match="2:13"):
        ptx.parse(".version 7.0\n.target sm_ # 70\n")
