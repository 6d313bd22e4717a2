"""Options of the compiler."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, cast

import click
from click.core import ParameterSource

from warpreg.cli.options import Function, Option
from warpreg.codegen import LEVELS, MACHINE, PLAIN, TARGETS
from warpreg.evaluation.runs.run import ADDRESS_BITS, RANGES, CompileChoice
from warpreg.machine_code.assembler import ARCHITECTURES

CHOICE = "choice_"
"""Prefix of the parameters of a `CompileChoice`; it keeps them apart from parameters of the command."""


def _address_bits(name: str) -> Option[Any]:
    return click.option(
        "--address-bits",
        name,
        type=click.Choice([str(bits) for bits in ADDRESS_BITS]),
        callback=lambda context, parameter, value: int(value),
        default="64",
        show_default=True,
        help="Bits of an address: 32 takes one register, 64 takes two.",
    )


def address_option(function: Function) -> Function:
    """``--address-bits`` alone, for a command without the other `compile_options`."""
    return cast("Function", _address_bits("address_bits")(function))


def given_options() -> dict[str, Any]:
    """The fields of a `CompileChoice` that the command line of the running command names."""
    context = click.get_current_context()
    names = [field.name for field in dataclasses.fields(CompileChoice)]
    return {
        name: context.params[CHOICE + name]
        for name in names
        if CHOICE + name in context.params
        if context.get_parameter_source(CHOICE + name) is not ParameterSource.DEFAULT
    }


def compile_options(function: Function) -> Function:
    """The options of both compilers; the command receives them as one `CompileChoice` named ``choice``."""
    code = click.option(
        "--code",
        CHOICE + "machine_code",
        type=click.Choice(ARCHITECTURES),
        help="Run the machine code that ptxas makes for this architecture; requires the cuda extra. "
        "Default: the code of Warpreg's compiler.",
    )
    return code(own_compile_options(function))


def own_compile_options(function: Function) -> Function:
    """The options of this compiler; the command receives them as one `CompileChoice` named ``choice``."""

    @functools.wraps(function)
    def command(*arguments: Any, **named: Any) -> Any:
        names = [field.name for field in dataclasses.fields(CompileChoice) if CHOICE + field.name in named]
        chosen = {name: named.pop(CHOICE + name) for name in names}
        return function(*arguments, choice=CompileChoice(**chosen), **named)

    options = (
        click.option(
            "-I",
            "--include",
            CHOICE + "include",
            multiple=True,
            metavar="FOLDER",
            help="CUDA C++: also look for headers in this folder. Repeat for more.",
        ),
        click.option(
            "-D",
            "--define",
            CHOICE + "define",
            multiple=True,
            metavar="NAME[=VALUE]",
            help="CUDA C++: define a macro. Repeat for more.",
        ),
        click.option(
            "--arch",
            CHOICE + "arch",
            metavar="sm_NN",
            help="CUDA C++: compile for this architecture. Default: that of an sm_ target, else sm_75.",
        ),
        click.option(
            "--max-registers",
            CHOICE + "max_registers",
            type=click.IntRange(*RANGES["max_registers"]),
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
            help="Code that designs see: PTX before (ptx) or after register allocation (allocated-ptx), machine code.",
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
            type=click.IntRange(*RANGES["banks"]),
            default=0,
            metavar="N",
            help="Spread the operands of an instruction over N register banks; 0: ignore banks.",
        ),
        click.option(
            "--registers",
            CHOICE + "registers",
            type=click.IntRange(*RANGES["registers"]),
            metavar="N",
            help="Compute occupancy as if a thread demanded N registers.",
        ),
        _address_bits(CHOICE + "address_bits"),
        click.option(
            "--rotate",
            CHOICE + "rotate",
            type=click.IntRange(*RANGES["rotate"]),
            default=0,
            metavar="N",
            help="Assign the register free for longest among those in use and the first N; 0: the lowest.",
        ),
        click.option(
            "--no-sink",
            CHOICE + "sink",
            is_flag=True,
            flag_value=False,
            default=True,
            help="Under a limit of registers or words, do not move computations down to the blocks that read them.",
        ),
        click.option(
            "--no-rematerialize",
            CHOICE + "rematerialize",
            is_flag=True,
            flag_value=False,
            default=True,
            help="Under a limit of registers or words, do not compute cheap values again where they are read.",
        ),
        click.option(
            "--live-words",
            CHOICE + "live_words",
            type=click.IntRange(*RANGES["live_words"]),
            metavar="N",
            help="Move computations down and compute cheap values again where more than N words are live. "
            "Default: the limit of --max-registers, if any.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return cast("Function", command)
