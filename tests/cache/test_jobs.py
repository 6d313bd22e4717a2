"""Logs of commands: when there is one, what it says, and how a command that was killed looks."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

import pytest

from warpreg.cache import jobs, store
from warpreg.cache.jobs import JobLog
from warpreg.cli import main


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("WARPREG_CACHE", str(tmp_path))
    return tmp_path / jobs.FOLDER


def test_a_short_command_has_no_log(clock: Clock, folder: Path) -> None:
    log = JobLog(["list"], clock)
    log.update(step="listing")
    log.end("finished")
    assert not folder.exists()


def test_values_replace_earlier_ones_and_lists_grow(clock: Clock) -> None:
    log = JobLog(["sweep", "a b.toml"], clock)
    log.update(step="one")
    log.add("rows", [{"design": "rfc"}])
    assert jobs.jobs() == []
    log.update(step="two")
    log.write()
    (job,) = jobs.jobs()
    assert (job.state, job.values["step"], job.values["command"]) == ("running", "two", ["sweep", "a b.toml"])
    assert job.values["rows"] == [{"design": "rfc"}]
    log.add("rows", [{"design": "mrf"}])
    log.add("failures", [{"what": "cell 3", "why": "no room"}])
    assert len(jobs.jobs()[0].values["rows"]) == 1  # not written yet
    log.end("failed")
    (job,) = jobs.jobs()
    assert (job.state, [row["design"] for row in job.values["rows"]]) == ("failed", ["rfc", "mrf"])
    assert job.values["failures"] == [{"what": "cell 3", "why": "no room"}]


def test_a_line_in_writing_and_other_files_are_left_out(clock: Clock, folder: Path) -> None:
    log = JobLog(["run"], clock)
    log.update(step="one")
    log.write()
    (path,) = folder.iterdir()
    with path.open("a") as file:
        file.write('{"at": 2000, "step": "tw')
    (folder / "empty.jsonl").touch()
    (folder / "other.txt").write_text("x")
    (job,) = jobs.jobs()
    assert job.values["step"] == "one"


def test_a_log_cannot_be_read_by_others_and_is_no_entry_of_the_cache(clock: Clock, folder: Path) -> None:
    log = JobLog(["run"], clock)
    log.update(step="one")
    log.write()
    (path,) = folder.iterdir()
    assert (path.stat().st_mode & 0o777, folder.stat().st_mode & 0o777) == (0o600, 0o700)
    assert store.entries() == []


def test_the_oldest_logs_are_removed_but_not_those_of_running_commands(
    clock: Clock, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "MOST", 3)
    folder.mkdir()
    for number in range(5):
        (folder / f"20000101-00000{number}-1.jsonl").write_text("{}\n")
    with (folder / "20000101-000000-1.jsonl").open("a") as running:
        fcntl.flock(running, fcntl.LOCK_EX)
        log = JobLog(["run"], clock)
        log.update(step="one")
        log.write()
        kept = sorted(path.name for path in folder.iterdir() if path.name.startswith("2000"))
    assert kept == [f"20000101-00000{number}-1.jsonl" for number in (0, 3, 4)]


def test_a_process_that_is_forked_during_the_look_at_a_log_does_not_lock_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.mkdir()
    path, flock = folder / "20000101-000000-1.jsonl", fcntl.flock
    path.write_text("{}\n")
    copies: list[int] = []

    def forked(file: IO[bytes], how: int) -> None:
        flock(file, how)
        if how != fcntl.LOCK_UN:
            copies.append(os.dup(file.fileno()))  # as a forked process has it

    with monkeypatch.context() as patch:
        patch.setattr(fcntl, "flock", forked)
        assert not jobs._is_locked(path)
    with path.open("a") as file:
        flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(*copies)


def test_a_disk_that_cannot_be_written_does_not_end_the_command(clock: Clock, folder: Path) -> None:
    folder.write_text("no folder")
    log = JobLog(["run"], clock)
    log.update(step="one")
    log.write()
    log.end("finished")
    assert jobs.jobs() == []


def test_a_copy_of_the_process_writes_nothing(clock: Clock, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    log = JobLog(["sweep"], clock)
    monkeypatch.setattr(os, "getpid", lambda: 1)
    log.update(step="in a worker")
    log.write()
    assert not folder.exists()


KILLED = """
import time
from warpreg.cache import jobs
jobs.PATIENCE_S = jobs.INTERVAL_S = 0.01
with jobs.logged(["run", "long"]):
    jobs.current().update(step="timing")
    time.sleep(0.2)
    print("ready", flush=True)
    time.sleep(60)
