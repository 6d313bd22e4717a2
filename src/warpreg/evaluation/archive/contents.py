"""What every archive has: the inputs, the command that measures, its expected results, the code, and how to use it.

An archive is a ``.tar.gz`` of one folder.  ``manifest.json`` has the command, the versions of the software, and the
SHA-256 of every other file.  The same results give the same bytes.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import platform
import sys
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path, PurePosixPath
from typing import Any

import warpreg
from warpreg.evaluation.archive import wheel
from warpreg.evaluation.archive.errors import ArchiveError
from warpreg.evaluation.archive.readme import CHECKLIST, MAKEFILE, readme

MANIFEST, EXPECTED, RESULTS = "manifest.json", "expected.json", "results"
LIBRARIES = ("numpy", "numba", "llvmlite", "pandas", "scipy", "pydantic", "zstandard")
"""Of which the versions are noted."""
RELATIVE = 1e-9
"""Tolerance of numbers that are no integers.  Counts and cycles are integers; energies and means are sums of products,
whose last digits may depend on the vectors of the processor that NumPy uses.
"""
CUDA = "cuda"
NAMING = (".toml", ".py", ".g")
"""Files that name others."""


@dataclass(frozen=True)
class Archive:
    """``name`` is that of the folder; ``command`` measures ``expected`` in it, and ends with ``status``."""

    name: str
    command: Sequence[str]
    files: Mapping[str, bytes]
    """The user's inputs by place."""
    expected: Any
    status: int = 0
    results: Mapping[str, bytes] = field(default_factory=dict)
    """Entries of the store by key."""
    packages: Sequence[str] = (wheel.WARPREG,)
    facts: Mapping[str, Any] = field(default_factory=dict)
    """More entries of the manifest."""
    measured: Mapping[str, Any] | None = None
    """Time and hardware of a measurement from nothing; None if there was none."""

    def packed(self) -> bytes:
        """The ``.tar.gz``.

        Raises ArchiveError if a package of the code is not installed, or if an input has the name of another file.
        """
        extras = [CUDA] if self._needs_cuda else []
        pinned = sorted({line for name in self.packages for line in wheel.requirements(name, extras)})
        content = {
            EXPECTED: (json.dumps(self.expected, indent=1) + "\n").encode(),
            "requirements.txt": "".join(f"{line}\n" for line in pinned).encode(),
            "Makefile": MAKEFILE.encode(),
            **{f"wheels/{name}": data for name, data in map(wheel.wheel_of, self.packages)},
            **{f"{RESULTS}/{key}.json": result for key, result in self.results.items()},
        }
        manifest: dict[str, Any] = {
            "name": self.name,
            "command": list(self.command),
            "status": self.status,
            "relative_tolerance": RELATIVE,
            "packages": list(self.packages),
            "content": wheel.content_digest(self.packages),
            **self.facts,
            **versions(),
            "measured": self.measured,
        }
        content["README.md"] = readme(manifest, self.expected, sorted(self.files)).encode()
        content["CHECKLIST.md"] = CHECKLIST.encode()
        for taken in sorted(self.files.keys() & {MANIFEST, *content}):
            raise ArchiveError(
                f"{taken}: expected inputs with other names: an archive has a file of its own with this one"
            )
        content = {**self.files, **content}
        manifest["sha256"] = {name: hashlib.sha256(data).hexdigest() for name, data in sorted(content.items())}
        return _tar(self.name, {MANIFEST: (json.dumps(manifest, indent=2) + "\n").encode(), **content})

    @property
    def _needs_cuda(self) -> bool:
        """Whether its code is compiled from CUDA C++, or by NVIDIA's assembler."""
        own = any(name.endswith((".cu", ".cubin", ".fatbin")) for name in self.files)
        return (
            own
            or any(one.startswith("--code") for one in self.command)
            or any(b"machine_code" in data for data in self.files.values())
        )


def inputs_of(paths: Iterable[Path], folder: Path) -> dict[str, bytes]:
    """The user's inputs at these paths, by place in a folder, where they are found again in an archive.

    Raises ArchiveError for one that is not there or below, and for one that names another by its absolute path.
    """
    found: dict[Path, bytes] = {}
    for path in map(_absolute, paths):
        if path.is_relative_to(Path(str(warpreg.__file__)).parent):
            continue
        if not path.is_relative_to(folder):
            raise ArchiveError(f"{path}: expected inputs of an archive in {folder} or below")
        found[path] = path.read_bytes()
    for path, data in found.items():
        for other in found:
            if path.suffix in NAMING and str(other).encode() in data:
                raise ArchiveError(f"{path}: names {other}; expected a relative path, which other machines have too")
    return {path.relative_to(folder).as_posix(): data for path, data in found.items()}


def _absolute(path: Path) -> Path:
    """Without ``..``; links keep their names, by which others name them."""
    return Path(os.path.abspath(path))  # noqa: PTH100 follows no links


def read_archive(path: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The manifest, and all files by place.  Raises ArchiveError for a file that is no archive, or is damaged."""
    try:
        with tarfile.open(path, "r:gz") as tar:
            files = [(PurePosixPath(one.name), tar.extractfile(one)) for one in tar.getmembers()]
            content = {"/".join(name.parts[1:]): file.read() for name, file in files if file is not None}
        manifest: dict[str, Any] = json.loads(content[MANIFEST])
        expected: dict[str, str] = manifest["sha256"]
    except (tarfile.TarError, EOFError, KeyError, ValueError, gzip.BadGzipFile) as error:
        raise ArchiveError(f"{path}: not an archive of a study: {error}") from error
    found = {name: hashlib.sha256(data).hexdigest() for name, data in content.items() if name != MANIFEST}
    wrong = sorted(name for name in expected.keys() | found if expected.get(name) != found.get(name))
    wrong += [name for name in found if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts]
    if wrong:
        raise ArchiveError(f"{path}: damaged: {wrong[0]} has not the content that the manifest names")
    return manifest, content


def written(files: Mapping[str, bytes], folder: Path) -> None:
    """Write files to a folder, by place."""
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def versions() -> dict[str, Any]:
    """Of Warpreg, Python and its libraries."""
    libraries = {}
    for name in LIBRARIES:
        try:
            libraries[name] = version(name)
        except PackageNotFoundError:
            libraries[name] = "missing"
    return {
        "warpreg": warpreg.__version__,
        "python": sys.version.split()[0],
        "platform": f"{platform.system()} {platform.machine()}",
        "libraries": libraries,
    }


def _tar(folder: str, content: Mapping[str, bytes]) -> bytes:
    """A compressed archive without times and owners."""
    packed = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", mtime=0, filename="") as stream,
        tarfile.open(fileobj=stream, mode="w") as tar,
    ):
        for name, data in content.items():
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return packed.getvalue()
