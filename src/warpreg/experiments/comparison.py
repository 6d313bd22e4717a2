"""Designs side by side: replay each over the recorded path of a run, and account the energy of what it counted."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warpreg import designs, energy, gpu
from warpreg.designs import Design
from warpreg.energy import LevelEnergy, Technology
from warpreg.experiments.provenance import DIGITS, code_version
from warpreg.experiments.result import LevelUse, Parameters, Provenance, Row, Value
from warpreg.experiments.runs import Run
from warpreg.gpu import Machine
from warpreg.replay import Counts, Suspend, replay

DEFAULT_MACHINE = "gebhart-rfc"
DEFAULT_TECHNOLOGY = "gebhart-40nm"
BASELINE = "mrf"
"""The design that results are normalized to."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The machine and technology of a comparison."""

    machine: Machine
    technology: Technology

    @staticmethod
    def load(machine: str | Path = DEFAULT_MACHINE, technology: str | Path = DEFAULT_TECHNOLOGY) -> Setting:
        """Both by name or path; raises UnknownNameError, MachineError or TechnologyError."""
        return Setting(gpu.load(machine), energy.load(technology))


@dataclass(frozen=True, slots=True)
class Choice:
    """A design with the values of its parameters; ``digest`` is the content hash of its file."""

    design: Design
    values: Parameters
    digest: str

    @staticmethod
    def load(name_or_path: str | Path, values: Mapping[str, Value] | None = None) -> Choice:
        """A design by name or path with checked values.

        Raises UnknownNameError, DesignError, or ParameterError for a value outside its declared range.
        """
        design = designs.load(name_or_path)
        return Choice(design, dataclasses.asdict(design.configure(**(values or {}))), design.digest[:DIGITS])

    @staticmethod
    def grid(name_or_path: str | Path, values: Mapping[str, Sequence[Value]]) -> list[Choice]:
        """A choice for every combination of the given values, the last parameter changing fastest."""
        combinations = itertools.product(*values.values())
        return [Choice.load(name_or_path, dict(zip(values, one, strict=True))) for one in combinations]


def compare(run: Run, choices: Sequence[Choice], setting: Setting, suspend: Suspend = "never") -> Iterator[Row]:
    """One row for each choice, in order; each is normalized to the plain MRF on the same run.

    ``suspend`` says where warps leave the active set.
    Raises RunError for a run without a recorded path.
    """
    plain = _levels(run, Choice.load(BASELINE), setting)["MRF"]
    digest = run.digest
    resident = run.residencies(setting.machine)
    for choice in choices:
        levels = {"MRF": plain} if choice.design.name == BASELINE else _levels(run, choice, setting, suspend)
        provenance = Provenance(
            kernel=digest,
            machine=setting.machine.name,
            machine_digest=setting.machine.digest,
            technology=setting.technology.name,
            technology_digest=setting.technology.digest,
            design_digest=choice.digest,
            code=code_version(),
            options=run.options if suspend == "never" else {**run.options, "suspend": suspend},
        )
        name, parameters = choice.design.name, choice.values
        defaults = {spec.name: spec.default for spec in choice.design.parameters}
        yield Row(run.name, name, parameters, run.warp_instructions, levels, plain, provenance, resident, defaults)


def replayed(run: Run, choice: Choice, suspend: Suspend = "never") -> list[Counts]:
    """What the design counts on each kernel of the run, all launches of a kernel together."""
    values: dict[str, Any] = dict(choice.values)
    return [replay(run.path(kernel), kernel, choice.design, suspend=suspend, **values) for kernel in run.kernels]


def _levels(run: Run, choice: Choice, setting: Setting, suspend: Suspend = "never") -> dict[str, LevelUse]:
    counts = replayed(run, choice, suspend)
    items = [item for one in counts for item in one.energy_list()]
    spent = energy.account(items, setting.technology).levels()
    nothing = LevelEnergy(0.0, 0.0)
    return {
        level: LevelUse(
            reads=sum(one.reads(level, moves=True) for one in counts),
            writes=sum(one.writes(level, moves=True) for one in counts),
            access_pj=spent.get(level, nothing).access,
            wire_pj=spent.get(level, nothing).wire,
        )
        for level in choice.design.levels
    }
