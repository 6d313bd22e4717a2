"""A batch: the cells of a study with their keys.

The key of a cell covers everything that its result depends on: the content of the package, of the workload's files, of
machine, technology and design, and all options.  So equal keys mean equal results, a result is found again after any
interruption, and a changed file changes the keys of the cells that it concerns.  Modules that a user's own file imports
are not covered.

The fields of a cell, and of what makes its run, are enumerated: a new field is part of the key as soon as it exists.
Fields that name something are in the key with its content; those without effect on a row are in ``WITHOUT_EFFECT``.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from warpreg import energy, gpu
from warpreg.cache import store
from warpreg.cache.identity import Unaffected, fields_of
from warpreg.cache.sources import sources_digest
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.energy import Technology
from warpreg.evaluation.runs import stored_row
from warpreg.evaluation.runs.counting import Timed
from warpreg.evaluation.runs.provenance import DIGITS
from warpreg.evaluation.runs.row import Row
from warpreg.evaluation.runs.run import AS_COMPILED, CompileChoice, find_workload
from warpreg.evaluation.runs.traces import AS_RECORDED, TraceChoice, is_trace
from warpreg.evaluation.sweep.cells import Cell, RunSpec, design_name
from warpreg.gpu import Machine
from warpreg.ir.errors import WarpregError
from warpreg.ptx.cuda.compile import headers_of
from warpreg.sass.listing import read_list, recording_name

UNUSED = ("cli", "report")
"""Packages that no result depends on."""
WITHOUT_EFFECT: Unaffected = {
    Timed: {
        "mode": "compiled, interpreted and checked code counts the same",
        "resume": "launches that were timed before have the result of those that are timed again",
        "threads": "threads that step the SMs of a launch together have the result of one",
    }
}
"""Fields of a cell, and of what it contains, that no row depends on."""


@dataclass(frozen=True)
class Batch:
    """Cells, numbered from 1, with their keys; a cell without a key cannot be measured, and ``problems`` says why."""

    cells: Sequence[Cell]
    keys: Sequence[str | None]
    problems: Mapping[int, str]
    unchecked: bool = False

    @staticmethod
    def of(cells: Sequence[Cell], *, unchecked: bool = False) -> Batch:
        """The batch of these cells with the code and the files as they are now."""
        known = Keys(unchecked)
        keys: list[str | None] = []
        problems = {}
        for number, cell in enumerate(cells, 1):
            try:
                keys.append(known.of(cell))
            except WarpregError as error:
                keys.append(None)
                problems[number] = str(error)
        return Batch(cells, keys, problems, unchecked)

    @property
    def digest(self) -> str:
        """A hash of the code and of all inputs."""
        text = "\0".join([package(), *(key or "" for key in self.keys)])
        return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]

    def result(self, number: int) -> dict[str, Any] | None:
        """The kept result of a cell, as a row for JSON; None if there is none."""
        key = self.keys[number - 1]
        return None if key is None else kept(key)

    def label(self, number: int) -> str:
        """The design of a cell with the parameters that the study gives it, ``rfc(entries=6)``."""
        cell = self.cells[number - 1]
        values = ", ".join(f"{name}={value}" for name, value in cell.values)
        name = design_name(cell.design)
        return f"{name}({values})" if values else name

    def row(self, number: int, result: Mapping[str, Any] | str) -> dict[str, Any]:
        """The row of a cell: its place in the study, then its result or the message of its failure."""
        cell = self.cells[number - 1]
        place = {"cell": number, **cell.as_dict()}
        if isinstance(result, str):
            return {**place, "design": design_name(cell.design), "parameters": dict(cell.values), "error": result}
        return {**place, **result}


@dataclass(frozen=True, slots=True)
class Keys:
    """Keys of cells with the files as they are now; each machine, technology, workload and design is read once."""

    unchecked: bool
    _designs: dict[tuple[str, str, str], dict[str, Any]] = field(default_factory=dict)
    _made: dict[str, dict[str, Any]] = field(default_factory=dict)
    _machines: dict[str, Machine] = field(default_factory=dict)
    _technologies: dict[str, list[str]] = field(default_factory=dict)

    def of(self, cell: Cell) -> str:
        """The key of a cell.  Raises WarpregError for a design, parameter, machine or workload that cannot be
        loaded.
        """
        content = {
            "made": self._content(cell.made),
            "machine": _identified(self._machine(cell.machine)),
            "technology": self._technology(cell.technology),
            **self._design(cell),
        }
        identity = {"unchecked": self.unchecked, **fields_of(cell, content, WITHOUT_EFFECT)}
        return f"{_of_package()}{store.key_of(package(), json.dumps(identity, sort_keys=True))}"

    def of_run(self, made: RunSpec) -> str:
        """The key of a run, whatever is counted on it.  Raises as `of`."""
        return store.key_of(package(), json.dumps(self._content(made), sort_keys=True))

    def _design(self, cell: Cell) -> dict[str, Any]:
        """The design with its parameters."""
        key = cell.design, repr(cell.values), cell.machine
        if key not in self._designs:
            choice = loaded(cell.design, cell.values, self._machine(cell.machine), self.unchecked)
            self._designs[key] = {"design": [choice.design.name, choice.digest], "values": choice.parameters}
        return self._designs[key]

    def _content(self, made: RunSpec) -> dict[str, Any]:
        """What is run, and how it is compiled."""
        key = repr(made)  # equal values may have different types, as 1 and True
        if key not in self._made:
            latencies = made.choice.latencies
            named = {} if latencies is None else {"latencies": [latencies, self._machine(latencies).digest]}
            choice = fields_of(made.choice, named, WITHOUT_EFFECT)
            workload = workload_identity(made.workload, made.choice, made.reading)
            self._made[key] = fields_of(made, {"workload": workload, "choice": choice}, WITHOUT_EFFECT)
        return self._made[key]

    def _machine(self, name: str) -> Machine:
        if name not in self._machines:
            self._machines[name] = gpu.load(name)
        return self._machines[name]

    def _technology(self, name: str) -> list[str]:
        if name not in self._technologies:
            self._technologies[name] = _identified(energy.load(name))
        return self._technologies[name]


def _identified(described: Machine | Technology) -> list[str]:
    """The name, which rows have, and the digest."""
    return [described.name, described.digest]


def loaded(design: str, values: Sequence[tuple[str, Any]], machine: Machine, unchecked: bool) -> ConfiguredDesign:
    """The design with its parameters, on a machine."""
    return ConfiguredDesign.load(design, dict(values), machine=machine, unchecked=unchecked)


def package() -> str:
    """The digest of the code that results depend on."""
    return sources_digest(UNUSED)


def _of_package() -> str:
    """What the keys of all results of the present code begin with."""
    return f"{package()[:DIGITS]}-"


def workload_identity(name: str, choice: CompileChoice = AS_COMPILED, reading: TraceChoice = AS_RECORDED) -> list[str]:
    """The name of a workload; of a user's, also digests of its files.  That of the package is part of the code."""
    own = recording_name(Path(name)) if is_trace(name) else Path(name).name
    return [own, *map(_digest, workload_files(name, choice, reading))]


