"""A search: a sampler chooses a design and its parameters, trial by trial, in place of the whole grid.

A trial is measured on all workloads, sizes and seeds of the study.  Its value of a goal is the geometric mean, of
elided shares the arithmetic one; storage and area are those that the design adds to an SM.  A trial that adds
more storage or area than the budget is not measured.  The trials depend on the seed alone, not on the number of
workers: `TOGETHER` of them are asked for at a time.  A search that was interrupted finds its measured cells again.

Several goals have a Pareto front: trials that no other is at least as good as in all goals, and better in one.
"""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
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
from warpreg.evaluation.sweep.ranking import front
from warpreg.evaluation.sweep.search_space import PLAIN, SearchSpace
from warpreg.evaluation.sweep.study_file import BudgetEntry, SearchEntry, StudyFile
from warpreg.evaluation.sweep.sweep import swept
from warpreg.ir.errors import WarpregError

SHARE = "elided"
TIMED = ("cycles", "speed", "ipc")
"""Goals that require cycles."""
TOGETHER = 4
"""Trials that are asked for before their results are told."""
Values = tuple[tuple[str, Value], ...]
Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Trial:
    """A design with its value of each goal; without values, ``error`` says why.  What it adds to an SM.

    ``is_best``: no other trial is as good in all goals and better in one.
    """

    number: int
    design: str
    parameters: Values
    values: Mapping[str, float] = field(default_factory=dict)
    error: str = ""
    added_bytes: float | None = None
    added_mm2: float | None = None
    is_best: bool = False

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        chosen = {"trial": self.number, "design": design_name(self.design), "parameters": dict(self.parameters)}
        added = {"added_bytes": self.added_bytes, "added_mm2": self.added_mm2}
        return {**chosen, **added, **self.values, "best": self.is_best, **({"error": self.error} if self.error else {})}

    def costs(self, wanted: SearchEntry) -> tuple[float, ...]:
        """The values of all goals, lower is better; only of a trial with values."""
        return tuple(self.values[goal] * (1 if goal in wanted.minimize else -1) for goal in wanted.goals)


@dataclass(frozen=True, slots=True)
class _Measure:
    """The runs that measure each trial."""

    study: StudyFile
    folder: Path
    machine: str
    technology: str
    unchecked: bool

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
    """All trials: those of the front first, then by the first goal; those without values last.  What the sampler
    suggests again is one trial.  A search over compositions begins with the plain register file, as trial 0.

    Raises SweepError for a study without a search, with several machines, technologies or compile options, or without
    the ``search`` extra.
    """
    wanted, measure = _checked(study, folder, unchecked)
    space = SearchSpace.of(study, folder, compose=wanted.compose)
    sampler = _study(wanted)
    trials: dict[tuple[str, Values], Trial] = {}
    if wanted.compose:
        trials[PLAIN, ()] = _measured([(PLAIN, ())], measure, wanted, where, workers, -1)[0]
    for before in range(0, wanted.trials, TOGETHER):
        asked = [sampler.ask() for _ in range(min(TOGETHER, wanted.trials - before))]
        chosen = [space.suggested(one) for one in asked]
        for choice, trial in zip(chosen, _measured(chosen, measure, wanted, where, workers, before), strict=True):
            trials.setdefault(choice, trial)
        for one, choice in zip(asked, chosen, strict=True):
            _tell(sampler, one, trials[choice], wanted)
        done(len(asked))
    return _best_first(list(trials.values()), wanted)


def _tell(sampler: Any, asked: Any, trial: Trial, wanted: SearchEntry) -> None:
    if trial.values:
        sampler.tell(asked, [trial.values[goal] for goal in wanted.goals])
    else:
        sampler.tell(asked, state=_without_values(wanted))


def _best_first(trials: Sequence[Trial], wanted: SearchEntry) -> list[Trial]:
    costs = {trial.number: trial.costs(wanted) for trial in trials if trial.values}
    best = set(front(costs))
    marked = [dataclasses.replace(trial, is_best=trial.number in best) for trial in trials]
    return sorted(marked, key=lambda one: (not one.values, not one.is_best, costs.get(one.number, ()), one.number))


