"""The thread that writes recordings: its order, its errors, and its end before the process is copied."""

from __future__ import annotations

import errno
import itertools
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.simt.programs import COMPILED, Runner, prepare

from piecewise_numba import settings
from warpreg.simt import Launch, Record
from warpreg.simt.launch import recorder, recording_file, second_thread
from warpreg.simt.launch.faults import ExecutionError
from warpreg.trace import Stream, TraceWriter

PATH = Record(path=True)
LOOP = """
mov.u32 %r1, 0;
L: add.u32 %r1, %r1, 1;
setp.lt.u32 %p1, %r1, 1000;
@%p1 bra L;
st.global.u32 [%my_out], %r1;
"""


@pytest.fixture(autouse=True)
def two_processors(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    second_thread.end()
    monkeypatch.setattr(second_thread, "may_use_two_processors", lambda: True)
    monkeypatch.setattr(second_thread, "_small", deque())  # without recordings that other tests have left
    yield
    second_thread.end()


def status_of_copy(work: Callable[[], int]) -> int:
    """With what status a copy of this process ends that does some work; it has five seconds."""
    copy = os.fork()
    if copy == 0:
        status = 255
        try:
            signal.alarm(5)
            status = work()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1])


def test_work_is_done_in_its_order_by_another_thread() -> None:
    seen: list[tuple[int, str]] = []

    def see(number: int) -> int:
        seen.append((number, threading.current_thread().name))
        return number

    work = [second_thread.submit(see, number) for number in range(100)]
    assert [one.result() for one in work] == list(range(100))
    assert seen == [(n, "recording") for n in range(100)]


def test_without_a_second_processor_the_first_thread_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_thread, "may_use_two_processors", lambda: False)
    assert second_thread.submit(threading.current_thread).result() is threading.current_thread()
    with pytest.raises(ValueError, match="invalid literal"):
        second_thread.submit(int, "x").result()


def test_the_order_remains_when_a_processor_is_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()
    first = second_thread.submit(go_on.wait)
    monkeypatch.setattr(second_thread, "may_use_two_processors", lambda: False)
    second = second_thread.submit(lambda: first.is_done)
    go_on.set()
    assert second.result()


def test_where_no_thread_can_start_the_first_one_does_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert second_thread.submit(threading.current_thread).result() is threading.current_thread()


def test_other_systems_need_no_second_thread() -> None:
    # Windows has no `os.register_at_fork`, macOS no `os.sched_getaffinity`.
    program = """
import concurrent.futures, logging, os, random, sys
from piecewise_numba import settings
del os.register_at_fork, os.sched_getaffinity
sys.platform = "another"
from warpreg.simt.launch import second_thread
print(second_thread.submit(int, "7").result())
"""
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "7\n"


def test_ctrl_c_between_any_two_calls_leaves_nothing_locked() -> None:
    # Python looks for signals when a function begins and when one of C returns: events of a profile.
    def interrupted(at: int) -> bool:
        left = at

        def profile(frame: object, event: str, argument: object) -> None:
            nonlocal left
            left -= event in ("call", "c_return")
            if left == 0:
                raise KeyboardInterrupt

        sys.setprofile(profile)
        try:
            second_thread.submit(int).result()
            second_thread.submit_small(int).result()
        except KeyboardInterrupt:
            return True
        finally:
            sys.setprofile(None)
        return False

    second_thread.submit(int).result()
    assert sum(map(interrupted, range(1, 100))) > 20
    many = 2 * second_thread.MOST
    done: list[int] = []

    def again() -> None:
        for submit in (second_thread.submit, second_thread.submit_small):
            done.extend(submit(int).result() for _ in range(many))

    after = threading.Thread(target=again)
    after.daemon = True
    after.start()
    after.join(10)
    assert done == [0] * (2 * many)


def test_only_so_much_work_waits() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def first() -> int:
        begun.set()
        return int(go_on.wait())

    work = [second_thread.submit(first)]
    begun.wait()
    work += [second_thread.submit(int) for _ in range(second_thread.MOST - 1)]
    waiting = threading.Thread(target=lambda: work.append(second_thread.submit(int)))
    waiting.start()
    time.sleep(0.05)
    assert len(work) == second_thread.MOST
    go_on.set()
    waiting.join()
    assert [one.result() for one in work] == [1, *[0] * second_thread.MOST]


