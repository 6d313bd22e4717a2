"""An archive of one command: a comparison, a run or a reproduction, with the files that its arguments name."""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from warpreg.cache import store
from warpreg.evaluation.archive.check import hardware, measured
from warpreg.evaluation.archive.contents import Archive, inputs_of, written
from warpreg.evaluation.archive.errors import ArchiveError
from warpreg.evaluation.archive.wheel import PAPERS, WARPREG, content_digest
from warpreg.evaluation.runs.provenance import DIGITS
from warpreg.evaluation.runs.run import CompileChoice
from warpreg.evaluation.sweep.batch import opened_files
from warpreg.ir.errors import WarpregError
from warpreg.ptx.cuda.compile import headers_of
from warpreg.sass.choice import TraceChoice

KIND = "archive"
"""What the keys of archived commands begin with, in the store."""
COMMANDS = ("compare", "run", "reproduce")
"""Commands whose JSON is the same each time."""
SEPARATORS = "=:,+[]"
"""Between names of files in an argument, ``--designs=mrf,my.py+rfc`` or ``p=struct:bytes:x.bin,s32:1``."""


def inputs(arguments: Sequence[str], more: Sequence[Path] = ()) -> dict[str, bytes]:
    """The files that the arguments of a command name, those that these name, and ``more``, by place in this folder.

    Raises ArchiveError for one that is not in this folder or below, and for a name that other machines do not have.
    """
    folders = _folders(arguments)
    named = list(itertools.chain.from_iterable(map(_named, arguments)))
    for path in (*named, *map(Path, folders)):
        if path.is_absolute() or ".." in path.parts:
            raise ArchiveError(
                f"{path}: expected inputs of an archive in the present folder or below, by relative paths"
            )
    choice = CompileChoice(include=folders)
    further = [one for path in named for one in _further(path, choice)]
    return inputs_of([*named, *further, *more], Path.cwd())


def _named(text: str, separators: str = SEPARATORS) -> Iterator[Path]:
    """The files that an argument names: the text itself, else those between the first of the separators, and so on."""
    if is_file(text):
        yield Path(text)
    elif separators:
        for part in text.split(separators[0]):
            yield from _named(part, separators[1:])


def is_file(text: str) -> bool:
    """Whether a text, which may be too long for a name, is the name of a file."""
    try:
        return Path(text).is_file()
    except OSError:
        return False


def _folders(arguments: Sequence[str]) -> tuple[str, ...]:
    """Where the arguments look for headers."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("-I", "--include", action="append", default=[], nargs="?")
    return tuple(one for one in parser.parse_known_args(arguments)[0].include if one)


def _further(path: Path, choice: CompileChoice) -> Iterable[Path]:
    """The files that a workload, a trace or a source names."""
    try:
        return headers_of(path, choice.cuda) if path.suffix == ".cu" else opened_files(str(path), TraceChoice(), choice)
    except WarpregError:  # a design, a machine or a technology
        return ()


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
