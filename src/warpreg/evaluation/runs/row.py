"""The result row of a comparison: one run under one design, with everything needed to reproduce it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from warpreg.energy.counts import WARP_REGISTER_BITS
from warpreg.evaluation.runs.parts import Part
from warpreg.evaluation.runs.provenance import NOTE
from warpreg.evaluation.runs.residency import Residency
from warpreg.ir.html_table import html_table

Value = bool | int | float | str
Parameters = Mapping[str, Value]
SWITCH = "enabled"
"""The parameter, also of a part of a composition, that switches a design on."""
WARP_REGISTER_BYTES = WARP_REGISTER_BITS // 8


@dataclass(frozen=True, slots=True)
class Provenance:
    """The inputs that a result depends on; digests are hexadecimal content hashes."""

    kernel: str
    machine: str
    machine_digest: str
    technology: str
    technology_digest: str
    design_digest: str
    code: str
    options: Mapping[str, Any]

    def as_dict(self) -> dict[str, Any]:
        """For JSON: name and digest joined."""
        return {
            "kernel": self.kernel,
            "machine": f"{self.machine}@{self.machine_digest[:12]}",
            "technology": f"{self.technology}@{self.technology_digest[:12]}",
            "design": self.design_digest,
            "code": self.code,
            **self.options,
        }


@dataclass(frozen=True, slots=True)
class LevelUse:
    """One level of the register file: accesses, energy in pJ (arrays, wires).

    ``amount``: how much the accesses read and wrote, in whole warp-registers; None where all were whole.
    """

    reads: float
    writes: float
    access_pj: float
    wire_pj: float
    amount: float | None = None

    @property
    def total_pj(self) -> float:
        return self.access_pj + self.wire_pj

    @property
    def bytes(self) -> float:
        """What the accesses read and wrote."""
        return WARP_REGISTER_BYTES * (self.reads + self.writes if self.amount is None else self.amount)


@dataclass(frozen=True, slots=True)
class Cycles:
    """The result of a timing run: ``cycles`` of the whole run, plus or minus ``margin`` if it was sampled (else 0).

    ``baseline`` are the cycles under the baseline, None if that was not timed; ``details`` are further results;
    ``sm_cycles`` those that were timed, summed over the SMs that were timed.
    """

    cycles: float
    margin: float
    ipc: float
    baseline: float | None
    details: Mapping[str, Any]
    sm_cycles: float = 0.0

    @property
    def speed(self) -> float | None:
        """Cycles of the baseline over these: above 1 is faster."""
        return None if self.baseline is None else _ratio(self.baseline, self.cycles)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        speed = {} if self.speed is None else {"speed": self.speed}
        return {"cycles": self.cycles, "ipc": self.ipc, **speed, "timing": dict(self.details)}


@dataclass(frozen=True, slots=True)
class Failure:
    """The row of a design that has no result on a run, and why; without a design, the run itself has failed."""

    workload: str
    message: str
    design: str = ""
    parameters: Parameters = field(default_factory=dict)
    defaults: Parameters = field(default_factory=dict)

    @property
    def label(self) -> str:
        """A label of the design, as of `Row`."""
        return _label(self.design, self.parameters, self.defaults)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "workload": self.workload,
            "design": self.design,
            "parameters": dict(self.parameters),
            "error": self.message,
        }


@dataclass(frozen=True, slots=True)
class Row:
    """One run under one design."""

    workload: str
    design: str
    parameters: Parameters
    warp_instructions: int
    levels: Mapping[str, LevelUse]
    """By name."""
    baseline: LevelUse
    """The plain MRF on the same run."""
    provenance: Provenance
    residency: tuple[Residency, ...] = ()
    defaults: Parameters = field(default_factory=dict)
    """The default values of the design's parameters on the machine, if known."""
    timing: Cycles | None = None
    """None if the run was not timed."""
    parts: tuple[Part, ...] = ()
    """The levels and what the design adds to them."""
    plain_leakage_pj: float | None = None
    """Leakage of the plain MRF over its own cycles, None if those are not known."""
    events: Mapping[str, int] = field(default_factory=dict)
    """The design's own counters."""
    resources: Mapping[str, int] = field(default_factory=dict)
    """The design's own quantities, each summed over the cycles of the run and its SMs."""
    main: tuple[str, ...] = ("MRF",)
    """The levels that together are the main register file."""
    added_instructions: Mapping[str, int] = field(default_factory=dict)
    """By kernel: those that the design has added to the code."""
    added_warp_instructions: int = 0
    """How many of them were executed."""
    ends_pj: tuple[tuple[float, float], ...] = ()
    """Dynamic energy of the design and of what it is normalized to, at both ends of the technology's band."""
    whole_pj: float | None = None
    """Dynamic energy of the design that results are normalized to; None for the plain MRF."""
    normalized_to: str = "the plain MRF"
    """That design."""

    def _repr_html_(self) -> str:
        """Accesses and energy by level, for notebooks."""
        told = f"{self.note}; " if self.note else ""
        told += f"{self.elided:.0%} of the MRF accesses elided, energy {self.energy:.2f} of {self.normalized_to}"
        if self.timing is not None:
            told += f", {self.timing.cycles:,.0f} cycles"
        rows = [
            (name, level.reads, level.writes, level.access_pj, level.wire_pj) for name, level in self.levels.items()
        ]
        heads = ("level", "reads", "writes", "array pJ", "wire pJ")
        return html_table(f"{self.workload}, {self.label}: {told}", heads, rows)

    def against(self, other: Row) -> Row:
        """The row with energy, leakage and speed normalized to another design on the same run."""
        timing = self.timing
        if timing is not None and other.timing is not None:
            timing = replace(timing, baseline=other.timing.cycles)
        ends = tuple((own, whole) for (own, _), (whole, _) in zip(self.ends_pj, other.ends_pj, strict=True))
        return replace(
            self,
            timing=timing,
            ends_pj=ends,
            plain_leakage_pj=other.leakage_pj,
            whole_pj=other.energy_pj,
            normalized_to=other.label,
        )

    @property
    def note(self) -> str:
        """What part of a trace the run is, and what took the place of the trace's header; empty for a whole run."""
        return str(self.provenance.options.get(NOTE, ""))

    @property
    def band(self) -> tuple[float, float] | None:
        """The least and the greatest normalized energy, if the technology has a band (`Technology.ends`)."""
        found = [_ratio(own, whole) for own, whole in self.ends_pj]
        return (min(found), max(found)) if found else None

    @property
    def normal_pj(self) -> float:
        """The dynamic energy that others are normalized to."""
        return self.baseline.total_pj if self.whole_pj is None else self.whole_pj

    @property
    def label(self) -> str:
        """A label of the design, ``rfc(entries=6)``: its first parameter, unless `SWITCH`, and those that differ from
        their default on the machine.
        """
        return _label(self.design, self.parameters, self.defaults)

    @property
    def mrf(self) -> LevelUse:
        """The levels of the main register file together."""
        used = [self.levels[one] for one in self.main if one in self.levels]
        accesses = math.fsum(one.reads for one in used), math.fsum(one.writes for one in used)
        return LevelUse(*accesses, math.fsum(one.access_pj for one in used), math.fsum(one.wire_pj for one in used))

    @property
    def energy_pj(self) -> float:
        """Dynamic energy: arrays and wires of all levels, and what the design adds to them."""
        return math.fsum(level.total_pj for level in self.levels.values()) + self.added_pj

    @property
    def energy(self) -> float:
        """Dynamic register file energy normalized to the baseline, the plain MRF unless `against` says otherwise."""
        return _ratio(self.energy_pj, self.normal_pj)

    @property
    def added(self) -> tuple[Part, ...]:
        """The tables and logic that the design adds."""
        return tuple(part for part in self.parts if not part.is_level)

    @property
    def added_pj(self) -> float:
        """Dynamic energy of added tables and logic, without logic by cycle if the run was not timed."""
        return math.fsum(part.dynamic_pj or 0.0 for part in self.added)

    @property
    def added_energy(self) -> float:
        """Dynamic energy of added tables and logic, of the energy of the baseline."""
        return _ratio(self.added_pj, self.normal_pj)

    @property
    def added_bytes(self) -> float:
        """Storage that the design adds to an SM."""
        return math.fsum(part.bytes for part in self.parts)

    @property
    def added_mm2(self) -> float:
        """Area that the design adds to an SM."""
        return math.fsum(part.area_mm2 for part in self.parts)

    @property
    def leakage_pj(self) -> float | None:
        """Leakage of all levels, tables and logic; None if the run was not timed."""
        found = [part.leakage_pj for part in self.parts if part.leakage_pj is not None]
        return math.fsum(found) if found else None

    @property
    def leakage(self) -> float | None:
        """Leakage normalized to the baseline over its own cycles; None if either was not timed."""
        if self.leakage_pj is None or self.plain_leakage_pj is None:
            return None
        return _ratio(self.leakage_pj, self.plain_leakage_pj)

    def share(self, kind: Literal["access_pj", "wire_pj"]) -> float:
        """Energy of all arrays or of all wires, of the energy of the baseline."""
        return _ratio(math.fsum(getattr(level, kind) for level in self.levels.values()), self.normal_pj)

    @property
    def reads_elided(self) -> float:
        """Fraction of the baseline's MRF reads that are avoided; evictions and flushes read other levels."""
        return 1 - _ratio(self.mrf.reads, self.baseline.reads)

    @property
    def writes_elided(self) -> float:
        """Fraction of the baseline's MRF writes that are avoided; write-backs are counted as writes."""
        return 1 - _ratio(self.mrf.writes, self.baseline.writes)

    @property
    def elided(self) -> float:
        """Net: 1 - MRF accesses over those of the baseline, evictions and flushes included."""
        accesses = self.mrf.reads + self.mrf.writes
        return 1 - _ratio(accesses, self.baseline.reads + self.baseline.writes)

    def as_dict(self) -> dict[str, Any]:
        """The row for JSON and data frames: flat, in a fixed order, levels as ``rfc_reads``, ``rfc_writes``."""
        flat: dict[str, Any] = {
            "workload": self.workload,
            "design": self.design,
            "parameters": dict(self.parameters),
            "warp_instructions": self.warp_instructions,
            **({NOTE: self.note} if self.note else {}),
        }
        if self.timing is not None:
            flat |= self.timing.as_dict()
        for name, level in self.levels.items():
            flat[f"{name.lower()}_reads"] = level.reads
            flat[f"{name.lower()}_writes"] = level.writes
            if level.amount is not None:
                flat[f"{name.lower()}_amount"] = level.amount
            flat[f"{name.lower()}_bytes"] = level.bytes
        flat |= {"reads_elided": self.reads_elided, "writes_elided": self.writes_elided, "elided": self.elided}
        flat["energy_pj"] = self.energy_pj
        flat["energy_normalized"] = self.energy
        if self.whole_pj is not None:
            flat["normalized_to"] = self.normalized_to
        if self.band is not None:
            flat["energy_band"] = list(self.band)
            flat["energy_ends"] = [_ratio(own, whole) for own, whole in self.ends_pj]
        for name, level in self.levels.items():
            flat[f"{name.lower()}_access_normalized"] = _ratio(level.access_pj, self.normal_pj)
            flat[f"{name.lower()}_wire_normalized"] = _ratio(level.wire_pj, self.normal_pj)
        flat |= self._parts_as_dict()
        flat["residency"] = [one.as_dict() for one in self.residency]
        return flat | {"provenance": self.provenance.as_dict()}

    def _parts_as_dict(self) -> dict[str, Any]:
        """Entries of what there is: added code and hardware, leakage, events and resources."""
        flat: dict[str, Any] = {}
        if self.added_instructions:
            flat["added_instructions"] = dict(self.added_instructions)
            flat["added_warp_instructions"] = self.added_warp_instructions
        if len(self.parts) > 1:
            flat |= {"added_bytes": self.added_bytes, "added_mm2": self.added_mm2}
        if self.added:
            flat["added_pj"] = {part.name: part.dynamic_pj for part in self.added}
            flat["added_normalized"] = self.added_energy
        if self.leakage_pj is not None:
            flat["leakage_pj"] = {part.name: part.leakage_pj for part in self.parts}
        if self.leakage is not None:
            flat["leakage_normalized"] = self.leakage
        for name, found in (("events", self.events), ("resources", self.resources)):
            if found:
                flat[name] = dict(found)
        return flat


def _label(design: str, parameters: Parameters, defaults: Parameters) -> str:
    """A design with its first parameter, unless it is `SWITCH`, and those that differ from their default."""
    told = [
        f"{name}={value}"
        for place, (name, value) in enumerate(parameters.items())
        if (place == 0 and not name.endswith(SWITCH)) or name not in defaults or value != defaults[name]
    ]
    return f"{design}({', '.join(told)})" if told else design


def geometric_mean(values: Iterable[float]) -> float:
    """The geometric mean of non-negative numbers; NaN if there are none, 0 if one is 0."""
    taken = list(values)
    if not taken:
        return math.nan
    return 0.0 if min(taken) <= 0 else math.exp(math.fsum(map(math.log, taken)) / len(taken))


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