def _measured(
    chosen: Sequence[tuple[str, Values]],
    measure: _Measure,
    wanted: SearchEntry,
    where: str,
    workers: int | None,
    before: int,
) -> list[Trial]:
    stated = [_stated(measure, wanted.budget, before + place, *one) for place, one in enumerate(chosen, 1)]
    allowed = [trial for trial in stated if not trial.error]
    cells = [measure.cells(trial.design, trial.parameters) for trial in allowed]
    rows = iter(_rows(cells, measure, where, workers))
    finished = {
        trial.number: _with_values(trial, [next(rows) for _ in own], wanted)
        for trial, own in zip(allowed, cells, strict=True)
    }
    return [finished.get(trial.number, trial) for trial in stated]


def _rows(cells: Sequence[Sequence[Cell]], measure: _Measure, where: str, workers: int | None) -> list[dict[str, Any]]:
    """The rows of all trials together; cells of the same run are measured together, equal cells once."""
    flat = [cell for own in cells for cell in own]
    order = sorted(dict.fromkeys(flat), key=lambda cell: repr(cell.made))
    rows = swept(Batch.of(order, unchecked=measure.unchecked), (), where, workers) if order else []
    by_cell = dict(zip(order, rows, strict=True))
    return [by_cell[cell] for cell in flat]


def _stated(measure: _Measure, budget: BudgetEntry, number: int, design: str, values: Values) -> Trial:
    try:
        size, area = measure.added(design, values)
    except WarpregError as error:
        return Trial(number, design, values, error=str(error))
    over = [
        f"adds {found:,.6g} {unit}, expected at most {most:,.6g}"
        for found, most, unit in ((size, budget.bytes, "bytes"), (area, budget.mm2, "mm2"))
        if most is not None and found > most
    ]
    return Trial(number, design, values, error="; ".join(over), added_bytes=size, added_mm2=area)


def _with_values(trial: Trial, rows: Sequence[dict[str, Any]], wanted: SearchEntry) -> Trial:
    errors = [f"{row['workload']}: {row['error']}" for row in rows if "error" in row]
    if errors:
        return dataclasses.replace(trial, error=errors[0])
    return dataclasses.replace(trial, values={goal: _value(goal, trial, rows) for goal in wanted.goals})


def _value(goal: str, trial: Trial, rows: Sequence[dict[str, Any]]) -> float:
    added = {"added_bytes": trial.added_bytes, "added_mm2": trial.added_mm2}.get(goal)
    if added is not None:
        return added
    values = [row[goal] for row in rows]
    return statistics.fmean(values) if goal == SHARE else geometric_mean(values)


def _checked(study: StudyFile, folder: Path, unchecked: bool) -> tuple[SearchEntry, _Measure]:
    if study.search is None:
        raise SweepError("a search expects [search] in the study file")
    for name in ("machines", "technologies"):
        if len(getattr(study, name)) > 1:
            raise SweepError(f"{name}: a search expects one, found {len(getattr(study, name))}")
    if len(list(compile_choices(study))) > 1:
        raise SweepError("compile: a search expects one value of each option")
    timed = [goal for goal in study.search.goals if goal in TIMED]
    if timed and not study.cycles:
        raise SweepError(f"search: {timed[0]} requires cycles = true")
    check_names(study, folder)
    (machine,), (technology,) = located(study.machines, folder), located(study.technologies, folder)
    return study.search, _Measure(study, folder, machine, technology, unchecked)


def _study(wanted: SearchEntry) -> Any:
    try:
        import optuna
    except ImportError as error:
        raise SweepError("a search requires the 'search' extra: pip install 'warpreg[search]'") from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.TPESampler(seed=wanted.seed)
    directions: list[Any] = ["minimize" if goal in wanted.minimize else "maximize" for goal in wanted.goals]
    return optuna.create_study(sampler=sampler, directions=directions)


def _without_values(wanted: SearchEntry) -> Any:
    """The state of a trial without values; Optuna cannot prune one of several goals."""
    import optuna

    return optuna.trial.TrialState.PRUNED if len(wanted.goals) == 1 else optuna.trial.TrialState.FAIL
