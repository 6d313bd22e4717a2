"""The designs of a report: a short label for each, and what the design's own file says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from warpreg.experiments.runs.choices import Choice
from warpreg.ir.errors import WarpregError

Entry = Mapping[str, Any]
DIGITS = 6
"""Of a digest in a label."""


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


def _about(name: str, digest: str) -> dict[str, str]:
    """Summary and source of a design of the package with this content; empty for any other."""
    try:
        choice = Choice.load(name)
    except (WarpregError, OSError):
        return {}
    if choice.digest != digest:
        return {}
    return {"summary": choice.design.summary, "source": choice.design.declaration.source}
