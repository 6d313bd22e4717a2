"""The options of ``warpreg compare`` that say how its result is shown and ranked."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from warpreg.cli.options import parquet_option
from warpreg.evaluation.runs.comparison import BASELINE
from warpreg.evaluation.sweep.ranking import ENERGY, HIGHER, LOWER

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Form:
    """How the result is shown."""

    as_json: bool
    as_csv: bool
    plot: Path | None
    """The file of a figure."""
    parquet: Path | None
    """The file of all rows."""


@dataclass(frozen=True, slots=True)
class ComparisonOptions:
    """What is compared with what."""

    baseline: str
    """The design that rows are normalized to."""
    rank_by: str | None
    """The result that designs are ranked by."""
    vary: tuple[str, ...]
    """Variations of the comparison."""


def form_options(function: Function) -> Function:
    """``--csv``, ``--plot`` and ``--parquet``; the command receives these and ``--json`` as a `Form`, ``form``."""

    @functools.wraps(function)
    def command(
        *arguments: Any, as_json: bool, as_csv: bool, plot: Path | None, parquet: Path | None, **named: Any
    ) -> Any:
        if as_json and as_csv:
            raise click.UsageError("--json and --csv exclude each other")
        return function(*arguments, form=Form(as_json, as_csv, plot, parquet), **named)

    options = (
        click.option("--csv", "as_csv", is_flag=True, help="Print CSV: a line for each row of the JSON output."),
        click.option(
            "--plot",
            type=click.Path(dir_okay=False, path_type=Path),
            metavar="FILE",
            help="Also draw the comparison (.png, .svg or .pdf).",
        ),
        parquet_option,
    )
    for option in reversed(options):
        command = option(command)
    return cast("Function", command)


def ranking_options(function: Function) -> Function:
    """``--baseline``, ``--rank-by`` and ``--vary``; the command receives `ComparisonOptions`, ``options``."""

    @functools.wraps(function)
    def command(*arguments: Any, baseline: str, rank_by: str | None, vary: tuple[str, ...], **named: Any) -> Any:
        return function(
            *arguments, options=ComparisonOptions(baseline, rank_by or (ENERGY if vary else None), vary), **named
        )

    options = (
        click.option(
            "--baseline",
            default=BASELINE,
            show_default=True,
            metavar="DESIGN",
            help="The design that energy, leakage and speed are normalized to, one of those that are compared.",
        ),
        click.option(
            "--rank-by",
            type=click.Choice([*LOWER, *HIGHER]),
            help="Also rank the designs by this result, with the Pareto front and with what turns the ranking:"
            " workloads, the ends of the technology's band, and what --vary names.",
        ),
        click.option(
            "--vary",
            multiple=True,
            metavar="WHAT",
            help="Rank over this variation too: the other instruction order (order), the other width of addresses"
            f" (address-bits), another machine (machine=NAME). Repeat for more. Without --rank-by: by {ENERGY}.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return cast("Function", command)
