"""``warpreg report``: write the results of a study as one HTML page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from warpreg.cache.directory import cache_directory
from warpreg.cli import output as out
from warpreg.cli.installed import PAPERS, REPRODUCTIONS, NotInstalledError, installed
from warpreg.cli.options import SIZES, json_option, unchecked_option
from warpreg.evaluation.sweep import batch as batches
from warpreg.evaluation.sweep.batch import Batch
from warpreg.evaluation.sweep.errors import SweepError
from warpreg.evaluation.sweep.study_file import read_study
from warpreg.evaluation.sweep.sweep import batch_of

MIB = 1 << 20
EVERYTHING = "All results"
NOT_FINISHED = "not finished: never measured, or it failed; 'warpreg sweep {study} --only {cell}' tells"


@click.command()
@click.argument(
    "study",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="[STUDY.toml]",
    required=False,
)
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("report.html"),
    show_default=True,
    metavar="FILE",
    help="The page.",
)
@click.option(
    "--papers",
    default="",
    metavar="A,B",
    help="Also show the reproduction of these papers, as far as 'warpreg reproduce' has measured it.",
)
@click.option(
    "--size",
    type=click.Choice(SIZES),
    default="small",
    show_default=True,
    help="Problem size of the reproductions.",
)
@unchecked_option
@json_option
def command(study: Path | None, output: Path, papers: str, size: str, unchecked: bool, as_json: bool) -> None:
    """Write the finished cells of a study as one HTML page that opens from disk.

    Without a study, the page has every result that 'warpreg sweep' has kept with the present code. Nothing is measured.

    \b
    warpreg report entries.toml
    warpreg report entries.toml --papers rfc,bow --output entries.html
    warpreg report
    """
    from warpreg.report.page.contents import contents
    from warpreg.report.page.write import write

    named = [name for name in papers.split(",") if name]
    with out.steps() as progress:
        progress.begin("reading results")
        rows, missing = _everything() if study is None else _of_study(study, unchecked)
    if not rows and study is None and not named:
        raise SweepError(
            f"no result of the present code is in {cache_directory()}; run 'warpreg sweep STUDY.toml' first"
        )
    title = EVERYTHING if study is None else study.stem
    with out.steps() as progress:
        progress.begin(f"writing {output}")
        path = write(contents(title, rows, missing, [_reproduction(name, size) for name in named]), output)
    if as_json:
        told = {"results": len(rows), "missing": len(missing), "papers": named}
        out.print_json({"file": str(path), "bytes": path.stat().st_size, **told})
        return
    click.echo(f"wrote {path}: {len(rows)} results, {path.stat().st_size / MIB:.1f} MiB", err=True)


Rows = list[dict[str, Any]]


def _everything() -> tuple[Rows, Rows]:
    return sorted(batches.all_kept(), key=lambda row: (row["workload"], row["design"], str(row["parameters"]))), []


def _of_study(study: Path, unchecked: bool) -> tuple[Rows, Rows]:
    """The finished cells of a study, and the others.  Raises SweepError if none is finished."""
    read = read_study(study)
    if read.search is not None:
        raise SweepError(f"{study}: a search has no cells; 'warpreg report' without a study shows what it has measured")
    batch = batch_of(read, study.parent, unchecked=unchecked)
    found = {number: batch.result(number) for number in range(1, len(batch.cells) + 1)}
    rows = [row for row in found.values() if row is not None]
    if not rows:
        raise SweepError(f"{study}: none of {len(found)} cells is finished; run 'warpreg sweep {study}' first")
    return rows, [_missing(batch, number, study) for number, row in found.items() if row is None]


def _missing(batch: Batch, number: int, study: Path) -> dict[str, Any]:
    failure = batch.problems.get(number)
    reason = failure or NOT_FINISHED.format(study=study, cell=number)
    place = batch.row(number, reason)
    kept = {name: place[name] for name in ("cell", "workload", "machine", "technology")}
    return {**kept, "design": batch.label(number), "reason": reason, "failed": failure is not None}


def _reproduction(paper: str, size: str) -> Mapping[str, Any]:
    reproduction = installed(REPRODUCTIONS, "papers")
    if reproduction is None:
        raise NotInstalledError(PAPERS)
    found: Mapping[str, Any] = reproduction(paper, size)
    return found
