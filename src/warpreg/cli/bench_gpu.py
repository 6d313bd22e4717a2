"""``warpreg bench gpu``: measure a real GPU into a file, or show such a file."""

from __future__ import annotations

import json
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from warpreg.cli import output
from warpreg.ir.errors import WarpregError

FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)
ARCHITECTURE = "sm_90"
SECONDS = 480.0


@click.command()
@click.option("--out", type=FILE, metavar="FILE", help="Measure the first GPU of this machine; write FILE (.json).")
@click.option("--cubins", type=FOLDER, metavar="FOLDER", help="With --out: machine code that --prepare wrote.")
@click.option("--prepare", type=FOLDER, metavar="FOLDER", help="Write the machine code; requires the cuda extra.")
@click.option("--show", type=FILE, metavar="FILE", help="Print what a file of measurements holds.")
@click.option(
    "--compare", type=FILE, metavar="FILE", help="Run its machine code here; compare outputs with those of the GPU."
)
@click.option("--workloads", metavar="A,B", help="With --compare: these workloads. Default: all of FILE.")
@click.option(
    "--machine", metavar="MACHINE", help="With --compare: compare cycles of microbenchmarks on MACHINE instead."
)
@click.option(
    "--launches",
    type=click.Choice(("tiny", "small")),
    help="With --machine: compare the launches of workloads of this size, each with an empty second-level cache.",
)
@click.option("--in-sequence", is_flag=True, help="With --launches: each finds what the launch before it has left.")
@click.option(
    "--arch", default=ARCHITECTURE, show_default=True, metavar="sm_NN", help="Architecture of the GPU and its code."
)
@click.option(
    "--seconds", default=SECONDS, show_default=True, type=click.FloatRange(10), help="Measure at most so long."
)
def command(
    out: Path | None,
    cubins: Path | None,
    prepare: Path | None,
    show: Path | None,
    compare: Path | None,
    workloads: str | None,
    machine: str | None,
    launches: str | None,
    in_sequence: bool,
    arch: str,
    seconds: float,
) -> None:
    """Measure a real NVIDIA GPU: latencies, rates, register banks, memory, and all launches of the workloads.

    Workloads run in the machine code of ptxas; their outputs are compared with the references and kept beside FILE.
    On a machine without a compiler, bring the folder that --prepare wrote elsewhere.

    \b
    warpreg bench gpu --out h100.json
    warpreg bench gpu --prepare cubins
    warpreg bench gpu --out h100.json --cubins cubins
    warpreg bench gpu --show h100.json
    warpreg bench gpu --compare h100.json --workloads bfs,hotspot
    warpreg bench gpu --compare h100.json --machine h100
    warpreg bench gpu --compare h100.json --machine h100 --launches tiny --workloads bfs,hotspot
    """
    if sum(one is not None for one in (out, prepare, show, compare)) != 1:
        raise click.UsageError("give one of --out, --prepare, --show and --compare")
    if cubins is not None and out is None:
        raise click.UsageError("--cubins requires --out")
    if workloads is not None and compare is None:
        raise click.UsageError("--workloads requires --compare")
    if machine is not None and (compare is None or (workloads is not None and launches is None)):
        raise click.UsageError("--machine requires --compare, and --workloads then --launches")
    if launches is not None and machine is None:
        raise click.UsageError("--launches requires --machine")
    if in_sequence and launches is None:
        raise click.UsageError("--in-sequence requires --launches")
    if compare is not None and machine is not None and launches is not None:
        _compare_launches(_read(compare), machine, launches, workloads.split(",") if workloads else [], in_sequence)
    elif compare is not None and machine is not None:
        _compare_cycles(_read(compare), machine)
    elif compare is not None:
        _compare(compare, workloads.split(",") if workloads else [])
    elif show is not None:
        _show(_read(show))
    elif prepare is not None:
        _prepare(prepare, arch)
    elif out is not None:
        _measure(out, cubins, arch, seconds)


