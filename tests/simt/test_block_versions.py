"""Versions of blocks: accesses whose lanes are as expected, and all others, give the same results and records."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.simt.programs import COMPILED, Runner, prepare
from tests.simt.recorded import accesses_of, path_of

from warpreg.ir.kernel import Kernel
from warpreg.simt import Launch, MemoryFault, Record
from warpreg.simt.kernel import block_versions
from warpreg.simt.memory import coalesced_path
from warpreg.simt.memory.coalesced_path import scattered

EVERYTHING = Record(path=True, addresses=True)
BLOCKS = [(32, 1), (96, 1), (40, 1), (16, 8), (64, 2), (48, 2)]
LENGTH = 800
THREAD = "mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mad.lo.u32 %r2, %r1, {width}, %r0;"
SHARED = ".shared .align 4 .b32 tile[800];"


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many accesses each division of a block expects something of, from now on."""
    found: list[int] = []
    add = block_versions._Division.add

    def noted(self: block_versions._Division) -> None:
        found.append(len(self.expected))
        add(self)

    monkeypatch.setattr(block_versions._Division, "add", noted)
    return found


class Body:
    """Random loads, stores and sums whose addresses follow from the thread's index: in rows, at one address, in others,
    with offsets that may leave a row, and with guards that hold for all, some or no lanes of a warp."""

    def __init__(self, seed: int, width: int) -> None:
        self.random, self.width = random.Random(seed), width

    def lines(self) -> Iterator[str]:
        yield SHARED + THREAD.format(width=self.width) + "mov.u32 %r9, tile; mov.u32 %r8, 7;"
        for number in range(4):
            yield self.address(number)
        yield "mov.u32 %r20, 0; L:"
        for _ in range(self.random.randint(2, 9)):
            yield self.random.choice((self.condition, self.load, self.store, self.barrier))()
        for number in range(10, 14):
            step = 4 * self.random.choice((0, 8, 32, 33))
            yield f"add.u64 %rd{number}, %rd{number}, {step}; add.u32 %r{number}, %r{number}, {step};"
        yield "add.u32 %r20, %r20, 1; setp.lt.u32 %p2, %r20, 5; @%p2 bra L; st.global.u32 [%my_out], %r8;"

    def address(self, number: int) -> str:
        """One of %rd10 to %rd13 in the array, and of %r10 to %r13 in shared memory."""
        step = self.random.choice(
            (
                *(
                    "mov.u32 %r3, %r2;",
                    "mov.u32 %r3, %r2;",
                    "mov.u32 %r3, %r0;",
                    "mov.u32 %r3, 5;",
                    "mov.u32 %r3, %r8;",
                ),
                *("sub.u32 %r3, 127, %r2;", "shl.b32 %r3, %r2, 1;", "xor.b32 %r3, %r2, 1;"),
            )
        )
        shared = f"mad.lo.u32 %r{10 + number}, %r3, 4, %r9;"
        return f"{step} mad.wide.u32 %rd{10 + number}, %r3, 4, %x; {shared}"

    def condition(self) -> str:
        left = self.random.choice(("%r0", "%r2", "%r1", "%r8"))
        return f"setp.{self.random.choice(('lt', 'ge'))}.u32 %p1, {left}, {self.random.choice((0, 13, 32, 64, 1000))};"

    def place(self) -> str:
        kind, number = self.random.choice((("global", "%rd"), ("shared", "%r")))
        return f"{kind}.u32 [{number}{self.random.randrange(10, 14)}+{4 * self.random.randrange(5)}]"

    @property
    def guard(self) -> str:
        return self.random.choice(("", "", "@%p1 ", "@!%p1 "))

    def load(self) -> str:
        space, address = self.place().split(" ")
        return (
            f"mov.u32 %r4, 3; {self.guard}ld.{space} %r4, {address}; mad.lo.u32 %r8, %r8, 5, %r4; and.b32 %r8, %r8, 63;"
        )

    def store(self) -> str:
        space, address = self.place().split(" ")
        return f"{self.guard}st.{space} {address}, %r8;"

    def barrier(self) -> str:
        return "bar.sync 0;"


def outcome(kernel: Kernel, body: str, block: tuple[int, int], record: Record) -> tuple[Launch, list[int]]:
    """A launch of a kernel, and what it leaves in memory."""
    threads = block[0] * block[1]
    numbers = {"x": np.arange(LENGTH, dtype=np.uint32), "out": np.zeros(2 * threads, np.uint32)}
    device, arguments = prepare(body, numbers, record=record)
    device.install(kernel)
    launch = device.launch("k", 2, (*block, 1), *arguments.values())
    return launch, [*arguments["x"].download().tolist(), *arguments["out"].download().tolist()]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1 << 20), st.sampled_from(BLOCKS))
