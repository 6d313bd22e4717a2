"""How everything is compiled: numba's options, and the file whose passes compile it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

Mode = Literal["compiled", "checked", "interpreted"]
"""``checked`` is compiled with array bounds checked; ``interpreted`` runs functions as plain Python, for a debugger."""

INLINED = Path(__file__).with_name("numba_internals.py")
"""How functions are compiled; imports numba, which a start should not."""

OPTIONS = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
"""Without numba's reference counts, which took 94% of the time: hooks are handed arrays and allocate none."""
