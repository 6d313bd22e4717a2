"""The state of one SM with two warps, as its functions see it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from warpreg.designs.interface.state import Row, named_leaves
from warpreg.designs.parts.load_sharing.state import empty

PHYSICAL, WARPS, REGISTERS = 40, 2, 6
FULL = 0xFFFFFFFF


def fresh(entries: int = PHYSICAL, sms: int = 1, physical: int = PHYSICAL, **options: Any) -> Any:
    """One row for each SM and warp."""
    program: Any = SimpleNamespace(register_count=REGISTERS)
    state = empty(program, physical, 4, entries, **options)
    rows = {"warp": WARPS * sms, "sm": sms}
    changed: dict[str, Any] = {
        name: np.repeat(np.array(value, subok=False)[np.newaxis], rows[value.scope], axis=0)
        for name, value in named_leaves(state)
        if isinstance(value, Row) and value.scope in rows
    }
    return state._replace(**changed)
