"""Clocks in the kernels of workloads: what is inserted, what the buffer says, and that memory stays as it is."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from warpreg import simt, workloads
from warpreg.gpu import load
from warpreg.gpu_kit.cubins import workload_ptx
from warpreg.gpu_kit.launch_accuracy import ComparedLaunches, compare_launches, cycles_of
from warpreg.gpu_kit.launch_clocks import BYTES, SYMBOL, Clocks, clocks_of, with_clocks
from warpreg.gpu_kit.measured_device import MeasuredDevice
from warpreg.gpu_kit.measuring_driver import MeasuringDriver
from warpreg.gpu_kit.simulated import Accuracy
from warpreg.ir.errors import UnknownNameError
from warpreg.machine_code.tools import assembled, disassembled
from warpreg.ptx import parse

from .fake_driver import FakeDriver
from .test_kit import DOUBLED, H100

ALL_ONES = (1 << 64) - 1
HALF = """
.version 8.0
.target sm_80
.address_size 64
.func twice(.reg .b32 %x) { add.u32 %x, %x, %x; ret; }
.visible .entry half(.param .u64 data)
{
    .reg .b64 %a; .reg .b32 %t; .reg .pred %p;
    mov.u32 %t, %tid.x;
    setp.ge.u32 %p, %t, 40; // ret;
    @%p ret;
    ld.param.u64 %a, [data]; mad.wide.u32 %a, %t, 4, %a;
    st.global.u32 [%a], %t;
    ret;
}
"""


def words(*sms: tuple[int, int, int, int]) -> bytes:
    """The buffer after a launch on SMs with first and last clock, first and last time."""
    kept = [(a ^ ALL_ONES, b, c ^ ALL_ONES, d) for a, b, c, d in sms]
    return np.array(kept, np.uint64).tobytes().ljust(BYTES, b"\0")


def test_a_launch_takes_as_long_as_its_longest_sm() -> None:
    """Clocks of SMs differ by any amount: 500 and 700 cycles; the timer runs from 10 to 410 on all of them."""
    assert clocks_of(words((1000, 1500, 10, 400), (90_000, 90_700, 20, 410))) == Clocks(700, 400, 2)


def test_a_buffer_without_clocks_is_an_error() -> None:
    with pytest.raises(ValueError, match="no thread block has written its clock"):
        clocks_of(bytes(BYTES))


def test_every_exit_of_a_kernel_reads_the_clock() -> None:
    """A guarded exit and the last one; the comment stays, and the function returns without."""
    text = with_clocks(HALF)
    assert text.count("%lanemask_lt") == 2
    assert "// ret;" in text
    assert "add.u32 %x, %x, %x; ret; }" in text
    assert parse(text).kernel_name("half") == "half"


def test_text_with_short_addresses_is_refused() -> None:
    with pytest.raises(ValueError, match=r"\.address_size 64 is missing"):
        with_clocks(HALF.replace("64", "32"))


def test_the_clocks_of_two_warps() -> None:
    """The executor's clock counts instructions.  Both warps end after they begin, also where eight threads of the
    second one end first; the words of the other SMs stay 0.
    """
    device = simt.Device(parse(with_clocks(HALF)))
    data = device.zeros(64, np.uint32)
    device.launch("half", 1, 64, data)
    assert data.download().tolist() == [*range(40), *[0] * 24]
    content = device.variables.buffers[SYMBOL].download().tobytes()
    found = clocks_of(content)
    assert found.sms == 1
    assert found.cycles > 0
    assert not any(content[32:])


@pytest.mark.parametrize("name", ["bfs", pytest.param("hotspot", marks=pytest.mark.slow),
                                  pytest.param("reduction", marks=pytest.mark.slow),
                                  pytest.param("nw", marks=pytest.mark.slow)])  # fmt: skip
def test_a_kernel_with_clocks_leaves_the_same_outputs(name: str) -> None:
    """Bit for bit, on the executor, for kernels with early exits, barriers, shuffles and many launches."""
    workload = workloads.find(name)
    text = workload_ptx(name)
    plain, clocked = (workload.problem("tiny").run(simt.Device(parse(one))) for one in (text, with_clocks(text)))
    assert plain.keys() == clocked.keys()
    assert all(np.array_equal(plain[key].view(np.uint8), clocked[key].view(np.uint8)) for key in plain)


@pytest.mark.slow
def test_machine_code_reads_the_clock_first_and_last() -> None:
    """``ptxas`` keeps the order: the clock, loads and stores, the clock, exit."""
    listing = disassembled(assembled(with_clocks(workload_ptx("hotspot")), "sm_90"))
    marks = ("CS2R", "LDG", "STG", "EXIT")
    order = [mark for line in listing.splitlines() for mark in marks if f" {mark}" in line and "SR_GLOBAL" not in line]
    assert order[0] == "CS2R"
    assert order[order.index("STG") :][:2] == ["STG", "CS2R"]


def test_a_launch_is_timed_by_its_clocks() -> None:
    """700 cycles in each run, cold, restored and in sequence; the events are those of the code without clocks."""
    library = FakeDriver()
    library.readings = [(1000, 1500, 10, 400), (90_000, 90_700, 20, 410)]
    device = MeasuredDevice(MeasuringDriver(1 << 20, library), parse(DOUBLED), b"cubin", clocked=b"clocked")
    buffer = device.upload(np.full(4, 2.0, np.float32))
    device.launch("doubled", 1, 32, buffer)
    (times,) = device.times
    assert (times.cold_cycles, times.restored_cycles, times.cold_ns, times.cold_ms) == (700, 700, 400, 0.5)
    assert library.calls["cuLaunchKernel"] == 12
    assert device.sequence() == [{"ms": 0.5, "least_ms": 0.5, "cycles": 700}]


def test_cycles_come_from_clocks_or_from_long_launches() -> None:
    """At 2000 MHz 0.2 ms are 400,000 cycles, 32,000 of them those of an empty launch of 16 microseconds.  By events, a
    launch that does not take ten times as long as that says too little.
    """
    launches = [{"cold_ms": 0.2, "cold_cycles": 5.0}, {"cold_ms": 0.1, "cold_cycles": 7.0}]
    one = {"clock_mhz": [1999, 2001], "launches": launches, "sequence": [{"ms": 0.2}, {"ms": 0.1}]}
    assert cycles_of(one, "cold", 0.016) == ("clocks", [5.0, 7.0])
    for launch in launches:
        del launch["cold_cycles"]
    assert cycles_of(one, "cold", 0.016) == ("events", [pytest.approx(368_000.0), None])
    assert cycles_of(one, "in sequence", 0.016) == ("events", [None, None])
    assert cycles_of({"error": "no answer"}, "cold", 0.016) == ("events", [])


@pytest.mark.slow
def test_the_launches_of_a_workload_are_compared() -> None:
    """By clocks of a file, here those of the machine itself and a fifth more: an error of a sixth."""
    found = json.loads(Path(H100).read_text(encoding="utf-8"))
    for launch in found["workloads"]["tiny"]["vector-add"]["launches"]:
        launch["cold_cycles"] = 1.0
    (first,) = compare_launches(found, load("h100"), "tiny", ["vector-add"])
    for launch in found["workloads"]["tiny"]["vector-add"]["launches"]:
        launch["cold_cycles"] = 1.2 * first.simulated / first.launches
    (row,) = compare_launches(found, load("h100"), "tiny", ["vector-add"])
    assert (row.by, row.simulated) == ("clocks", first.simulated)
    assert row.error == pytest.approx(1 / 6)


def test_accuracy_is_of_workloads_too() -> None:
    """Errors of a half and of nothing."""
    rows = [ComparedLaunches("a", 1, "clocks", 10.0, 15.0), ComparedLaunches("b", 2, "clocks", 20.0, 20.0)]
    assert str(Accuracy.of(rows)).startswith("2 figures: mean error 25.0%, 90th percentile 45.0%")


@pytest.mark.parametrize(("size", "names", "message"), [("full", [], "full"), ("tiny", ["no-such"], "no-such")])
def test_what_was_not_measured_is_named(size: str, names: list[str], message: str) -> None:
    found = {"workloads": {"tiny": {}}, "micro": {}, "code": {"architecture": "sm_90"}}
    with pytest.raises(UnknownNameError, match=message):
        [*compare_launches(found, load("h100"), size, names)]
