"""``warpreg warm``: compile once what first commands need, and keep it beside the installed package."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click

from piecewise_numba import processor as processors
from warpreg import gpu
from warpreg.cache import installed_code, store
from warpreg.cache.directory import VARIABLE as CACHE
from warpreg.cache.trust import directory_refusal
from warpreg.cli import output
from warpreg.cli.options import json_option, output_option, processes_option
from warpreg.ir.errors import WarpregError

MACHINES = ("gebhart", "gtx480", "titanx", "v100")
PROBLEM = ("hotspot", "--size", "tiny")
"""What the commands run: code of cores and replays is the same for all kernels."""
OF_HOST = "objects"
"""The kind that the executor compiles for the processor of the host, whatever is chosen."""
MIB = 1 << 20


class WarmError(WarpregError):
    """Nothing can be compiled beforehand."""


@click.command()
@click.option(
    "--machine",
    "machines",
    multiple=True,
    metavar="NAME",
    default=MACHINES,
    show_default=True,
    help="Compile the timing core of this machine without a design. Repeat for more machines.",
)
@click.option(
    "--processor",
    type=click.Choice(processors.LEVELS),
    help="Compile for all processors of this level of x86-64, not for that of this host.",
)
@output_option("folder", "Folder for the code. Default: beside the installed package, where every command finds it.")
@processes_option()
@json_option
def command(
    machines: tuple[str, ...], processor: str | None, folder: Path | None, processes: int | None, as_json: bool
) -> None:
    """Compile once what first commands need: profiles, timing cores of machines, and the cores of all designs of the
    package on the default machine of 'compare'. Takes about two minutes of processor time.

    Code is found as that of the cache is, by all that it depends on; after an upgrade, run it again.

    \b
    warpreg warm
    warpreg warm --machine h100
    """
    for name in machines:
        gpu.load(name)
    if processor is not None and processors.level(processor) not in processors.levels():
        raise click.UsageError(f"--processor: this host is no {processor}")
    kept = folder or installed_code.own_folder()
    _check(kept)
    with tempfile.TemporaryDirectory(dir=kept, prefix=".new-") as made:
        if refused := directory_refusal(Path(made)):
            raise WarmError(f"{kept} not used: {refused}")
        try:
            chosen = processors.level(processor).variables if processor else {}
            environment = {CACHE: made, installed_code.VARIABLE: str(kept), **chosen}
            _compile(environment, machines, processes or os.cpu_count() or 1)
        finally:
            _take_over(Path(made), kept, {*installed_code.KINDS} - ({OF_HOST} if processor else set()))
    found = [entry for entry in store.entries_of(kept) if entry.kind in installed_code.KINDS]
    size = sum(entry.size_bytes for entry in found) / MIB
    if as_json:
        output.print_json({"folder": str(kept), "entries": len(found), "MiB": size})
    else:
        click.echo(f"{kept}: {len(found)} entries, {size:.1f} MiB")


def _check(folder: Path) -> None:
    """Raises WarmError for a folder that cannot be written."""
    try:
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    except OSError as error:
        raise WarmError(f"{folder}: {error.strerror}") from None
    if not os.access(folder, os.W_OK):
        raise WarmError(f"{folder}: not writable; --output names another folder")


def _compile(environment: Mapping[str, str], machines: Sequence[str], processes: int) -> None:
    """Run the commands whose code is kept, with these variables of the environment."""
    whole = {**os.environ, **environment}

    def run(*arguments: str) -> None:
        command = [sys.executable, "-m", "warpreg", *arguments]
        done = subprocess.run(command, env=whole, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode:
            raise WarmError(_last_line(done.stderr) or f"'warpreg {' '.join(arguments)}' failed")

    with output.steps(2 + len(machines)) as progress, ThreadPoolExecutor(processes) as pool:
        progress.begin("compiling profiles")
        run("run", *PROBLEM)
        progress.done()
        progress.begin("compiling timing cores of machines")
        for _ in pool.map(lambda name: run("run", *PROBLEM, "--cycles", "--machine", name), machines):
            progress.done()
        progress.begin("compiling timing cores of designs")
        run("compare", *PROBLEM, "--designs", "all", "--recompute", "-j", str(processes))
        progress.done()


def _take_over(made: Path, kept: Path, kinds: Set[str]) -> None:
    """Move entries of these kinds to another folder, where every user may read them."""
    for entry in store.entries_of(made):
        if entry.kind in kinds:
            place = kept / entry.kind
            place.mkdir(exist_ok=True)
            place.chmod(0o755)
            entry.path.chmod(0o644)
            entry.path.replace(place / entry.path.name)


def _last_line(text: str) -> str:
    """The message of a command, without the name of the program."""
    return text.rstrip().rpartition("\n")[2].removeprefix("warpreg: ")
