"""Options that several commands share."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast, get_args

import click

from warpreg.sass import choice
from warpreg.sass.choice import TraceChoice
from warpreg.sass.errors import SassTraceError
from warpreg.sass.isa.opcodes import UnknownOpcodes

Function = TypeVar("Function", bound=Callable[..., Any])
Option = Callable[[Function], Function]

TRACE_OPTIONS = tuple(field.name for field in dataclasses.fields(TraceChoice))
SIZES = ("tiny", "small", "full")


def json_option(function: Function) -> Function:
    """``--json``"""
    text = "Print JSON. The same run prints the same bytes."
    return click.option("--json", "as_json", is_flag=True, help=text)(function)


def processes_option() -> Option[Any]:
    """``--processes``, ``-j``; None: one per processor."""
    return click.option(
        "--processes",
        "-j",
        type=click.IntRange(min=1),
        metavar="N",
        help="Number of processes. Default: one per processor.",
    )


def output_option(name: str, what: str, **more: Any) -> Option[Any]:
    """``--output``: the folder that a command writes."""
    kind = click.Path(file_okay=False, path_type=Path)
    return click.option("--output", name, type=kind, help=what, **more)


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


def trace_options(function: Function) -> Function:
    """What is read of recorded traces; the command receives the options as one `TraceChoice` named ``reading``."""

    @functools.wraps(function)
    def command(*arguments: Any, **named: Any) -> Any:
        return function(*arguments, reading=TraceChoice(**{name: named.pop(name) for name in TRACE_OPTIONS}), **named)

    unknown = click.option(
        "--unknown-opcodes",
        type=click.Choice(get_args(UnknownOpcodes)),
        default="error",
        show_default=True,
        help="Treatment of trace opcodes that are in no table: stop with an error, or treat as integer arithmetic.",
    )
    version = click.option(
        "--binary-version",
        callback=_parsed_by(choice.binary_version),
        metavar="VERSION",
        help="Version of the machine code of a trace, such as 70 or sm_70, in place of that of its header.",
    )
    kernels = click.option(
        "--kernels",
        callback=_parsed_by(choice.kernels),
        metavar="SELECTION",
        help="Read only these launches of a trace: numbers from 1 in the order of its list and name patterns, such as"
        " 3-5, 1,4,7- or 'gemm*'.",
    )
    blocks = click.option(
        "--blocks",
        callback=_parsed_by(choice.blocks),
        metavar="SELECTION",
        help="Read only these thread blocks of each launch of a trace: numbers from 0, x fastest, such as 0-99.",
    )
    listing = click.option(
        "--listing",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Listing (nvdisasm -c -hex, cuobjdump -sass) or cubin of the code of a trace: its instructions get the"
        " control codes and reuse flags.",
    )
    return cast("Function", unknown(version(kernels(blocks(listing(command))))))


def _parsed_by(parse: Callable[[str], Any]) -> Callable[[click.Context, click.Parameter, str | None], Any]:
    """The value of an option, None without one; click.BadParameter for one that cannot be parsed."""

    def parsed(context: click.Context, parameter: click.Parameter, given: str | None) -> Any:
        try:
            return None if given is None else parse(given)
        except SassTraceError as error:
            raise click.BadParameter(str(error)) from None

    return parsed


def machine_option(function: Function) -> Function:
    """``--machine``, for commands that compare designs."""
    from warpreg.evaluation.runs.comparison import DEFAULT_MACHINE  # takes a tenth of a second

    what = "Machine (name or .toml file)."
    return click.option("--machine", default=DEFAULT_MACHINE, show_default=True, help=what)(function)


def technology_option(function: Function) -> Function:
    """``--technology``, for commands that compare designs."""
    return click.option(
        "--technology",
        help="Technology for the energy (name or .toml file). Default: the first that prices all designs, their own"
        " first, then gebhart-40nm, at last common-40nm, which prices every design.",
    )(function)


def parquet_option(function: Function) -> Function:
    """``--parquet``, for commands that print rows."""
    kind = click.Path(dir_okay=False, path_type=Path)
    return click.option("--parquet", type=kind, metavar="FILE", help="Also write a Parquet file.")(function)


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
