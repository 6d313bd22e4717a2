"""Options that several commands share."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import click

from warpreg.codegen import LEVELS, MACHINE, PLAIN, TARGETS
from warpreg.experiments.runs.run import CompileChoice

Function = TypeVar("Function", bound=Callable[..., Any])
Option = Callable[[Function], Function]

SIZES = ("tiny", "small", "full")
CHOICE = "choice_"
"""Prefix of the parameters of a `CompileChoice`; it keeps them apart from parameters of the command."""


def json_option(function: Function) -> Function:
    """``--json``"""
    text = "Print JSON. The same run prints the same bytes."
    return click.option("--json", "as_json", is_flag=True, help=text)(function)


def problem_options(default_size: str) -> Option[Any]:
    """``--size`` and ``--seed`` of a workload."""

    def add(function: Function) -> Function:
        size = click.option(
            "--size",
            type=click.Choice(SIZES),
            default=default_size,
            show_default=True,
            help="Problem size of the workload.",
        )
        seed = click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random inputs.")
        return size(seed(function))

    return add


def _address_bits(name: str) -> Option[Any]:
    return click.option(
        "--address-bits",
        name,
        type=click.Choice(["32", "64"]),
        callback=lambda context, parameter, value: int(value),
        default="64",
        show_default=True,
        help="Bits of an address: 32 takes one register, 64 takes two.",
    )


def address_option(function: Function) -> Function:
    """``--address-bits`` alone, for a command without the other `compile_options`."""
    return cast("Function", _address_bits("address_bits")(function))


def compile_options(function: Function) -> Function:
    """The compiler options; the command receives them as one `CompileChoice` named ``choice``."""

    @functools.wraps(function)
    def command(*arguments: Any, **named: Any) -> Any:
        chosen = {field.name: named.pop(CHOICE + field.name) for field in dataclasses.fields(CompileChoice)}
        return function(*arguments, choice=CompileChoice(**chosen), **named)

    options = (
        click.option(
            "--max-registers",
            CHOICE + "max_registers",
            type=click.IntRange(8, 255),
            metavar="N",
            help="Limit the 32-bit registers of a thread to N; spill other values to local memory.",
        ),
        click.option(
            "--no-schedule",
            CHOICE + "schedule",
            is_flag=True,
            flag_value=False,
            default=True,
            help="Keep the instruction order of the PTX.",
        ),
        click.option(
            "--target",
            CHOICE + "target",
            type=click.Choice(list(TARGETS)),
            default=PLAIN.name,
            show_default=True,
            help="GPU target whose reserved registers count towards the demand of a thread.",
        ),
        click.option(
            "--level",
            CHOICE + "level",
            type=click.Choice(LEVELS),
            default=MACHINE,
            show_default=True,
            help="Code that designs see: before (ptx) or after (machine) register allocation.",
        ),
        click.option(
            "--latencies",
            CHOICE + "latencies",
            metavar="MACHINE",
            help="Schedule instructions with the latencies of this machine (name or .toml file).",
        ),
        click.option(
            "--banks",
            CHOICE + "banks",
            type=click.IntRange(0, 32),
            default=0,
            metavar="N",
            help="Spread the operands of an instruction over N register banks; 0: ignore banks.",
        ),
        click.option(
            "--registers",
            CHOICE + "registers",
            type=click.IntRange(1, 255),
            metavar="N",
            help="Compute occupancy as if a thread demanded N registers.",
        ),
        _address_bits(CHOICE + "address_bits"),
        click.option(
            "--rotate",
            CHOICE + "rotate",
            type=click.IntRange(0, 255),
            default=0,
            metavar="N",
            help="Assign the register free for longest among those in use and the first N; 0: the lowest.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return cast("Function", command)


def trace_options(function: Function) -> Function:
    """``--unknown-opcodes``, for commands that read recorded traces."""
    return click.option(
        "--unknown-opcodes",
        type=click.Choice(["error", "alu"]),
        default="error",
        show_default=True,
        help="Treatment of trace opcodes that are in no table: stop with an error, or treat as integer arithmetic.",
    )(function)


def unchecked_option(function: Function) -> Function:
    """``--unchecked``, for commands that run the hooks of designs."""
    return click.option(
        "--unchecked",
        is_flag=True,
        help="Run the hooks of design files without checks. An error in one may crash, or give wrong results.",
    )(function)


def limit_option(function: Function) -> Function:
    """``--max-instructions``"""
    return click.option(
        "--max-instructions",
        type=click.IntRange(min=1),
        metavar="N",
        help="Stop a launch with an error after N warp-instructions.",
    )(function)
