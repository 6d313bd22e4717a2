"""Designs and parameter values in the syntax of the command line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from warpreg.designs.loading.composition import SEPARATOR
from warpreg.experiments.runs.choices import Choice
from warpreg.experiments.runs.row import Value
from warpreg.ir.errors import UnknownNameError


def design_choices(names: Sequence[str], settings: Iterable[str], *, unchecked: bool = False) -> list[Choice]:
    """The designs with every combination of the values in ``DESIGN.PARAMETER=VALUE,...``.

    ``DESIGN`` is a name or the stem of a design file, also of a part of a composition.  Raises click.UsageError for a
    setting that matches no design.
    """
    parts = {name: _stems(name) for name in names}
    values: dict[str, dict[str, list[Value]]] = {name: {} for name in parts}
    for text in settings:
        key, equals, listed = text.partition("=")
        stem, dot, parameter = key.rpartition(".")
        if not (equals and dot and parameter and listed):
            raise click.UsageError(f"--set {text}: expected DESIGN.PARAMETER=VALUE, for example rfc.entries=6")
        fitting = [name for name, stems in parts.items() if stem in stems]
        if not fitting:
            known = dict.fromkeys(stem for stems in parts.values() for stem in stems)
            raise click.UsageError(f"--set {text}: {UnknownNameError('design in this comparison', stem, known)}")
        for name in fitting:
            alone = len(parts[name]) == 1
            values[name][parameter if alone else f"{stem.replace('-', '_')}_{parameter}"] = list(listed.split(","))
    return [choice for name in parts for choice in Choice.grid(name, values[name], unchecked=unchecked)]


def one_choice(names: Sequence[str], settings: Iterable[str], *, unchecked: bool = False) -> Choice:
    """The composition of the designs; raises click.UsageError for a setting with several values."""
    found = design_choices([SEPARATOR.join(names)], settings, unchecked=unchecked)
    if len(found) > 1:
        raise click.UsageError(
            f"--set gives {len(found)} combinations of values, expected one; 'warpreg compare' accepts several"
        )
    return found[0]


def _stems(name: str) -> tuple[str, ...]:
    """The names of the designs of a composition, or of a single design."""
    parts = name.split(SEPARATOR) if not Path(name).exists() else [name]
    return tuple(Path(part).stem.replace("_", "-") if part.endswith(".py") else part for part in parts)
