"""How everything is compiled: modes, and numba's options."""

from __future__ import annotations

from typing import Literal

Mode = Literal["compiled", "checked", "interpreted"]
"""``checked`` is compiled with array bounds checked; ``interpreted`` runs functions as plain Python, for a debugger."""

OPTIONS = {"nogil": True, "error_model": "numpy"}
"""numba's documented options, under which every function is compiled."""
