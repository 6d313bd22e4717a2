"""Registers at module scope, in PTX before 3.0: each thread has its own, and all functions share them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from warpreg.codegen import CompileOptions
from warpreg.simt import Device

HEADER = ".version 2.3\n.target sm_20\n.address_size 64\n"
OPTIONS = [None, CompileOptions(), CompileOptions(max_registers=16)]


def run(text: str, kernel: str, out: NDArray[np.uint32], options: CompileOptions | None, threads: int) -> list[int]:
    """``out`` after a kernel with the one parameter ``out``, in one thread block."""
    device = Device(HEADER + text, options=options)
    buffer = device.upload(out)
    device.launch(kernel, 1, threads, buffer)
    found: list[int] = buffer.download().tolist()
    return found


COUNT = """
.reg .u32 %c<3>; .reg .pred %odd; .reg .v2 .u32 %v; .reg .u64 %at;
.func count(.reg .u32 n)
{ .reg .u32 %one; mov.u32 %one, 1; add.u32 %c1, %c1, n; add.u32 %v.y, %v.y, %one; and.b32 %one, %c1, %one;
setp.ne.u32 %odd, %one, 0; ret; }
.entry k(.param .u64 out)
{
.reg .u32 %t; mov.u32 %t, %tid.x;
mov.u32 %c1, %t; mov.u32 %v.x, 7; mov.u32 %v.y, 0;
call count, (10);
call count, (%t);
selp.u32 %c2, 1, 0, %odd;
mad.lo.u32 %c1, %c1, 10, %c2; mad.lo.u32 %c1, %c1, 10, %v.x; mad.lo.u32 %c1, %c1, 10, %v.y;
ld.param.u64 %at, [out]; mad.wide.u32 %at, %t, 4, %at; st.global.u32 [%at], %c1;
exit;
}
.entry other(.param .u64 out)
{ mov.u32 %c1, 3; mov.u32 %v.y, 4; call count, (5); mad.lo.u32 %c1, %c1, 10, %v.y; ld.param.u64 %at, [out];
st.global.u32 [%at], %c1; exit; }
"""


@pytest.mark.parametrize("options", OPTIONS)
def test_functions_and_kernels_share_them(options: CompileOptions | None) -> None:
    # c1 = t + 10 + t is even, the vector is (7, 2).
    out = np.zeros(40, np.uint32)
    assert run(COUNT, "k", out, options, 40) == [(10 + 2 * t) * 1000 + 72 for t in range(40)]
    assert run(COUNT, "other", out[:1], options, 1) == [85]


RECURSIVE = """
.reg .u32 sum, calls;
.func visit(.reg .u32 n)
{
.reg .pred %z; .reg .u32 %m, %mine;
add.u32 calls, calls, 1;
mul.lo.u32 %mine, n, n;
setp.eq.u32 %z, n, 0;
@%z ret;
sub.u32 %m, n, 1;
call visit, (%m);
add.u32 sum, sum, %mine;
ret;
}
.entry k(.param .u64 out)
{
.reg .u32 %t; .reg .u64 %at; mov.u32 %t, %tid.x;
mov.u32 sum, 0; mov.u32 calls, 0;
call visit, (%t);
mad.lo.u32 sum, sum, 100, calls;
ld.param.u64 %at, [out]; mad.wide.u32 %at, %t, 4, %at; st.global.u32 [%at], sum;
exit;
}
"""


@pytest.mark.parametrize("options", OPTIONS)
def test_a_recursive_function_keeps_what_it_writes_to_them(options: CompileOptions | None) -> None:
    # 1 + 4 + ... + t*t in t + 1 calls.
    out = np.zeros(9, np.uint32)
    assert run(RECURSIVE, "k", out, options, 9) == [sum(n * n for n in range(t + 1)) * 100 + t + 1 for t in range(9)]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("declared", [".reg .u32 a;", ".reg .u32 a<2>;", ".reg .u32 b, a;", "{ .reg .u32 a;"])
def test_a_register_of_a_function_hides_one_of_the_module(options: CompileOptions | None, declared: str) -> None:
    name, end = "a1" if "<" in declared else "a", "}" if "{" in declared else ""
    text = f"""
    .reg .u32 {name}, other;
    .func f(.reg .u32 n) {{ {declared} add.u32 {name}, n, 5; mov.u32 other, {name}; ret; {end} }}
    .entry k(.param .u64 out)
    {{ .reg .u64 %at; mov.u32 {name}, 1; call f, (2); mad.lo.u32 other, other, 10, {name};
    ld.param.u64 %at, [out]; st.global.u32 [%at], other; exit; }}
    """
    assert run(text, "k", np.zeros(1, np.uint32), options, 1) == [71]
