"""A leaderboard: each design in a process with limits, a reason for each that fails, and ranks with ties."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from warpreg.checks.leaderboard.confinement import Limits
from warpreg.checks.leaderboard.entrant import Rules
from warpreg.checks.leaderboard.process import LeaderboardError, Outcome, design_files, measured, outcomes
from warpreg.checks.leaderboard.scores import ranked, row
from warpreg.cli import main

Output = pytest.CaptureFixture[str]
HEAD = """\"\"\"A test.\"\"\"
from warpreg.designs.interface import *
DESIGN = Declaration(slot="levels", source="assumed: a test")
"""
NOT_LINUX = sys.platform != "linux"


def rules(seconds: int = 60, wall: int = 240, memory: int = 4096) -> Rules:
    return Rules(("vector-add",), "tiny", "gtx980-two-level", Limits(seconds, wall, memory << 20))


def reason(folder: Path, text: str, given: Rules | None = None) -> str:
    """Why a design has no scores."""
    path = folder / "mine.py"
    path.write_text(HEAD + text, encoding="utf-8")
    return measured("mine.py", str(path), given or rules(), folder / "warm").reason


def test_a_wrong_design_has_its_error(tmp_path: Path) -> None:
    told = reason(tmp_path, "@hook\ndef plan_raeds(state, program, warp, pc, plan):\n    pass\n")
    assert told.startswith(f"{tmp_path}/mine.py:5: no hook named 'plan_raeds'")


def test_a_design_that_runs_for_ever_is_ended_by_its_processor_time(tmp_path: Path) -> None:
    assert reason(tmp_path, "while True:\n    pass\n", rules(seconds=5)) == "took more than 5 seconds of processor time"


def running(command: str) -> bool:
    """Whether a process has this command line; zombies have none."""
    return any(_command_line(one) == command for one in Path("/proc").glob("[0-9]*"))


def _command_line(process: Path) -> str:
    try:
        return " ".join((process / "cmdline").read_text().split("\0")).strip()
    except OSError:
        return ""


@pytest.mark.skipif(NOT_LINUX, reason="reads /proc")
@pytest.mark.parametrize("apart", [False, True], ids=["in its session", "in a session of its own"])
def test_a_design_that_sleeps_is_killed_with_its_children(tmp_path: Path, apart: bool) -> None:
    """It starts a shell, which starts another process; both are seen, and are gone afterwards."""
    sleep = f"sleep {1_000_000 + os.getpid() + 10_000_000 * apart}"
    text = f"""import subprocess, time
