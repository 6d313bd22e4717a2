"""Machine instructions that PTX lacks."""

from __future__ import annotations

import numpy as np

from warpreg import ptx
from warpreg.codegen import build_kernel
from warpreg.simt import Device

TEXT = """.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out)
{ .reg .b32 %r<4>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, -3;
  add3.s32 %r3, %r1, %r2, 2147483647;
  mad.wide.u32 %rd1, %r1, 4, %rd1; st.global.u32 [%rd1], %r3; ret; }
"""


def test_add3_wraps_around() -> None:
    module = ptx.parse(TEXT)
    device = Device(module, None)
    device.install(build_kernel(module, "k"))
    out = device.zeros(8, np.int32)
    device.launch("k", 1, 8, out)
    # tid - 3 + (2^31 - 1): below 2^31 up to thread 3, one past it from there on
    expected = [(1 << 31) - 4 + tid if tid < 4 else -(1 << 31) + tid - 4 for tid in range(8)]
    assert out.download().tolist() == expected
