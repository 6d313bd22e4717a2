"""Rankings of the designs of a report, and what turns them (`warpreg.evaluation.sweep.ranking`)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from warpreg.evaluation.sweep.ranking import ENERGY, ENERGY_ENDS, Comparison, Results

MEASURES = {"energy": ENERGY, "speed": "speed"}
"""Measures of the page by which designs are ranked, and their keys in a row."""
MAX_PAIRS = 600
"""Pairs of designs that are compared; of more designs, each is compared with the next and with the best only."""
Entries = Sequence[Mapping[str, Any]]


def rankings(designs: Entries, runs: Entries, results: Entries) -> list[dict[str, Any]]:
    """By measure: the designs, the best first, and pairs of them (`Comparison.as_dict`, designs by place).

    A case that turns a pair is a workload, machine, technology or option of the runs.
    """
    return [ranking for name, key in MEASURES.items() if (ranking := _ranking(name, key, designs, runs, results))]


def _ranking(name: str, key: str, designs: Entries, runs: Entries, results: Entries) -> dict[str, Any] | None:
    labels = [design["label"] for design in designs]
    values: dict[str, dict[Any, float]] = {}
    ends: dict[str, dict[Any, Sequence[float]]] = {}
    for one in results:
        label, place = labels[one["design"]], _place(runs[one["run"]])
        if one.get(key):
            values.setdefault(label, {})[place] = one[key]
        if key == ENERGY and ENERGY_ENDS in one:
            ends.setdefault(label, {})[place] = one[ENERGY_ENDS]
    found = Results(key, values, ends)
    order = found.ranked() if len(values) > 1 else []
    pairs = [pair for better, other in _pairs(order) if (pair := found.compared(better, other)) is not None]
    if not pairs:
        return None
    places = {label: number for number, label in enumerate(labels)}
    return {
        "measure": name,
        "order": [places[label] for label in order],
        "pairs": [_pair(pair, places) for pair in pairs],
    }


def _pairs(order: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each design with those after it, or if these are too many, with the next one and the first one with all."""
    every = list(itertools.combinations(order, 2))
    if len(every) <= MAX_PAIRS:
        yield from every
    else:
        yield from dict.fromkeys([*itertools.pairwise(order), *((order[0], other) for other in order[1:])])


def _pair(pair: Comparison, place: Mapping[str, int]) -> dict[str, Any]:
    return {**pair.as_dict(), "better": place[pair.better], "other": place[pair.other]}


def _place(run: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The run as the values of all axes."""
    named = [(name, str(run[name])) for name in ("workload", "machine", "technology")]
    return (*named, *((name, str(value)) for name, value in run["options"].items()))
