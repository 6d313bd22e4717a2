"""Checks of the tables and logic that a design adds."""

from __future__ import annotations

from collections.abc import Sequence

from warpreg.designs.errors import DesignError
from warpreg.designs.interface.hardware import Logic, Table
from warpreg.designs.loading.design import Design


def check_hardware(design: Design, added: Sequence[Table | Logic]) -> None:
    """Names are distinct, and logic by event names an event that is counted.  Raises DesignError."""
    names = [one.name for one in added]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise DesignError(f"{design.path}: two pieces of hardware are named '{twice}'")
    tables = [one.name for one in added if isinstance(one, Table)]
    counted = [*design.events, *(f"{name} {use}" for name in tables for use in ("lookups", "updates"))]
    for one in added:
        if isinstance(one, Logic) and one.event is not None and one.event not in counted:
            known = ", ".join(counted) or "none"
            raise DesignError(
                f"{design.path}: logic '{one.name}' counts '{one.event}', which is no event; there are: {known}"
            )
