"""``ldmatrix``, ``stmatrix``, ``movmatrix``, ``wmma.load`` and ``wmma.store``, and their errors."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference.device import ReferenceDevice
from tests.tensor.forms import HEAD

from warpreg.codegen import CompileOptions
from warpreg.ir.errors import UnsupportedError
from warpreg.simt import Device
from warpreg.simt.launch.faults import ExecutionError, MemoryFault

PROLOGUE = """
    .reg .b64 %x, %y, %a, %b, %rd<9>; .reg .b32 %t, %s, %r<40>; .reg .f32 %f<9>; .reg .pred %p<4>;
    .shared .align 16 .b8 tile[1024];
    ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; mov.u32 %t, %tid.x;
    mad.wide.u32 %a, %t, 16, %x; mad.wide.u32 %b, %t, 16, %y; mov.u32 %s, tile; mad.lo.u32 %s, %t, 16, %s;
"""
FILL = "ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%a]; st.shared.v4.b32 [%s], {%r1, %r2, %r3, %r4}; bar.warp.sync -1;"
EMPTY = "ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [%s]; st.global.v4.b32 [%b], {%r1, %r2, %r3, %r4};"


def text(body: str) -> str:
    return f"{HEAD}.visible .entry k(.param .u64 x, .param .u64 y)\n{{{PROLOGUE}{body}\nret;\n}}\n"


def halves(count: int) -> np.ndarray:
    return np.arange(count, dtype=np.uint16)


def run(body: str, x: np.ndarray, y: np.ndarray, options: CompileOptions | None = None) -> np.ndarray:
    device = Device(text(body), options=options)
    out = device.upload(y)
    device.launch("k", 1, 32, device.upload(x), out)
    return out.download()


def agreed(body: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """What the executor gives with and without compiling; the reference gives the same."""
    reference = ReferenceDevice(text(body))
    out = reference.upload(y)
    reference.launch("k", 1, 32, reference.upload(x), out)
    for options in (None, CompileOptions()):
        np.testing.assert_array_equal(run(body, x, y, options), out.download())
    return out.download()


@pytest.mark.parametrize("count", [1, 2, 4])
def test_ldmatrix_gives_two_neighbours_of_a_row(count: int) -> None:
    registers = ", ".join(f"%r{10 + i}" for i in range(count))
    stores = " ".join(f"st.global.b32 [%b+{4 * i}], %r{10 + i};" for i in range(count))
    body = f"{FILL} ldmatrix.sync.aligned.m8n8.x{count}.shared.b16 {{{registers}}}, [%s]; {stores}"
    found = agreed(body, halves(256), np.zeros((32, 4, 2), np.uint16))
    for lane in range(32):
        for matrix in range(count):
            first = 64 * matrix + 8 * (lane // 4) + lane % 4 * 2
            assert found[lane, matrix].tolist() == [first, first + 1]


def test_ldmatrix_transposed_gives_two_neighbours_of_a_column() -> None:
    body = f"{FILL} ldmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 {{%r10, %r11}}, [%s]; "
    body += "st.global.v2.b32 [%b], {%r10, %r11};"
    found = agreed(body, halves(256), np.zeros((32, 4, 2), np.uint16))
    for lane in range(32):
        for matrix in range(2):
            first = 64 * matrix + 8 * (lane % 4 * 2) + lane // 4
            assert found[lane, matrix].tolist() == [first, first + 8]


@pytest.mark.parametrize("trans", ["", ".trans"])
def test_stmatrix_undoes_ldmatrix(trans: str) -> None:
    body = f"""{FILL}
    cvt.u64.u32 %rd1, %s; cvta.shared.u64 %rd1, %rd1;
    ldmatrix.sync.aligned.m8n8.x4{trans}.b16 {{%r10, %r11, %r12, %r13}}, [%rd1];
    st.shared.b32 [%s], 0; bar.warp.sync -1;
    stmatrix.sync.aligned.m8n8.x4{trans}.shared.b16 [%s], {{%r10, %r11, %r12, %r13}};
    {EMPTY}"""
    x = halves(256).reshape(32, 4, 2)
    np.testing.assert_array_equal(agreed(body, x, np.zeros_like(x)), x)


def test_movmatrix_is_a_transposition() -> None:
    body = "ld.global.b32 %r1, [%a]; movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r1; st.global.b32 [%b], %r2;"
    matrix = np.arange(64, dtype=np.uint16).reshape(8, 8)
    x = np.zeros((32, 8), np.uint16)
    x[:, :2] = matrix.reshape(32, 2)
    found = agreed(body, x, np.zeros((32, 8), np.uint16))
    np.testing.assert_array_equal(found[:, :2], matrix.T.reshape(32, 2))


WMMA = {
    "f16": ("m16n16k16", "f16", "f32", 8, 8, 8),
    "f16 tall": ("m32n8k16", "f16", "f16", 8, 8, 4),
    "bf16 wide": ("m8n32k16", "bf16", "f32", 2, 8, 8),
    "s8": ("m16n16k16", "s8", "s32", 2, 2, 8),
    "tf32": ("m16n16k8", "tf32", "f32", 4, 4, 8),
    "f64": ("m8n8k4", "f64", "f64", 1, 1, 2),
    "u4": ("m8n8k32", "u4", "s32", 1, 1, 2),
    "b1": ("m8n8k128", "b1", "s32", 1, 1, 2),
}


def fragments(name: str, layouts: str, stride: str) -> str:
    """D = A B + C on matrices at fixed places of x; D goes to y."""
    shape, kind, total, *counts = WMMA[name]
    bits = 64 if kind == "f64" else 32
    lists = {m: "{" + ", ".join(f"%{m}_{i}" for i in range(n)) + "}" for m, n in zip("abc", counts, strict=True)}
    names = ", ".join(name.strip("{}") for name in lists.values())
    types = f"{total}.{total}" if kind == "f16" else f"{total}.{kind}.{kind}.{total}"
    head = "wmma.mma.xor.popc" if kind == "b1" else "wmma.mma"
    a, b = layouts.split(".")
    c = lists["c"]
    return f"""
    .reg .b{bits} {names};
    wmma.load.a.sync.aligned.{a}.{shape}.global.{kind} {lists["a"]}, [%x]{stride};
    wmma.load.b.sync.aligned.{b}.{shape}.global.{kind} {lists["b"]}, [%x+4096]{stride};
    wmma.load.c.sync.aligned.col.{shape}.{total} {c}, [%x+8192]{stride};
    {head}.sync.aligned.{layouts}.{shape}.{types} {c}, {lists["a"]}, {lists["b"]}, {c};
    wmma.store.d.sync.aligned.row.{shape}.global.{total} [%y], {c}{stride};
    """


@pytest.mark.slow
@pytest.mark.parametrize("name", WMMA)
def test_wmma_is_a_product_of_matrices_in_memory(name: str) -> None:
    rng = np.random.default_rng(7)
    kind = WMMA[name][1]
    x = rng.integers(0, 256, 16384, np.uint8)
    if kind in ("f16", "bf16", "tf32"):
        x = rng.integers(-8, 8, 16384 // 4).astype(np.float32)
    for layouts in ("row.col",) if kind in ("u4", "b1") else ("row.col", "col.row"):
        stride = ", 128" if kind == "b1" else ", 32" if layouts == "row.col" else ", 48"
        agreed(fragments(name, layouts, stride), x, np.zeros(1536, np.float64))


def test_wmma_equals_numpy() -> None:
    """16 x 16 matrices of small integers, side by side in memory, with their default strides."""
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-4, 5, (16, 16)).astype(np.float16) for _ in range(2))
    c = rng.integers(-9, 9, (16, 16)).astype(np.float32)
    x = np.zeros(12288, np.uint8)
    for at, matrix in ((0, a), (4096, b), (8192, c.T.copy())):
        x[at : at + matrix.nbytes] = matrix.view(np.uint8).reshape(-1)
    found = run(fragments("f16", "row.row", ""), x, np.zeros((16, 16), np.float32), CompileOptions())
    np.testing.assert_array_equal(found, a.astype(np.float32) @ b.astype(np.float32) + c)


DIVIDED = """
    setp.lt.u32 %p1, %t, 7; @!%p1 bra DONE;
    mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r1, %r2}, {%r3, %r4}, {%r5}, {%r6, %r7};
    DONE:
