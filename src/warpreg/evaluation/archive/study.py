"""An archive of a study: its file, its inputs and its finished cells.

Inputs lie where they lay, relative to the study file, so that the unpacked study is one again.  Its results go to the
store, where sweeps find them.
"""

from __future__ import annotations

import dataclasses
import json
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import warpreg
from warpreg.cache import store
from warpreg.evaluation.archive.check import compared, hardware, measured
from warpreg.evaluation.archive.command import KIND
from warpreg.evaluation.archive.contents import RESULTS, Archive, read_archive, written
from warpreg.evaluation.archive.errors import ArchiveError
from warpreg.evaluation.archive.wheel import content_digest
from warpreg.evaluation.sweep.batch import Batch, opened_files, package
from warpreg.evaluation.sweep.cells import FILES, located
from warpreg.evaluation.sweep.study_file import StudyFile

STUDY = "study.toml"


def archived(study_file: Path, study: StudyFile, batch: Batch) -> Archive:
    """The archive.  Raises ArchiveError for a study without finished cells, or for inputs outside its folder, and
    OSError.
    """
    cells = {key: result for key in batch.keys if key is not None and (result := store.read(store.RESULTS, key))}
    if not cells:
        raise ArchiveError(f"{study_file}: no cell is finished; 'warpreg sweep {study_file}' measures them")
    folder = study_file.parent.resolve()
    files = {STUDY: study_file.read_bytes()}
    for path in inputs(study, folder):
        if not path.is_relative_to(folder):
            raise ArchiveError(f"{path}: expected inputs of an archive in the folder of the study or below")
        files[path.relative_to(folder).as_posix()] = path.read_bytes()
    numbers = range(1, len(batch.cells) + 1)
    rows = [batch.row(number, row) for number in numbers if (row := batch.result(number)) is not None]
    expected = json.loads(json.dumps(rows))
    facts = {"batch": batch.digest, "cells": len(batch.cells), "finished": len(cells), "code": package()}
    unchecked = ["--unchecked"] if batch.unchecked else []
    command = ["sweep", STUDY, "--json", *unchecked]
    return Archive(study_file.stem, command, files, expected, results=cells, facts=facts)


def timed(archive: Archive) -> Archive:
    """The archive with the time and the hardware of a measurement from nothing, which is made once and kept.

    Raises ArchiveError if its results are not reproduced.
    """
    packed = store.key_of(
        content_digest(archive.packages), json.dumps(archive.expected), *map(repr, archive.files.items())
    )
    key = f"{KIND}-{packed}"
    kept = store.read(store.RESULTS, key)
    if kept is None:
        with tempfile.TemporaryDirectory() as folder:
            written(archive.files, Path(folder))
            found = measured(archive.command, Path(folder), afresh=True)
        verdict = compared(archive.expected, archive.status, found)
        if verdict.differences:
            raise ArchiveError(f"{archive.name}: measured again, the results differ: {verdict.differences[0]}")
        kept = json.dumps({"seconds": round(found.seconds), **hardware()}).encode()
        store.write(store.RESULTS, key, kept)
    return dataclasses.replace(archive, measured=json.loads(kept))


def inputs(study: StudyFile, folder: Path) -> Iterable[Path]:
    """The user's files that the study names, and those that these name."""
    parts = [part for entry in study.designs for part in located([entry.name], folder)[0].split("+")]
    named = [*parts, *located([*study.machines, *study.technologies], folder)]
    own = [Path(name) for name in named if name.endswith(FILES)]
    for name in located(study.workloads, folder):
        own += [path.resolve() for path in opened_files(name, study.reading(folder))]
    return dict.fromkeys(path for path in own if not path.is_relative_to(Path(str(warpreg.__file__)).parent))


def unpack(archive: Path, folder: Path) -> dict[str, Any]:
    """Write an archive to a new folder, and the results of its study to the store; returns the manifest.

    Raises ArchiveError for a file that is no archive or is damaged, before anything is written, or if ``folder``
    exists.  At an OSError the folder is not there.
    """
    manifest, content = read_archive(archive)
    if folder.exists():
        raise ArchiveError(f"{folder}: expected a folder that does not exist")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".new-") as place:
        made = Path(place) / "study"
        written(content, made)
        made.rename(folder)
    for name, data in content.items():
        if name.startswith(f"{RESULTS}/"):
            store.write(store.RESULTS, Path(name).stem, data)
    return manifest


def is_of_this_code(manifest: Mapping[str, Any]) -> bool:
    """Whether the results are those of the present code, so that a sweep finds them."""
    return bool(manifest.get("code") == package())
