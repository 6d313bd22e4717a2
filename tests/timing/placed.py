"""Designs on an SM with a given room, for launches by hand and at random."""

from __future__ import annotations

import dataclasses
from typing import Any

from tests.timing.reference.machine import Sm

from warpreg.designs import Design, load
from warpreg.designs.interface.residency import Residency, Room


@dataclasses.dataclass(frozen=True, eq=False)
class Placed(Design):
    """A design with a given room."""

    place: Room | None = None

    def initial_state(self, *arguments: Any, **named: Any) -> tuple[Any, ...]:
        return super().initial_state(*arguments, **{**named, "room": self.place})


def placed(
    name: str, residency: Residency, blocks: int, warps: int, registers: int = 64, sm: Sm | None = None
) -> Design:
    """A design on an SM with room for so many thread blocks of so many warps, and so many warp-registers."""
    banks = sm.banks.count if sm is not None and sm.banks is not None else 4
    room = Room(residency, blocks, blocks * warps, "registers", max(4, blocks * warps), 1, registers, banks)
    design = load(name)
    return Placed(**{field.name: getattr(design, field.name) for field in dataclasses.fields(Design)}, place=room)
