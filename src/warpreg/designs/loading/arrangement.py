"""How the designs of a composition stand to each other: order, who decides, and whose names are whose.

A design *uses* another if its declaration names it.  Two designs of one slot, or two that define the same deciding
function, work together only if one of them uses the other, directly or through others; the user comes second, and
decides.  A design that declares to stand *below* another shares a slot with it and comes second, but has neither its
state nor its decisions.  A user may begin its levels, events or resources with all those of a design that it uses:
these are the same ones, so functions of the other design that count or set them can be called from its hooks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from warpreg.designs.errors import DesignError
from warpreg.designs.interface.declaration import SLOTS, field_of
from warpreg.designs.interface.hooks import HOOKS
from warpreg.designs.loading.design import MAX_TABLES, Design

DECIDING = ("banks", "collectors")
"""Functions of a design file of which only one decides."""


def arranged(designs: Sequence[Design]) -> tuple[Design, ...]:
    """The designs in the order in which they rewrite and compile: by slot, in a slot the used ones first.

    Raises DesignError for two designs of one name, designs that use each other, and two designs of one slot of which
    neither uses the other or stands below it.
    """
    parts = sorted(designs, key=_slot)
    name = "+".join(part.name for part in parts)
    if twice := next((one for one in parts if [part.name for part in parts].count(one.name) > 1), None):
        slots = " and ".join(twice.declaration.slots)
        raise DesignError(f"{name}: two designs are named {twice.name} (slot {slots}), and only one can take part")
    by_use: list[Design] = []
    while len(by_use) < len(parts):
        ready = [p for p in parts if p not in by_use and all(first in by_use for first in _before(p, parts))]
        if not ready:
            rest = " and ".join(part.name for part in parts if part not in by_use)
            raise DesignError(f"{name}: {rest} use each other, or stand below each other, in a circle")
        by_use.append(ready[0])
    ordered = tuple(sorted(by_use, key=_slot))
    for slot in SLOTS:
        same = [part for part in ordered if slot in part.declaration.slots]
        if apart := _apart(same, ordered, may_stand_below=True):
            one, other = apart
            switch = _switch_of(one, other) or _switch_of(other, one)
            told = f"; {switch} does what both would" if switch else ""
            raise DesignError(
                f"{name}: {one.name} and {other.name} both have slot {slot}, and neither of them uses the other{told}"
            )
    return ordered


def apart_from_included(designs: Sequence[Design]) -> list[Design]:
    """The designs without those that another one does itself, by a parameter of that name that is on by default."""
    return [one for one in designs if not any(_includes(other, one) for other in designs)]


def _includes(part: Design, other: Design) -> bool:
    return any(spec.name == field_of(other.name) and spec.default is True for spec in part.parameters)


def _switch_of(part: Design, other: Design) -> str:
    """The parameter of a design that makes it do what another one does, with its name; empty if there is none."""
    found = (spec.name for spec in part.parameters if spec.name == field_of(other.name) and spec.type is bool)
    return next((f"parameter {part.name}.{name}=true" for name in found), "")


def used_by(part: Design, parts: Sequence[Design]) -> list[Design]:
    """Those of the designs that a design uses by name, in the order of its declaration."""
    by_name = {one.name: one for one in parts if one is not part}
    return [by_name[name] for name in part.declaration.uses if name in by_name]


def deciders(parts: Sequence[Design]) -> dict[str, Design]:
    """By deciding hook, and by function of `DECIDING`: the design that decides.

    Raises DesignError where none uses the others.
    """
    decider: dict[str, Design] = {}
    for name in (*(hook for hook, spec in HOOKS.items() if spec.returns_int), *DECIDING):
        defining = [part for part in parts if name in part.hooks or (name not in HOOKS and hasattr(part.module, name))]
        if apart := _apart(defining, parts):
            one, other = apart
            raise DesignError(
                f"{'+'.join(part.name for part in parts)}: both {one.name} and {other.name} define {name}, and neither "
                "of them uses the other"
            )
        if defining:
            decider[name] = max(defining, key=lambda part: sum(uses(part, other, parts) for other in defining))
    return decider


def rivals(designs: Sequence[Design], parts: Sequence[Design]) -> list[Design]:
    """Those of some designs that no other one of them uses."""
    return [one for one in designs if not any(uses(other, one, parts) for other in designs)]


def uses(part: Design, other: Design, parts: Sequence[Design]) -> bool:
    """Whether a design uses another one, directly or through others."""
    return any(used is other or uses(used, other, parts) for used in used_by(part, parts))


def _slot(part: Design) -> int:
    return min(SLOTS.index(slot) for slot in part.declaration.slots)


def _before(part: Design, parts: Sequence[Design]) -> list[Design]:
    """The designs that a design uses or stands below."""
    return [*used_by(part, parts), *(one for one in parts if one.name in part.declaration.below)]


def _apart(
    designs: Sequence[Design], parts: Sequence[Design], *, may_stand_below: bool = False
) -> tuple[Design, Design] | None:
    """Two designs of which neither uses the other, or stands below it; None if there are none."""

    def related(one: Design, other: Design) -> bool:
        return uses(one, other, parts) or (may_stand_below and other.name in one.declaration.below)

    pairs = ((one, other) for place, one in enumerate(designs) for other in designs[place + 1 :])
    return next((pair for pair in pairs if not related(*pair) and not related(*reversed(pair))), None)


def first_tables(parts: Sequence[Design]) -> Names:
    """The row of the first table of each design; one without ``hardware`` has the tables of a design that it uses."""
    rows: dict[str, int] = {}
    for place, part in enumerate(parts):
        owners = [used for used in used_by(part, parts) if used.name in rows and hasattr(used.module, "hardware")]
        borrows = owners and not hasattr(part.module, "hardware")
        rows[part.name] = rows[owners[0].name] if borrows else MAX_TABLES * place
    return Names("tables", first=rows)


@dataclass
class Names:
    """The names of all designs of one kind (levels without MRF, events or resources).

    ``names`` in order; ``first`` by design: the position of its first one.
    """

    kind: str
    names: list[str] = field(default_factory=list)
    first: dict[str, int] = field(default_factory=dict)


def names_of(kind: str, parts: Sequence[Design]) -> Names:
    """The names of a kind; those that a design repeats from one that it uses are the same.

    Raises DesignError for a name that two designs have otherwise, and for two designs that both continue a third's.
    """
    names = Names(kind)
    for part in parts:
        if _continued(kind, part, parts) is None:
            names.first[part.name] = len(names.names)
            names.names += own_names(kind, part)
            _continue(names, part, parts)
    if twice := next((one for one in names.names if names.names.count(one) > 1), None):
        name = "+".join(part.name for part in parts)
        raise DesignError(f"{name}: two of the designs have {kind} named {twice}")
    return names


def own_names(kind: str, part: Design) -> tuple[str, ...]:
    """The names of a kind that a design declares, MRF left out."""
    names: tuple[str, ...] = getattr(part.declaration, kind)
    return tuple(name for name in names if name != "MRF")


def _continued(kind: str, part: Design, parts: Sequence[Design]) -> Design | None:
    """The design whose names are the first ones of ``part``, the one with most names if several are."""
    own = own_names(kind, part)
    lists = [(len(names), used) for used in used_by(part, parts) for names in [own_names(kind, used)]]
    fitting = [(count, used) for count, used in lists if count and own[:count] == own_names(kind, used)]
    return max(fitting, key=lambda one: one[0])[1] if fitting else None


def _continue(names: Names, part: Design, parts: Sequence[Design]) -> None:
    """Add the names of the designs that continue those of ``part``."""
    first, count = names.first[part.name], len(own_names(names.kind, part))
    followers = [one for one in parts if _continued(names.kind, one, parts) is part]
    for follower in sorted(followers, key=lambda one: len(own_names(names.kind, one))):
        added = own_names(names.kind, follower)[count:]
        if added and len(names.names) > first + count:
            name = "+".join(one.name for one in parts)
            rivals = " and ".join(one.name for one in followers)
            raise DesignError(f"{name}: {rivals} all add {names.kind} to those of {part.name}, and only one can")
        names.first[follower.name] = first
        names.names += added
        _continue(names, follower, parts)
