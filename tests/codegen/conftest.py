"""Tests of the folder ``build``, whose name pytest takes for that of build outputs."""

from __future__ import annotations

from pathlib import Path


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Collect ``build`` here, which pytest's ``norecursedirs`` leaves out."""
    return False if collection_path == Path(__file__).parent / "build" else None
