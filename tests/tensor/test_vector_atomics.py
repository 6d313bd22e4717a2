"""Atomic operations on vectors, 128 bits and subnormal numbers; wide loads and stores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.device import ReferenceDevice
from tests.tensor.forms import HEAD

from warpreg.codegen import CompileOptions
from warpreg.simt import Device
from warpreg.simt.launch.faults import MemoryFault

PROLOGUE = """
    .reg .b64 %x, %y, %a, %b, %rd<20>; .reg .b32 %t, %s, %r<40>; .reg .f32 %f<20>; .reg .b16 %h<20>; .reg .b128 %q<5>;
    .reg .b64 %d<9>; .shared .align 16 .b8 tile[64]; .reg .pred %p<3>;
    ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; mov.u32 %t, %tid.x; mov.u32 %s, tile;
    mad.wide.u32 %a, %t, 32, %x; mad.wide.u32 %b, %t, 32, %y;
"""


def text(body: str) -> str:
    return f"{HEAD}.visible .entry k(.param .u64 x, .param .u64 y)\n{{{PROLOGUE}{body}\nret;\n}}\n"


def agreed(body: str, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """x and y afterwards, on the executor and the reference alike."""
    outcomes = []
    devices: list[Any] = [
        ReferenceDevice(text(body)),
        *(Device(text(body), options=o) for o in (None, CompileOptions())),
    ]
    for device in devices:
        buffers = [device.upload(x), device.upload(y)]
        device.launch("k", 1, 32, *buffers)
        outcomes.append([b.download() for b in buffers])
    for found in outcomes[1:]:
        for one, other in zip(found, outcomes[0], strict=True):
            np.testing.assert_array_equal(one.view(np.uint8), other.view(np.uint8))
    return outcomes[0][0], outcomes[0][1]


def vector_body(operation: str, kind: str, width: int, spelled: str) -> str:
    """Every lane combines its row of x with the first row of y, and keeps what it found in its row of x."""
    letter = {"f32": "f", "f16": "h", "bf16": "h"}.get(kind, "r")
    size = {"f": 32, "h": 16, "r": 32}[letter]
    given_ = ", ".join(f"%{letter}{i}" for i in range(width))
    old = ", ".join(f"%{letter}{i + 8}" for i in range(width))
    loads = "".join(f"ld.global.b{size} %{letter}{i}, [%a+{i * size // 8}];" for i in range(width))
    stores = "".join(f"st.global.b{size} [%a+{i * size // 8}], %{letter}{i + 8};" for i in range(width))
    both = f"atom.global.{spelled} {{{old}}}, [%y], {{{given_}}}; red.global.{spelled} [%y+16], {{{given_}}};"
    return f"{loads} {both} {stores}"


VECTORS = [
    ("add", "f32", 2, "add.v2.f32"),
    ("add", "f32", 4, "v4.f32.add"),
    ("add", "f16", 8, "add.noftz.v8.f16"),
    ("max", "bf16", 4, "v4.bf16.max.noftz"),
    ("min", "f16x2", 2, "min.noftz.v2.f16x2"),
    ("add", "bf16x2", 4, "add.noftz.v4.bf16x2"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("operation", "kind", "width", "spelled"), VECTORS)
def test_vectors_act_element_by_element(operation: str, kind: str, width: int, spelled: str) -> None:
    rng = np.random.default_rng(5)
    x = rng.standard_normal((32, 8)).astype(np.float32)
    if kind != "f32":
        x = rng.integers(0, 1 << 16, (32, 16)).astype(np.uint16)
    agreed(vector_body(operation, kind, width, spelled), x, np.zeros((32, 8), np.float32))


def test_a_vector_sum_by_hand() -> None:
    """Column sums of 32 rows t, 2 t, 3 t, 4 t: 496 times 1, 2, 3, 4; lane 2 finds 0 + 1 times those."""
    x = np.zeros((32, 8), np.float32)
    x[:, :4] = np.arange(32)[:, None] * np.arange(1, 5)
    found, y = agreed(vector_body("add", "f32", 4, "add.v4.f32"), x, np.zeros((32, 8), np.float32))
    assert y[0].tolist() == [496, 992, 1488, 1984, 496, 992, 1488, 1984]
    assert found[2, :4].tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("spelled", ["add.L2::cache_hint.v2.f32", "v2.f32.add.L2::cache_hint"])
def test_a_cache_hint_with_its_policy_changes_nothing(spelled: str) -> None:
    body = f"""createpolicy.fractional.L2::evict_last.b64 %rd1, 0.5; mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f40000000;
    atom.global.{spelled} {{%f3, %f4}}, [%y], {{%f1, %f2}}, %rd1; red.global.{spelled} [%y+8], {{%f3, %f4}}, %rd1;"""
    _, y = agreed(body, np.zeros((32, 8), np.float32), np.zeros((32, 8), np.float32))
    assert y[0].tolist() == [32, 64, 496, 992, 0, 0, 0, 0]


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.sampled_from([0, 1, 0x80000001, 0x7FFFFF, 0x800000, 0x80800000, 0x807FFFFF, 0x3F800000]), min_size=2)
)
def test_global_single_precision_sums_flush_subnormals_and_shared_ones_do_not(numbers: list[int]) -> None:
    body = """
    ld.global.f32 %f1, [%a]; ld.global.f32 %f2, [%y]; setp.eq.u32 %p1, %t, 0; @%p1 st.shared.f32 [%s], %f2;
    bar.warp.sync -1;
    atom.global.add.f32 %f3, [%y], %f1; atom.shared.add.f32 %f4, [%s], %f1;
    red.add.f32 [%y+4], %f1; bar.warp.sync -1;
    ld.shared.f32 %f5, [%s]; st.global.f32 [%y+8], %f5; st.global.f32 [%a+4], %f3; st.global.f32 [%a+8], %f4;
    """
    x = np.zeros((32, 8), np.uint32)
    x[:, 0] = [numbers[i % (len(numbers) - 1)] for i in range(32)]
    y = np.zeros((32, 8), np.uint32)
    y[0, 0] = numbers[-1]
    DEVICES.setdefault(body, [ReferenceDevice(text(body)), Device(text(body))])
    outcomes = []
    for device in DEVICES[body]:
        buffers = [device.upload(x), device.upload(y)]
        device.launch("k", 1, 32, *buffers)
        outcomes.append([b.download().tolist() for b in buffers])
    assert outcomes[0] == outcomes[1]


DEVICES: dict[str, list[ReferenceDevice | Device]] = {}


def test_two_subnormals_by_hand() -> None:
    """2**-127 + 2**-127 is normal: 2**-126 in shared memory, 0 in global memory."""
    body = """
    setp.ne.u32 %p1, %t, 0; @%p1 ret;
    mov.b32 %f1, 0x00400000; st.shared.f32 [%s], %f1; st.global.f32 [%y], %f1;
    atom.global.add.f32 %f2, [%y], %f1; red.shared.add.f32 [%s], %f1;
    ld.shared.f32 %f3, [%s]; st.global.f32 [%y+4], %f3;
    """
    _, y = agreed(body, np.zeros(8, np.uint32), np.zeros(8, np.uint32))
    assert y[:2].tolist() == [0, 0x00800000]


def test_128_bits_are_swapped_whole() -> None:
    """Lane t puts (t, t) in the place of what lane t - 1 left, and finds it; a comparison of halves alone fails."""
    body = """
    cvt.u64.u32 %d1, %t; mov.b128 %q1, {%d1, %d1}; atom.global.exch.b128 %q2, [%y], %q1; mov.b128 {%d2, %d3}, %q2;
    st.global.v2.b64 [%a], {%d2, %d3};
    setp.ne.u32 %p1, %t, 31; @%p1 ret;
    mov.u64 %d4, 5; mov.b128 %q3, {%d1, %d4}; mov.b128 %q4, {%d4, %d1};
    atom.global.cas.b128 %q2, [%y], %q3, %q4; atom.global.b128.cas %q2, [%y], %q1, %q4;
    """
    x, y = agreed(body, np.zeros((32, 4), np.uint64), np.zeros((4, 4), np.uint64))
    assert x[:, :2].tolist() == [[0, 0]] + [[t, t] for t in range(31)]
    assert y[0, :2].tolist() == [5, 31]


def test_256_and_128_bit_accesses() -> None:
    body = """
    ld.global.v8.b32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%a];
    st.global.v8.b32 [%b], {%r8, %r7, %r6, %r5, %r4, %r3, %r2, %r1};
    ld.global.L2::evict_last.v4.u64 {%rd1, %rd2, %rd3, %rd4}, [%b];
    add.u64 %rd1, %rd1, 1; st.global.v4.b64 [%b], {%rd1, %rd2, %rd3, %rd4};
    """
    x = np.arange(256, dtype=np.uint32).reshape(32, 8)
    _, y = agreed(body, x, np.zeros((32, 8), np.uint32))
    expected = x[:, ::-1].copy()
    expected[:, 0] += 1
    np.testing.assert_array_equal(y, expected)


def test_a_128_bit_load_and_store() -> None:
    body = "ld.global.b128 %q1, [%a]; st.global.b128 [%b+16], %q1;"
    x = np.arange(256, dtype=np.uint32).reshape(32, 8)
    for options in (None, CompileOptions()):
        device = Device(text(body), options=options)
        y = device.zeros((32, 8), np.uint32)
        device.launch("k", 1, 32, device.upload(x), y)
        np.testing.assert_array_equal(y.download()[:, 4:], x[:, :4])


def test_a_vector_atomic_is_aligned_as_a_whole() -> None:
    device = Device(text("red.global.add.v4.f32 [%y+4], {%f1, %f2, %f3, %f4};"))
    with pytest.raises(MemoryFault, match="is not a multiple of 16 bytes"):
        device.launch("k", 1, 32, device.zeros(8, np.uint32), device.zeros(8, np.uint32))
