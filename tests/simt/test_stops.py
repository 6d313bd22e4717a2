"""Launches that do not finish: traps, deadlocks, runaway loops, Ctrl-C, a full stack."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from tests.simt.programs import Runner, module, prepare, words

from warpreg.ir.work_observer import Work, observed_work
from warpreg.simt import (
    DeadlockError,
    Device,
    ExecutionError,
    LaunchError,
    MemoryFault,
    Record,
    RunawayError,
    TrapFault,
)
from warpreg.simt.kernel import native_kernel
from warpreg.simt.launch import fault_reports
from warpreg.trace import TraceWriter

OUT = np.zeros(64, np.uint32)


def test_trap_names_the_first_lane_that_executes_it(run: Runner) -> None:
    body = "setp.gt.u32 %p1, %t, 36; @%p1 trap; st.global.u32 [%my_out], 1;"
    with pytest.raises(TrapFault, match=r"block \(0,0,0\), thread \(37,0,0\), instruction '@.* trap' at <ptx>:\d+"):
        run(body, block=64, out=OUT)


@pytest.mark.parametrize("opcode", ["trap", "brkpt"])
def test_trap_and_brkpt_without_a_guard(run: Runner, opcode: str) -> None:
    with pytest.raises(TrapFault, match=rf"thread \(0,0,0\), instruction '{opcode}'"):
        run(opcode + ";", out=OUT)


def test_a_trap_that_no_lane_executes_stops_nothing(run: Runner) -> None:
    body = "setp.gt.u32 %p1, %t, 99; @%p1 trap; @%p1 brkpt; st.global.u32 [%my_out], 1;"
    assert run(body, block=64, out=OUT)["out"].tolist() == [1] * 64


def test_of_two_faults_the_first_is_reported(run: Runner) -> None:
    with pytest.raises(MemoryFault, match=r"thread \(0,0,0\), instruction 'st.global"):
        run("st.global.u32 [%my_out+4096], 1; trap;", out=OUT)


FIRST = "FIRST: bar.sync 1; bra.uni DONE;"
SECOND = "SECOND: bar.sync 2;"


def test_barrier_deadlock_names_warps_barriers_and_where_they_wait(run: Runner) -> None:
    # Warp 0 waits at barrier 1, warp 1 at barrier 2, warp 2 has exited.
    body = f"""
    setp.lt.u32 %p1, %t, 32;
    @%p1 bra FIRST;
    setp.lt.u32 %p1, %t, 64;
    @%p1 bra SECOND;
    exit;
    {FIRST}
    {SECOND}
    DONE: st.global.u32 [%out], 1;
    """
    with pytest.raises(DeadlockError) as caught:
        run(body, grid=(3, 1), block=96, out=OUT)
    first, second = (module(body, {"out": OUT}).splitlines().index(line) + 1 for line in (FIRST, SECOND))
    assert str(caught.value) == (
        f"kernel 'k', block (0,0,0): barrier deadlock: warp 0 waits at barrier 1 (<ptx>:{first}:8); "
        f"warp 1 waits at barrier 2 (<ptx>:{second}:9)"
    )


def test_a_count_of_threads_that_never_comes_is_a_deadlock(run: Runner) -> None:
    # Barrier 3 wants 64 threads; of three warps one arrives, the others exit: it must not be let go.
    body = "setp.lt.u32 %p1, %t, 32; @!%p1 exit; bar.sync 3, 64; st.global.u32 [%my_out], 1;"
    with pytest.raises(DeadlockError, match="warp 0 waits at barrier 3"):
        run(body, block=96, out=OUT)


def test_a_runaway_loop_is_reported(run: Runner) -> None:
    device, arguments = prepare("L: add.u32 %r1, %r1, 1; bra L;", {"out": OUT}, options=run.options)
    with pytest.raises(
        RunawayError, match=r"^kernel 'k', block \(0,0,0\): more than 5000 warp-instructions; the warp was in block 'L'"
    ):
        device.launch("k", 2, 64, *arguments.values(), max_instructions=5000)


def test_a_launch_may_take_exactly_its_limit() -> None:
    device, arguments = prepare("st.global.u32 [%my_out], %t;", {"out": OUT})
    taken = device.launch("k", 1, 64, *arguments.values()).warp_instructions
    device.launch("k", 1, 64, *arguments.values(), max_instructions=taken)
    with pytest.raises(RunawayError):
        device.launch("k", 1, 64, *arguments.values(), max_instructions=taken - 1)
    limited, arguments = prepare("st.global.u32 [%my_out], %t;", {"out": OUT})
    limited.max_instructions = taken - 1
    with pytest.raises(RunawayError):
        limited.launch("k", 1, 64, *arguments.values())


def test_a_warp_waits_in_vain_for_a_value_that_nobody_writes(run: Runner) -> None:
    body = "L: ld.volatile.global.u32 %r1, [%out]; setp.eq.u32 %p1, %r1, 0; @%p1 bra L;"
    device, arguments = prepare(body, {"out": OUT}, options=run.options)
    with pytest.raises(RunawayError):
        device.launch("k", 1, 64, *arguments.values(), max_instructions=2_000_000)


NESTED = """
setp.lt.u32 %p1, %t, 16; @%p1 bra A;
setp.lt.u32 %p2, %t, 24; @%p2 bra B;
setp.lt.u32 %p3, %t, 28; @%p3 bra C;
add.u32 %r1, %t, 1; bra D;
C: add.u32 %r1, %t, 2;
D: add.u32 %r1, %r1, 3; bra E;
B: add.u32 %r1, %t, 4;
E: add.u32 %r1, %r1, 5; bra F;
A: add.u32 %r1, %t, 6;
F: st.global.u32 [%my_out], %r1;
"""


def test_more_diverged_parts_than_the_stack_holds(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    # Three nested regions push two entries each.
    assert run(NESTED, out=OUT)["out"][[0, 16, 24, 28]].tolist() == [6, 16 + 9, 24 + 10, 28 + 9]
    for module_ in (native_kernel, fault_reports):
        monkeypatch.setattr(module_, "STACK_ENTRIES", 5)
    with pytest.raises(ExecutionError, match=r"block \(0,0,0\), warp 0: more than 5 diverged parts at block"):
        run(NESTED, out=OUT)


def test_progress_is_told_and_may_stop_a_run() -> None:
    told: list[Work] = []

    def progress(work: Work) -> None:
        told.append(work)
        if len(told) == 3:
            raise KeyboardInterrupt

    device = Device(module("L: bra L;", {}))
    with pytest.raises(KeyboardInterrupt), observed_work(progress):
        device.launch("k", 1, 32)
    assert told == [Work(0, 1, "thread blocks", "k")] * 3
    assert device.launches == []


SPINNING = """
import contextlib, signal, sys, threading
from warpreg.simt import Device, Record, RunawayError
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
device = Device(sys.argv[1], record=Record(path=True, addresses=True))
out = device.zeros(64, "u4")
with contextlib.suppress(RunawayError):
    device.launch("k", 1, 1024, out, max_instructions=1)  # compiles
