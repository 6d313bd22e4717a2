"""Progress of commands: what the line says, when it is shown, and that standard output stays the same."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import time
from datetime import datetime

import pytest

from warpreg.cli import main, steps
from warpreg.cli.steps import Steps
from warpreg.ir.work_observer import Work, observed_work, part_of, reached
from warpreg.report.pace import Pace, amount, duration, end_words, rate_words

NOON = datetime(2026, 3, 1, 12, 0)


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_the_rate_is_that_of_measured_steps_and_not_of_those_that_were_found(clock: Clock) -> None:
    """3 of 40 cells are measured in a minute, and 17 were found: 20 are left, at 3 a minute in 400 seconds."""
    pace = Pace(clock)
    pace.begin(40)
    pace.find(17)
    pace.advance(3)
    assert pace.words("cells") == "20 of 40 cells"
    clock.now += 60
    assert pace.rate == 3 / 60
    assert pace.left_s == 400
    assert pace.words("cells", NOON) == "20 of 40 cells, 3.0 a minute, 06:40 left, ends 12:06"


def test_the_pace_of_a_log_does_not_depend_on_a_clock_that_is_set(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time of day is set an hour ahead in the middle of a minute of work."""
    monkeypatch.setattr("time.time", lambda: 1_000.0 + clock.now)
    pace = Pace(clock)
    pace.begin(40)
    monkeypatch.setattr("time.time", lambda: 4_600.0 + clock.now)
    clock.now += 60
    pace.advance(30)
    assert Pace.of_dict(pace.as_dict(), 4_600.0 + clock.now).rate == 0.5


def test_nothing_is_said_of_work_of_unknown_size(clock: Clock) -> None:
    pace = Pace(clock)
    clock.now += 60
    pace.advance(3)
    assert pace.words() == ""
    assert pace.left_s is None


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (99_999, "99,999"), (123_456, "123 k"), (3_412_000, "3.41 M"), (999_900_000, "1,000 M"), (2e9, "2 G")],
)
def test_amounts_have_three_digits(value: float, text: str) -> None:
    assert amount(value) == text


def test_rates_have_the_unit_in_which_they_are_at_least_one() -> None:
    assert [rate_words(rate) for rate in (3.4e6, 2.5, 0.05, 0.001)] == [
        "3.4 M a second", "2.5 a second", "3.0 a minute", "3.6 an hour",
    ]  # fmt: skip


def test_durations_and_ends() -> None:
    assert [duration(seconds) for seconds in (12, 192, 7_392, 90_000)] == ["00:12", "03:12", "2:03:12", "1 day 1:00:00"]
    assert end_words(60, NOON) == "12:01"
    assert end_words(24 * 3600, NOON) == "Mon 02 Mar 12:00"


def test_of_one_step_its_work_is_shown_and_of_several_the_steps() -> None:
    one = Steps()
    one.begin("timing bfs")
    one.reached(Work(50, 200, "warp-instructions", "launch 1 of 2"))
    assert (one.description, one.words) == ("timing bfs, launch 1 of 2", "50 of 200 warp-instructions")
    several = Steps(4, "runs")
    several.begin("timing")
    several.done()
    several.reached(Work(50, 200, "warp-instructions", "launch 1 of 2"))
    assert (several.description, several.words) == ("timing 25%, launch 1 of 2", "1 of 4 runs")
    several.begin("replaying")
    assert several.description == "replaying"


def test_work_inside_larger_work_adds_to_it() -> None:
    told: list[Work] = []
    reached(Work(1, 2, "nobody listens"))
    with observed_work(told.append), part_of(100, 300, "warp-instructions", "launch 2 of 3"):
        reached(Work(40, 100, "warp-instructions", "thread block 4 of 10"))
    assert told == [
        Work(100, 300, "warp-instructions", "launch 2 of 3"),
        Work(140, 300, "warp-instructions", "launch 2 of 3, thread block 4 of 10"),
    ]


def test_without_a_terminal_nothing_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with steps.steps(2, "runs") as progress:
        progress.begin("timing")
        progress.done()
    assert capsys.readouterr() == ("", "")


def test_plain_lines_come_at_intervals_and_end_with_the_work(capsys: pytest.CaptureFixture[str]) -> None:
    shown = Steps(2, "runs")
    shown.begin("timing")
    with shown.printed(every_s=0.01):
        time.sleep(0.1)
    lines = capsys.readouterr().err.splitlines()
    assert set(lines) == {"warpreg: timing, 0 of 2 runs"}
    time.sleep(0.05)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("arguments", [["cache"], ["--progress", "cache"]])
def test_plain_lines_must_be_asked_for(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    monkeypatch.setattr("warpreg.cli.cache._print", lambda *given: asked.append(steps._wants_lines()))
    assert main(arguments) == 0
    assert asked == ["--progress" in arguments]


@pytest.mark.parametrize(
    ("is_terminal", "kind", "expected"), [(True, "xterm", True), (True, "dumb", False), (False, "xterm", False)]
)
def test_a_line_is_drawn_where_it_can_be_redrawn(
    is_terminal: bool, kind: str, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", kind)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    assert steps._can_redraw() == expected


SLOW = """
import sys, time
from warpreg.cli import output, steps
from warpreg.ir.work_observer import Work, reached
steps.PATIENCE_S = 0.0
with output.steps() as progress:
    progress.begin("timing [bold]bfs")
    for done in range(30):
        reached(Work(done, 30, "warp-instructions"))
        time.sleep(0.1)
print("the result")
"""


@pytest.mark.slow
def test_a_terminal_gets_a_line_that_goes_away_and_standard_output_is_the_same() -> None:
    main_end, end = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "150"}
    with subprocess.Popen([sys.executable, "-c", SLOW], stdout=subprocess.PIPE, stderr=end, env=environment) as process:
        os.close(end)
        drawn = b""
        while True:
            try:
                drawn += os.read(main_end, 4096)
            except OSError:  # the process has ended
                break
        assert process.stdout is not None
        assert process.stdout.read() == b"the result\n"
    os.close(main_end)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", drawn.decode())
    assert re.search(
        r"timing \[bold\]bfs .*2\d of 30 warp-instructions, (9|10)\.\d a second, 00:00 left, ends \d\d:\d\d", text
    )
    assert drawn.endswith(b"\x1b[2K")
