"""Write the tables of docs/explanation/oracle.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from warpreg.evaluation.oracle.gap import Gap

STEP_WORDS = {
    "orders": "greedy, best of three queue orders per strand",
    "ORF": "same ranges and LRF, optimal ORF",
    "LRF with ORF": "same ranges, LRF and ORF optimal together",
    "all": "optimal within the encoding",
}
EXECUTED_WORDS = {
    "greedy": "greedy",
    "best": "optimal for accesses executed once",
    "knowing": "optimal for the executed frequencies",
}


def page(tables: Mapping[str, Mapping[str, Gap]]) -> str:
    """Tables in Markdown, by design and workload; the last row of a design is the mean of all workloads."""
    return "\n".join(line for design, rows in tables.items() for line in _of_design(design, rows))


def _of_design(design: str, rows: Mapping[str, Gap]) -> Iterator[str]:
    yield f"## {design}\n"
    whole = list(rows.values())[-1]
    if whole.steps:
        yield from _steps(whole)
        yield from _executed(whole)
    lines = []
    for name, gap in rows.items():
        row = gap.as_dict()
        lines.append(
            (
                name,
                f"{gap.strands:,}",
                f"{row['greedy']:.3f}",
                f"{row['best']:.3f}",
                f"{row['share_of_best']:.1%}",
                f"{gap.proven_share:.1%}",
            )
        )
    yield from _table(
        ("workload", "strands", "greedy", "best", "share of optimal saving", "proven"), [*lines, _mean(rows)]
    )
    if whole.unproven:
        yield from _unproven(whole)


def _mean(rows: Mapping[str, Gap]) -> Sequence[str]:
    """Mean over workloads with equal weights."""
    of_one = [gap.as_dict() for gap in list(rows.values())[:-1]]
    greedy, best, share = (sum(row[key] for row in of_one) / len(of_one) for key in ("greedy", "best", "share_of_best"))
    return ("mean", "", f"{greedy:.3f}", f"{best:.3f}", f"{share:.1%}", "")


def _steps(whole: Gap) -> Iterator[str]:
    before = whole.greedy_pj
    lines = [("greedy", f"{1 - before / whole.alone_pj:.4f}", "", f"{before / whole.best_pj:.1%}")]
    for name, pj in whole.steps.items():
        lines.append(
            (
                STEP_WORDS[name],
                f"{1 - pj / whole.alone_pj:.4f}",
                f"{(pj - before) / whole.alone_pj:.4f}",
                f"{pj / whole.best_pj:.1%}",
            )
        )
        before = pj
    yield from _table(("placement", "energy", "reduction", "share of optimal saving"), lines)


def _executed(whole: Gap) -> Iterator[str]:
    most = whole.executed["knowing"]
    lines = [(EXECUTED_WORDS[name], f"{pj / most:.2%}") for name, pj in whole.executed.items()]
    yield from _table(("placement, accesses weighted by execution count", "share of optimal saving"), lines)


def _unproven(whole: Gap) -> Iterator[str]:
    yield "Not proven:\n"
    lines = [
        (s.kernel, f"{s.pc}", f"{s.instructions:,}", f"{s.greedy_pj:,.0f}", f"{s.best_pj:,.0f}", f"{s.bound_pj:,.0f}")
        for s in whole.unproven
    ]
    yield from _table(
        ("kernel", "strand at", "instructions executed", "greedy, pJ", "best found, pJ", "bound, pJ"), lines
    )


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(headings)} |"
    yield f"|{'---|' * len(headings)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""