threading.Timer(0.3, lambda: print("running", flush=True)).start()
device.launch("k", 1, 1024, out)
"""


@pytest.mark.slow
def test_ctrl_c_stops_within_a_second_and_leaves_no_file(tmp_path: Path) -> None:
    # Atomics on shared addresses are the slowest instructions there are.
    body = "L: " + "atom.global.add.f32 %f1, [%out], %f2; " * 40 + "bra L;"
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", SPINNING, module(body, {"out": OUT})]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "running\n"
        process.send_signal(signal.SIGINT)
        started = time.monotonic()
        try:
            _, errors = process.communicate(timeout=20)
        finally:
            process.kill()
        took = time.monotonic() - started
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert took < 3  # one second, and what a loaded machine may add
    assert list(tmp_path.iterdir()) == []


def test_a_fault_deletes_the_recording_so_far(run: Runner) -> None:
    with pytest.raises(MemoryFault):
        run("st.global.u32 [%my_out+4096], 1;", record=Record(path=True, addresses=True, widths=True), out=words(0))


@pytest.mark.parametrize("method", ["append", "finish"])
def test_a_full_disk_is_one_error_of_the_recording(run: Runner, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(TraceWriter, method, full)
    with pytest.raises(ExecutionError, match=r"^the recording cannot be written to .*: No space left on device$"):
        _ = run("st.global.u32 [%my_out], 1;", record=Record(path=True), out=OUT).launch.trace


def test_every_error_of_a_run_is_an_execution_error() -> None:
    kinds = (DeadlockError, MemoryFault, RunawayError, TrapFault)
    assert all(issubclass(kind, ExecutionError) for kind in kinds)
    assert not issubclass(LaunchError, ExecutionError)
