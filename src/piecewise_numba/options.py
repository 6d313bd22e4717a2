"""Compilation modes, and options of numba."""

from __future__ import annotations

from typing import Literal

Mode = Literal["compiled", "checked", "interpreted"]
"""``checked`` adds bounds checks of arrays; ``interpreted`` runs plain Python, for a debugger."""

OPTIONS = {"nogil": True, "error_model": "numpy"}
"""numba's documented options, used for every function."""