def test_random_accesses_are_those_of_calls(seed: int, block: tuple[int, int]) -> None:
    body = "setp.ne.u32 %p1, 0, 1;" + "\n".join(Body(seed, block[0]).lines())
    threads = block[0] * block[1]
    numbers = {"x": np.arange(LENGTH, dtype=np.uint32), "out": np.zeros(2 * threads, np.uint32)}
    kernel = Runner(COMPILED)(body, grid=2, block=(*block, 1), x=numbers["x"], out=numbers["out"]).launch.kernel
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coalesced_path, "worthwhile", lambda kernel, scattered: {})
        patch.setattr(coalesced_path, "scattered", lambda kernel: frozenset())
        called, wanted = outcome(kernel, body, block, EVERYTHING)
    assert outcome(kernel, body, block, Record())[1] == wanted
    divided, found = outcome(kernel, body, block, EVERYTHING)
    assert found == wanted
    assert path_of(divided) == path_of(called)
    records = [[one.by_thread(launch) for one in accesses_of(launch)] for launch in (divided, called)]
    assert records[0] == records[1]


def test_rows_are_not_looked_for_where_lanes_are_in_other_steps() -> None:
    """Of the loads of a row, in steps of two elements, backwards and at one address, and of a store at loaded places,
    the second and the third are likely to be scattered."""
    body = """
    shl.b32 %r1, %t, 3; ld.global.u32 %r2, [%my_out]; mad.wide.u32 %rd1, %t, 8, %out; ld.global.u32 %r3, [%rd1];
    neg.s32 %r4, %r1; add.s32 %r4, %r4, 248; mov.u32 %r5, tile; add.u32 %r4, %r4, %r5; ld.shared.u32 %r6, [%r4];
    ld.shared.u32 %r7, [tile]; add.u32 %r2, %r2, %r6; add.u32 %r2, %r2, %r7;
    mad.wide.u32 %rd2, %r3, 4, %out; st.global.u32 [%rd2], %r2;
    """
    kernel = Runner(COMPILED)(SHARED + body, out=np.zeros(64, np.uint32)).launch.kernel
    found = [str(instruction) for pc, instruction in enumerate(kernel.instructions()) if pc in scattered(kernel)]
    assert [text.split()[0] for text in found] == ["ld.global.u32", "ld.shared.u32"]


@pytest.mark.parametrize(
    ("access", "fault"),
    [
        ("ld.global.u32 %r3, [%rd1+136];", ("thread (15,0,0)", "0 bytes past the end of 'out'")),
        ("st.global.u32 [%rd1+136], %r0;", ("thread (15,0,0)", "0 bytes past the end of 'out'")),
        ("ld.shared.u32 %r3, [%r1+2968];", ("thread (29,0,0)", "shared")),
        ("st.shared.u32 [%r1+2968], %r0;", ("thread (29,0,0)", "shared")),
        ("ld.shared.u32 %r3, [%r1+2];", ("thread (0,0,0)", "not a multiple of 4 bytes")),
    ],
)
def test_scattered_lanes_are_checked(access: str, fault: tuple[str, str]) -> None:
    """In steps of 8 bytes, lane 15 is at 136 + 120 = 256, the first byte behind 64 words, and in shared memory lane 29
    at 2968 + 232 = 3200, the first behind 800 words.  What is said is what calls for any lanes say."""
    body = f"mov.u32 %r5, tile; mad.lo.u32 %r1, %t, 8, %r5; mad.wide.u32 %rd1, %t, 8, %out; mov.u32 %r0, 1; {access}"
    body = f"{SHARED} mov.u32 %r3, 0; {body} st.global.u32 [%out], %r3;"
    said = []
    for places in (scattered, lambda kernel: frozenset[int]()):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(coalesced_path, "scattered", places)
            device, arguments = prepare(body, {"out": np.zeros(64, np.uint32)})
            with pytest.raises(MemoryFault) as caught:
                device.launch("k", 1, 32, *arguments.values())
            said.append(str(caught.value))
    assert said[0] == said[1]
    assert all(part in said[0] for part in fault)


