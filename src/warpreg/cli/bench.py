"""``warpreg bench``: speed figures of this machine."""

from __future__ import annotations

import click

from warpreg.cli import output
from warpreg.cli.options import SIZES, json_option
from warpreg.ir.errors import UnknownNameError

SUITES = ("spine",)
UNITS = {
    "functional_mwi_s_geomean": "M warp-instructions/s, path recorded, geometric mean",
    "functional_mwi_s_min": "M warp-instructions/s, path recorded, slowest workload",
    "recorded_addresses_ratio": "speed with addresses recorded / without",
    "compile_s_400": "s, 400 instructions, first time",
    "compile_cached_s_400": "s, 400 instructions, from the disk cache",
    "path_bytes_per_wi": "bytes of path on disk per warp-instruction, worst workload",
    "replay_maccess_s": "M register accesses/s in replay",
    "parse_mb_s": "MB/s of PTX text",
    "first_run_s": "s, 'warpreg run vector-add' with an empty cache",
    "later_run_s": "s, 'warpreg run vector-add' with a warm cache",
}


@click.command()
@click.argument("suite", metavar="|".join(SUITES))
@click.option("--size", type=click.Choice(SIZES), default="small", show_default=True, help="Size of the workloads.")
@json_option
def command(suite: str, size: str, as_json: bool) -> None:
    """Measure how fast this machine runs, compiles, replays and parses (medians of five; takes minutes)."""
    if suite not in SUITES:
        raise click.UsageError(str(UnknownNameError("benchmark", suite, SUITES)))
    from warpreg.experiments.spine_bench import spine

    with output.steps() as progress:
        measured = spine(size, progress.begin)
    if as_json:
        output.print_json(measured)
        return
    console = output.console()
    figures = [{"figure": name, "value": measured[name], "unit": unit} for name, unit in UNITS.items()]
    workloads = measured["workloads"]
    output.print_tables(
        [output.table(figures, ["figure", "value", "unit"]), output.table(workloads, list(workloads[0]), "Workloads")]
    )
    machine = measured["machine"]
    console.print(
        f"\n{machine['cpu']} ({machine['architecture']}, {machine['vector_bits']}-bit vectors),"
        f" {machine['cores']} cores, Python {machine['python']}, llvmlite {machine['llvmlite']},"
        f" warpreg {machine['code']}"
    )
