"""Compares designs: counts the accesses of each on a run, and computes their energy."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpreg import energy, gpu
from warpreg.designs import DesignError
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.energy import LevelEnergy, Technology
from warpreg.evaluation.runs.counting import CountingMethod, DesignCounts, Replayed
from warpreg.evaluation.runs.hardware import Use, check_prices, parts, plain_leakage
from warpreg.evaluation.runs.parts import Part
from warpreg.evaluation.runs.provenance import code_version
from warpreg.evaluation.runs.residency import Residency
from warpreg.evaluation.runs.row import Cycles, Failure, LevelUse, Provenance, Row
from warpreg.evaluation.runs.run import Run
from warpreg.evaluation.runs.technologies import default_technology
from warpreg.gpu import Machine
from warpreg.ir.errors import InterruptedCodeError, WarpregError
from warpreg.replay import Counts

if TYPE_CHECKING:
    from warpreg.timing import Estimate

DEFAULT_MACHINE = "gebhart-rfc"
BASELINE = "mrf"
"""The design that results are normalized to."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The machine and technology of a comparison."""

    machine: Machine
    technology: Technology

    @staticmethod
    def load(
        machine: Machine | str | Path = DEFAULT_MACHINE,
        technology: str | Path | None = None,
        choices: Sequence[ConfiguredDesign] = (),
    ) -> Setting:
        """Both by name or path, or a machine; without a technology, one that prices the choices (`default_technology`).

        Raises UnknownNameError, MachineError or TechnologyError.
        """
        described = machine if isinstance(machine, Machine) else gpu.load(machine)
        return Setting(described, energy.load(technology or default_technology(choices, described)))

    def check(self, choices: Sequence[ConfiguredDesign]) -> None:
        """Raise EnergyError for a design with a level, table or logic that the technology cannot price."""
        check_prices(choices, self.machine, self.technology)


def compare(
    run: Run, choices: Sequence[ConfiguredDesign], setting: Setting, how: CountingMethod | None = None
) -> Iterator[Row]:
    """One row for each choice, in order; each is normalized to the plain MRF on the same run.

    ``how`` is the method of counting, default replay.  Raises RunError for a run that lacks a recording for it, and
    EnergyError, before anything is counted, for a design that the technology cannot price.
    """
    setting.check(choices)
    counting = DesignCounter(run, setting.machine, how or Replayed())
    for choice in choices:
        yield row(run, choice, setting, counting.of(choice), counting.plain, counting.how.options)


def attempts(counting: DesignCounter, choices: Sequence[ConfiguredDesign], setting: Setting) -> Iterator[Row | Failure]:
    """As `compare`, but a design that fails has a row that says why.  Raises what the plain MRF raises, if a design can
    be counted, and InterruptedCodeError.
    """
    run = counting.run
    for choice in choices:
        try:
            setting.check([choice])
            counted = counting.of(choice)
        except InterruptedCodeError:
            raise
        except WarpregError as error:
            if choice.design.name == BASELINE:
                raise
            yield _failure(run, choice, setting.machine, error)
            continue
        plain = counting.plain
        try:
            yield row(run, choice, setting, counted, plain, counting.how.options)
        except InterruptedCodeError:
            raise
        except WarpregError as error:
            yield _failure(run, choice, setting.machine, error)


def _failure(run: Run, choice: ConfiguredDesign, machine: Machine, error: WarpregError) -> Failure:
    return Failure(run.name, str(error), choice.design.name, choice.parameters, choice.defaults(machine))


@dataclass(frozen=True, eq=False)
class DesignCounter:
    """Counts of designs on a run; those of the plain MRF once, when they are needed."""

    run: Run
    machine: Machine
    how: CountingMethod

    @functools.cached_property
    def plain(self) -> DesignCounts:
        """The counts of the plain MRF."""
        return self.how.count(self.run, ConfiguredDesign.load(BASELINE), self.machine)

    def of(self, choice: ConfiguredDesign) -> DesignCounts:
        """The counts of a design."""
        return self.plain if choice.design.name == BASELINE else self.how.count(self.run, choice, self.machine)


