"""An archive of one command: a comparison, a run or a reproduction, with the files that its arguments name."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import warpreg
from warpreg.cache import store
from warpreg.evaluation.archive.check import hardware, measured
from warpreg.evaluation.archive.contents import Archive, written
from warpreg.evaluation.archive.errors import ArchiveError
from warpreg.evaluation.archive.wheel import PAPERS, WARPREG, content_digest
from warpreg.evaluation.runs.provenance import DIGITS
from warpreg.evaluation.sweep.batch import opened_files
from warpreg.ir.errors import WarpregError
from warpreg.ptx.cuda.compile import headers_of
from warpreg.sass.choice import TraceChoice

KIND = "archive"
"""What the keys of archived commands begin with, in the store."""
COMMANDS = ("compare", "run", "reproduce")
"""Commands whose JSON is the same each time."""
NAMED = re.compile(r"(?:.*[=:])?(?P<file>[^=:]+)")
"""A file in an argument, ``--design my.py``, ``file:x.npy`` or ``p=file:x.npy``."""


def inputs(arguments: Sequence[str], more: Sequence[Path] = ()) -> dict[str, bytes]:
    """The files that the arguments of a command name, those that these name, and ``more``, by place in this folder.

    Raises ArchiveError for one that is not in this folder or below.
    """
    here = Path.cwd().resolve()
    found: dict[str, bytes] = {}
    for path in dict.fromkeys([*_named(arguments), *(one.resolve() for one in more)]):
        if path.is_relative_to(Path(str(warpreg.__file__)).parent):
            continue
        if not path.is_relative_to(here):
            raise ArchiveError(f"{path}: expected inputs of an archive in the present folder or below")
        found[path.relative_to(here).as_posix()] = path.read_bytes()
    return found


def _named(arguments: Sequence[str]) -> Iterator[Path]:
    for argument in arguments:
        match = NAMED.fullmatch(argument)
        for text in (argument, match["file"] if match else ""):
            for name in text.split("+"):
                if name and Path(name).is_file():
                    yield Path(name).resolve()
                    yield from _further(name)


def _further(name: str) -> Iterator[Path]:
    """The files that a workload, a trace or a source names."""
    try:
        if name.endswith(".cu"):
            yield from (Path(one).resolve() for one in headers_of(Path(name)))
        else:
            yield from (one.resolve() for one in opened_files(name, TraceChoice()))
    except WarpregError:  # a design, a machine or a technology
        return


def archived(arguments: Sequence[str], more: Sequence[Path] = (), *, afresh: bool) -> Archive:
    """The archive of a command, which is run in a folder of its inputs alone; ``afresh`` with an empty cache, which
    states time and hardware.

    Raises ArchiveError for another command, for inputs elsewhere, and if it prints no results.
    """
    name, *_ = arguments
    if name not in COMMANDS:
        raise ArchiveError(f"{name}: expected a study, an archive, or one of the commands {', '.join(COMMANDS)}")
    command = [*arguments, *([] if "--json" in arguments else ["--json"])]
    files = inputs(command, more)
    packages = (WARPREG, PAPERS) if name == "reproduce" else (WARPREG,)
    digest = hashlib.sha256("\0".join([content_digest(packages), *command, *map(_digest, files.items())]).encode())
    key = f"{KIND}-{'afresh' if afresh else name}-{digest.hexdigest()}"
    kept = store.read(store.RESULTS, key)
    if kept is None:
        with tempfile.TemporaryDirectory() as folder:
            written(files, Path(folder))
            kept = json.dumps(ran(command, Path(folder), afresh=afresh)).encode()
        store.write(store.RESULTS, key, kept)
    found = json.loads(kept)
    return Archive(
        f"{name}-{digest.hexdigest()[:DIGITS]}",
        command,
        files,
        found["output"],
        found["status"],
        packages=packages,
        measured=found["measured"],
    )


def ran(command: Sequence[str], folder: Path, *, afresh: bool) -> dict[str, Any]:
    """What a command has printed, its exit status, and time and hardware if it was measured afresh.

    Raises ArchiveError if it prints no results.
    """
    found = measured(command, folder, afresh=afresh)
    told = {"seconds": round(found.seconds), **hardware()} if afresh else None
    return {"output": found.output, "status": found.status, "measured": told}


def _digest(file: tuple[str, bytes]) -> str:
    return f"{file[0]} {hashlib.sha256(file[1]).hexdigest()}"
