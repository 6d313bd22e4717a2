"""Compiled cores on disk: one folder per digest, written aside and renamed into place, verified before use.

``<cache>/cores/<digest>/`` holds ``core.py``, numba's files for it and ``manifest.json`` with the SHA-256 of each.  A
folder without a manifest, or whose files differ from it, is thrown away and built again: a damaged object file would
not raise, it would crash.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from warpreg.jit.cache_directory import cache_directory

Built = TypeVar("Built")
CORE = "core.py"
MANIFEST = "manifest.json"


def stored(
    digest: str, text: str, build: Callable[[Path], Built], load: Callable[[Path], Built | None] = lambda core: None
) -> Built:
    """``build(core file)`` in the folder of that digest, from the cache where it is sound.

    ``build`` compiles the file with numba's caching on, which leaves its results beside the file; from a sound folder
    ``load`` gets them, or ``build`` where that finds nothing. Where the cache directory cannot be written, the core is
    compiled in a temporary folder that does not outlive the call.
    """
    folder = cache_directory() / "cores" / digest
    if _is_sound(folder):
        loaded = load(folder / CORE)
        return build(folder / CORE) if loaded is None else loaded
    with tempfile.TemporaryDirectory(dir=_writable(folder.parent), prefix="new-") as aside:
        built = _build(Path(aside) / digest, text, build)
        _install(Path(aside), folder)
        return built


def _build(folder: Path, text: str, build: Callable[[Path], Built]) -> Built:
    folder.mkdir()
    (folder / CORE).write_text(text, encoding="utf-8")
    built = build(folder / CORE)
    (folder / MANIFEST).write_text(json.dumps(_hashes(folder), indent=1), encoding="utf-8")
    return built


def _install(aside: Path, folder: Path) -> None:
    """Rename into place; a sound folder that another process has put there meanwhile stays."""
    if folder.parent != aside.parent or _is_sound(folder):
        return
    if folder.exists():
        _discard(folder, aside / "unsound")
    try:
        (aside / folder.name).rename(folder)
    except OSError:
        if not folder.exists():
            raise


def _discard(folder: Path, out_of_the_way: Path) -> None:
    try:
        folder.rename(out_of_the_way)
    except FileNotFoundError:
        return
    shutil.rmtree(out_of_the_way, ignore_errors=True)


def _is_sound(folder: Path) -> bool:
    try:
        expected = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return bool(expected == _hashes(folder))


def _hashes(folder: Path) -> dict[str, str]:
    """SHA-256 of each file that a core consists of; Python's own byte code of it is left out."""
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".py", ".nbi", ".nbc"))
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def _writable(parent: Path) -> Path | None:
    """The folder for new cores, or None (the system's temporary folder) if there can be none."""
    try:
        parent.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return parent if os.access(parent, os.W_OK) else None
