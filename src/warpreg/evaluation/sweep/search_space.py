"""What a trial of a search may choose: a design with its parameters, or a composition of designs of different slots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warpreg import designs
from warpreg.designs.interface.declaration import SLOTS
from warpreg.designs.loading.composition import SEPARATOR, joined
from warpreg.evaluation.runs.row import Value
from warpreg.evaluation.sweep.cells import located
from warpreg.evaluation.sweep.study_file import StudyFile

PLAIN = "mrf"
"""The design of a composition without parts."""
NONE = -1
Values = tuple[tuple[str, Value], ...]
Grid = Mapping[str, Sequence[Value]]


@dataclass(frozen=True, slots=True)
class SearchSpace:
    """Designs with a grid of parameters each; ``by_slot`` their positions, one of each list or none in a composition.

    Without ``by_slot``, a trial is one of the designs.
    """

    grids: tuple[tuple[str, Grid], ...]
    by_slot: Mapping[str, Sequence[int]]

    @staticmethod
    def of(study: StudyFile, folder: Path, *, compose: bool) -> SearchSpace:
        """The space of a study; a design of several slots stands in the first of them.

        Raises DesignError, UnknownNameError.
        """
        grids = tuple((located([entry.name], folder)[0], grid) for entry in study.designs for grid in entry.parameters)
        by_slot: dict[str, list[int]] = {}
        for place, (name, _) in enumerate(grids if compose else ()):
            by_slot.setdefault(_slot(name), []).append(place)
        return SearchSpace(grids, by_slot)

    def suggested(self, trial: Any) -> tuple[str, Values]:
        """A design and parameters that the sampler suggests; ``trial`` is a trial of Optuna."""
        if not self.by_slot:
            place = trial.suggest_categorical("design", list(range(len(self.grids)))) if len(self.grids) > 1 else 0
            return self.grids[place][0], self._values(trial, place)
        places = [
            place
            for slot, own in self.by_slot.items()
            if (place := trial.suggest_categorical(slot, [NONE, *own])) != NONE
        ]
        if len(places) < 2:
            return (self.grids[places[0]][0], self._values(trial, places[0])) if places else (PLAIN, ())
        names = [self.grids[place][0] for place in places]
        parts = [designs.load(name) for name in names]
        values = [
            (joined(part, name), value)
            for part, place in zip(parts, places, strict=True)
            for name, value in self._values(trial, place)
        ]
        return SEPARATOR.join(names), tuple(values)

    def _values(self, trial: Any, place: int) -> Values:
        grid = self.grids[place][1]
        return tuple((name, trial.suggest_categorical(f"{place}.{name}", values)) for name, values in grid.items())


def _slot(name: str) -> str:
    return min(designs.load(name).declaration.slots, key=SLOTS.index)
