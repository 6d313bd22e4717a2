"""``warpreg reproduce``: measure the results of papers and compare them with the published values."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from warpreg import workloads
from warpreg.cache import jobs
from warpreg.cli import output
from warpreg.cli.compile_options import given_options, own_compile_options
from warpreg.cli.options import json_option, processes_option
from warpreg.evaluation.runs.run import CompileChoice
from warpreg.evaluation.studies.study import Study
from warpreg_papers import renewed as again
from warpreg_papers.by_code import as_dict, by_code
from warpreg_papers.complete import complete, steps_of
from warpreg_papers.reproduction import (
    PAPERS,
    code_of,
    codes_of,
    explained,
    measure,
    paper_module,
    reproduced,
)
from warpreg_papers.shown import ALL, compare, workloads_under
from warpreg_papers.summary import summed

COLUMNS = ("paper", "id", "published", "null", "measured", "band", "unit", "within", "could fail", "cause")
ABLATED = ("id", "published", "measured", "ablated", "share", "unit", "within", "verdict", "cause")


@click.command()
@click.argument("papers", nargs=-1, metavar="[PAPER]...")
@click.option(
    "--size",
    type=click.Choice(["tiny", "small", "full"]),
    default="small",
    show_default=True,
    help="Problem size of the workloads.",
)
@click.option(
    "--workloads",
    "names",
    metavar="A,B",
    help="Comma-separated workloads; all: the whole suite. Default: the workloads of the paper.",
)
@processes_option()
@click.option("--fresh", is_flag=True, help="Neither read nor write saved measurements.")
@click.option(
    "--figures",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write each figure of the paper as a picture (SVG, PNG) and a table (CSV).",
)
@click.option(
    "--ablation",
    metavar="NAME",
    help="Measure the results of this ablation with and without it; all: every ablation.",
)
@click.option(
    "--code",
    metavar="NAME",
    help="Measure this code of the paper, which the compiler options change; all: each of its codes. Default: its own.",
)
@click.option(
    "--pages",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Measure results, ablations and codes; write a page per paper with figures, and a page that sums up all.",
)
@click.option(
    "--results",
    metavar="A,B",
    help="With --pages: measure only these results of a written page again, with their evidence, and write them in.",
)
@own_compile_options
@json_option
def command(
    papers: tuple[str, ...],
    size: str,
    names: str | None,
    processes: int | None,
    folder: Path | None,
    fresh: bool,
    ablation: str | None,
    code: str | None,
    pages: Path | None,
    results: str | None,
    choice: CompileChoice,
    as_json: bool,
) -> None:
    """Measure every published result of a paper and compare it with the published value. Default: all papers.

    Measurements are saved in the cache directory, so an interrupted run resumes where it stopped.
    A result could fail if it would not be within tolerance without its effect (its null value).
    Each paper runs the code that it describes; --code modern runs the code that the compiler makes by default.

    \b
    warpreg reproduce rfc --size tiny
    warpreg reproduce orf-lrf --json
    warpreg reproduce rc-rsp --figures out
    warpreg reproduce orf-lrf --ablation lrf-for-all --size tiny
    warpreg reproduce orf-lrf --code all --size tiny
    warpreg reproduce --pages out --size tiny
    warpreg reproduce orf-lrf --ablation lrf-for-all --pages out
    """
    chosen = papers or tuple(PAPERS)
    for paper in chosen:
        paper_module(paper)
    if pages is not None:
        _refuse_beside_pages(names, folder, code, fresh, as_json)
        if ablation is None and results is None:
            _write_pages(chosen, size, processes, pages)
        else:
            _renew_page(_only(chosen, "--pages with --ablation or --results"), ablation, results, processes, pages)
        return
    if results is not None:
        raise click.UsageError("--results requires --pages, the folder of the page that has them")
    selected = workloads.names() if names == "all" else [name for name in (names or "").split(",") if name]
    for name in selected:
        workloads.find(name)
    if ablation is not None:
        options = _options(_only(chosen, "--ablation"), code)
        _print_ablation(chosen[0], ablation, size, selected, options, processes, fresh, as_json)
        return
    if code == ALL:
        _print_codes(_only(chosen, "--code all"), size, selected, processes, fresh, as_json)
        return
    rows: list[dict[str, object]] = []
    summaries = []
    for paper in chosen:
        options = _options(paper, code)
        with _progress(f"{paper}: ", len(selected or paper_module(paper).WORKLOADS)) as finished:
            study = measure(paper, size, selected, options, processes, finished, keep=not fresh)
        for name, reason in study.reasons.items():
            click.echo(f"{paper}: {name} {reason}", err=True)
            jobs.current().add("failures", [{"what": f"{paper}: {name}", "why": reason}])
        rows += [{"paper": paper, **one.as_dict(), "left_out": study.reasons} for one in reproduced(paper, study)]
        summaries.append(summed(paper, [row for row in rows if row["paper"] == paper]))
        jobs.current().add("notes", [f"{paper}: {summaries[-1]}"])
        if folder is not None:
            _write_figures(paper, study, folder)
    if as_json:
        codes = {
            paper: {**as_dict(code_of(paper, code)), "options": _options(paper, code).as_dict()} for paper in chosen
        }
        output.print_json({"summary": [one.as_dict() for one in summaries], "code": codes, "results": rows})
        return
    columns = [column for column in COLUMNS if column != "band" or any("band" in row for row in rows)]
    lines = [{**row, "could fail": row["could_fail"], "band": _band(row.get("band"))} for row in rows]
    output.print_tables([output.table(lines, columns)])
    for one in summaries:
        click.echo(f"\n{one.paper}: {one}")


def _band(ends: object) -> str:
    return " to ".join(map(output.cell, ends)) if isinstance(ends, list) else ""


def _write_figures(paper: str, found: Study, folder: Path) -> None:
    from warpreg_papers.figure_files import write_figures  # loads matplotlib, which takes a second

    for path in write_figures(paper, found, folder):
        click.echo(f"wrote {path}", err=True)


def _options(paper: str, code: str | None) -> CompileChoice:
    """The options of a code of a paper, by default its own, changed by those of the command line."""
    return dataclasses.replace(code_of(paper, code).choice, **given_options())


def _only(papers: Sequence[str], option: str) -> str:
    if len(papers) != 1:
        raise click.UsageError(f"{option} requires exactly one paper, out of {', '.join(papers)}")
    return papers[0]


def _print_codes(
    paper: str, size: str, names: Sequence[str], processes: int | None, fresh: bool, as_json: bool
) -> None:
    if given := given_options():
        raise click.UsageError(
            f"--code all measures each code as it is; expected no compiler options, found {', '.join(given)}"
        )
    codes = codes_of(paper)
    with output.steps(len(codes) * len(names or paper_module(paper).WORKLOADS), "workloads") as progress:
        found = by_code(paper, size, names, processes, lambda name: progress.done(), keep=not fresh)
    rows = [one.as_dict() for one in found]
    if as_json:
        output.print_json({"codes": {name: as_dict(one) for name, one in codes.items()}, "results": rows})
        return
    output.print_tables([output.table([_by_column(row, codes) for row in rows], ("id", "published", *codes, "unit"))])
    for name, one in codes.items():
        within = sum(bool(row["within"].get(name)) for row in rows if row["could_fail"])
        click.echo(f"{name}: {within} within tolerance, {one.title}")


def _by_column(row: Mapping[str, Any], codes: Mapping[str, object]) -> dict[str, Any]:
    """A row with a column for each code."""
    return {**row, **{name: row["measured"].get(name) for name in codes}}


def _print_ablation(
    paper: str,
    ablation: str,
    size: str,
    names: Sequence[str],
    choice: CompileChoice,
    processes: int | None,
    fresh: bool,
    as_json: bool,
) -> None:
    wanted = [name for name in explained(paper).ABLATIONS if ablation in (name, ALL)]
    runs = sum(len(workloads_under(paper, name, names)) for name in wanted)
    with output.steps(runs + len(names or paper_module(paper).WORKLOADS), "workloads") as progress:
        found = compare(paper, ablation, size, names, choice, processes, lambda name: progress.done(), keep=not fresh)
    rows = [one.as_dict() for one in found]
    if as_json:
        output.print_json(rows)
    else:
        output.print_tables([output.table(rows, ABLATED)])


def _refuse_beside_pages(*given: object) -> None:
    if any(given) or given_options():
        raise click.UsageError(
            "--pages measures a paper as it is; expected no option but --size, --processes, --ablation and --results"
        )


def _write_pages(papers: Sequence[str], size: str, processes: int | None, folder: Path) -> None:
    from warpreg_papers.pages.write import write_overview, write_page  # loads matplotlib, which takes a second

    with _progress("", sum(map(steps_of, papers))) as finished:
        for paper in papers:
            click.echo(f"wrote {write_page(complete(paper, size, processes, finished), folder)}", err=True)
    click.echo(f"wrote {write_overview(folder)}", err=True)


def _renew_page(paper: str, ablation: str | None, results: str | None, processes: int | None, folder: Path) -> None:
    """Measure some results of a page again, those of an ablation or those that are named, and write them in."""
    from warpreg_papers.pages.write import read_page, rewrite_page, write_overview  # loads matplotlib

    page = read_page(paper, folder)
    chosen = [name for name in (results or "").split(",") if name]
    chosen += again.caused_by(paper, ablation) if ablation is not None else []
    with _progress("", again.steps_of(paper, chosen)) as finished:
        found = again.renewed(page, chosen, processes, finished)
    click.echo(f"wrote {rewrite_page(found, folder)}", err=True)
    click.echo(f"wrote {write_overview(folder)}", err=True)


@contextmanager
def _progress(prefix: str, total: int) -> Iterator[Callable[[str], None]]:
    """Report finished workloads."""
    with output.steps(total, "workloads") as steps:
        yield lambda name: steps.tell(f"{prefix}{steps.pace.done + 1:.0f} of {total}, {name}")
