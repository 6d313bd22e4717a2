"""Kernels that follow pointers on chosen SMs, in many warps at once, or through a texture.

They take (out, memory, n, m) as the other microbenchmarks of memory do; `follow_texels` takes a texture for memory.
Each thread writes its first and last reading of the clock; the pointer is written only if it is 0, so that the loads
stay.
"""

from __future__ import annotations

from warpreg.gpu_kit.microbenchmarks import DECLARED, HEADER, PARAMETERS, TIMED

KEPT = "setp.eq.u64 %q3, %p, 0; @%q3 st.global.u64 [%out], %p;"


def _timed_loop(step: str) -> str:
    """n steps, four in a turn, between two readings of the clock."""
    return f"""
  mov.u64 %start, %clock64;
L:
  .pragma "nounroll";
  {4 * step}
  sub.u32 %n, %n, 4; setp.ne.u32 %q0, %n, 0; @%q0 bra L;
  mov.u64 %end, %clock64;"""


def _of_sm(name: str, step: str) -> str:
    """The thread blocks of SM m take a step to a word that names itself, then n steps."""
    return f"""
.visible .entry {name}({PARAMETERS})
{{{DECLARED}
  mov.u32 %g, %smid; setp.ne.u32 %q1, %g, %m; @%q1 bra E;
  ld.relaxed.gpu.global.u64 %p, [%p]; {step}
  {_timed_loop(step)} {TIMED} {KEPT}
E:
  ret;
}}
"""


OF_ALL = f"""
.visible .entry loads_of_all({PARAMETERS})
{{{DECLARED}
  mov.u32 %b, %ctaid.x; mov.u32 %d, %ntid.x; mad.lo.u32 %t, %b, %d, %t;
  shr.u32 %g, %t, 5; mul.lo.u32 %g, %g, %m; mul.wide.u32 %z, %g, 128; add.u64 %p, %p, %z;
  {_timed_loop("ld.relaxed.gpu.global.u64 %p, [%p]; ")} {TIMED} {KEPT}
  ret;
}}
"""
"""Each warp follows pointers from a line of its own: m lines after that of the warp before."""

FOLLOW_TEXELS = f"""
.visible .entry follow_texels({PARAMETERS})
{{{DECLARED}
  mul.lo.u32 %g, %t, %m; mov.u32 %s, %g;
  {_timed_loop("tex.1d.v4.s32.s32 {%s, %a0, %a1, %a2}, [%p, {%s}]; add.u32 %s, %s, %g; ")} {TIMED}
  setp.eq.u32 %q3, %s, 0x12345; @%q3 st.global.u32 [%out], %s;
  ret;
}}
"""
"""Each thread fetches the texel with its number times m, n times; texels are 0, and part of the next coordinate."""

TEXT = (
    HEADER
    + _of_sm("loads_of_sm", "ld.relaxed.gpu.global.u64 %p, [%p]; ")
    + _of_sm("atomics_of_sm", "atom.global.or.b64 %p, [%p], 0; ")
    + OF_ALL
    + FOLLOW_TEXELS
)