def workload_files(name: str, choice: CompileChoice = AS_COMPILED, reading: TraceChoice = AS_RECORDED) -> list[Path]:
    """The files of a user's workload, headers too, or of the launches of a trace that are selected; none of a workload
    of the package.
    """
    if is_trace(name):
        return _of_trace(name, reading, read_list(Path(name), reading.kernels).traces)
    if not name.endswith((".py", ".toml")):
        return []
    workload = find_workload(name)
    headers = headers_of(workload.source, choice.cuda.over(workload.cuda))
    return [Path(name), workload.source, *headers, *_data_files(Path(name))]


def opened_files(name: str, reading: TraceChoice, choice: CompileChoice = AS_COMPILED) -> list[Path]:
    """The files that a cell of the workload opens: to match a pattern, those of all launches of a trace."""
    if is_trace(name):
        return _of_trace(name, reading, read_list(Path(name), reading.kernels).opened)
    return workload_files(name, choice)


def _of_trace(name: str, reading: TraceChoice, traces: Sequence[Path]) -> list[Path]:
    """The list, its traces, and the listing that they are joined with."""
    listing = [] if reading.listing is None else [reading.listing]
    return list(dict.fromkeys([Path(name), *traces, *listing]))


def _digest(path: Path) -> str:
    """The content of a file, which is not read again while nobody has written or replaced it."""
    about = path.stat()
    return _digest_of(path, about.st_ino, about.st_ctime_ns, about.st_size)


@functools.lru_cache(maxsize=4096)
def _digest_of(path: Path, number: int, changed_ns: int, size_bytes: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _data_files(path: Path) -> list[Path]:
    """The arrays that a launch description names."""
    if path.suffix != ".toml":
        return []
    from warpreg.workloads.description import data_files

    return data_files(path)


def kept(key: str) -> dict[str, Any] | None:
    """The kept result with this key; None if there is none, or a damaged one."""
    found = stored_row.kept(key)
    return None if found is None else found.as_dict()


def all_kept() -> list[dict[str, Any]]:
    """Every kept result of the present code, whatever study it belongs to, in the order of the keys."""
    keys = sorted(entry.path.name for entry in store.entries() if entry.kind == store.RESULTS)
    found = (kept(key) for key in keys if key.startswith(_of_package()))
    return [one for one in found if one is not None]


def keep(key: str, row: Row) -> dict[str, Any]:
    """Store a result; returns what `kept` will return."""
    return stored_row.keep(key, row).as_dict()
