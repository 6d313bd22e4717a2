"""An archive of a study: its file, its inputs, the versions of the software and its finished cells, in a ``.tar.gz``.

The same study gives the same bytes.  ``manifest.json`` has the SHA-256 of every other file.  Inputs lie where they lay,
relative to the study file, so that the unpacked study is one again.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import platform
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import warpreg
from warpreg.cache import store
from warpreg.evaluation.sweep.batch import Batch, opened_files, package
from warpreg.evaluation.sweep.cells import FILES, located
from warpreg.evaluation.sweep.errors import SweepError
from warpreg.evaluation.sweep.study_file import StudyFile

MANIFEST, RESULTS = "manifest.json", "results"
LIBRARIES = ("numpy", "numba", "llvmlite", "pandas", "scipy", "pydantic", "zstandard")
"""Of which the versions are noted."""


def pack(study_file: Path, study: StudyFile, batch: Batch) -> bytes:
    """The archive.  Raises SweepError for a study without finished cells, or for inputs outside its folder; OSError."""
    cells = {key: result for key in batch.keys if key is not None and (result := store.read(store.RESULTS, key))}
    if not cells:
        raise SweepError(f"{study_file}: no cell is finished; 'warpreg sweep {study_file}' measures them")
    folder = study_file.parent.resolve()
    content = {"study.toml": study_file.read_bytes()}
    for path in inputs(study, folder):
        if not path.is_relative_to(folder):
            raise SweepError(f"{path}: expected inputs of an archive in the folder of the study or below")
        content[path.relative_to(folder).as_posix()] = path.read_bytes()
    content |= {f"{RESULTS}/{key}.json": result for key, result in cells.items()}
    manifest = {"batch": batch.digest, "cells": len(batch.cells), "finished": len(cells), **_versions()}
    manifest["sha256"] = {name: hashlib.sha256(data).hexdigest() for name, data in sorted(content.items())}
    return _tar({MANIFEST: json.dumps(manifest, indent=2).encode(), **content})


def inputs(study: StudyFile, folder: Path) -> Iterable[Path]:
    """The user's files that the study names, and those that these name."""
    parts = [part for entry in study.designs for part in located([entry.name], folder)[0].split("+")]
    named = [*parts, *located([*study.machines, *study.technologies], folder)]
    own = [Path(name) for name in named if name.endswith(FILES)]
    for name in located(study.workloads, folder):
        own += [path.resolve() for path in opened_files(name, study.reading(folder))]
    return dict.fromkeys(path for path in own if not path.is_relative_to(Path(warpreg.__file__).parent))


def unpack(archive: Path, folder: Path) -> dict[str, Any]:
    """Write the study and its inputs to a new folder and its results to the store; returns the manifest.

    Raises SweepError for a file that is no archive or is damaged, before anything is written, or if ``folder`` exists.
    At an OSError the folder is not there.
    """
    manifest, content = _checked(archive)
    if folder.exists():
        raise SweepError(f"{folder}: expected a folder that does not exist")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".new-") as place:
        made = Path(place) / "study"
        for name, data in content.items():
            if not name.startswith(f"{RESULTS}/"):
                (made / name).parent.mkdir(parents=True, exist_ok=True)
                (made / name).write_bytes(data)
        made.rename(folder)
    for name, data in content.items():
        if name.startswith(f"{RESULTS}/"):
            store.write(store.RESULTS, Path(name).stem, data)
    return manifest


def is_of_this_code(manifest: Mapping[str, Any]) -> bool:
    """Whether the results are those of the present code, so that a sweep finds them."""
    return bool(manifest["code"] == package())


def _checked(archive: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    try:
        with tarfile.open(archive, "r:gz") as tar:
            files = [(one.name, tar.extractfile(one)) for one in tar.getmembers()]
            content = {name: file.read() for name, file in files if file is not None}
        manifest: dict[str, Any] = json.loads(content.pop(MANIFEST))
        expected: dict[str, str] = manifest["sha256"]
    except (tarfile.TarError, EOFError, KeyError, ValueError, gzip.BadGzipFile) as error:
        raise SweepError(f"{archive}: not an archive of a study: {error}") from error
    found = {name: hashlib.sha256(data).hexdigest() for name, data in content.items()}
    wrong = sorted(name for name in expected.keys() | found if expected.get(name) != found.get(name))
    wrong += [name for name in found if Path(name).is_absolute() or ".." in Path(name).parts]
    if wrong:
        raise SweepError(f"{archive}: damaged: {wrong[0]} has not the content that the manifest names")
    return manifest, content


def _versions() -> dict[str, Any]:
    libraries = {}
    for name in LIBRARIES:
        try:
            libraries[name] = version(name)
        except PackageNotFoundError:
            libraries[name] = "missing"
    return {
        "warpreg": warpreg.__version__,
        "code": package(),
        "python": sys.version.split()[0],
        "platform": f"{platform.system()} {platform.machine()}",
        "libraries": libraries,
    }


def _tar(content: Mapping[str, bytes]) -> bytes:
    """A compressed archive without times and owners."""
    packed = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", mtime=0, filename="") as stream,
        tarfile.open(fileobj=stream, mode="w") as tar,
    ):
        for name, data in content.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return packed.getvalue()