subprocess.Popen(["sh", "-c", "{sleep} & wait"], start_new_session={apart})
time.sleep(1000)
"""
    with ThreadPoolExecutor(1) as pool:
        told = pool.submit(reason, tmp_path, text, rules(wall=8))
        seen = False
        while not told.done():
            seen = seen or running(sleep)
            time.sleep(0.05)
    assert told.result() == "did not end within 8 seconds"
    assert seen
    assert not running(sleep)
    assert not running(f"sh -c {sleep} & wait")


def test_a_design_that_eats_memory_is_told_so(tmp_path: Path) -> None:
    text = "held = []\nwhile True:\n    held.append(bytearray(1 << 26))\n"
    assert reason(tmp_path, text, rules(memory=2048)) == "needs more than 2,048 MiB of memory"


@pytest.mark.skipif(NOT_LINUX, reason="Landlock is a part of Linux")
def test_a_design_writes_in_its_own_folder_only(tmp_path: Path) -> None:
    """The file beside it is in a temporary folder, which is gone afterwards."""
    outside = tmp_path / "outside"
    text = f"from pathlib import Path\nPath('inside').write_text('x')\nPath('{outside}').write_text('x')\n"
    told = reason(tmp_path, text)
    assert "mine.py:6: PermissionError" in told
    assert not outside.exists()
    assert not Path("inside").exists()


def test_output_is_ignored_and_an_early_end_has_a_reason(tmp_path: Path) -> None:
    text = "import os\nprint('rank 1' * 1000)\nos.write(2, b'\\xff' * 1000)\nos._exit(0)\n"
    assert reason(tmp_path, text) == "ended with status 0 and without a result"


@pytest.mark.parametrize(
    "result", ['{"energy": [1e400]', '{"energy": ["x"], "confined": true}', "garbage", "[]", "\\xff"]
)
def test_a_forged_result_that_is_none_has_a_reason(tmp_path: Path, result: str) -> None:
    text = f"import os\nopen('result.json', 'w').write('''{result}''')\nos._exit(3)\n"
    assert reason(tmp_path, text) == "ended with status 3 and without a result"


@pytest.mark.slow
def test_a_folder_with_a_good_and_a_wrong_design(tmp_path: Path, capsys: Output) -> None:
    """The plain register file and the design that does nothing tie; sources that cost nothing are not ranked."""
    (tmp_path / "nothing.py").write_text(HEAD, encoding="utf-8")
    (tmp_path / "free.py").write_text(
        f"{HEAD}@hook\ndef plan_reads(state, program, warp, pc, plan):\n"
        "    for operand in source_operands(program, pc):\n        nowhere(plan, operand)\n",
        encoding="utf-8",
    )
    assert main(["rank", str(tmp_path), "--workloads", "reduction", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["ranking"][:2] == [
        {"rank": 1, "design": name, "energy": 1.0, "cycles": 1.0, "storage": 0.0} for name in ("mrf", "nothing.py")
    ]
    assert found["ranking"][2]["design"] == "free.py"
    assert "accessed nowhere" in found["ranking"][2]["reason"]


def test_ranks_and_ties() -> None:
    """By energy, then cycles, then storage; what differs in the seventh digit is equal."""
    found = [
        Outcome("d", 0.5, 1.0, 64),
        Outcome("a", 0.50000001, 1.0, 64),
        Outcome("c", 0.5, 0.9, 128),
        Outcome("b", reason="none"),
        Outcome("e", 0.4, 1.2, 0),
        Outcome("f", 0.5, 1.0, 65),
    ]
    assert [(rank, one.name) for rank, one in ranked(found, "energy")] == [
        (1, "e"), (2, "c"), (3, "a"), (3, "d"), (5, "f"), (0, "b"),
    ]  # fmt: skip
    assert [one.name for _, one in ranked(found, "storage")][:2] == ["e", "a"]
    assert row(0, found[3]) == {"design": "b", "reason": "none"}
    assert row(3, found[1])["energy"] == 0.5
    assert math.isnan(found[3].energy)


def test_tests_and_hidden_files_are_left_out(tmp_path: Path) -> None:
    for name in ("b.py", "a.py", "a_test.py", "test_b.py", "_shared.py", "notes.txt"):
        (tmp_path / name).write_text("", encoding="utf-8")
    assert [file.name for file in design_files(tmp_path)] == ["a.py", "b.py"]


def test_an_empty_folder_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(LeaderboardError, match=r"no design file; expected \*\.py"):
        outcomes(tmp_path, rules())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--by", "ipc"], "--by ipc requires a study; a folder is ranked by energy, cycles, storage"),
        (["--unchecked"], "--unchecked requires a study"),
        (["--workloads", "none"], "no workload named 'none'"),
        (["--machine", "none"], "no machine named 'none'"),
    ],
)
def test_bad_options_are_one_line(tmp_path: Path, capsys: Output, arguments: list[str], message: str) -> None:
    assert main(["rank", str(tmp_path), *arguments]) != 0
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_options_of_a_folder_need_one(tmp_path: Path, capsys: Output) -> None:
    (tmp_path / "study.toml").write_text("", encoding="utf-8")
    assert main(["rank", str(tmp_path / "study.toml"), "--seconds", "3"]) == 2
    assert "--seconds requires a folder of design files" in capsys.readouterr().err
