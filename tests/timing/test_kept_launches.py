"""Launches of a run that was stopped: kept, found again, and the same result as of a run that was not.

Three launches write and read one array, so that the second and third one find it in the second-level cache.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.simt.programs import COMPILED, prepare
from tests.timing.test_threads import numbers

from warpreg import gpu, timing
from warpreg.cache import store
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.simt import Launch, Record
from warpreg.timing.launch import kept_launches, simulate
from warpreg.timing.launch.kept_launches import KeptLaunchesNote, key_of
from warpreg.timing.memory.between_launches import SecondLevelState

ON = "gtx480"
BODY = """
mad.wide.u32 %rd1, %t, 4, %x;
ld.global.u32 %r1, [%rd1];
add.u32 %r1, %r1, %more;
st.global.u32 [%rd1], %r1;
"""
OPTIONS: dict[str, Any] = {"registers": None, "sms": 1, "window": None, "reach": False, "cold": False, "copies": ()}


def launches(more: int = 1, count: int = 3) -> list[Launch]:
    record = Record(path=True, addresses=True)
    device, arguments = prepare(
        BODY, {"x": np.arange(256, dtype=np.uint32), "more": 0}, options=COMPILED, record=record
    )
    return [device.launch("k", 1, 256, arguments["x"], more + number) for number in range(count)]


@pytest.fixture(autouse=True)
def keeps_everything(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setattr(kept_launches, "KIND", f"launches-{tmp_path.name}")
    monkeypatch.setattr(kept_launches, "LEAST_INSTRUCTIONS", 1)
    monkeypatch.setattr(kept_launches, "INTERVAL_S", 0.0)
    monkeypatch.setattr(kept_launches, "SHARE", 0)
    yield
    for entry in store.entries():
        if entry.kind.startswith(f"launches-{tmp_path.name}"):
            store.remove(entry)


@pytest.fixture
def timings(monkeypatch: pytest.MonkeyPatch) -> list[Launch]:
    """The launches that are timed; the third one is stopped by Ctrl-C, once."""
    found: list[Launch] = []
    real = simulate.timed

    def counted(launch: Launch, *rest: Any) -> Any:
        found.append(launch)
        if len(found) == 3:
            raise KeyboardInterrupt
        return real(launch, *rest)

    monkeypatch.setattr(simulate, "timed", counted)
    return found


def chosen(name: str | Path = "rfc", **values: int) -> ConfiguredDesign:
    return ConfiguredDesign.load(name, values)


@pytest.mark.slow
def test_a_run_goes_on_behind_its_last_kept_launch_with_the_same_result(timings: list[Launch]) -> None:
    whole = launches()
    options: dict[str, Any] = {"designs": chosen(), "sms": 1, "resume": True}
    with (
        pytest.warns(KeptLaunchesNote, match="2 of 3 launches are kept; the same command"),
        pytest.raises(KeyboardInterrupt),
    ):
        timing.simulate(whole, ON, **options)
    assert timings == whole
    again = launches()
    with pytest.warns(KeptLaunchesNote, match="2 of 3 launches were timed by an earlier run and are used"):
        resumed = timing.simulate(again, ON, **options)
    assert timings[3:] == again[2:]
    with pytest.warns(KeptLaunchesNote, match="3 of 3 launches were timed"):
        assert numbers(timing.simulate(again, ON, **options)) == numbers(resumed)
    assert len(timings) == 4
    uninterrupted = timing.simulate(whole, ON, designs=chosen(), sms=1)
    assert numbers(uninterrupted) == numbers(resumed)
    reads = int(uninterrupted.memory["dram_reads"])
    assert reads == 256 * 4 // 32  # those of the first launch alone: the cache was kept, too


@pytest.mark.slow
def test_nothing_is_said_to_be_kept_where_it_could_not_be_written(
    timings: list[Launch], monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    monkeypatch.setattr(store, "_usable", lambda: None)
    with pytest.raises(KeyboardInterrupt):
        timing.simulate(launches(), ON, designs=chosen(), sms=1, resume=True)
    assert len(timings) == 3
    assert [str(one.message) for one in recwarn if isinstance(one.message, KeptLaunchesNote)] == []


def test_the_key_covers_paths_addresses_machine_design_and_options() -> None:
    machine = gpu.load(ON)
    first = key_of(launches(), machine, chosen(), OPTIONS)
    assert first is not None
    assert first == key_of(launches(), machine, chosen(), OPTIONS)
    others = [
        key_of(launches(count=2), machine, chosen(), OPTIONS),
        key_of(launches(), replace(machine, name="other"), chosen(), OPTIONS),
        key_of(launches(), machine, chosen(entries=3), OPTIONS),
        key_of(launches(), machine, chosen("mrf"), OPTIONS),
        key_of(launches(), machine, chosen(), OPTIONS | {"cold": True}),
    ]
    assert len({first, *others}) == 6


def test_a_module_that_a_design_of_the_user_imports_is_part_of_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    other, design = tmp_path / "own_entries_of_a_design.py", tmp_path / "own.py"
    packaged = Path(chosen("rfc").design.path).read_text()
    other.write_text("ENTRIES = 4\n")
    design.write_text(f"{packaged}\nimport own_entries_of_a_design\n")
    machine = gpu.load(ON)
    before = key_of(launches(), machine, chosen(design), OPTIONS)
    other.write_text("ENTRIES = 5\n")
    assert before != key_of(launches(), machine, chosen(design), OPTIONS)


def test_short_runs_and_designs_without_a_file_have_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = gpu.load(ON)
    assert key_of(launches(), machine, replace(chosen(), source=""), OPTIONS) is None
    monkeypatch.setattr(kept_launches, "LEAST_INSTRUCTIONS", 1_000)
    assert key_of(launches(), machine, chosen(), OPTIONS) is None


def test_a_damaged_entry_is_not_used() -> None:
    store.write(kept_launches.KIND, "key", b"no pickle")
    assert kept_launches.KeptLaunches.find("key", SecondLevelState(), 3).results == {}


def test_keeping_costs_a_twentieth_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes two seconds, so the next time comes after forty."""
    times = iter([0.0, 10.0, 10.0, 12.0, 51.9, 52.0, 52.0, 54.0])
    monkeypatch.setattr(kept_launches, "INTERVAL_S", 10.0)
    monkeypatch.setattr(kept_launches, "SHARE", 20)
    writes: list[int] = []
    monkeypatch.setattr(store, "write", lambda kind, key, content: writes.append(len(content)))
    kept = kept_launches.KeptLaunches("key", None, clock=lambda: next(times))
    kept._since, kept._interval_s = kept.clock(), 10.0
    for number in range(3):
        kept.add(number, None)  # type: ignore[arg-type]
        assert len(writes) == (1, 1, 2)[number]


