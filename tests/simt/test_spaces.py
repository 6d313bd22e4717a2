"""State spaces: shared, local, global and constant variables, generic addresses, parameters."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from tests.simt.programs import Runner, prepare, words

from warpreg.ir.address_space import LOCAL_WINDOW, SHARED_WINDOW
from warpreg.ir.errors import UnknownNameError
from warpreg.simt import Device


def test_shared_memory_belongs_to_a_block_and_starts_as_zeros(run: Runner) -> None:
    # Each thread reads what its neighbour wrote; block 1 finds no trace of block 0.
    body = """
    .shared .align 4 .b32 buf[64];
    mov.u32 %r1, %tid.x;
    xor.b32 %r2, %r1, 1;
    mov.u32 %r3, buf;
    mad.lo.u32 %r4, %r1, 4, %r3;
    mad.lo.u32 %r5, %r2, 4, %r3;
    ld.shared.u32 %r6, [%r5];
    bar.sync 0;
    add.u32 %r7, %t, 1;
    st.shared.u32 [%r4], %r7;
    bar.sync 0;
    ld.shared.u32 %r8, [%r5];
    mad.lo.u32 %r8, %r6, 1000, %r8;
    st.global.u32 [%my_out], %r8;
    """
    out = run(body, grid=2, block=64, out=np.zeros(128, np.uint32))["out"]
    assert out.tolist() == [(t ^ 1) + 1 for t in range(128)]


DYNAMIC = """
.shared .align 4 .b32 fixed[3];
mov.u32 %r1, dynamic;
mov.u32 %r2, fixed;
mad.lo.u32 %r3, %t, 4, %r1;
st.shared.u32 [fixed], 77;
st.shared.u32 [%r3], %t;
mov.u32 %r4, %dynamic_smem_size;
mov.u32 %r5, %total_smem_size;
ld.shared.u32 %r6, [%r3];
ld.shared.u32 %r7, [fixed];
st.global.v4.u32 [%out], {%r1, %r4, %r5, %r7};
st.global.u32 [%my_out+16], %r6;
"""


def test_dynamic_shared_memory_follows_the_static(run: Runner) -> None:
    # Twelve bytes of static memory; the array is aligned to 16.
    before = ".extern .shared .align 16 .b8 dynamic[];"
    out = run(DYNAMIC, before=before, shared_bytes=128, out=np.zeros(36, np.uint32))["out"].tolist()
    assert out == [16, 128, 144, 77, *range(32)]


def test_local_memory_belongs_to_a_thread(run: Runner) -> None:
    # Every thread fills a frame of its own and reads it back in another order.
    body = """
    .local .align 8 .b8 own[40];
    mov.u32 %r1, 0;
    FILL: mad.lo.u32 %r2, %t, 100, %r1;
    shl.b32 %r3, %r1, 2;
    mov.u32 %r5, own;
    add.u32 %r3, %r3, %r5;
    st.local.u32 [%r3], %r2;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p1, %r1, 10;
    @%p1 bra FILL;
    rem.u32 %r4, %t, 10;
    mad.lo.u32 %r4, %r4, 4, %r5;
    ld.local.u32 %r6, [%r4];
    st.global.u32 [%my_out], %r6;
    """
    out = run(body, grid=2, block=40, out=np.zeros(80, np.uint32))["out"]
    assert out.tolist() == [100 * t + t % 10 for t in range(80)]


GENERIC = """
.shared .align 4 .b32 sh[33];
.local .align 4 .b32 own[2];
st.shared.u32 [sh+128], 1000;
st.local.u32 [own+4], 2000;
cvta.shared.u64 %rd1, sh;
cvta.local.u64 %rd2, own;
cvta.global.u64 %rd3, %out;
rem.u32 %r1, %t, 3;
setp.eq.u32 %p1, %r1, 0;
setp.eq.u32 %p2, %r1, 1;
add.u64 %rd4, %rd3, 8;
@%p1 add.u64 %rd4, %rd1, 128;
@%p2 add.u64 %rd4, %rd2, 4;
"""


def test_one_instruction_reaches_several_spaces(run: Runner) -> None:
    # Lane t reads shared (t % 3 = 0), local (1) or global memory (2), which holds 3000.
    body = GENERIC + "ld.u32 %r2, [%rd4]; add.u32 %r2, %r2, %t; st.global.u32 [%my_got], %r2;"
    outcome = run(body, out=words(1, 2, 3000), got=np.zeros(32, np.uint32))
    assert outcome["got"].tolist() == [(1000, 2000, 3000)[t % 3] + t for t in range(32)]


def test_generic_stores_and_atomics_reach_several_spaces(run: Runner) -> None:
    # The eleven lanes of global and shared memory count one word up; every lane of local memory its own.
    body = (
        GENERIC
        + """
    atom.add.u32 %r2, [%rd4], 1;
    ld.shared.u32 %r3, [sh+128];
    ld.local.u32 %r4, [own+4];
    st.u32 [%rd4], %t;
    ld.u32 %r5, [%rd4];
    mad.lo.u32 %r6, %r3, 10000, %r4;
    st.global.u32 [%my_got], %r6;
    st.global.u32 [%my_got+128], %r2;
    st.global.u32 [%my_got+256], %r5;
    """
    )
    outcome = run(body, out=words(1, 2, 3000), got=np.zeros(96, np.uint32))
    lanes = range(32)
    got = outcome["got"].tolist()
    assert got[:32] == [(1000 + 11) * 10000 + 2000 + (t % 3 == 1) for t in lanes]
    assert got[32:64] == [(1000 + t // 3, 2000, 3000 + t // 3)[t % 3] for t in lanes]
    assert got[64:] == [(30, t, 29)[t % 3] for t in lanes]
    assert outcome["out"].tolist() == [1, 2, 29]


def test_conversion_and_classification_of_addresses(run: Runner) -> None:
    # cvta.to takes the window's base away again; isspacep tells the windows apart.
    body = (
        GENERIC
        + """
    isspacep.shared %p4, %rd4; isspacep.local %p5, %rd4; isspacep.global %p6, %rd4;
    selp.u32 %r2, 1, 0, %p4; selp.u32 %r3, 2, 0, %p5; selp.u32 %r4, 4, 0, %p6;
    add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4;
    st.global.u32 [%my_got], %r2;
    cvta.to.shared.u64 %rd5, %rd1; cvta.to.local.u64 %rd6, %rd2; cvta.to.global.u64 %rd7, %rd3;
    sub.u64 %rd8, %rd1, %rd5; sub.u64 %rd9, %rd2, %rd6; sub.u64 %rd7, %rd7, %out;
    cvt.u32.u64 %r5, %rd8; cvt.u32.u64 %r6, %rd9; cvt.u32.u64 %r7, %rd7;
    st.global.u32 [%got+128], %r5; st.global.u32 [%got+132], %r6; st.global.u32 [%got+136], %r7;
    """
    )
    got = run(body, out=words(1, 2, 3000), got=np.zeros(35, np.uint32))["got"].tolist()
    assert got[:32] == [(1, 2, 4)[t % 3] for t in range(32)]
    assert got[32:] == [SHARED_WINDOW, LOCAL_WINDOW, 0]


VARIABLES = """
.global .align 4 .u32 scalar = 7;
.const .f32 pi = 0f40490FDB;
.const .f64 wide[2] = {0d3FF8000000000000, 2.5};
.const .align 4 .f32 decimals[2] = {1.25, -3.0};
.global .s16 pairs[2][3] = {{1, -2, 3}, {-4, 5}};
.global .b8 bytes[4] = {0xFF, 1};
.global .align 8 .v2 .u32 vector = {8, 9};
.global .u64 unset[2];
.global .u64 where[3] = {scalar, scalar+4, generic(pairs)+2};
.global .b8 split[3] = {0xFF(scalar), 0xFF00(scalar), 0xFF000000(scalar)};
"""


def content(device: Device, name: str, dtype: str) -> list[float]:
    return device.variable(name).download().view(dtype).tolist()


def test_initialisers_of_module_variables() -> None:
    device, _ = prepare("", {}, before=VARIABLES)
    address = device.variable("scalar").address
    assert content(device, "scalar", "u4") == [7]
    assert content(device, "pi", "f4") == [struct.unpack("<f", struct.pack("<f", 3.14159274))[0]]
    assert content(device, "wide", "f8") == [1.5, 2.5]
    assert content(device, "decimals", "f4") == [1.25, -3.0]
    assert content(device, "pairs", "i2") == [1, -2, 3, -4, 5, 0]
    assert content(device, "bytes", "u1") == [255, 1, 0, 0]
    assert content(device, "vector", "u4") == [8, 9]
    assert content(device, "unset", "u8") == [0, 0]
    assert content(device, "where", "u8") == [address, address + 4, device.variable("pairs").address + 2]
    assert content(device, "split", "u1") == [address & 0xFF, address >> 8 & 0xFF, address >> 24 & 0xFF]
    with pytest.raises(UnknownNameError, match="no module variable named 'nothing'"):
        device.variable("nothing")


def test_kernels_read_constants_and_write_global_variables(run: Runner) -> None:
    body = """
    ld.const.f32 %f1, [decimals+4];
    ld.const.f64 %fd1, [wide];
    cvt.rn.f32.f64 %f2, %fd1;
    mov.u64 %rd1, pairs;
    ld.global.s16 %r1, [%rd1+6];
    ld.global.u64 %rd2, [where];
    ld.global.u32 %r2, [%rd2];
    ld.global.v2.u32 {%r3, %r4}, [vector];
    add.f32 %f1, %f1, %f2;
    st.global.f32 [%out], %f1;
    st.global.u32 [%out+4], %r1;
    st.global.v2.u32 [%out+8], {%r2, %r4};
    add.u32 %r5, %r2, 1;
    st.global.u32 [scalar], %r5;
    """
    outcome = run(body, block=1, before=VARIABLES, out=np.zeros(4, np.uint32))
    assert outcome["out"].view(np.float32)[0] == -3.0 + 1.5
    assert outcome["out"][1:].tolist() == [2**32 - 4, 7, 9]
    assert content(outcome.device, "scalar", "u4") == [8]
    outcome.device.launch("k", 1, 1, outcome.buffers["out"])
    assert content(outcome.device, "scalar", "u4") == [9]


def test_a_host_may_write_a_variable() -> None:
    device, arguments = prepare(
        "ld.global.u32 %r1, [scalar]; st.global.u32 [%out], %r1;", {"out": words(0)}, before=VARIABLES
    )
    device.variable("scalar").write(words(41).view(np.uint8))
    device.launch("k", 1, 1, *arguments.values())
    assert arguments["out"].download().tolist() == [41]


PARAMETERS = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u8 a, .param .s16 b, .param .u64 out, .param .align 4 .b8 p[12], .param .f64 d, .param .f32 f)
{
.reg .b16 %h<4>; .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .f64 %fd<3>; .reg .f32 %f<3>;
ld.param.u8 %h1, [a]; ld.param.s16 %r2, [b]; ld.param.u64 %rd1, [out];
ld.param.u32 %r3, [p]; ld.param.f32 %f1, [p+4]; ld.param.v2.u16 {%h2, %h3}, [p+8];
ld.param.f64 %fd1, [d]; ld.param.f32 %f2, [f];
cvt.u32.u16 %r1, %h1; cvt.u32.u16 %r4, %h2; cvt.u32.u16 %r5, %h3;
st.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r4};
st.global.u32 [%rd1+16], %r5;
st.global.f32 [%rd1+20], %f1;
st.global.f64 [%rd1+24], %fd1;
st.global.f32 [%rd1+32], %f2;
ret;
}
"""


def test_parameters_of_all_sizes_and_a_structure_by_value(run: Runner) -> None:
    device = Device(PARAMETERS, options=run.options)
    out = device.zeros(36, np.uint8)
    structure = np.array([(70000, 0.5, 3, 65535)], [("i", "i4"), ("x", "f4"), ("m", "u2"), ("n", "u2")])[0]
    device.launch("k", 1, 1, 200, -5, out, structure, -0.125, 3)
    assert struct.unpack("<IiIIIfdf", out.download().tobytes()) == (200, -5, 70000, 3, 65535, 0.5, -0.125, 3.0)
    device.launch("k", 1, 1, 200, -5, out, structure.tobytes(), np.float32(2), np.float64(1.5))
    assert struct.unpack("<IiIIIfdf", out.download().tobytes())[-2:] == (2.0, 1.5)
