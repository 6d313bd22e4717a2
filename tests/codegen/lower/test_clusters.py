"""A cluster of one block: its barrier is the block's."""

from __future__ import annotations

import numpy as np
import pytest

from warpreg.codegen import CompileOptions
from warpreg.simt import Device

TEXT = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k (.param .u64 out)
{
    .shared .align 4 .b8 seen[8];
    .reg .u32 %r<6>;
    .reg .u64 %rd<4>;
    .reg .pred %p<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %warpid;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, seen;
    add.u32 %r2, %r3, %r2;
    st.shared.u32 [%r2], 7;
    barrier.cluster.arrive.release.aligned;
    createpolicy.fractional.L2::evict_first.b64 %rd2, 1.0;
    barrier.cluster.wait.acquire.aligned;
    ld.shared.v2.u32 {%r4, %r5}, [seen];
    add.u32 %r4, %r4, %r5;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd1, %rd1, %rd3;
    st.global.L2::cache_hint.u32 [%rd1], %r4, %rd2;
    ret;
}
"""


@pytest.mark.parametrize("options", [None, CompileOptions()])
def test_after_the_barrier_all_warps_have_arrived(options: CompileOptions | None) -> None:
    device = Device(TEXT, options=options)
    out = device.zeros(64, np.uint32)
    device.launch("k", 1, 64, out)
    assert out.download().tolist() == [14] * 64
