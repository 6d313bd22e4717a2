"""``warpreg demo``: compare two designs on eight kernels; print a table, draw a figure."""

from __future__ import annotations

from pathlib import Path

import click

from warpreg.cli import output
from warpreg.cli.comparison_tables import print_rows
from warpreg.cli.compile_options import compile_options
from warpreg.cli.options import json_option, output_option, problem_options
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.evaluation.runs.comparison import Setting, compare
from warpreg.evaluation.runs.row import Row
from warpreg.evaluation.runs.run import CompileChoice, find_workload, run_workload

WORKLOADS = (
    "vector-add", "matrix-mul", "reduction", "bfs", "hotspot", "nw", "mandelbrot", "histogram",
)  # fmt: skip
ENTRIES = 6
"""Entries of the register file cache in the table: the paper's choice."""

SWEEP = (1, 2, 3, 4, 5, 6, 7, 8)
"""Entries in the third panel of the figure: the sizes whose energies are printed."""


@click.command()
@output_option("folder", "Folder for the figure.", default=Path("demo"), show_default=True)
@problem_options("small")
@compile_options
@json_option
def command(folder: Path, size: str, seed: int, choice: CompileChoice, as_json: bool) -> None:
    """Run the eight demo kernels and compare a plain register file with a register file cache.

    Check the outputs against NumPy, print a table, and write the figure as rfc.png and rfc.svg.
    """
    setting = Setting.load()
    plain = ConfiguredDesign.load("mrf")
    caches = {entries: ConfiguredDesign.load("rfc", {"entries": entries}) for entries in SWEEP}
    rows: list[Row] = []
    sweep: dict[int, list[Row]] = {entries: [] for entries in SWEEP}
    with output.steps(len(WORKLOADS), "workloads") as progress:
        for name in WORKLOADS:
            progress.begin(f"running {name}")
            run = run_workload(find_workload(name), size, seed, choice)
            progress.begin(f"replaying {name}")
            found = list(compare(run, [plain, *caches.values()], setting))
            for entries, row in zip(SWEEP, found[1:], strict=True):
                sweep[entries].append(row)
            rows += [found[0], sweep[ENTRIES][-1]]
            progress.done()
    written = _draw(folder, sweep, size, seed, choice.address_bits)
    if as_json:
        output.print_json([row.as_dict() for row in rows])
        return
    print_rows(rows)
    output.console().print(f"all {len(WORKLOADS)} workloads match their NumPy references")
    output.console().print("figure: " + ", ".join(map(str, written)))


def _draw(folder: Path, sweep: dict[int, list[Row]], size: str, seed: int, address_bits: int) -> list[Path]:
    from warpreg.report.figures import demo_figure, save

    used = sweep[ENTRIES][0].provenance
    addresses = "" if address_bits == 64 else f", {address_bits}-bit addresses"
    problem = f"size {size}, seed {seed}{addresses}"
    caption = f"machine {used.machine} · technology {used.technology} · {problem} · warpreg {used.code}"
    return save(demo_figure(sweep[ENTRIES], sweep, caption), folder / "rfc")
