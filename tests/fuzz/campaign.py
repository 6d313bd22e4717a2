"""A long fuzzing campaign in slices, one process each, and its record for the documentation.

    python -m tests.fuzz.campaign --inputs 100000 --state FOLDER --record docs/explanation/robustness.md

The state folder contains the result of each slice, so that a campaign can be interrupted and continued, and several
with different ``--first`` numbers can fill it at the same time.  A slice that crashes or hangs is continued after the
mutant that caused it, which counts as a defect.  Every `COVERED`-th slice runs under ``coverage``.  The exit status is
1 if there were defects.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.fuzz.record import written
from tests.fuzz.slices import Counts

import warpreg
from warpreg.simt.llvm import object_code

SLICE = 1000
COVERED = 40
"""One slice in so many measures line coverage."""

PACKAGES = ("ptx", "ir", "analysis", "codegen")
"""The parser and the compiler."""

STALLED_SECONDS = 400
"""A process that stays at one mutant for so long hangs in native code."""


def campaign(inputs: int, first: int, state: Path) -> None:
    """Run the slices that ``state`` lacks."""
    for index, start in enumerate(range(first, first + inputs, SLICE)):
        result = state / f"{start}.json"
        if result.exists():
            continue
        began = time.monotonic()
        parts = [
            asdict(part) for part in _parts(start, min(SLICE, first + inputs - start), state, index % COVERED == 0)
        ]
        about = {"date": str(datetime.date.today()), "code": object_code.identity().split("\n")[-1][:12]}
        result.write_text(json.dumps({"parts": parts, "seconds": time.monotonic() - began, **about}))
        print(start, [part["stages"] for part in parts], sum(len(p["defects"]) for p in parts), flush=True)


def _parts(start: int, count: int, state: Path, covered: bool) -> Iterator[Counts]:
    """A slice's counts; in several parts if its process died on the way."""
    end = start + count
    while start < end:
        counts, at = _process(start, end - start, state, covered)
        yield counts
        start = at + 1


def _process(start: int, count: int, state: Path, covered: bool) -> tuple[Counts, int]:
    """Run one process; its counts, and the number of the last mutant it tried."""
    folder = state / f"slice-{start}"
    folder.mkdir(exist_ok=True)
    at, result = folder / "at", folder / "result.json"
    at.write_text(str(start))
    result.unlink(missing_ok=True)
    sources = ",".join(str(Path(warpreg.__file__).parent / package) for package in PACKAGES)
    tracer = ["-m", "coverage", "run", "-p", f"--data-file={state / 'coverage'}", f"--source={sources}"]
    command = [sys.executable, *(tracer if covered else []), "-m", "tests.fuzz.slices", str(start), str(count)]
    with subprocess.Popen([*command, str(folder)], stderr=subprocess.PIPE, text=True, env=os.environ) as process:
        said = _wait(process, at)
    if process.returncode == 0 and result.exists():
        found: dict[str, Any] = json.loads(result.read_text())
        return Counts(
            found["stages"], [(n, text) for n, text in found["defects"]], tuple(found["resident"])
        ), start + count
    number = int(at.read_text())
    return Counts(defects=[(number, f"process ended with {process.returncode}\n{said[-3000:]}")]), number


def _wait(process: subprocess.Popen[str], at: Path) -> str:
    """Wait for the end; kill the process if it stays at one mutant."""
    last, since = "", time.monotonic()
    while True:
        try:
            return process.communicate(timeout=5)[1]
        except subprocess.TimeoutExpired:
            now = at.read_text()
            if now != last:
                last, since = now, time.monotonic()
            elif time.monotonic() - since > STALLED_SECONDS:
                process.kill()


def main() -> int:
    parser = argparse.ArgumentParser(description="fuzz parser, compiler and executor")
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first mutant")
    parser.add_argument("--state", type=Path, required=True, help="folder for the results of the slices")
    parser.add_argument("--record", type=Path, help="Markdown file whose record is replaced")
    chosen = parser.parse_args()
    chosen.state.mkdir(parents=True, exist_ok=True)
    campaign(chosen.inputs, chosen.first, chosen.state)
    text, defects = written(chosen.state)
    print(text)
    if chosen.record:
        page = chosen.record.read_text()
        before, after = page.split("<!-- record -->")[0], page.split("<!-- end of record -->")[1]
        chosen.record.write_text(f"{before}<!-- record -->\n{text}\n<!-- end of record -->{after}")
    return 1 if defects else 0


if __name__ == "__main__":
    sys.exit(main())