def _prepare(folder: Path, architecture: str) -> None:
    from warpreg.gpu_kit import cubins

    with output.steps() as progress:
        manifest = cubins.prepare(folder, architecture, progress.begin)
    for name, reason in manifest["failed"].items():
        click.echo(f"{name}: {reason}", err=True)
    click.echo(f"wrote machine code for {architecture} to {folder}")


def _measure(out: Path, folder: Path | None, architecture: str, seconds: float) -> None:
    from warpreg.checks.gpu.process import Gpu
    from warpreg.gpu_kit import kit

    Gpu().close()
    with tempfile.TemporaryDirectory(prefix="warpreg-gpu-") as temporary:
        if folder is None:
            folder = Path(temporary)
            _prepare(folder, architecture)
        found = kit.measure(folder, out, seconds, kit.tasks(("small",)), click.echo)
    _show(found)
    click.echo(f"wrote {out} and {kit.outputs_path(out)}")


def _compare(path: Path, names: list[str]) -> None:
    from warpreg.gpu_kit.outputs import compare_outputs

    _read(path)
    with output.steps() as progress:
        rows = [asdict(one) for one in compare_outputs(path, names, progress.begin)]
    output.print_tables([output.table(rows, list(rows[0]), "Outputs: elements whose bits differ from the GPU's")])
    equal = sum(not row["differing"] and not row["error"] for row in rows)
    click.echo(f"{equal} of {len(rows)} outputs are equal bit for bit")


def _compare_cycles(measurements: dict[str, Any], machine: str) -> None:
    from warpreg.gpu import load
    from warpreg.gpu_kit.simulated import Accuracy, compare_cycles

    with output.steps() as progress:
        compared = list(compare_cycles(measurements, load(machine), progress.begin))
    rows = [{**asdict(one), "error": f"{one.error:.0%}"} for one in compared]
    output.print_tables([output.table(rows, list(rows[0]), "Cycles of a copy, on the GPU and on the machine")])
    click.echo(Accuracy.of(compared))


def _compare_launches(
    measurements: dict[str, Any], machine: str, size: str, names: list[str], in_sequence: bool
) -> None:
    from warpreg.gpu import load
    from warpreg.gpu_kit.launch_accuracy import MAX_COST, Caches, compare_launches
    from warpreg.gpu_kit.simulated import Accuracy

    caches: Caches = "in sequence" if in_sequence else "cold"
    with output.steps() as progress:
        compared = list(compare_launches(measurements, load(machine), size, names, caches, progress.begin))
    if not compared:
        raise WarpregError(
            f"no launch to compare: by events, only those that take {MAX_COST} times as long as an empty one count"
        )
    worst = sorted(compared, key=lambda one: -one.error)
    rows = [{**asdict(one), "error": f"{one.error:.0%}"} for one in worst]
    output.print_tables([output.table(rows, list(rows[0]), f"Cycles of launches, second-level cache {caches}")])
    if len(compared) > 1:
        click.echo(Accuracy.of(compared))


def _read(path: Path) -> dict[str, Any]:
    """The measurements of a file.  Raises WarpregError for a file that is none."""
    try:
        measurements = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise WarpregError(f"{path}: no measurements of a GPU: {error.strerror}") from error
    except ValueError as error:
        raise WarpregError(f"{path}: no measurements of a GPU: {error}") from error
    if not isinstance(measurements, dict) or "micro" not in measurements:
        raise WarpregError(f"{path}: no measurements of a GPU: 'micro' is missing")
    return measurements


def _show(measurements: dict[str, Any]) -> None:
    from warpreg.gpu_kit import summary

    device = measurements["device"]
    click.echo(f"{device.get('name', 'unknown GPU')}, {device.get('sms', '?')} SMs, measured {measurements['date']}")
    tables = ((rows, title) for title, rows in summary.tables(measurements).items() if rows)
    output.print_tables([output.table(rows, list(rows[0]), title) for rows, title in tables])
