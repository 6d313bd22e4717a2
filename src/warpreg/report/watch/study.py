"""How far a study is, from the results that are kept, whichever command has measured them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from warpreg.evaluation.runs.design_means import design_means
from warpreg.evaluation.sweep.batch import Batch
from warpreg.evaluation.sweep.errors import SweepError, SweepWarning
from warpreg.evaluation.sweep.study_file import read_study
from warpreg.evaluation.sweep.sweep import batch_of
from warpreg.ir.errors import WarpregError
from warpreg.report.watch.state import MAX_FAILURES


@dataclass(frozen=True)
class WatchedStudy:
    """The cells of a study file as they are when it is opened; a finished cell is read once."""

    path: Path
    batch: Batch
    _rows: dict[int, dict[str, Any]] = field(default_factory=dict)

    @staticmethod
    def open(path: Path, *, unchecked: bool = False) -> WatchedStudy:
        """Raises SweepError for a file that is no study, or a search, which has no cells; WarpregError, OSError."""
        study = read_study(path)
        if study.search is not None:
            raise SweepError(f"{path}: a search has no cells; 'warpreg watch' without a study shows how far it is")
        return WatchedStudy(path, batch_of(study, path.parent, unchecked=unchecked))

    def state(self) -> dict[str, Any]:
        """As `state_of` of a command."""
        total, impossible = len(self.batch.cells), self.batch.problems
        for number in range(1, total + 1):
            if number not in self._rows and number not in impossible and (row := self.batch.result(number)):
                self._rows[number] = row | {"design": self.batch.label(number)}
        done = len(self._rows)
        missing = total - done - len(impossible)
        problems = [{"what": f"cell {number}", "why": why} for number, why in impossible.items()]
        return {
            "id": f"study-{self.path}",
            "title": f"study {self.path.name}",
            "state": "finished" if not missing else "unfinished",
            "step": "",
            "why": "",
            "facts": f"batch {self.batch.digest} of {self.path}",
            "done": done,
            "total": total,
            "progress": f"{done:,} of {total:,} cells finished, {missing:,} missing, {len(impossible):,} impossible",
            "notes": [],
            "failures": problems[:MAX_FAILURES],
            "more_failures": max(0, len(problems) - MAX_FAILURES),
            "figures": design_means(self._rows[number] for number in sorted(self._rows)),
        }


def studies_in(folder: Path, *, unchecked: bool = False) -> list[WatchedStudy]:
    """The studies among the TOML files of a folder; warns of other files.  Raises SweepError if there is none."""
    found = []
    for path in sorted(path for path in folder.glob("*.toml") if path.is_file()):
        try:
            found.append(WatchedStudy.open(path, unchecked=unchecked))
        except (WarpregError, OSError) as error:
            warnings.warn(f"not shown: {error}", SweepWarning, stacklevel=2)
    if not found:
        raise SweepError(f"{folder}: neither a cache directory nor a folder with study files")
    return found