STOPPED = """
import sys, time
from warpreg.cli import main
from warpreg.timing.launch import kept_launches
kept_launches.LEAST_INSTRUCTIONS, kept_launches.INTERVAL_S, kept_launches.SHARE = 1, 0.0, 0
kept_launches.KIND = sys.argv[1]
write = kept_launches.store.write
def told(kind, key, content):
    write(kind, key, content)
    if kind == kept_launches.KIND:
        print("kept", file=sys.stderr, flush=True)
        time.sleep(float(sys.argv[2]))
kept_launches.store.write = told
sys.exit(main(["run", "bfs", "--size", "tiny", "--cycles", "--machine", "gtx480", "--json"]))
"""


@pytest.mark.slow
def test_a_process_that_is_killed_or_interrupted_between_launches_goes_on_with_the_same_bytes() -> None:
    """Killed behind its first launch, then interrupted behind the next one, then left to end."""
    command = [sys.executable, "-c", STOPPED]
    for sent, status in ((signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 130)):
        given = [*command, kept_launches.KIND, "0.3"]
        with subprocess.Popen(given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as stopped:
            assert stopped.stdout is not None
            assert stopped.stderr is not None
            assert "kept\n" in stopped.stderr  # waits for this line, or the end
            stopped.send_signal(sent)
            assert stopped.stdout.read() == ""
        assert stopped.returncode == status
    again, alone = (
        subprocess.run([*command, kind, "0"], capture_output=True, text=True, check=True)
        for kind in (kept_launches.KIND, f"{kept_launches.KIND}-2")
    )
    assert "launches were timed by an earlier run and are used" in again.stderr
    assert "were timed by an earlier run" not in alone.stderr
    assert again.stdout == alone.stdout
