"""Designs and parameter values in the syntax of the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from warpreg import designs
from warpreg.designs.loading.composition import SEPARATOR
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.evaluation.runs.choices import Grids, grid
from warpreg.evaluation.runs.row import Value
from warpreg.gpu import Machine
from warpreg.ir.errors import UnknownNameError

ALL = "all"
"""In place of designs: every design of the package."""
Function = TypeVar("Function", bound=Callable[..., Any])


def set_option(function: Function) -> Function:
    """``--set``"""
    return click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="DESIGN.PARAMETER=VALUE",
        help="Set a parameter of a design. Repeat for more. Commands that compare take several values, VALUE,VALUE,...",
    )(function)


def designs_option(default: str) -> Callable[[Function], Function]:
    """``--designs``, a list."""

    def add(function: Function) -> Function:
        what = "Comma-separated designs; 'all' stands for every design."
        return click.option("--designs", default=default, show_default=True, metavar="A,B", help=what)(function)

    return add


def design_option(what: str) -> Callable[[Function], Function]:
    """``--design``, repeatable."""

    def add(function: Function) -> Function:
        return click.option("--design", "files", multiple=True, metavar="NAME|FILE.py", help=what)(function)

    return add


def design_choices(
    names: Sequence[str], settings: Iterable[str], *, machine: Machine | None = None, unchecked: bool = False
) -> list[ConfiguredDesign]:
    """The designs with every combination of the values in ``DESIGN.PARAMETER=VALUE,...``; parameters that describe a
    machine are those of the ``machine`` unless they are set.

    ``DESIGN`` is a name or the stem of a design file, also of a part of a composition; the name `ALL` stands for every
    design of the package.  Raises click.UsageError for a setting that matches no design.
    """
    values = set_values(_expanded(names), settings)
    return [choice for name in values for choice in grid(name, values[name], machine=machine, unchecked=unchecked)]


def design_grids(names: Sequence[str], settings: Iterable[str]) -> Grids:
    """As `design_choices`, but the values of each design, not yet checked."""
    return set_values(_expanded(names), settings)


def _expanded(names: Sequence[str]) -> list[str]:
    """The names with `ALL` replaced: all designs by name, each beside those that it uses."""
    if ALL not in names:
        return list(names)
    every = [SEPARATOR.join((*designs.load(name).declaration.uses, name)) for name in designs.names()]
    return list(dict.fromkeys(one for name in names for one in (every if name == ALL else [name])))


def set_values(names: Sequence[str], settings: Iterable[str]) -> Mapping[str, Mapping[str, list[Value]]]:
    """The values of each parameter that is set, by design.  Raises click.UsageError like `design_choices`."""
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
    return values


def one_value(name: str, settings: Iterable[str]) -> dict[str, Value]:
    """The value of each parameter of one design that is set.  Raises click.UsageError for several values."""
    found = set_values((name,), settings)[name]
    several = [parameter for parameter, listed in found.items() if len(listed) > 1]
    if several:
        raise click.UsageError(f"--set gives {several[0]} several values, expected one")
    return {parameter: value for parameter, (value,) in found.items()}


def one_choice(
    names: Sequence[str], settings: Iterable[str], *, machine: Machine | None = None, unchecked: bool = False
) -> ConfiguredDesign:
    """The composition of the designs; raises click.UsageError for a setting with several values."""
    choices = design_choices([SEPARATOR.join(names)], settings, machine=machine, unchecked=unchecked)
    if len(choices) > 1:
        raise click.UsageError(
            f"--set gives {len(choices)} combinations of values, expected one; 'warpreg compare' accepts several"
        )
    return choices[0]


def _stems(name: str) -> tuple[str, ...]:
    """The names of the designs of a composition, or of a single design."""
    parts = name.split(SEPARATOR) if not Path(name).exists() else [name]
    return tuple(Path(part).stem.replace("_", "-") if part.endswith(".py") else part for part in parts)
