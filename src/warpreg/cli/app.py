"""The ``warpreg`` command: finds the subcommand, suggests near names, and gives each kind of failure its exit status.

Exit statuses: 0 success, 1 failure (a `WarpregError` or the operating system), 2 wrong usage, 130 Ctrl-C or SIGTERM.
"""

from __future__ import annotations

import atexit
import difflib
import gc
import importlib
import io
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

import warpreg
from piecewise_numba import settings
from warpreg.cache import jobs
from warpreg.cli import compile_progress, installed
from warpreg.ir.errors import InterruptedCodeError, WarpregError, WarpregWarning, shortened

COMMANDS = {
    "run": "Run a kernel or workload, check it, print its register profile",
    "compare": "Compare register-file designs on the same runs",
    "sweep": "Measure the designs, parameters, machines and workloads of a study file",
    "rank": "Rank the designs of a sweep, with what would turn the ranking",
    "watch": "Show running commands, sweeps and their results in the browser",
    "archive": "Pack a study or a comparison with code and results; check such an archive",
    "diff": "Compare two versions of kernels: registers, accesses, energy, cycles",
    "report": "Write the results of sweeps as one HTML page, with figures and tables",
    "reproduce": "Measure the results of a paper and compare them with the published values",
    "oracle": "Compare greedy operand placement with optimal placement",
    "explain": "Print an annotated listing of a compiled kernel, with live ranges",
    "explain-core": "Print which functions the timing core of a machine and a design consists of",
    "why": "Show where two designs differ on a kernel, by instruction",
    "trace": "Write what happens in each cycle of a window, for Perfetto or Konata",
    "new-design": "Write the file of a design that runs as it is, and its test",
    "export": "Write a run as a trace for Accel-Sim",
    "check": "Check a design: contract of all designs, hooks with checks, in replay and in time",
    "verify": "Check the outputs of workloads against their references",
    "list": "List workloads, designs, machines, technologies, opcodes",
    "bench": "Measure the speed of Warpreg on this machine",
    "warm": "Compile once what first commands need",
    "cache": "Show, verify or delete what is kept on disk",
    "demo": "Run eight kernels through two designs; print a table, draw a figure",
}
"""Each command with its summary; the command ``x-y`` is ``warpreg.cli.x_y.command``, if no other package brings it."""

FAILURE, USAGE, INTERRUPTED = 1, 2, 130
ENDS = {0: "finished", INTERRUPTED: "interrupted"}
"""How a command has ended by its exit status; with any other one, it has failed."""


class Commands(click.Group):
    """Imports a command only when it is called, so that ``--help`` and ``list`` answer at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = installed.installed(installed.COMMANDS, cmd_name) if cmd_name in installed.BROUGHT else None
        if command is None:
            command = importlib.import_module(f"warpreg.cli.{cmd_name.replace('-', '_')}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            near = difflib.get_close_matches(name, COMMANDS, n=1, cutoff=0.5)
            hint = f"did you mean '{near[0]}'?" if near else f"there are: {', '.join(COMMANDS)}"
            raise click.UsageError(f"no command named '{name}'; {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Run 'warpreg COMMAND --help' for the options of a command.",
)
@click.option(
    "--progress", is_flag=True, help="Where the error stream is no terminal, print a line of progress each minute."
)
@click.version_option(warpreg.__version__, prog_name="warpreg")
def command(progress: bool) -> None:  # see `warpreg.cli.steps`
    """Compare register-file organisations on real GPU kernels.

    Warpreg compiles a kernel (CUDA C++ or PTX) to architected registers, runs it, and counts the accesses, the energy
    and the cycles of each register-file design.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line on ``arguments`` (default: those of the process); returns the exit status."""
    settings.own_threads()
    atexit.register(gc.freeze)  # what is left when the process ends is not searched for garbage
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # an ASCII terminal, or a file name that is not UTF-8
    given = list(sys.argv[1:] if arguments is None else arguments)
    with _terminated_as_interrupted(), _own_warnings_as_messages(), compile_progress.shown(), jobs.logged(given) as log:
        status = _run(given)
        log.end(ENDS.get(status, "failed"))
        return status


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """Treat SIGTERM, which a job scheduler sends before it kills, as Ctrl-C, so that what is finished is kept and the
    terminal is as before; where the process leaves it to the system.
    """
    is_ours = (
        threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    )
    if not is_ours:
        yield
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def _own_warnings_as_messages() -> Iterator[None]:
    """Print warnings of Warpreg, as of an unwritable cache, as one line, without Python's category and source line."""
    with warnings.catch_warnings():
        python_shows = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if issubclass(category, WarpregWarning):
                click.echo(f"warpreg: {message}", err=True)
            else:
                python_shows(message, category, *place, **more)

        warnings.showwarning = show
        yield


def _run(arguments: list[str]) -> int:
    try:
        status = command.main(args=arguments, standalone_mode=False)
    except (click.exceptions.Abort, KeyboardInterrupt):
        return _complain("interrupted", INTERRUPTED)
    except click.exceptions.NoArgsIsHelpError as usage:
        usage.show()
        return USAGE
    except click.ClickException as usage:
        where = f"(see '{usage.ctx.command_path} --help')" if isinstance(usage, click.UsageError) and usage.ctx else ""
        message = usage.format_message()
        gap = "" if not where or message.endswith("\n") else " "
        return _complain(f"{message}{gap}{where}", usage.exit_code)
    except InterruptedCodeError as error:
        return _complain(str(error), INTERRUPTED)
    except WarpregError as error:
        return _complain(str(error), FAILURE)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader has closed the pipe
        return FAILURE
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _complain(f"{where}{error.strerror or error}", FAILURE)
    except MemoryError:
        return _complain("out of memory; a smaller --size may fit", FAILURE)
    return status if isinstance(status, int) else 0


def _complain(message: str, status: int) -> int:
    click.echo(f"warpreg: {shortened(message)}", err=True)
    jobs.current().update(why=shortened(message))
    return status