"""


def test_a_divided_warp_is_an_error_that_names_the_first_thread_missing() -> None:
    with pytest.raises(ExecutionError, match=r"thread \(7,0,0\), instruction 'mma.* at .*the whole warp must execute"):
        run(DIVIDED, halves(256), halves(256))


def test_a_guard_that_holds_for_no_lane_leaves_the_registers() -> None:
    body = "mov.u32 %r1, 5; setp.gt.u32 %p1, %t, 40; "
    body += "@%p1 ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%s]; st.global.b32 [%b], %r1;"
    assert run(body, halves(256), np.zeros((32, 4), np.uint32))[:, 0].tolist() == [5] * 32


def test_a_row_of_ldmatrix_is_aligned_to_16_bytes() -> None:
    body = "add.u32 %s, %s, 8; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%s];"
    with pytest.raises(MemoryFault, match="address 0x8 is not a multiple of 16 bytes"):
        run(body, halves(256), halves(256))


def test_a_matrix_past_the_end_of_a_buffer_is_out_of_bounds() -> None:
    with pytest.raises(MemoryFault, match=r"wmma\.load\.b.*out of bounds"):
        run(fragments("f16", "row.col", ""), np.zeros(4096 + 256, np.uint8), np.zeros(1024, np.uint8))


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("wgmma.fence.sync.aligned", "works on a group of four warps"),
        (
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, 1, 1, 1, 0, 0",
            "works on a group of four warps",
        ),
        ("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%s], 32", "works on tensor memory"),
        (
            "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%rd1, {%r1}], [%r2]",
            "copies by a tensor map",
        ),
        (
            "mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1, %f2}, {%r3, %r4}, {%r5}, {%f1, %f2}, %r9, 0",
            "multiplies sparse matrices",
        ),
        (
            "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%s], [%r1]",
            "hands out thread blocks at run time",
        ),
        ("multimem.red.global.add.u32 [%rd1], %r1", "works on the memory of several devices"),
    ],
)
def test_what_is_not_modelled_is_refused_by_name_and_place(statement: str, why: str) -> None:
    opcode = statement.split(" ")[0].replace(".", r"\.")
    with pytest.raises(UnsupportedError, match=rf"^<ptx>:\d+:\d+: {opcode} is not supported: it {why}"):
        run(f"{statement};", halves(256), halves(256))
