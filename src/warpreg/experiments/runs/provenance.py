"""Provenance of results: content hashes of the kernel and of the code that measured it."""

from __future__ import annotations

import warpreg
from warpreg.cache.sources import content_digest
from warpreg.ir.digest import DIGITS, kernel_digest

__all__ = ["DIGITS", "code_version", "kernel_digest"]


def code_version() -> str:
    """The version of Warpreg and a digest of its sources, which changes with every edit: ``0.1.0+3f2a…``."""
    return f"{warpreg.__version__}+{content_digest()[:DIGITS]}"
