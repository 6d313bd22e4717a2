"""Provenance of results: content hashes of the kernel and of the code that measured it."""

from __future__ import annotations

import warpreg
from warpreg.cache.sources import content_digest
from warpreg.ir.digest import DIGITS, kernel_digest

__all__ = ["DIGITS", "NOTE", "code_version", "kernel_digest"]

NOTE = "note"
"""The option of a run that says which part of a trace it is, and what took the place of the trace's header."""


def code_version() -> str:
    """The version of Warpreg and a digest of its sources, which changes with every edit: ``0.1.0+3f2a…``."""
    return f"{warpreg.__version__}+{content_digest()[:DIGITS]}"
