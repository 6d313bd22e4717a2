"""Measure what an archive claims from nothing, and compare."""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import warpreg
from warpreg.evaluation.archive import wheel
from warpreg.evaluation.archive.contents import EXPECTED, MANIFEST, RELATIVE
from warpreg.evaluation.archive.errors import ArchiveError

USED = ("sha256", "command", "status", "packages", "content", "warpreg")
"""Entries of a manifest that a check reads."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """What a command has printed as JSON, its exit status, and how long it took."""

    output: Any
    status: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """Results that were compared; ``differences`` are in words, the first ones first; ``largest`` is the largest
    relative difference within the tolerance.
    """

    results: int
    differences: Sequence[str]
    largest: float


def measured(command: Sequence[str], folder: Path, *, afresh: bool) -> Measurement:
    """Run a command in a folder, whose modules are not those of Python; ``afresh`` with an empty cache.

    Raises ArchiveError if it prints no JSON.
    """
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="warpreg-") as empty:
        environment = {**os.environ, "WARPREG_CACHE": empty} if afresh else dict(os.environ)
        call = [sys.executable, "-P", "-m", "warpreg", *command]
        found = subprocess.run(call, cwd=folder, env=environment, stdout=subprocess.PIPE, check=False)
    seconds = time.monotonic() - began
    text = found.stdout.decode().replace(str(folder.resolve()), ".")
    try:
        return Measurement(json.loads(text), found.returncode, seconds)
    except ValueError as error:
        raise ArchiveError(f"warpreg {' '.join(command)}: expected results, exit status {found.returncode}") from error


def check(folder: Path, name: Path) -> Verdict:
    """Check the files of an unpacked archive with this ``name``, measure again and compare.

    Raises ArchiveError for a folder that is no archive, a changed file, and other code than that of the archive.
    """
    manifest = _manifest(folder)
    _check_files(folder, manifest)
    if wheel.content_digest(manifest["packages"]) != manifest["content"]:
        raise ArchiveError(
            f"{name}: expected the code of its wheels/ (warpreg {manifest['warpreg']}), found other code (warpreg"
            f" {warpreg.__version__}); 'make setup' installs it"
        )
    expected = json.loads((folder / EXPECTED).read_bytes())
    return compared(expected, manifest["status"], measured(manifest["command"], folder, afresh=True))


def compared(expected: Any, status: int, found: Measurement) -> Verdict:
    """The verdict on what was found.  Of numbered cells, those that are expected count."""
    output = found.output
    if isinstance(expected, list) and isinstance(output, list) and all("cell" in one for one in (*expected, *output)):
        numbers = {one["cell"] for one in expected}
        output = [one for one in output if one["cell"] in numbers]
    elif found.status != status:
        return Verdict(_count(expected), [f"exit status: expected {status}, found {found.status}"], 0.0)
    largest = [0.0]
    differences = list(_differences(expected, output, "", largest))
    return Verdict(_count(expected), differences, largest[0])


def _count(expected: Any) -> int:
    """The results that are expected: the rows, or the results of a reproduction."""
    rows = expected.get("results") if isinstance(expected, dict) else expected
    return len(rows) if isinstance(rows, list) else 1


def _differences(expected: Any, found: Any, place: str, largest: list[float]) -> Iterator[str]:
    """Each place where they differ, in words."""
    if isinstance(expected, dict) and isinstance(found, dict) and expected.keys() == found.keys():
        for name in expected:
            yield from _differences(expected[name], found[name], f"{place}.{name}".lstrip("."), largest)
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for number, (one, other) in enumerate(zip(expected, found, strict=True)):
            yield from _differences(one, other, f"{place}[{number}]", largest)
    elif isinstance(expected, float) and isinstance(found, float | int):
        if not math.isclose(expected, found, rel_tol=RELATIVE):
            yield f"{place}: expected {expected!r}, found {found!r}"
        elif expected != found:
            largest[0] = max(largest[0], abs(expected - found) / max(abs(expected), abs(found)))
    elif expected != found or type(expected) is not type(found):
        yield f"{place}: expected {_short(expected)}, found {_short(found)}"


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def hardware() -> dict[str, Any]:
    """The machine that measures."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": _processor(),
        "processors": len(os.sched_getaffinity(0)),
        "memory_gib": round(memory / (1 << 30)),
        "system": f"{platform.system()} {platform.release()}",
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.machine())


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_bytes())
        for name in USED:
            manifest[name]
        for name in manifest["packages"]:
            wheel.MODULES[name]
    except OSError as error:
        raise ArchiveError(f"{folder}: not an unpacked archive: {MANIFEST}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise ArchiveError(f"{folder / MANIFEST}: not the manifest of an archive: {error}") from error
    return manifest


def _check_files(folder: Path, manifest: dict[str, Any]) -> None:
    for name, digest in manifest["sha256"].items():
        path = folder / name
        if not path.is_file():
            raise ArchiveError(f"{path}: is missing")
        if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            raise ArchiveError(f"{path}: has changed since it was archived")
