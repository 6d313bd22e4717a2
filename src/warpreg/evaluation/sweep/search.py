"""A search: a sampler chooses a design and its parameters, trial by trial, in place of the whole grid.

A trial is measured on all workloads, sizes and seeds of the study; its value is the geometric mean, of
elided shares the arithmetic one.  A trial that adds
more storage or area than the budget is not measured.  The trials depend on the seed alone, not on the number of
workers: `TOGETHER` of them are asked for at a time.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warpreg.evaluation.runs.comparison import Setting
from warpreg.evaluation.runs.hardware import Use, parts
from warpreg.evaluation.runs.row import Value, geometric_mean
from warpreg.evaluation.sweep import batch as batches
from warpreg.evaluation.sweep.batch import Batch
from warpreg.evaluation.sweep.cells import Cell, check_names, compile_choices, design_name, how_of, located, runs_of
from warpreg.evaluation.sweep.errors import SweepError
from warpreg.evaluation.sweep.processes import PROCESSES
from warpreg.evaluation.sweep.study_file import BudgetEntry, SearchEntry, StudyFile
from warpreg.evaluation.sweep.sweep import swept
from warpreg.ir.errors import WarpregError

SHARE = "elided"
TOGETHER = 4
"""Trials that are asked for before their results are told."""
Values = tuple[tuple[str, Value], ...]
Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Trial:
    """A design with the value of what is optimised; without one, ``error`` says why.  What it adds to an SM."""

    number: int
    design: str
    parameters: Values
    value: float | None
    error: str = ""
    added_bytes: float | None = None
    added_mm2: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        values = {"value": self.value, "added_bytes": self.added_bytes, "added_mm2": self.added_mm2}
        told = {"error": self.error} if self.error else {}
        chosen = {"design": design_name(self.design), "parameters": dict(self.parameters)}
        return {"trial": self.number, **chosen, **values, **told}


@dataclass(frozen=True, slots=True)
class _Space:
    """What a trial may choose: designs with grids of parameters; the setting is the same for all."""

    study: StudyFile
    folder: Path
    machine: str
    technology: str
    unchecked: bool

    def suggested(self, trial: Any) -> tuple[str, Values]:
        """A design and parameters that the sampler suggests."""
        grids = [
            (located([entry.name], self.folder)[0], grid) for entry in self.study.designs for grid in entry.parameters
        ]
        chosen = trial.suggest_categorical("design", list(range(len(grids)))) if len(grids) > 1 else 0
        name, grid = grids[chosen]
        given = ((key, trial.suggest_categorical(f"{chosen}.{key}", values)) for key, values in grid.items())
        return name, tuple(given)

    def cells(self, design: str, values: Values) -> list[Cell]:
        """The cells of a trial."""
        how = how_of(self.study)
        made = runs_of(self.study, self.folder)
        return [Cell(one, self.machine, self.technology, how, design, values) for one in made]

    def added(self, design: str, values: Values) -> tuple[float, float]:
        """Storage in bytes and area in mm² that a design adds to an SM."""
        setting = Setting.load(self.machine, self.technology)
        choice = batches.loaded(design, values, setting.machine, self.unchecked)
        every = parts(choice.design, choice.values, Use({}), setting.machine, setting.technology)
        return sum(one.bytes for one in every), sum(one.area_mm2 for one in every)


def searched(
    study: StudyFile,
    folder: Path,
    where: str = PROCESSES,
    workers: int | None = None,
    *,
    unchecked: bool = False,
    done: Progress = lambda trials: None,
) -> list[Trial]:
    """All trials, the best first; those without a value last.

    Raises SweepError for a study without a search, with several machines, technologies or compile options, or without
    the ``search`` extra.
    """
    wanted, space = _checked(study, folder, unchecked)
    sampler = _study(wanted)
    trials: list[Trial] = []
    while len(trials) < wanted.trials:
        asked = [sampler.ask() for _ in range(min(TOGETHER, wanted.trials - len(trials)))]
        for one, trial in zip(asked, _measured(asked, space, wanted, where, workers, len(trials)), strict=True):
            sampler.tell(one, trial.value, state=None if trial.value is not None else _pruned())
            trials.append(trial)
        done(len(asked))
    sign = 1 if wanted.minimize else -1
    return sorted(trials, key=lambda one: (one.value is None, sign * (one.value or 0.0), one.number))


def _measured(
    asked: Sequence[Any], space: _Space, wanted: SearchEntry, where: str, workers: int | None, before: int
) -> list[Trial]:
    chosen = [space.suggested(one) for one in asked]
    stated = [_stated(space, wanted.budget, before + place, *one) for place, one in enumerate(chosen, 1)]
    allowed = [trial for trial in stated if not trial.error]
    cells = [space.cells(trial.design, trial.parameters) for trial in allowed]
    rows = iter(_rows(cells, space, where, workers))
    values = {
        trial.number: _value([next(rows) for _ in own], wanted) for trial, own in zip(allowed, cells, strict=True)
    }
    return [_with(trial, values.get(trial.number)) for trial in stated]


def _rows(cells: Sequence[Sequence[Cell]], space: _Space, where: str, workers: int | None) -> list[dict[str, Any]]:
    """The rows of all trials together; cells of the same run are measured together."""
    flat = [cell for own in cells for cell in own]
    order = sorted(range(len(flat)), key=lambda place: repr(flat[place].made))
    rows = (
        swept(Batch.of([flat[place] for place in order], unchecked=space.unchecked), (), where, workers) if flat else []
    )
    by_place = dict(zip(order, rows, strict=True))
    return [by_place[place] for place in range(len(flat))]


def _stated(space: _Space, budget: BudgetEntry, number: int, design: str, values: Values) -> Trial:
    try:
        size, area = space.added(design, values)
    except WarpregError as error:
        return Trial(number, design, values, None, str(error))
    over = [
        f"adds {found:,.6g} {unit}, expected at most {most:,.6g}"
        for found, most, unit in ((size, budget.bytes, "bytes"), (area, budget.mm2, "mm2"))
        if most is not None and found > most
    ]
    return Trial(number, design, values, None, "; ".join(over), size, area)


def _value(rows: Sequence[dict[str, Any]], wanted: SearchEntry) -> float | str:
    errors = [f"{row['workload']}: {row['error']}" for row in rows if "error" in row]
    if errors:
        return errors[0]
    name = str(wanted.minimize or wanted.maximize)
    values = [row[name] for row in rows]
    return statistics.fmean(values) if name == SHARE else geometric_mean(values)


def _with(trial: Trial, found: float | str | None) -> Trial:
    value, error = (None, trial.error) if found is None else (None, found) if isinstance(found, str) else (found, "")
    return Trial(trial.number, trial.design, trial.parameters, value, error, trial.added_bytes, trial.added_mm2)


def _checked(study: StudyFile, folder: Path, unchecked: bool) -> tuple[SearchEntry, _Space]:
    if study.search is None:
        raise SweepError("a search expects [search] in the study file")
    for name in ("machines", "technologies"):
        if len(getattr(study, name)) > 1:
            raise SweepError(f"{name}: a search expects one, found {len(getattr(study, name))}")
    if len(list(compile_choices(study))) > 1:
        raise SweepError("compile: a search expects one value of each option")
    if not study.cycles and (study.search.minimize == "cycles" or study.search.maximize in ("speed", "ipc")):
        raise SweepError(f"search: {study.search.minimize or study.search.maximize} requires cycles = true")
    check_names(study, folder)
    (machine,), (technology,) = located(study.machines, folder), located(study.technologies, folder)
    return study.search, _Space(study, folder, machine, technology, unchecked)


def _study(wanted: SearchEntry) -> Any:
    try:
        import optuna
    except ImportError as error:
        raise SweepError("a search requires the 'search' extra: pip install 'warpreg[search]'") from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.TPESampler(seed=wanted.seed)
    return optuna.create_study(sampler=sampler, direction="minimize" if wanted.minimize else "maximize")


def _pruned() -> Any:
    import optuna

    return optuna.trial.TrialState.PRUNED
