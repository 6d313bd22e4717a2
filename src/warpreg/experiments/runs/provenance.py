"""Provenance of results: content hashes of the kernel and of the code that measured it."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import warpreg
from warpreg.ir.digest import DIGITS, kernel_digest

__all__ = ["DIGITS", "code_version", "kernel_digest"]


@cache
def code_version() -> str:
    """The version of Warpreg and a digest of its sources, which changes with every edit: ``0.1.0+3f2a…``."""
    root = Path(warpreg.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return f"{warpreg.__version__}+{digest.hexdigest()[:DIGITS]}"