@pytest.mark.parametrize("record", [Record(), EVERYTHING], ids=["plain", "recorded"])
def test_accesses_of_a_block_are_expected_together(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both loads and the store of a row are expected together; the last thread block has 8 threads of 32."""
    found = counted(monkeypatch)
    body = """
    setp.lt.u32 %p1, %t, 40; @!%p1 bra E;
    ld.global.u32 %r1, [%my_x]; ld.global.u32 %r2, [%my_x+4]; add.u32 %r1, %r1, %r2; st.global.u32 [%my_out], %r1; E:
    """
    numbers = {"x": np.arange(41, dtype=np.uint32), "out": np.zeros(40, np.uint32)}
    device, arguments = prepare(body, numbers, record=record)
    device.launch("k", 2, 32, *arguments.values())
    assert arguments["out"].download().tolist() == [2 * n + 1 for n in range(40)]
    assert found == [3]


def test_the_highest_lane_remains_where_all_store_at_one_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is expected of such a store."""
    found = counted(monkeypatch)
    body = "mov.u32 %r1, %ctaid.x; mad.wide.u32 %rd1, %r1, 4, %out; st.global.u32 [%rd1], %t;"
    device, arguments = prepare(body, {"out": np.zeros(2, np.uint32)})
    device.launch("k", 1, 20, *arguments.values())
    assert arguments["out"].download().tolist() == [19, 0]
    device.launch("k", 1, 96, *arguments.values())
    assert (arguments["out"].download().tolist(), found) == ([95, 0], [])


def test_what_an_idle_guard_guards_is_left_out(run: Runner) -> None:
    """Warps 0 and 1 add what is 64 words behind; the others store nothing."""
    body = """
    .shared .align 4 .b32 tile[192]; mov.u32 %r1, tile; mad.lo.u32 %r1, %t, 4, %r1; add.u32 %r2, %t, 1;
    st.shared.u32 [%r1], %r2; bar.sync 0;
    setp.lt.u32 %p1, %t, 64; @%p1 ld.shared.u32 %r3, [%r1+256]; @%p1 add.u32 %r2, %r2, %r3;
    @%p1 st.shared.u32 [%r1], %r2; bar.sync 0; ld.shared.u32 %r4, [%r1]; st.global.u32 [%my_out], %r4;
    """
    outcome = run(body, block=128, out=np.zeros(128, np.uint32), record=EVERYTHING)
    assert outcome["out"].tolist() == [2 * t + 66 for t in range(64)] + list(range(65, 129))
    lanes = [len(one.by_thread(outcome.launch)) for one in accesses_of(outcome.launch) if one.instruction.guard]
    assert sorted(lanes) == [0] * 4 + [32] * 4


def test_lanes_beside_a_row_are_read_only_inside_the_buffer(run: Runner) -> None:
    """The last lanes of the second warp are behind the end; only the others load."""
    x = np.arange(50, dtype=np.uint32)
    body = "setp.lt.u32 %p1, %t, 50; @%p1 ld.global.u32 %r1, [%my_x]; @%p1 st.global.u32 [%my_out], %r1;"
    assert run(body, block=64, x=x, out=np.zeros(50, np.uint32))["out"].tolist() == x.tolist()


def test_a_row_that_leaves_its_buffer_is_a_fault_of_its_first_lane_outside() -> None:
    """What earlier instructions have stored remains."""
    body = "st.global.u32 [%my_out], 7; ld.global.u32 %r1, [%my_x]; st.global.u32 [%my_out+256], %r1;"
    device, arguments = prepare(body, {"x": np.ones(40, np.uint32), "out": np.zeros(128, np.uint32)})
    with pytest.raises(MemoryFault, match=r"thread \(40,0,0\)") as caught:
        device.launch("k", 1, 64, *arguments.values())
    assert caught.value.address == arguments["x"].address + 160
    assert arguments["out"].download().tolist() == [7] * 64 + [1] * 32 + [0] * 32


def test_threads_that_follow_each_other_in_another_order(run: Runner) -> None:
    """In a thread block that is 16 wide, a warp has two rows of an image that is 40 wide."""
    body = """
    mov.u32 %r1, %tid.y; mov.u32 %r0, %tid.x; mad.lo.u32 %r2, %r1, 40, %r0;
    mad.wide.u32 %rd1, %r2, 4, %x; mad.wide.u32 %rd2, %r2, 4, %out;
    ld.global.u32 %r3, [%rd1]; st.global.u32 [%rd2], %r3;
    """
    image = np.arange(1, 161, dtype=np.uint32).reshape(4, 40)
    found = run(body, block=(16, 4, 1), x=image, out=np.zeros_like(image))["out"].reshape(4, 40)
    assert (found[:, :16] == image[:, :16]).all()
    assert not found[:, 16:].any()
