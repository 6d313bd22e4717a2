"""The process of one design file, as its parent sees it: started in a temporary folder, killed with all it leaves."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warpreg.checks.leaderboard.entrant import PLAIN, RESULT, RULES, Rules
from warpreg.checks.leaderboard.orphans import killed_orphans
from warpreg.evaluation.runs.row import geometric_mean
from warpreg.ir.errors import WarpregError

CACHE = "cache"
KEPT = ("PATH", "LANG", "LC_ALL", "VIRTUAL_ENV", "LD_LIBRARY_PATH")
"""Variables of the environment that a process gets."""
LONGEST = 500
"""Characters of a reason."""


class LeaderboardError(WarpregError):
    """Nothing can be measured."""


@dataclass(frozen=True)
class Outcome:
    """What came of a file: means over workloads of ``energy`` and ``cycles``, as shares of those of the plain register
    file, and the ``storage`` in bytes that it adds to an SM; or the ``reason`` for which it has none of these.
    ``is_confined``: the system kept its writes in a temporary folder.
    """

    name: str
    energy: float = math.nan
    cycles: float = math.nan
    storage: float = math.nan
    reason: str = ""
    is_confined: bool = False


def outcomes(folder: Path, rules: Rules) -> list[Outcome]:
    """Those of the plain register file and of all design files of a folder, in the order of their names.

    Raises LeaderboardError for a folder without design files, and if the plain register file cannot be measured.
    """
    files = design_files(folder)
    if not files:
        raise LeaderboardError(f"{folder}: no design file; expected *.py, tests left out")
    with tempfile.TemporaryDirectory(prefix="warpreg-") as kept:
        warm = Path(kept)
        plain = measured(PLAIN, PLAIN, rules, warm, keeps=True)
        if plain.reason:
            raise LeaderboardError(f"the plain register file cannot be measured in these limits: {plain.reason}")
        return [plain, *(measured(file.name, str(file.resolve()), rules, warm) for file in files)]


def design_files(folder: Path) -> list[Path]:
    """All Python files of a folder but tests and those whose names begin with an underscore."""
    files = (file for file in folder.glob("*.py") if not file.name.startswith(("_", "test_")))
    return sorted(file for file in files if not file.stem.endswith("_test"))


def measured(name: str, file: str, rules: Rules, warm: Path, keeps: bool = False) -> Outcome:
    """Measure a design by file or name in a process of its own.

    Code that was compiled for the plain register file is in ``warm``, of which each process gets a copy; ``keeps``:
    this process fills it.
    """
    with tempfile.TemporaryDirectory(prefix="warpreg-") as made:
        folder = Path(made)
        if (warm / CACHE).exists():
            shutil.copytree(warm / CACHE, folder / CACHE)
        (folder / RULES).write_text(json.dumps(dataclasses.asdict(rules) | {"file": file}), encoding="utf-8")
        ended = _run(folder, rules)
        if keeps and (folder / CACHE).exists():
            shutil.copytree(folder / CACHE, warm / CACHE)
        return _outcome(name, folder / RESULT, ended)


def _run(folder: Path, rules: Rules) -> str:
    """Run the process to its end, and kill what it has left; returns how it ended, if that is no result."""
    environment = {name: os.environ[name] for name in KEPT if name in os.environ}
    places = dict.fromkeys(("HOME", "TMPDIR", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "MPLCONFIGDIR"), str(folder))
    environment |= places | {
        "WARPREG_CACHE": str(folder / CACHE),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    with killed_orphans():
        return _ended(folder, rules, environment)


def _ended(folder: Path, rules: Rules, environment: Mapping[str, str]) -> str:
    """How the process ended."""
    process = subprocess.Popen(
        [sys.executable, "-m", "warpreg.checks.leaderboard.entrant", str(folder)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env=environment,
        start_new_session=True,
    )
    try:
        status = process.wait(timeout=rules.limits.wall_seconds)
    except subprocess.TimeoutExpired:
        return f"did not end within {rules.limits.wall_seconds:,} seconds"
    finally:
        _kill_group(process)
    if status in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"took more than {rules.limits.seconds:,} seconds of processor time"
    if status < 0:
        return f"ended by {signal.Signals(-status).name}; memory is limited to {rules.limits.memory >> 20:,} MiB"
    return f"ended with status {status} and without a result"


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _outcome(name: str, path: Path, ended: str) -> Outcome:
    """The outcome in a file that the process has written, or how it ended without one."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        confined = found["confined"] is True
        if "reason" in found:
            return Outcome(name, reason=_one_line(str(found["reason"])), is_confined=confined)
        energy, cycles = (geometric_mean(_numbers(found[key])) for key in ("energy", "cycles"))
        return Outcome(name, energy, cycles, _numbers([found["storage"]])[0], is_confined=confined)
    except (OSError, ValueError, TypeError, KeyError):
        return Outcome(name, reason=ended)


def _numbers(values: Any) -> list[float]:
    """Raises ValueError for what are no finite numbers, 0 or more."""
    numbers = [float(value) for value in values]
    if not numbers or not all(math.isfinite(one) and one >= 0 for one in numbers):
        raise ValueError("no numbers")
    return numbers


def _one_line(text: str) -> str:
    line = " ".join("".join(one if one.isprintable() else " " for one in text).split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]} ..."
