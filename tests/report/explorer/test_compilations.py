"""The processes of an explorer: limits of time and memory, and the newest text that wins."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.ptx.cuda.compilers import needs_nvrtc
from tests.report.explorer.samples import SUBJECT, TEXT

from warpreg.report.explorer import compilations as processes
from warpreg.report.explorer.compilations import CompilationError, Compilations, SupersededError, Worker, compilations
from warpreg.report.explorer.subject import Edit
from warpreg.report.explorer.worker import LIMITS

pytestmark = pytest.mark.slow
LONG = TEXT.replace(
    "    ret;", "    mul.lo.u32 %b, %b, %a; xor.b32 %b, %b, %a;\n" * 2000 + "    st.global.u32 [%out], %b; ret;"
)
EDIT = Edit(TEXT, SUBJECT.choice, SUBJECT.codes, "warpreg", {})


def running(script: str) -> Worker:
    """A process in the place of that of a worker."""
    command = [sys.executable, "-c", script]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    return Worker(process, tempfile.TemporaryDirectory())


@pytest.fixture
def sleepers(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Worker]]:
    """Processes that do not end, in the place of workers, in the order in which they were started."""
    started: list[Worker] = []

    def start() -> Worker:
        started.append(running("import subprocess; subprocess.run(['sleep', '100'])"))
        return started[-1]

    monkeypatch.setattr(processes, "_started", start)
    yield started
    assert all(worker.process.poll() is not None for worker in started)
    assert not any(Path(worker.folder.name).exists() for worker in started)


def test_a_text_is_compiled_in_another_process() -> None:
    with compilations(SUBJECT) as made:
        for _ in range(2):
            answer = json.loads(made.answer("1", EDIT))
            assert answer["kernels"][0]["views"][0]["facts"]["Registers"] == 4


def test_the_process_group_ends_at_the_limit_of_time(sleepers: list[Worker]) -> None:
    with compilations(SUBJECT, 0.3) as made:
        with pytest.raises(CompilationError, match=r"not compiled after 0.3 s"):
            made.answer("1", EDIT)
        first = sleepers[0].process
        assert first.poll() == -9
        for _ in range(100):  # the child of the process is not ours to wait for
            if not _group(first.pid):
                break
            time.sleep(0.05)
        assert not _group(first.pid)


def _group(number: int) -> list[str]:
    """The processes of a group that have not ended."""
    listed = subprocess.run(["ps", "-eo", "pgid=,stat="], capture_output=True, text=True, check=True).stdout
    rows = (line.split() for line in listed.splitlines())
    return [state for group, state in rows if int(group) == number and not state.startswith("Z")]


def test_the_newest_text_of_a_page_wins(sleepers: list[Worker]) -> None:
    errors: list[type[Exception]] = []

    def ask(made: Compilations, page: str) -> None:
        try:
            made.answer(page, EDIT)
        except CompilationError as error:
            errors.append(type(error))

    with compilations(SUBJECT, 60) as made:
        threads = [threading.Thread(target=ask, args=(made, page)) for page in ("1", "2")]
        for thread in threads:
            thread.start()
        while len(made._running) < 2:
            time.sleep(0.01)
        last = threading.Thread(target=ask, args=(made, "1"))
        last.start()
        threads[0].join()
        assert errors == [SupersededError]
        assert threads[1].is_alive()
        made.close()
        for thread in (threads[1], last):
            thread.join()


def test_so_many_pages_compile_at_once(monkeypatch: pytest.MonkeyPatch, sleepers: list[Worker]) -> None:
    monkeypatch.setattr(processes, "MAX_PAGES", 0)
    with compilations(SUBJECT) as made, pytest.raises(CompilationError, match="0 other pages are compiling"):
        made.answer("1", EDIT)


def test_a_process_that_fails_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_started", lambda: running("raise SystemExit(3)"))
    with compilations(SUBJECT) as made, pytest.raises(CompilationError, match="ended with status 3"):
        made.answer("1", EDIT)


def superseded(made: Compilations, edit: Edit) -> None:
    with pytest.raises(SupersededError):
        made.answer("1", edit)


@needs_nvrtc
def test_a_compilation_that_ends_early_leaves_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends while the vendor's assembler has its input in a temporary folder."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    edit = dataclasses.replace(EDIT, text=LONG, codes=("sm_80",), shown="sm_80")
    with compilations(SUBJECT) as made:
        thread = threading.Thread(target=superseded, args=(made, edit))
        thread.start()
        while thread.is_alive() and not [*tmp_path.rglob("kernel.ptx")]:
            time.sleep(0.005)
        made.answer("1", EDIT)
        thread.join()
        (waiting,) = tmp_path.iterdir()
        assert [*waiting.iterdir()] == []
    assert [*tmp_path.iterdir()] == []


def test_nothing_is_compiled_after_the_end() -> None:
    with compilations(SUBJECT) as made:
        pass
    with pytest.raises(CompilationError, match="the server has ended"):
        made.answer("1", EDIT)


def test_the_limits_hold(tmp_path: Path) -> None:
    """A worker that would allocate more than its limit of memory, or write a longer file, cannot."""
    script = (
        "import resource, warpreg.report.explorer.worker as worker\n"
        "worker.sys.stdin = open('/dev/null')\n"
        "worker.main()\n"
        "assert {kind: resource.getrlimit(kind)[1] for kind in worker.LIMITS} == worker.LIMITS\n"
        "try:\n    bytearray(worker.MEMORY_BYTES)\nexcept MemoryError:\n    raise SystemExit(7)\n"
    )
    assert len(LIMITS) == 4
    assert subprocess.run([sys.executable, "-c", script], check=False, cwd=tmp_path).returncode == 7
