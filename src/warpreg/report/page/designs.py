"""The designs of a report: a short label for each, and what the design's own file says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.ir.errors import WarpregError

Entry = Mapping[str, Any]
DIGITS = 6
"""Of a digest in a label."""
OF_MACHINE = "as the machine has"
"""The value of a parameter that follows the machine."""


def following(rows: Iterable[Entry]) -> dict[tuple[str, str], frozenset[str]]:
    """By name and digest of a design of the package: its parameters that describe a machine, if on each machine they
    have one value only, as those have that were not set.
    """
    values: dict[tuple[str, str], dict[str, dict[str, set[Any]]]] = {}
    for row in rows:
        known = row["design"], row["provenance"]["design"]
        if known not in values:
            values[known] = {name: {} for name in _of_machine(*known) if name in row["parameters"]}
        for name, by_machine in values[known].items():
            by_machine.setdefault(row["provenance"]["machine"], set()).add(row["parameters"][name])
    return {
        known: frozenset(name for name, found in by_name.items() if all(len(own) == 1 for own in found.values()))
        for known, by_name in values.items()
    }


def _of_machine(name: str, digest: str) -> list[str]:
    """The parameters of a design of the package that describe a machine."""
    choice = _of_package(name, digest)
    return [one.name for one in choice.design.parameters if one.machine] if choice else []


def described(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """Designs (name, parameters, digest) with their label, and summary and source as far as they are known."""
    abouts = {(one["name"], one["digest"]): _about(one["name"], one["digest"]) for one in entries}
    labels = _labels(entries)
    return [
        {"label": label, **one, **abouts[one["name"], one["digest"]]}
        for label, one in zip(labels, entries, strict=True)
    ]


def _labels(entries: Sequence[Entry]) -> list[str]:
    """The name of each design with the parameters in which designs of this name differ: ``rfc(entries=6)``."""
    return [_label(one, [other for other in entries if other["name"] == one["name"]]) for one in entries]


def _label(one: Entry, namesakes: Sequence[Entry]) -> str:
    differing = [
        f"{name}={value}"
        for name, value in one["parameters"].items()
        if any(other["parameters"].get(name) != value for other in namesakes)
    ]
    version = f"@{one['digest'][:DIGITS]}" if any(other["digest"] != one["digest"] for other in namesakes) else ""
    return f"{one['name']}{version}({', '.join(differing)})" if differing else f"{one['name']}{version}"


def _of_package(name: str, digest: str) -> ConfiguredDesign | None:
    """The design of the package with this name and content."""
    try:
        choice = ConfiguredDesign.load(name)
    except (WarpregError, OSError):
        return None
    return choice if choice.digest == digest else None


def _about(name: str, digest: str) -> dict[str, str]:
    """Summary and source of a design of the package with this content; empty for any other."""
    choice = _of_package(name, digest)
    if choice is None:
        return {}
    return {"summary": choice.design.summary, "source": choice.design.declaration.source}
