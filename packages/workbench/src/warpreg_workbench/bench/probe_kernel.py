"""A kernel of any length: loads, arithmetic, stores and branches that lanes take at random, in a loop."""

from __future__ import annotations

NAME = "probe"
THREADS = 256
ITERATIONS = 4

_HEAD = """\
.version 7.0
.target sm_75
.address_size 64

.visible .entry probe(.param .u64 probe_in, .param .u64 probe_out, .param .f32 probe_limit)
{
    .reg .pred %p<3>;
    .reg .b32 %r<20>;
    .reg .f32 %f<20>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [probe_in];
    ld.param.u64 %rd2, [probe_out];
    ld.param.f32 %f1, [probe_limit];
    cvta.to.global.u64 %rd3, %rd1;
    cvta.to.global.u64 %rd4, %rd2;
    mov.u32 %r1, %tid.x;
    mov.u32 %r8, %ctaid.x;
    mad.lo.u32 %r9, %r8, 40503, %r1;
    mul.wide.u32 %rd5, %r1, 4;
    add.s64 %rd6, %rd3, %rd5;
    add.s64 %rd7, %rd4, %rd5;
    mov.u32 %r2, 0;
    mov.f32 %f2, 0f3F800000;
LOOP:
"""

# The first alternative is too long for if-conversion.
_SEGMENT = """\
    ld.global.f32 %f3, [%rd6+{offset}];
    fma.rn.f32 %f4, %f3, %f2, %f1;
    mul.f32 %f5, %f4, %f3;
    sub.f32 %f6, %f5, %f2;
    mov.b32 %r3, %f6;
    mad.lo.u32 %r9, %r9, 1664525, 1013904223;
    setp.lt.s32 %p1, %r9, 0;
    @%p1 bra ELSE{index};
    shl.b32 %r4, %r3, {shift};
    xor.b32 %r5, %r4, %r1;
    mad.lo.s32 %r6, %r5, {odd}, %r2;
    max.s32 %r7, %r6, %r3;
    shr.s32 %r10, %r7, {shift};
    or.b32 %r11, %r10, %r4;
    min.s32 %r12, %r11, %r9;
    add.s32 %r7, %r12, %r5;
    cvt.rn.f32.s32 %f7, %r7;
    bra.uni JOIN{index};
ELSE{index}:
    add.f32 %f8, %f5, %f3;
    min.f32 %f9, %f8, %f4;
    mul.f32 %f7, %f9, %f2;
JOIN{index}:
    add.f32 %f2, %f2, %f7;
    st.global.f32 [%rd7+{offset}], %f7;
"""

_TAIL = """\
    add.s32 %r2, %r2, 1;
    setp.lt.s32 %p2, %r2, {iterations};
    @%p2 bra LOOP;
    st.global.f32 [%rd7], %f2;
    ret;
}}
"""


def probe_ptx(segments: int, iterations: int = ITERATIONS) -> str:
    """PTX of a kernel with ``segments`` branches in a loop; each adds about 23 instructions.

    Each lane of each thread block has its own random numbers for the branches.  All thread blocks write the same
    elements.  Its parameters are an input and an output buffer of `probe_elements` float32 and a float limit.
    """
    body = "".join(
        _SEGMENT.format(index=index, offset=4 * THREADS * index, shift=index % 7 + 1, odd=2 * index + 3)
        for index in range(segments)
    )
    return _HEAD + body + _TAIL.format(iterations=iterations)


def probe_elements(segments: int) -> int:
    """float32 elements of each buffer for one block of `THREADS` threads."""
    return THREADS * segments