"""


def test_a_step_that_says_nothing_is_in_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also what is noted soon after a line, in a step that lasts."""
    monkeypatch.setattr(jobs, "PATIENCE_S", 0.01)
    monkeypatch.setattr(jobs, "INTERVAL_S", 0.01)
    with jobs.logged(["sweep"]) as log:
        for step in ("one", "two"):
            log.update(step=step)
            time.sleep(0.2)
            assert [(job.state, job.values["step"]) for job in jobs.jobs()] == [("running", step)]


def test_a_command_that_notes_nothing_has_no_log(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr(jobs, "PATIENCE_S", 0.0)
    with jobs.logged(["watch"]) as log:
        time.sleep(0.05)
        log.end("finished")
    assert not folder.exists()


@pytest.mark.parametrize("damage", ["3", "[]", "null", "\0\0\0", '{"at": 1, "step'])
def test_a_damaged_line_is_left_out(damage: str, clock: Clock, folder: Path) -> None:
    log = JobLog(["run"], clock)
    log.update(step="one")
    log.write()
    (path,) = folder.iterdir()
    with path.open("a") as file:
        file.write(f"{damage}\n")
    (folder / "20000101-000000-1.jsonl").write_text(f'{damage}\n{{"at": 2000, "step": "of no command"}}\n')
    assert [job.values["step"] for job in jobs.jobs()] == ["one"]


FULL = """
import resource
from warpreg.cache import jobs
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, resource.RLIM_INFINITY))
log = jobs.JobLog(["run"])
for step in ("one", "x" * 1_000):
    log.update(step=step)
    log.write()
assert [job.values["step"] for job in jobs.jobs()] == ["one"]
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
log.add("notes", ["there is room again"])
log.write()
(job,) = jobs.jobs()
assert (job.state, job.values["step"], job.values["notes"]) == ("running", "x" * 1_000, ["there is room again"])
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, resource.RLIM_INFINITY))
log.update(step="y" * 1_000)
log.end("finished")
"""


def test_a_full_disk_neither_ends_the_command_nor_damages_the_log(folder: Path) -> None:
    """A limit of the size of files has the effect of a full disk: a line is written in part."""
    subprocess.run([sys.executable, "-c", FULL], check=True)
    assert [job.state for job in jobs.jobs()] == ["stopped"]


def test_a_killed_command_is_stopped() -> None:
    with subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        assert [job.state for job in jobs.jobs()] == ["running"]
        process.send_signal(signal.SIGKILL)
    assert [job.state for job in jobs.jobs()] == ["stopped"]


@pytest.mark.parametrize(
    ("arguments", "state", "why"),
    [(["cache"], "finished", ""), (["cache", "--kind", "no"], "failed", "no entry of kind 'no'")],
)
def test_the_command_line_ends_its_log(
    arguments: list[str], state: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "PATIENCE_S", 0.0)
    monkeypatch.setattr("warpreg.cli.cache._print", lambda *given: jobs.current().update(step="printing"))
    main(arguments)
    (job,) = jobs.jobs()
    assert (job.values["command"], job.state) == (arguments, state)
    assert why in job.values.get("why", "")


def test_lines_are_json(clock: Clock, folder: Path) -> None:
    log = JobLog(["run"], clock)
    clock.now += 1
    log.update(step="one\ntwo")
    log.write()
    clock.now += 1
    log.end("finished")
    (path,) = folder.iterdir()
    assert [json.loads(line)["at"] for line in path.read_text().splitlines()] == [1_001.0, 1_002.0]
