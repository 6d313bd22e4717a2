"""The wheel of an installed package, made of its files as they are, so that an archive has the code of its results.

The same files give the same bytes.  Also works for an editable installation, which has no wheel.
"""

from __future__ import annotations

import base64
import hashlib
import io
import zipfile
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

from warpreg.evaluation.archive.errors import ArchiveError

WARPREG, PAPERS = "warpreg", "warpreg-papers"
MODULES: Mapping[str, Sequence[str]] = {WARPREG: ("warpreg", "piecewise_numba"), PAPERS: ("warpreg_papers",)}
"""The packages of each distribution."""
DATE = (1980, 1, 1, 0, 0, 0)
"""The earliest that a ZIP file can state."""
IGNORED = "__pycache__"
TAG = "Wheel-Version: 1.0\nGenerator: warpreg archive\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def wheel_of(name: str) -> tuple[str, bytes]:
    """File name and content.  Raises ArchiveError for a package that is not installed."""
    found = installed(name)
    stem = f"{name.replace('-', '_')}-{found.version}"
    content = dict(files_of(name))
    for inside in ("METADATA", "entry_points.txt", "licenses/LICENSE"):
        if text := found.read_text(inside):
            content[f"{stem}.dist-info/{inside}"] = text.encode()
    content[f"{stem}.dist-info/WHEEL"] = TAG.encode()
    record = f"{stem}.dist-info/RECORD"
    lines = [f"{path},sha256={_hash(data)},{len(data)}\n" for path, data in sorted(content.items())]
    content[record] = "".join([*lines, f"{record},,\n"]).encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for path, data in sorted(content.items()):
            entry = zipfile.ZipInfo(path, DATE)
            entry.external_attr, entry.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
            file.writestr(entry, data)
    return f"{stem}-py3-none-any.whl", packed.getvalue()


def files_of(name: str) -> Mapping[str, bytes]:
    """The files of a package by their place in a wheel."""
    found = {}
    for module in MODULES[name]:
        root = Path(str(import_module(module).__file__)).parent
        for path in sorted(root.rglob("*")):
            if path.is_file() and IGNORED not in path.parts:
                found[f"{module}/{path.relative_to(root).as_posix()}"] = path.read_bytes()
    return found


def content_digest(names: Sequence[str]) -> str:
    """A digest of the files of packages, which is that of their wheels' content."""
    digest = hashlib.sha256()
    for name in names:
        for path, data in sorted(files_of(name).items()):
            digest.update(f"{path}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()


def requirements(name: str, extras: Sequence[str] = ()) -> list[str]:
    """What a package requires, in the versions that are installed here: ``numpy==2.1.0``."""
    found = []
    for text in installed(name).requires or ():
        one = Requirement(text)
        wanted = one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in ("", *extras))
        if wanted and one.name not in MODULES:
            try:
                found.append(f"{one.name}=={distribution(one.name).version}")
            except PackageNotFoundError:
                continue
    return sorted(set(found))


def installed(name: str) -> Distribution:
    """A distribution.  Raises ArchiveError if it is not installed."""
    try:
        return distribution(name)
    except PackageNotFoundError as error:
        raise ArchiveError(f"{name} is not installed, so that it cannot be put into an archive") from error


def _hash(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
