"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Function = TypeVar("Function", bound=Callable[..., Any])
Option = Callable[[Function], Function]

SIZES = ("tiny", "small", "full")


def json_option(function: Function) -> Function:
    """``--json``"""
    text = "Print JSON; the same run prints the same bytes."
    return click.option("--json", "as_json", is_flag=True, help=text)(function)


def problem_options(default_size: str) -> Option[Any]:
    """``--size`` and ``--seed`` of a workload."""

    def add(function: Function) -> Function:
        size = click.option(
            "--size", type=click.Choice(SIZES), default=default_size, show_default=True, help="Size of a workload."
        )
        seed = click.option("--seed", type=int, default=0, show_default=True, help="Seed of the inputs.")
        return size(seed(function))

    return add


def compile_options(function: Function) -> Function:
    """``--max-registers`` and ``--no-schedule``"""
    registers = click.option(
        "--max-registers",
        type=click.IntRange(8, 255),
        metavar="N",
        help="Most 32-bit registers a thread may use; the rest spills to local memory.",
    )
    schedule = click.option(
        "--no-schedule", "schedule", is_flag=True, flag_value=False, default=True, help="Keep PTX instruction order."
    )
    return registers(schedule(function))


def limit_option(function: Function) -> Function:
    """``--max-instructions``"""
    return click.option(
        "--max-instructions",
        type=click.IntRange(min=1),
        metavar="N",
        help="Stop a launch with an error after N warp-instructions.",
    )(function)
