"""Variables have the alignment that they declare."""

from __future__ import annotations

import numpy as np
import pytest

from warpreg import ptx
from warpreg.codegen import CompileOptions
from warpreg.simt import Device

TEXT = """
.version 7.0
.target sm_70
.address_size 64
.global .align 4 .b8 first[4];
.global .align 1024 .b8 second[4];
.const .align 4096 .f32 third[2] = {1.0, 2.0};
.global .align 512 .b8 fourth[4];
.visible .entry k(.param .u64 out)
{
    .shared .align 4 .b8 small[4];
    .shared .align 2048 .b8 shared_one[4];
    .reg .u64 %a<6>, %o;
    .reg .f32 %f;
    ld.param.u64 %o, [out];
    st.shared.u32 [small], 1;
    mov.u64 %a1, second;
    mov.u64 %a2, third;
    ld.const.f32 %f, [third+4];
    mov.u64 %a3, fourth;
    mov.u64 %a4, shared_one;
    cvta.shared.u64 %a4, %a4;
    mov.u64 %a5, first;
    st.global.v2.u64 [%o], {%a1, %a2};
    st.global.v2.u64 [%o+16], {%a3, %a4};
    st.global.u64 [%o+32], %a5;
    st.global.f32 [%o+40], %f;
    ret;
}
"""


@pytest.mark.parametrize("options", [None, CompileOptions()])
def test_alignments_above_those_of_buffers_hold(options: CompileOptions | None) -> None:
    device = Device(TEXT, options=options)
    out = device.zeros(6, np.uint64)
    device.launch("k", 1, 1, out)
    second, third, fourth, shared, _, bits = (int(x) for x in out.download())
    assert (second % 1024, third % 4096, fourth % 512, shared % 2048) == (0, 0, 0, 0)
    assert len({second, third, fourth}) == 3
    assert np.uint32(bits).view(np.float32) == 2.0


def test_an_alignment_that_no_memory_has_is_refused() -> None:
    with pytest.raises(ptx.PtxError, match=r"3:16: .*alignment 2097152 is more than 1048576"):
        ptx.parse(".version 7.0\n.target sm_70\n.global .align 2097152 .b8 x[4];\n")
