"""The cells of a study: one run under one design each, in values that any process can receive."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from warpreg import designs, energy, gpu, workloads
from warpreg.designs.loading.composition import SEPARATOR
from warpreg.evaluation.runs.comparing import RunOptions
from warpreg.evaluation.runs.counting import CountingMethod, Replayed, Timed
from warpreg.evaluation.runs.row import Value
from warpreg.evaluation.runs.run import AS_COMPILED, CompileChoice, find_workload
from warpreg.evaluation.runs.traces import AS_RECORDED, TraceChoice, is_trace
from warpreg.evaluation.sweep.errors import SweepError
from warpreg.ir.errors import UnknownNameError, WarpregError
from warpreg.sass.listing import LIST_SUFFIX, TRACE_SUFFIXES
from warpreg.simt import Record

if TYPE_CHECKING:
    from warpreg.evaluation.sweep.study_file import StudyFile

ALL = "all"
FILES = (".py", ".toml", LIST_SUFFIX, *TRACE_SUFFIXES)


@dataclass(frozen=True, slots=True)
class RunSpec:
    """What is run: a workload, or a recorded trace."""

    workload: str
    size: str
    seed: int
    choice: CompileChoice
    reading: TraceChoice = AS_RECORDED

    def making(self, record: Record) -> RunOptions:
        """How it is run."""
        return RunOptions(self.size, self.seed, self.choice, record, reading=self.reading)

    def as_dict(self) -> dict[str, Any]:
        """For a row: options of the compiler and of traces as far as they are not the defaults."""
        usual = AS_COMPILED.as_dict()
        chosen = {name: value for name, value in self.choice.as_dict().items() if value != usual[name]}
        traces = {"traces": self.reading.as_dict()} if self.reading != AS_RECORDED else {}
        return {"size": self.size, "seed": self.seed, "compile": chosen, **traces}


@dataclass(frozen=True, slots=True)
class Cell:
    """One run under one design on one machine; ``values`` are the design's parameters as far as they are given."""

    made: RunSpec
    machine: str
    technology: str
    how: CountingMethod
    design: str
    values: tuple[tuple[str, Value], ...] = ()

    @property
    def parameters(self) -> Mapping[str, Value]:
        return dict(self.values)

    def as_dict(self) -> dict[str, Any]:
        """Its place in the study, for a row."""
        stems = {"machine": Path(self.machine).stem, "technology": Path(self.technology).stem}
        return {"workload": Path(self.made.workload).name, **self.made.as_dict(), **stems}


def cells_of(study: StudyFile, folder: Path) -> list[Cell]:
    """Every combination; the design and its parameters change fastest, then technology, machine and compile options.

    Raises UnknownNameError for an unknown workload, machine, technology, design or compile option.
    """
    check_names(study, folder)
    how = how_of(study)
    return [
        Cell(made, machine, technology, how, name, values)
        for made in runs_of(study, folder)
        for machine in located(study.machines, folder)
        for technology in located(study.technologies, folder)
        for name, values in choices_of(study, folder)
    ]


def runs_of(study: StudyFile, folder: Path) -> list[RunSpec]:
    """Every combination of workloads, sizes, seeds and compile options."""
    names = workload_names(study, folder)
    choices = list(compile_choices(study))
    reading = study.reading(folder)
    return [RunSpec(*one, reading) for one in itertools.product(names, study.sizes, study.seeds, choices)]


def workload_names(study: StudyFile, folder: Path) -> list[str]:
    """The workloads, each once; ``all`` stands for those of the package."""
    named = [workloads.names() if name == ALL else located([name], folder) for name in study.workloads]
    return list(dict.fromkeys(itertools.chain.from_iterable(named)))


def compile_choices(study: StudyFile) -> Iterator[CompileChoice]:
    """Every combination of compile options.  Raises UnknownNameError, SweepError for a value of another type."""
    kinds = {name: kind for name, kind in get_type_hints(CompileChoice).items() if get_origin(kind) is not tuple}
    for name, values in study.compile.items():
        if name not in kinds:
            raise UnknownNameError("compile option", name, kinds)
        for value in values:
            if not isinstance(value, kinds[name]) or (isinstance(value, bool) and kinds[name] is not bool):
                raise SweepError(f"compile.{name}: expected a value of type {_told(kinds[name])}, found {value!r}")
    for given in itertools.product(*study.compile.values()):
        options: dict[str, Any] = dict(zip(study.compile, given, strict=True))
        choice = CompileChoice(**options)
        choice.options()
        yield choice


def _told(kind: Any) -> str:
    return " or ".join(one.__name__ for one in get_args(kind) or (kind,) if one is not type(None))


def choices_of(study: StudyFile, folder: Path) -> Iterator[tuple[str, tuple[tuple[str, Value], ...]]]:
    """Every design with every combination of its parameters, the last parameter changing fastest."""
    for entry in study.designs:
        name = located([entry.name], folder)[0]
        for grid in entry.parameters:
            for values in itertools.product(*grid.values()):
                yield name, tuple(zip(grid, values, strict=True))


def how_of(study: StudyFile) -> CountingMethod:
    """Replay, or timing of whole runs or of samples."""
    if not study.cycles:
        return Replayed(study.suspend)
    from warpreg.timing import Sample  # takes a tenth of a second, which processes that are copies of this one save

    if study.sample is None:
        return Timed()
    return Timed(Sample(study.sample.windows or Sample().windows, study.sample.blocks, study.sample.sms))


def design_name(design: str) -> str:
    """The name of a design for a row: of a file without its folder, also in a composition."""
    return SEPARATOR.join(Path(part).name for part in design.split(SEPARATOR))


def located(names: Sequence[str], folder: Path) -> list[str]:
    """Names as they are, files with their place; of a composition, each part."""
    return [SEPARATOR.join(_located(part, folder) for part in name.split(SEPARATOR)) for name in names]


def _located(name: str, folder: Path) -> str:
    return str((folder / name).resolve()) if name.endswith(FILES) else name


def check_names(study: StudyFile, folder: Path) -> None:
    """Raise UnknownNameError or another WarpregError for what cannot be found."""
    try:
        for name in located(study.machines, folder):
            gpu.load(name)
        for name in located(study.technologies, folder):
            energy.load(name)
        for entry in study.designs:
            design = designs.load(located([entry.name], folder)[0])
            for name in itertools.chain.from_iterable(entry.parameters):
                if name not in design.defaults:
                    raise UnknownNameError(f"parameter of {design.name}", name, design.defaults)
        for name in workload_names(study, folder):
            if not is_trace(name):
                find_workload(name)
    except OSError as error:
        raise WarpregError(f"{error.filename}: {error.strerror}") from error
