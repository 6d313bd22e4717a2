"""Accesses outside buffers, misaligned or null: one message each, and no other memory changes."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.simt.programs import Runner, prepare, words

from warpreg.ir.address_space import GLOBAL_BASE
from warpreg.simt import Device, MemoryFault

EIGHT = np.zeros(8, np.uint32)
"""32 bytes, in the first buffer at 0x10000000."""

NAMED = """.version 8.0
.target sm_80
.address_size 64
.file 1 "scale.cu"
.visible .entry scale(.param .u64 out)
{
.reg .b32 %r<4>; .reg .b64 %rd<4>;
ld.param.u64 %rd1, [out];
mov.u32 %r1, %tid.x;
mad.wide.u32 %rd2, %r1, 4, %rd1;
.loc 1 7 3
st.global.u32 [%rd2], %r1;
ret;
}
"""


def test_a_fault_names_kernel_block_thread_instruction_lines_address_and_buffer() -> None:
    device = Device(NAMED, options=None)
    out = device.zeros(40, np.uint32, "out")
    with pytest.raises(MemoryFault) as caught:
        device.launch("scale", 1, 48, out)
    assert str(caught.value) == (
        "kernel 'scale', block (0,0,0), thread (40,0,0), instruction 'st.global.u32 [%rd2], %r1' at <ptx>:12:1 "
        "(scale.cu:7:3): address 0x100000a0 is out of bounds: 0 bytes past the end of 'out' (160 bytes at 0x10000000)"
    )
    assert caught.value.address == out.address + 160


def test_the_first_thread_at_fault_is_named_in_the_block_that_runs() -> None:
    # Block 1 stores elements 8..15 of twelve: its thread 4 is the first outside.
    device, arguments = prepare("st.global.u32 [%my_out], %t;", {"out": np.zeros(12, np.uint32)})
    with pytest.raises(MemoryFault, match=r"block \(1,0,0\), thread \(4,0,0\)") as caught:
        device.launch("k", 2, 8, *arguments.values())
    assert caught.value.address == arguments["out"].address + 48
    assert arguments["out"].download()[:8].tolist() == list(range(8))


ONE_LANE = """
setp.ne.u32 %p1, %t, 5;
@%p1 bra DONE;
{access}
DONE:
"""


@pytest.mark.parametrize(
    ("access", "distance", "said"),
    [
        ("ld.global.u32 %r1, [%out+32]; st.global.u32 [%out], %r1;", 32, "0 bytes past the end of 'out' (32 bytes"),
        ("st.global.u32 [%out+36], %t;", 36, "4 bytes past the end of 'out'"),
        ("st.global.u8 [%out+32], %t;", 32, "0 bytes past the end of 'out'"),
        ("ld.global.u64 %rd1, [%out-8]; st.global.u64 [%out], %rd1;", -8, "8 bytes before 'out'"),
        ("atom.global.add.u32 %r1, [%out+44], 1; st.global.u32 [%out], %r1;", 44, "12 bytes past the end of 'out'"),
        ("red.global.add.u32 [%out-4], 1;", -4, "4 bytes before 'out'"),
        ("st.u32 [%out+32], %t;", 32, "0 bytes past the end of 'out'"),
        ("ld.u16 %h1, [%out+32]; st.global.u16 [%out], %h1;", 32, "0 bytes past the end of 'out'"),
        ("st.global.v4.u32 [%out+32], {%t, %t, %t, %t};", 32, "0 bytes past the end of 'out'"),
        ("mov.u64 %rd1, 0; st.global.u32 [%rd1], %t;", -GLOBAL_BASE, "bytes before 'out'"),
        ("mov.u64 %rd1, 0; ld.u32 %r1, [%rd1]; st.global.u32 [%out], %r1;", -GLOBAL_BASE, "bytes before 'out'"),
        ("mov.u64 %rd1, -4; st.global.u32 [%rd1], %t;", 2**64 - 4 - GLOBAL_BASE, "past the end of 'out'"),
    ],
)
def test_one_lane_outside(run: Runner, access: str, distance: int, said: str) -> None:
    with pytest.raises(MemoryFault, match=r"thread \(5,0,0\)") as caught:
        run(ONE_LANE.format(access=access), out=EIGHT)
    assert said in str(caught.value)
    assert caught.value.address == GLOBAL_BASE + distance


@pytest.mark.parametrize(
    ("access", "size"),
    [
        ("ld.global.u32 %r1, [%out+2]; st.global.u32 [%out], %r1;", 4),
        ("st.global.u16 [%out+1], %h1;", 2),
        ("st.global.u64 [%out+4], %rd1;", 8),
        ("red.global.add.u32 [%out+1], 1;", 4),
        ("st.u32 [%out+1], %t;", 4),
        ("ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%out+4]; st.global.u32 [%out], %r1;", 16),
        ("st.global.v2.u64 [%out+8], {%rd1, %rd2};", 16),
        ("st.shared.v2.u32 [buf+4], {%t, %t};", 8),
        ("st.shared.u32 [buf+2], %t;", 4),
        ("st.local.u32 [own+2], %t;", 4),
    ],
)
def test_misaligned(run: Runner, access: str, size: int) -> None:
    declared = (
        ".shared .align 16 .b8 buf[32]; .local .align 16 .b8 own[32]; mov.u64 %rd1, 0; mov.u64 %rd2, 0; mov.u16 %h1, 0;"
    )
    with pytest.raises(MemoryFault, match=rf"is not a multiple of {size} bytes"):
        run(declared + access, out=EIGHT)


def test_the_gap_between_two_buffers_belongs_to_neither(run: Runner) -> None:
    # 32 bytes at 0x10000000; the next buffer begins at a multiple of 256 at least 256 bytes behind the end.
    with pytest.raises(MemoryFault, match="224 bytes past the end of 'a'"):
        run("st.global.u32 [%a+256], %t;", a=EIGHT, b=EIGHT)
    with pytest.raises(MemoryFault, match="4 bytes before 'b'"):
        run("st.global.u32 [%b-4], %t;", a=EIGHT, b=EIGHT)


@pytest.mark.parametrize("distance", [-256, -4, 32, 252, 256, 480, 508])
def test_a_fault_leaves_the_neighbours_alone(distance: int) -> None:
    numbers = {"a": EIGHT + 1, "b": EIGHT + 2, "c": EIGHT + 3}
    device, arguments = prepare(f"st.global.u32 [%b{distance:+d}], 99;", numbers)
    gap = {n: b.address - arguments["b"].address for n, b in arguments.items()}
    assert gap == {"a": -512, "b": 0, "c": 512}
    with pytest.raises(MemoryFault):
        device.launch("k", 1, 32, *arguments.values())
    assert all(np.array_equal(arguments[n].download(), numbers[n]) for n in numbers)


def test_lanes_before_the_one_at_fault_store_nothing() -> None:
    device, arguments = prepare("st.global.u32 [%my_out], 7;", {"out": np.zeros(31, np.uint32)})
    with pytest.raises(MemoryFault, match=r"thread \(31,0,0\)"):
        device.launch("k", 1, 32, *arguments.values())
    assert not arguments["out"].download().any()


def test_a_device_goes_on_after_a_fault() -> None:
    device, arguments = prepare("st.global.u32 [%my_out], 7;", {"out": EIGHT})
    with pytest.raises(MemoryFault):
        device.launch("k", 1, 9, *arguments.values())
    assert device.launches == []
    device.launch("k", 1, 8, *arguments.values())
    assert arguments["out"].download().tolist() == [7] * 8
    assert len(device.launches) == 1


def test_inactive_lanes_may_hold_any_address(run: Runner) -> None:
    # Threads 8 to 31 would store at wild addresses, then far away, but only 0 to 7 act.
    body = """
    mul.wide.u32 %rd1, %t, 0x08000001;
    add.u64 %rd1, %rd1, %out;
    setp.lt.u32 %p1, %t, 8;
    @%p1 mov.u64 %rd1, %my_out;
    @!%p1 bra DONE;
    st.global.u32 [%rd1], %t;
    atom.global.add.u32 %r1, [%rd1], 1;
    ld.global.u32 %r2, [%rd1];
    st.global.u32 [%rd1], %r2;
    DONE:
    """
    assert run(body, out=EIGHT)["out"].tolist() == [n + 1 for n in range(8)]


def test_an_inactive_first_lane_may_lie_before_the_buffer(run: Runner) -> None:
    # Lane t stores at out[t - 1], lane 0 not at all; the same in shared memory, where lane 0's offset would be -4.
    body = """
    .shared .align 4 .b32 buf[7];
    setp.ge.u32 %p1, %t, 1;
    mov.u32 %r3, buf;
    mad.lo.u32 %r1, %t, 4, %r3;
    sub.u32 %r1, %r1, 4;
    @!%p1 bra DONE;
    st.shared.u32 [%r1], %t;
    ld.shared.u32 %r2, [%r1];
    st.global.u32 [%my_out-4], %r2;
    DONE:
    """
    assert run(body, block=8, out=np.zeros(7, np.uint32))["out"].tolist() == [1, 2, 3, 4, 5, 6, 7]


def test_a_guarded_access_that_no_lane_executes_does_not_fault(run: Runner) -> None:
    body = """
    mov.u64 %rd1, 0;
    mov.u32 %r1, 1;
    setp.gt.u32 %p1, %t, 99;
    @%p1 ld.global.u32 %r1, [%rd1];
    @%p1 st.shared.u32 [-4], %t;
    @%p1 atom.global.add.u32 %r2, [%rd1], 1;
    st.global.u32 [%my_out], %r1;
    """
    assert run(body, block=8, out=EIGHT)["out"].tolist() == [1] * 8


def test_a_guard_keeps_lanes_inside_the_buffer(run: Runner) -> None:
    body = "setp.lt.u32 %p1, %t, 8; @%p1 st.global.u32 [%my_out], %t;"
    assert run(body, block=64, out=EIGHT)["out"].tolist() == list(range(8))


@pytest.mark.parametrize(
    ("access", "said"),
    [
        ("st.shared.u32 [buf+32], %t;", "address 0x20 is out of bounds: the block has 32 bytes of shared memory"),
        ("ld.shared.u64 %rd1, [buf+32]; st.global.u64 [%out], %rd1;", "the block has 32 bytes of shared memory"),
        ("atom.shared.add.u32 %r1, [buf+32], 1;", "the block has 32 bytes of shared memory"),
        ("st.shared.u32 [buf-4], %t;", "address 0xfffffffc is out of bounds"),
        ("st.local.u32 [own+16], %t;", "address 0x10 is out of bounds: the thread has 16 bytes of local memory"),
        ("cvta.shared.u64 %rd1, buf; st.u32 [%rd1+32], %t;", "the block has 32 bytes of shared memory"),
        ("cvta.local.u64 %rd1, own; st.u32 [%rd1+16], %t;", "the thread has 16 bytes of local memory"),
    ],
)
def test_shared_and_local_bounds(run: Runner, access: str, said: str) -> None:
    declared = """.shared .align 8 .b8 buf[32]; .local .align 8 .b8 own[16]; st.shared.u32 [buf], %t;
    st.local.u32 [own], %t; ld.local.u32 %r9, [own]; st.global.u32 [%out], %r9;"""
    with pytest.raises(MemoryFault, match=re.escape(said)):
        run(declared + access, out=EIGHT)


def test_the_last_byte_of_shared_memory_can_be_used_and_a_word_there_cannot(run: Runner) -> None:
    body = ".shared .b8 buf[6]; st.shared.u8 [buf+5], 77; ld.shared.u8 %r1, [buf+5]; st.global.u32 [%my_out], %r1;"
    assert run(body, block=8, out=EIGHT)["out"].tolist() == [77] * 8
    with pytest.raises(MemoryFault, match="6 bytes of shared memory"):
        run(".shared .align 4 .b8 buf[6]; st.shared.u32 [buf+4], %t;", out=EIGHT)


@pytest.mark.parametrize(
    ("kind", "count", "size"), [("u8", 4, 1), ("u16", 2, 2), ("u32", 4, 4), ("u64", 2, 8), ("f64", 2, 8)]
)
def test_a_vector_may_end_with_the_buffer_and_no_later(run: Runner, kind: str, count: int, size: int) -> None:
    register = {"u8": "r", "u16": "h", "u32": "r", "u64": "rd", "f64": "fd"}[kind]
    target = "{" + ", ".join(f"%{register}{n}" for n in range(1, count + 1)) + "}"
    code = f"ld.global.v{count}.{kind} {target}, [%data+AT]; st.global.v{count}.{kind} [%out], {target};"
    total = count * size
    data = np.arange(1, 2 * total + 1).astype(np.uint8)
    outcome = run(code.replace("AT", str(total)), block=1, data=data, out=np.zeros(total, np.uint8))
    assert outcome["out"].tolist() == list(range(total + 1, 2 * total + 1))
    with pytest.raises(MemoryFault, match=r"'data'|'out'"):
        run(code.replace("AT", "0"), block=1, data=data[: total - 1], out=np.zeros(total, np.uint8))


def test_a_fault_in_a_device_function_names_its_line(run: Runner) -> None:
    before = """
    .func put(.param .b64 where)
    {
    .reg .b64 %a;
    ld.param.u64 %a, [where];
    st.global.u32 [%a], 1;
    ret;
    }
    """
    body = "{ .param .b64 p; st.param.b64 [p], %rd1; call.uni put, (p); }"
    with pytest.raises(MemoryFault, match=r"'st.global.u32 .*' at <ptx>:9"):
        run("mov.u64 %rd1, 64;" + body, before=before, out=words(0))


@pytest.mark.parametrize(
    ("elements", "store"),
    [
        (5, "st.global.v4.u32 [%out+16], {7, 7, 7, 7};"),  # bytes 16 to 31 of 20
        (5, "st.global.v4.u32 [%out+4], {7, 7, 7, 7};"),  # misaligned
        (5, "st.v4.u32 [%out+16], {7, 7, 7, 7};"),
        (7, "st.global.v2.u64 [%out+16], {7, 7};"),
        (31 * 4 + 2, "mad.wide.u32 %rd1, %t, 16, %out; st.global.v4.u32 [%rd1], {7, 7, 7, 7};"),  # the last lane only
    ],
)
def test_a_vector_store_that_faults_writes_no_element(elements: int, store: str) -> None:
    store = store.replace("{7, 7, 7, 7}", "{%r1, %r1, %r1, %r1}").replace("{7, 7}", "{%rd2, %rd2}")
    body = "mov.u32 %r1, 7; mov.u64 %rd2, 7;" + store
    device, arguments = prepare(body, {"out": np.zeros(elements, np.uint32)})
    with pytest.raises(MemoryFault):
        device.launch("k", 1, 32, *arguments.values())
    assert not arguments["out"].download().any()


def test_a_vector_at_the_end_of_shared_memory_is_named_by_its_first_byte(run: Runner) -> None:
    # The last word of 20 bytes holds no vector of 16.
    body = ".shared .align 16 .b8 own[20]; st.shared.v4.u32 [own+16], {%t, %t, %t, %t};"
    with pytest.raises(MemoryFault, match="address 0x10 is out of bounds"):
        run(body, out=EIGHT)


def test_vectors_reach_the_end_of_each_of_two_buffers(run: Runner) -> None:
    # One instruction goes from one buffer to the other, whose last vector ends with it.
    body = """
    setp.lt.u32 %p1, %t, 8;
    selp.b64 %rd1, %a, %b, %p1;
    and.b32 %r1, %t, 7;
    mad.wide.u32 %rd2, %r1, 16, %rd1;
    st.global.v4.u32 [%rd2], {%t, %t, %t, %t};
    """
    outcome = run(body, block=16, a=np.zeros(32, np.uint32), b=np.zeros(32, np.uint32))
    assert outcome["a"].tolist() == [lane for lane in range(8) for _ in range(4)]
    assert outcome["b"].tolist() == [lane for lane in range(8, 16) for _ in range(4)]
