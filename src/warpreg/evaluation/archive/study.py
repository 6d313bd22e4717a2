"""An archive of a study: its file, its inputs and its finished cells.

Inputs lie where they lay, relative to the study file, so that the unpacked study is one again.  Its results go to the
store, where sweeps find them.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from warpreg.cache import store
from warpreg.designs.loading.composition import SEPARATOR
from warpreg.evaluation.archive.check import compared, hardware, measured
from warpreg.evaluation.archive.command import KIND
from warpreg.evaluation.archive.contents import RESULTS, Archive, inputs_of, read_archive, written
from warpreg.evaluation.archive.errors import ArchiveError
from warpreg.evaluation.archive.wheel import content_digest
from warpreg.evaluation.sweep.batch import Batch, opened_files, package
from warpreg.evaluation.sweep.cells import FILES
from warpreg.evaluation.sweep.study_file import StudyFile

STUDY = "study.toml"


def archived(study_file: Path, study: StudyFile, batch: Batch, more: Sequence[Path] = ()) -> Archive:
    """The archive, with ``more`` files.  Raises ArchiveError for a study without finished cells, or for inputs outside
    its folder, and OSError.
    """
    cells = {key: result for key in batch.keys if key is not None and (result := store.read(store.RESULTS, key))}
    if not cells:
        raise ArchiveError(f"{study_file}: no cell is finished; 'warpreg sweep {study_file}' measures them")
    folder = study_file.parent.resolve()
    further = [one.parent.resolve() / one.name for one in more]
    found = inputs_of([folder / study_file.name, *inputs(study, folder), *further], folder)
    study_text = found.pop(study_file.name)
    if STUDY in found:
        raise ArchiveError(f"{STUDY}: expected inputs with other names: the study has this one in an archive")
    files = {STUDY: study_text, **found}
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


def inputs(study: StudyFile, folder: Path) -> list[Path]:
    """The files that the study names, and those that these name.  Raises ArchiveError for one that is not in the
    folder of the study or below, and for an absolute path.
    """
    parts = [part for entry in study.designs for part in entry.name.split(SEPARATOR)]
    own = [name for name in (*parts, *study.machines, *study.technologies, *study.workloads) if name.endswith(FILES)]
    for path in map(Path, own):
        if path.is_absolute() or ".." in path.parts:
            raise ArchiveError(
                f"{path}: expected inputs of an archive in the folder of the study or below, by relative paths"
            )
    opened = [opened_files(str(folder / name), study.reading(folder)) for name in study.workloads if name in own]
    return [*(folder / name for name in own), *itertools.chain.from_iterable(opened)]


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
