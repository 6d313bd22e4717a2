"""A study file: what a sweep measures, in TOML.

    workloads = ["hotspot", "bfs"]
    sizes = "tiny"

    [[designs]]
    name = "rfc"
    parameters = { entries = { low = 2, high = 8, step = 2 } }

    [[designs]]
    name = "rfc-lrf"

    [compile]
    address_bits = [32, 64]

    [traces]
    kernels = "3-5"

A value may stand for a list of one.  A sweep measures every combination; ``parameters`` may also be a list of tables,
each a grid of its own.  With ``[search]``, a sampler chooses designs and parameters instead.  Paths are relative to the
folder of the file.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field

from warpreg.evaluation.runs.comparison import DEFAULT_MACHINE
from warpreg.evaluation.runs.technologies import DEFAULT_TECHNOLOGY
from warpreg.evaluation.sweep.errors import SweepError
from warpreg.ir.toml_files import STRICT, read_toml
from warpreg.sass import choice
from warpreg.sass.choice import TraceChoice
from warpreg.sass.errors import SassTraceError
from warpreg.sass.isa.opcodes import UnknownOpcodes
from warpreg.sass.listing import is_trace


def _listed(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


LISTED = BeforeValidator(_listed)
Names = Annotated[list[str], LISTED, Field(min_length=1)]
Seeds = Annotated[list[Annotated[int, Field(ge=0)]], LISTED, Field(min_length=1)]


class Entry(BaseModel):
    """An entry of the file: unknown keys are errors, and there are no implicit conversions."""

    model_config = STRICT


def _values(given: Any) -> Any:
    """The values of a parameter: those of a list, a single one, or the integers ``{ low, high, step }``."""
    values = _range(given) if isinstance(given, dict) else _listed(given)
    if not values or not all(isinstance(value, bool | int | float | str) for value in values):
        raise ValueError(f"expected values or {{ low, high, step }}, found {given!r}")
    return values


def _range(given: dict[str, Any]) -> list[int]:
    """The integers from ``low`` to ``high``, both included."""
    bounds = {"step": 1, **given}
    if set(bounds) != {"low", "high", "step"} or not all(type(value) is int for value in bounds.values()):
        raise ValueError(f"expected integers low, high and step, found {given!r}")
    if bounds["low"] > bounds["high"] or bounds["step"] < 1:
        raise ValueError(f"expected low <= high and step >= 1, found {given!r}")
    return list(range(bounds["low"], bounds["high"] + 1, bounds["step"]))


Values = Annotated[list[Any], BeforeValidator(_values)]


class DesignEntry(Entry):
    """A design, by name or file, or a composition; ``parameters`` is a grid, or a list of grids."""

    name: str
    parameters: Annotated[list[dict[str, Values]], LISTED, Field(min_length=1)] = [{}]


def _checked_by(parse: Callable[[int | str], object]) -> AfterValidator:
    """Refuses what ``parse`` refuses."""

    def checked(given: int | str | None) -> int | str | None:
        try:
            if given is not None:
                parse(given)
        except SassTraceError as error:
            raise ValueError(str(error)) from None
        return given

    return AfterValidator(checked)


class SampleEntry(Entry):
    """The sample of a timing run, as the options ``--sample-...`` of the commands have it."""

    windows: Annotated[int, Field(ge=2)] | None = None
    blocks: Annotated[int, Field(ge=1)] | None = None
    sms: Annotated[int, Field(ge=1)] | None = None


class TracesEntry(Entry):
    """What is read of hardware traces, as the options of the commands have it."""

    unknown_opcodes: UnknownOpcodes = "error"
    binary_version: Annotated[int | str | None, _checked_by(choice.binary_version)] = None
    kernels: Annotated[int | str | None, _checked_by(choice.kernels)] = None
    blocks: Annotated[int | str | None, _checked_by(choice.blocks)] = None
    listing: str | None = None


class BudgetEntry(Entry):
    """The most that a design may add to an SM: ``bytes`` of storage, ``mm2`` of area."""

    bytes: Annotated[float, Field(ge=0)] | None = None
    mm2: Annotated[float, Field(ge=0)] | None = None


class SearchEntry(Entry):
    """Trials of a sampler in place of the whole grid; what is optimised is the mean over workloads, or what the design
    adds to an SM.  Several goals have a Pareto front.
    """

    trials: Annotated[int, Field(ge=1)]
    minimize: Annotated[list[Literal["energy_normalized", "cycles", "added_bytes", "added_mm2"]], LISTED] = []
    maximize: Annotated[list[Literal["elided", "speed", "ipc"]], LISTED] = []
    compose: bool = False
    """A trial puts together designs of different slots: of each slot one, or none."""
    seed: int = 0
    budget: BudgetEntry = BudgetEntry()

    @property
    def goals(self) -> tuple[str, ...]:
        """What is optimised, what is minimized first."""
        return (*self.minimize, *self.maximize)


class StudyFile(Entry):
    """The whole file; a study has a cell for every combination of the lists."""

    workloads: Names
    """Names, files, traces, or ``all``."""
    sizes: Annotated[list[Literal["tiny", "small", "full"]], LISTED, Field(min_length=1)] = ["small"]
    seeds: Seeds = [0]
    machines: Names = [DEFAULT_MACHINE]
    technologies: Names = [DEFAULT_TECHNOLOGY]
    designs: Annotated[list[DesignEntry], Field(min_length=1)]
    """Each with values of parameters."""
    compile: dict[str, Annotated[list[bool | int | str], LISTED, Field(min_length=1)]] = {}
    """Compiler options by name, each with its values."""
    traces: TracesEntry = TracesEntry()
    """What is read of traces."""
    suspend: Literal["never", "static"] = "never"
    """Where warps leave the active set without cycles."""
    cycles: bool = False
    """Runs are timed."""
    sample: SampleEntry | None = None
    """What is timed of each run; None for all."""
    search: SearchEntry | None = None
    """A search in place of all combinations."""

    def reading(self, folder: Path = Path()) -> TraceChoice:
        """What is read of traces; a listing is in ``folder``."""
        given = self.traces
        listing = None if given.listing is None else (folder / given.listing).resolve()
        return choice.trace_choice(given.unknown_opcodes, given.binary_version, given.kernels, given.blocks, listing)


def read_study(path: Path) -> StudyFile:
    """The study of a file.  Raises SweepError with a line for each mistake, OSError."""
    study = read_toml(path, StudyFile, SweepError)
    if study.sample is not None and not study.cycles:
        raise SweepError(f"{path}: sample: requires cycles = true")
    if study.cycles and study.suspend != "never":
        raise SweepError(f"{path}: suspend: cycles = true determines when warps are suspended; give one of them")
    if study.search is not None and not study.search.goals:
        raise SweepError(f"{path}: search: expected minimize or maximize")
    others = [name for name in study.workloads if not is_trace(name)]
    if others and (names := study.reading().needs_trace):
        raise SweepError(
            f"{path}: traces: {', '.join(names)} are of hardware traces only, found workload '{others[0]}'"
        )
    return study
