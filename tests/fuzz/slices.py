"""Many mutants in one process: ``python -m tests.fuzz.slices FIRST COUNT FOLDER``.

The number of a mutant is the seed of its random choices.  The process writes the current number to ``FOLDER/at``, so
that its parent can identify a mutant that crashed or hung it, and its counts and defects to ``FOLDER/result.json`` at
the end.
"""

from __future__ import annotations

import faulthandler
import json
import random
import resource
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from tests.fuzz.corpus import texts, weights
from tests.fuzz.mutate import mutant
from tests.fuzz.trial import Stage, attempt

SECONDS = 20
"""Most processor time for one mutant; it takes milliseconds."""

ADDRESS_SPACE = 8 << 30
"""Bytes that the process may map, so that a mutant which asks for too much fails here and not in the machine."""


class Hang(BaseException):
    """A mutant that takes longer than `SECONDS`."""


@dataclass
class Counts:
    """What a slice did: mutants by `Stage`, defects as (number, traceback), resident memory in KiB (after a fifth of
    the slice, and at its end)."""

    stages: list[int] = field(default_factory=lambda: [0] * len(Stage))
    defects: list[tuple[int, str]] = field(default_factory=list)
    resident: tuple[int, int] = (0, 0)


def text_of(number: int) -> str:
    """The mutant of a number."""
    return mutant(random.Random(number), texts(), weights())


def run(first: int, count: int, at: Path | None = None) -> Counts:
    """Try the mutants ``first`` to ``first + count - 1``."""
    counts, early = Counts(), 0
    for number in range(first, first + count):
        if at is not None:
            at.write_text(str(number))
        try:
            with _time_limit():
                counts.stages[attempt(text_of(number), number)] += 1
        except (Exception, Hang):
            counts.defects.append((number, traceback.format_exc(limit=-6)))
        if number == first + count // 5:
            early = _resident()
    counts.resident = (early, _resident())
    return counts


@contextmanager
def _time_limit() -> Iterator[None]:
    def expired(_: int, __: FrameType | None) -> Any:
        raise Hang

    previous = signal.signal(signal.SIGPROF, expired)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)


def _resident() -> int:
    """Resident memory of this process in KiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() // 1024


def main() -> None:
    first, count, folder = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    faulthandler.enable()
    warnings.simplefilter("error")
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    counts = run(first, count, folder / "at")
    (folder / "result.json").write_text(json.dumps(asdict(counts)))


if __name__ == "__main__":
    main()
