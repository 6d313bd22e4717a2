"""A launch of a kernel file in options of the command line: grid, block and arguments."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click
import numpy as np
from numpy.typing import NDArray

from warpreg.cli.arguments import Argument, SymbolValue, parse_argument, parse_extent, parse_symbols
from warpreg.cli.example_arguments import example_argument
from warpreg.ir.cpp_names import short_name
from warpreg.machine_code.files import SUFFIXES as MACHINE_CODE_FILES
from warpreg.ptx.cuda.templates import is_instance

if TYPE_CHECKING:
    from warpreg import api, simt
    from warpreg.evaluation.runs.run import CompileChoice, Run
    from warpreg.ir.module import Module, Variable

Function = TypeVar("Function", bound=Callable[..., Any])
KERNEL_FILES = (".cu", ".ptx", *MACHINE_CODE_FILES)
KINDS = ", ".join(KERNEL_FILES)
"""The suffixes in words."""


@dataclass(frozen=True)
class LaunchSpec:
    """One launch as it was given: ``specs`` are the arguments, ``symbols`` the variables to fill."""

    kernel: str | None
    grid: tuple[int, ...] | None
    block: tuple[int, ...] | None
    shared_bytes: int
    specs: tuple[str, ...]
    symbols: tuple[str, ...] = ()

    @property
    def is_given(self) -> bool:
        """Whether any of it is."""
        return bool(self.kernel or self.is_launch)

    @property
    def is_launch(self) -> bool:
        """Whether more than the kernel is given."""
        return bool(self.grid or self.block or self.specs or self.symbols)

    def values(self, seed: int) -> LaunchValues:
        """The arguments and variables, with new buffers; raises click.BadParameter."""
        generator = np.random.default_rng(seed)
        arguments = [parse_argument(text, generator) for text in self.specs]
        return LaunchValues(arguments, parse_symbols(self.symbols, generator))

    def module(self, target: str, choice: CompileChoice) -> Module:
        """The module of the file, with the kernel if it is an instance of a template."""
        return module_of(target, choice, self.kernel)

    def run(
        self,
        target: str,
        values: LaunchValues,
        choice: CompileChoice,
        max_instructions: int | None,
        record: simt.Record,
        read: Sequence[str] = (),
    ) -> Run:
        """Launch a kernel of the file; ``read`` names variables that the run's outputs contain, too.

        Raises click.UsageError for a launch that is not complete.
        """
        from warpreg import api

        program = api.Program(self.module(target, choice), choice, record)
        name = self._kernel_name(target, program.module)
        self._expect_launch(target, program, name, len(values.arguments))
        assert self.grid is not None
        assert self.block is not None
        bound = program[name][self.grid, self.block, self.shared_bytes]
        symbols = {name: symbol.value for name, symbol in values.symbols.items()}
        arguments = (argument.value for argument in values.arguments)
        return bound(*arguments, max_instructions=max_instructions, symbols=symbols, read=read)

    def _kernel_name(self, target: str, module: Module) -> str:
        names = module.kernel_names(self.kernel)
        if len(names) != 1:
            listed = ", ".join(module.shown_names(names))
            raise click.UsageError(f"{target} has {len(names)} kernels ({listed}); choose one with --kernel")
        return names[0]

    def _expect_launch(self, target: str, program: api.Program, name: str, arguments: int) -> None:
        function = program.module.function(name)
        parameters = function.parameters
        code = program.module.code
        is_known = code is None or code.knows_parameters(name)
        if self.grid and self.block and (arguments == len(parameters) or not is_known):
            return
        if not is_known:
            raise click.UsageError(
                f"{target} has no record of the parameters of {name}: give --grid, --block and one --arg for each, as "
                "wide as the parameter"
            )
        specs = [f"--arg {example_argument(function, one)}" for one in parameters]
        called = shlex.quote(self.kernel or short_name(name))
        words = ["warpreg run", shlex.quote(target), "--kernel", called, "--grid 4 --block 256", *specs]
        expected = ", ".join(f"{one.name.removeprefix(name + '_')} ({_size(one)})" for one in parameters) or "none"
        raise click.UsageError(
            f"{name} takes {len(parameters)} arguments: {expected}. Give --grid, --block and one --arg per argument; "
            f"found {arguments}.\nExample: {' '.join(words)}\n"
        )


@dataclass(frozen=True)
class LaunchValues:
    """The arguments of a launch, and the variables that are filled before it."""

    arguments: list[Argument]
    symbols: dict[str, SymbolValue]

    @property
    def arrays(self) -> dict[str, tuple[str, NDArray[Any]]]:
        """Arrays that a launch may change, each with its text, by place: ``1``, ``0.2`` in a structure, or the name of
        a variable."""
        given = [(str(place), one) for place, one in enumerate(self.arguments)] + [*self.symbols.items()]
        return {f"{name}{place}": (one.text, array) for name, one in given for place, array in one.arrays.items()}


def _size(parameter: Variable) -> str:
    return f"{parameter.bytes} bytes" if parameter.dimensions else str(parameter.type)


def module_of(target: str, choice: CompileChoice, kernel: str | None = None) -> Module:
    """The module of a kernel file, with a kernel that is an instance of a template."""
    from warpreg import api

    is_template = kernel is not None and is_instance(kernel) and Path(target).suffix == ".cu"
    return api.load_module(target, choice.cuda, [kernel] if is_template and kernel else [], choice.machine_code)


def launch_options(function: Function) -> Function:
    """``--kernel``, ``--grid``, ``--block``, ``--shared-bytes``, ``--arg`` and ``--symbol``; the command receives
    ``launching``."""

    @functools.wraps(function)
    def command(
        *given: Any,
        kernel: str | None,
        grid: tuple[int, ...] | None,
        block: tuple[int, ...] | None,
        shared_bytes: int,
        arguments: tuple[str, ...],
        symbols: tuple[str, ...],
        **named: Any,
    ) -> Any:
        return function(*given, launching=LaunchSpec(kernel, grid, block, shared_bytes, arguments, symbols), **named)

    options = (
        click.option("--kernel", help="Name of the kernel, if the file has several, or a template: 'fill<float>'."),
        click.option("--grid", type=parse_extent, metavar="X[xYxZ]", help="Number of thread blocks in the grid."),
        click.option("--block", type=parse_extent, metavar="X[xYxZ]", help="Number of threads in a thread block."),
        click.option(
            "--shared-bytes",
            type=click.IntRange(min=0),
            default=0,
            help="Bytes of dynamic shared memory per thread block.",
        ),
        click.option(
            "--arg",
            "arguments",
            multiple=True,
            metavar="SPEC",
            help="Next kernel argument: TYPE:VALUE, buffer:TYPE:SHAPE[:FILL] or file:PATH.npy. FILL is zeros, ones, "
            "arange, random or a number. By value: TYPE:VALUE,VALUE,... or TYPE:SHAPE:FILL (an array), bytes:HEX or "
            "bytes:FILE, struct:FIELD,FIELD,... with arguments as fields, [FIELD,...] a structure inside. Repeat for "
            "each argument.",
        ),
        click.option(
            "--symbol",
            "symbols",
            multiple=True,
            metavar="NAME=SPEC",
            help="Fill a __constant__ or __device__ variable before the launch: TYPE:VALUE, TYPE:VALUE,VALUE,..., "
            "TYPE:SHAPE:FILL, file:PATH.npy, bytes:HEX or struct:FIELD,...; buffer:TYPE:SHAPE[:FILL] fills a pointer. "
            "Repeat for each variable.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return cast("Function", command)