def test_small_work_waits_until_there_is_enough_of_it() -> None:
    few = [second_thread.submit_small(threading.current_thread) for _ in range(second_thread.TOGETHER - 1)]
    assert second_thread.submit(int).result() == 0
    assert not any(one.is_done for one in few)
    last = second_thread.submit_small(threading.current_thread)
    assert second_thread.submit(int).result() == 0
    assert all(one.is_done for one in few)
    assert {one.result().name for one in [*few, last]} == {"recording"}


def test_small_work_is_done_once_a_result_is_needed() -> None:
    done: list[int] = []
    first, second = (second_thread.submit_small(done.append, number) for number in (1, 2))
    assert done == []
    second.result()
    assert first.is_done
    assert done == [1, 2]
    failing, after = second_thread.submit_small(int, "x"), second_thread.submit_small(int, "7")
    with pytest.raises(ValueError, match="invalid literal"):
        failing.result()
    assert after.result() == 7


def test_small_work_that_ctrl_c_ends_is_not_taken_for_done(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(second_thread, "may_use_two_processors", lambda: False)
    first, second = second_thread.submit_small(interrupted), second_thread.submit_small(int, "7")
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            first.result()
    assert second.result() == 7


def test_a_copy_does_the_small_work_that_waits_too() -> None:
    waiting = second_thread.submit_small(int, "7")
    assert status_of_copy(waiting.result) == 7
    assert waiting.result() == 7


def test_work_that_fails_leaves_its_place() -> None:
    for _ in range(2 * second_thread.MOST):
        failing = second_thread.submit(int, "x")
    with pytest.raises(ValueError, match="invalid literal"):
        failing.result()


def test_the_thread_ends_before_a_copy_and_begins_again() -> None:
    assert second_thread.submit(int).result() == 0
    assert status_of_copy(lambda: second_thread.submit(int, "7").result() + threading.active_count()) == 9
    assert not any(thread.name.startswith("recording") for thread in threading.enumerate())
    assert second_thread.submit(int, "7").result() == 7


def test_a_copy_that_compiles_waits_for_work_that_needs_the_compiler() -> None:
    # LLVM has one lock, which the copy must not hold meanwhile: also what is no longer in use is given back under it.
    program = """
import os, threading
import llvmlite.binding as llvm
from piecewise_numba import bounded
from warpreg.simt.launch import second_thread
begun, go_on = threading.Event(), threading.Event()
def work():
    begun.set()
    go_on.wait()
    return llvm.parse_assembly("").name
task = second_thread.submit(work)
begun.wait()
threading.Timer(0.2, go_on.set).start()
copy = bounded._copy()
if copy == 0:
    os._exit(0)
print(os.waitpid(copy, 0)[1], task.result())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout == "0 <string>\n", done.stderr


def test_a_copy_made_while_others_submit_work_submits_its_own() -> None:
    ended = False

    def others() -> None:
        while not ended:
            second_thread.submit(time.sleep, 1e-4)

    def submits_its_own() -> int:
        return [second_thread.submit(int).result() for _ in range(second_thread.MOST + 1)][-1]

    threads = [threading.Thread(target=others) for _ in range(2)]
    for one in threads:
        one.start()
    try:
        found = [status_of_copy(submits_its_own) for _ in range(20)]
    finally:
        ended = True
    for one in threads:
        one.join()
    assert found == [0] * 20


def test_ctrl_c_is_left_to_the_first_thread() -> None:
    # That one may have blocked it, to copy the process.
    assert signal.SIGINT in second_thread.submit(signal.pthread_sigmask, signal.SIG_BLOCK, ()).result()


def test_the_thread_is_the_programs_own() -> None:
    # A copy of the process may compile, although the thread lives.
    second_thread.submit(int).result()
    assert threading.active_count() > 1
    assert not any(one.name.startswith("recording") for one in settings.foreign_threads())


def path_words(grid: int) -> tuple[Launch, list[int]]:
    """A launch of `LOOP` and the words of its path."""
    launch = Runner(COMPILED)(LOOP, grid=grid, out=np.zeros(32 * grid, np.uint32), record=PATH).launch
    assert launch.trace is not None
    return launch, [word for chunk in launch.trace.path_chunks() for word in chunk.tolist()]


def test_recordings_of_two_threads_are_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    # A small one leaves its buffer to others while it waits; a large one leaves it once it is written.
    few, many = path_words(1)[1], path_words(40)[1]
    monkeypatch.setattr(recorder, "BUFFER_BYTES", 10_000)
    monkeypatch.setattr(recorder, "FEW_BYTES", 5000)
    found: list[tuple[bool, bool]] = []

    def launches(grid: int, expected: list[int], is_small: bool) -> None:
        for _ in range(30):
            launch, path = path_words(grid)
            found.append((path == expected, isinstance(launch.recording, second_thread.SmallTask) == is_small))

    threads = [threading.Thread(target=launches, args=given) for given in ((1, few, True), (40, many, False))]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == [(True, True)] * 60


def test_another_thread_may_take_the_last_free_buffer(monkeypatch: pytest.MonkeyPatch) -> None:
    class TakenMeanwhile(list[Any]):
        def pop(self, *_: Any) -> Any:
            raise IndexError

    path = path_words(1)[1]
    monkeypatch.setattr(recorder, "_FREE", {key: TakenMeanwhile(free) for key, free in recorder._FREE.items()})
    assert path_words(1)[1] == path


def test_ctrl_c_after_a_buffer_is_handed_over_leaves_it_to_one_recording(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "BUFFER_BYTES", 1000)
    free: dict[Any, list[Any]] = {}
    monkeypatch.setattr(recorder, "_FREE", free)
    submit = second_thread.submit

    def interrupted(work: Callable[..., Any], *arguments: Any) -> None:
        submit(work, *arguments)
        monkeypatch.setattr(second_thread, "submit", submit)
        raise KeyboardInterrupt

    monkeypatch.setattr(second_thread, "submit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        path_words(1)
    left = [buffer.first for buffers in free.values() for buffer in buffers]
    assert len(left) == len(set(left)) == 2


def test_an_error_of_another_kind_does_not_leave_a_recording_without_a_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "BUFFER_BYTES", 1000)
    append, pieces = TraceWriter.append, itertools.count()

    def without_memory(writer: TraceWriter, stream: Stream, data: NDArray[Any]) -> None:
        if next(pieces) == 1:
            raise MemoryError
        append(writer, stream, data)

    monkeypatch.setattr(TraceWriter, "append", without_memory)
    with pytest.raises(MemoryError):
        path_words(1)


def fill_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """No recording fits memory, and none fits the disk."""

    def refuse() -> BinaryIO:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(recording_file, "IN_MEMORY_BYTES", 0)
    monkeypatch.setattr(recorder, "FEW_BYTES", 0)
    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    fill_disk(monkeypatch)


@pytest.mark.usefixtures("full_disk")
def test_an_error_after_a_launch_is_raised_by_its_recording() -> None:
    device, arguments = prepare(LOOP, {"out": np.zeros(32, np.uint32)}, record=PATH)
    launch = device.launch("k", 1, 32, arguments["out"])
    for _ in range(2):
        with pytest.raises(ExecutionError, match=r"the recording cannot be written.*: No space left on device"):
            _ = launch.trace


@pytest.mark.parametrize("is_read", [False, True])
def test_an_error_that_nobody_has_seen_is_raised_once_by_the_next_launch(
    is_read: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    device, arguments = prepare(LOOP, {"out": np.zeros(32, np.uint32)}, record=PATH)
    launches = []
    with monkeypatch.context() as patch:
        fill_disk(patch)
        launches.append(device.launch("k", 1, 32, arguments["out"]))
        second_thread.end()
    with pytest.raises(ExecutionError, match="No space left on device"):
        _ = launches[0].trace if is_read else device.launch("k", 1, 32, arguments["out"])
    launches.append(device.launch("k", 1, 32, arguments["out"]))
    assert launches[1].trace is not None
    assert device.launches == launches


@pytest.mark.usefixtures("full_disk")
def test_an_error_in_a_launch_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "BUFFER_BYTES", 64)
    device, arguments = prepare(LOOP, {"out": np.zeros(32, np.uint32)}, record=PATH)
    with pytest.raises(ExecutionError, match="No space left on device"):
        device.launch("k", 1, 32, arguments["out"])
    assert device.launches == []
