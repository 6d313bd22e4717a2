"""Rankings of designs as tables, sentences and JSON, for ``rank`` and ``compare``."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warpreg.cli import output
from warpreg.evaluation.runs.row import geometric_mean
from warpreg.evaluation.sweep.ranking import ENOUGH, Comparison, Results, front, place_of

Rows = Sequence[tuple[str, Mapping[str, Any]]]
"""Rows for JSON with the values of all axes, each with the label of its design."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Designs, the best first, with the means they are ranked by, and those on the Pareto front."""

    results: Results
    order: Sequence[str]
    means: Mapping[str, float]
    best: Sequence[str]

    @staticmethod
    def of(rows: Rows, by: str) -> Ranking:
        """The ranking of rows by a result.  Raises SweepError for a result that the rows do not have."""
        results = Results.of(rows, by)
        return Ranking(results, results.ranked(), results.means(), front(points(rows)))

    def as_dict(self) -> dict[str, Any]:
        """For JSON: the ranking, and every pair of designs."""
        by = self.results.by
        pairs = (self.results.compared(better, other) for better, other in itertools.combinations(self.order, 2))
        return {
            "ranking": [
                {"design": label, by: self.means[label], "on_the_front": label in self.best} for label in self.order
            ],
            "comparisons": [pair.as_dict() for pair in pairs if pair is not None],
        }

    def print(self) -> None:
        """Print the ranking, and each design beside the next one."""
        lines = [
            {
                "rank": rank,
                "design": label,
                self.results.by: f"{self.means[label]:,.0f}"
                if self.results.by == "cycles"
                else f"{self.means[label]:.3f}",
                "Pareto front": "yes" if label in self.best else "",
            }
            for rank, label in enumerate(self.order, 1)
        ]
        output.print_tables([output.table(lines, list(lines[0]))])
        console = output.console()
        console.print()
        pairs = self._neighbours()
        for pair in pairs:
            console.print(str(pair), markup=False)
        if any(pair.certainty is None for pair in pairs):
            few = min(pair.workloads for pair in pairs)
            told = f"{few} workload{'s' if few > 1 else ''}, too few to say how certain that is; {ENOUGH} are enough"
            console.print(f"\n{told}", style="dim")
        console.print(
            "\nPareto front: no other design is as good in energy, added storage and (with cycles) speed, and better in"
            " one of them",
            style="dim",
        )
        shared = len(self.results.shared())
        if shared < max(map(len, self.results.values.values())):
            console.print(f"means over the {shared} runs that all designs have", style="dim")

    def _neighbours(self) -> list[Comparison]:
        pairs = (self.results.compared(better, other) for better, other in itertools.pairwise(self.order))
        return [pair for pair in pairs if pair is not None]


def points(rows: Rows) -> dict[str, list[float]]:
    """Energy, added storage and time of each design, all better if lower, over the runs that all designs have."""
    by_label: dict[str, dict[Any, Mapping[str, Any]]] = {}
    for label, row in rows:
        if "error" not in row:
            by_label.setdefault(label, {})[place_of(row)] = row
    shared = set.intersection(*map(set, by_label.values())) if by_label else set()
    return {label: _point([own[place] for place in shared] or [*own.values()]) for label, own in by_label.items()}


def _point(rows: Sequence[Mapping[str, Any]]) -> list[float]:
    speeds = [float(row["speed"]) for row in rows if row.get("speed")]
    time = [1 / geometric_mean(speeds)] if speeds else []
    energy = geometric_mean(sorted(row["energy_normalized"] for row in rows))
    return [energy, max(float(row.get("added_bytes", 0)) for row in rows), *time]
