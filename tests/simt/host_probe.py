"""Run a few kernels as another processor would, and print their results.

``python -m tests.simt.host_probe CPU FEATURES``
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
from tests.simt.programs import COMPILED, Runner

from warpreg.simt import Record
from warpreg.simt.llvm import object_code

MOVES = "\n".join(
    f"""
    mad.wide.u32 %rd1, %r1, {size}, %x; mad.wide.u32 %rd2, %r2, {size}, %out;
    ld.global.{kind} %{register}5, [%rd1]; st.global.{kind} [%rd2], %{register}5;
    @%p1 ld.global.{kind} %{register}6, [%rd2]; @%p1 st.global.{kind} [%rd2+{32 * size}], %{register}6;
    atom.global.xor.b32 %r9, [%out+{64 * size}], %r1;
    mad.wide.u32 %rd3, %t, {size}, %out; @%p2 st.global.{kind} [%rd3+{96 * size}], %{register}5;
    """
    for size, kind, register in ((1, "u8", "r"), (2, "u16", "h"), (4, "u32", "r"), (8, "u64", "rd"))
)
MEMORY = f"""
mul.lo.u32 %r1, %t, 7; and.b32 %r1, %r1, 31;
mul.lo.u32 %r2, %t, 11; and.b32 %r2, %r2, 31;
and.b32 %r3, %t, 5; setp.eq.u32 %p1, %r3, 4; setp.lt.u32 %p2, %t, 20;
{MOVES}
"""
ARITHMETIC = """
.shared .align 4 .b32 sh[32];
ld.global.f32 %f1, [%my_x]; ld.global.f32 %f2, [%my_x+4];
fma.rn.f32 %f3, %f1, %f2, %f1; div.rn.f32 %f4, %f1, %f2; sqrt.rn.f32 %f5, %f4; ex2.approx.f32 %f6, %f5;
sin.approx.f32 %f7, %f1; max.f32 %f8, %f6, %f7; add.f32 %f8, %f8, %f3;
cvt.f64.f32 %fd1, %f8; cvt.f64.f32 %fd2, %f4; fma.rn.f64 %fd3, %fd1, %fd2, %fd1; div.rn.f64 %fd3, %fd3, %fd1;
cvt.rni.s32.f32 %r1, %f4; cvt.rzi.u64.f64 %rd1, %fd3; mul.hi.u64 %rd1, %rd1, -3; popc.b64 %r2, %rd1;
shfl.sync.bfly.b32 %r3, %r1, 5, 31, -1; vote.sync.ballot.b32 %r4, %p0, -1;
mov.u32 %r7, sh; and.b32 %r8, %r3, 31; mad.lo.u32 %r7, %r8, 4, %r7;
atom.shared.add.u32 %r5, [%r7], %r2; ld.shared.u32 %r6, [%r7]; add.u32 %r6, %r6, %r3;
setp.gt.s32 %p1, %r6, 5; @%p1 bra OVER; mul.lo.u32 %r6, %r6, 3;
OVER: st.global.u32 [%my_out], %r6; st.global.f32 [%my_out+128], %f8; mad.wide.u32 %rd2, %t, 8, %out;
st.global.f64 [%rd2+256], %fd3;
"""


def results() -> list[Any]:
    """Contents of buffers, and recorded words, as numbers."""
    run, found = Runner(COMPILED), []
    record = Record(path=True, addresses=True, widths=True)
    x = np.random.default_rng(5).integers(0, 256, 512).astype(np.uint8)
    floats = np.linspace(-3, 40, 33, dtype=np.float32)
    runs = [(MEMORY, x, np.zeros(2048, np.uint8)), (ARITHMETIC, floats, np.zeros(128, np.uint32))]
    for body, source, target in runs:
        outcome = run(body, x=source, out=target, record=record)
        trace = outcome.launch.trace
        assert trace is not None
        words = [
            c.tolist() for chunks in (trace.path_chunks(), trace.address_chunks(), trace.width_chunks()) for c in chunks
        ]
        found.append([outcome["out"].tolist(), words])
    return found


if __name__ == "__main__":
    cpu, features = sys.argv[1:]
    object_code.host = lambda: (cpu, features)  # type: ignore[assignment]
    print(json.dumps([object_code.vector_bits(), results()]))