def row(
    run: Run,
    choice: ConfiguredDesign,
    setting: Setting,
    counted: DesignCounts,
    plain: DesignCounts,
    options: Mapping[str, Any],
) -> Row:
    """The row of the counts ``counted`` for a design and for the ``plain`` MRF; ``options`` describe the counting."""
    provenance = Provenance(
        kernel=run.digest,
        machine=setting.machine.name,
        machine_digest=setting.machine.digest,
        technology=setting.technology.name,
        technology_digest=setting.technology.digest,
        design_digest=choice.digest,
        code=code_version(),
        options={**run.options, **options},
    )
    use = _use(counted)
    built = parts(choice.design, choice.values, use, setting.machine, setting.technology)
    return Row(
        workload=run.name,
        design=choice.design.name,
        parameters=choice.parameters,
        warp_instructions=run.warp_instructions,
        levels=_levels(counted.counts, choice.design.levels, setting),
        baseline=_levels(plain.counts, ("MRF",), setting)["MRF"],
        provenance=provenance,
        residency=_residency(run, choice, setting.machine, is_timed=counted.estimate is not None),
        defaults=choice.defaults(setting.machine),
        timing=None if counted.estimate is None else _cycles(counted.estimate, plain.estimate),
        parts=built,
        plain_leakage_pj=plain_leakage(_use(plain), setting.machine, setting.technology),
        events=use.events,
        resources=use.resources or {},
        main=choice.design.declaration.main,
        added_instructions={
            name: more for counts in counted.counts for name, more in counts.added_instructions.items()
        },
        added_warp_instructions=sum(counts.added_warp_instructions for counts in counted.counts),
        ends_pj=_ends(choice, counted, plain, setting, built),
    )


def _ends(
    choice: ConfiguredDesign, counted: DesignCounts, plain: DesignCounts, setting: Setting, built: Sequence[Part]
) -> tuple[tuple[float, float], ...]:
    """Dynamic energy of the design and of the plain MRF at each end of the technology's band; empty if it has none."""
    added_pj = math.fsum(part.dynamic_pj or 0.0 for part in built if not part.is_level)
    return tuple(
        (added_pj + _total(counted, choice.design.levels, at_end), _total(plain, ("MRF",), at_end))
        for at_end in (Setting(setting.machine, end) for end in setting.technology.ends() or ())
    )


def _total(found: DesignCounts, levels: Sequence[str], setting: Setting) -> float:
    return math.fsum(level.total_pj for level in _levels(found.counts, levels, setting).values())


def _residency(run: Run, choice: ConfiguredDesign, machine: Machine, *, is_timed: bool) -> tuple[Residency, ...]:
    """The residency under the design; empty if the run was not timed and the machine cannot have the design."""
    try:
        return run.residencies(machine, choice)
    except DesignError:
        if is_timed:
            raise
        return ()


def _use(counted: DesignCounts) -> Use:
    """What was counted, and how long that took: in a sample, the cycles and SMs that were timed."""
    events: dict[str, int] = {}
    for one in counted.counts:
        for name, count in one.events.items():
            events[name] = events.get(name, 0) + count
    if counted.estimate is None:
        return Use(events)
    timed = counted.estimate.timed
    return Use(events, timed.cycles, timed.sms, timed.resources)


def _cycles(estimate: Estimate, plain: Estimate | None) -> Cycles:
    details = estimate.timed.as_dict()
    for name in ("cycles", "warp_instructions", "ipc"):
        del details[name]
    if estimate.is_sampled:
        details["sample"] = estimate.as_dict()
    baseline = None if plain is None else plain.cycles
    return Cycles(
        estimate.cycles, estimate.margin, estimate.ipc, baseline, details, estimate.timed.cycles * estimate.timed.sms
    )


def _levels(counts: Sequence[Counts], levels: Sequence[str], setting: Setting) -> dict[str, LevelUse]:
    items = [item for one in counts for item in one.energy_list()]
    spent = energy.account(items, setting.technology).levels()
    nothing = LevelEnergy(0.0, 0.0)
    is_sliced = any(one.slices > 1 for one in counts)
    return {
        level: LevelUse(
            reads=sum(one.reads(level, moves=True) for one in counts),
            writes=sum(one.writes(level, moves=True) for one in counts),
            access_pj=spent.get(level, nothing).access,
            wire_pj=spent.get(level, nothing).wire,
            amount=sum(one.amount(level) for one in counts) if is_sliced else None,
        )
        for level in levels
    }
