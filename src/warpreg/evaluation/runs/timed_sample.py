"""Cycles, counts and resources of a sample of a run, with or without a design: the input of energy, leakage and speed.

A study says what is sampled (`warpreg.evaluation.runs.sampling`) and which recorder stands beside the design.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

from warpreg import gpu, timing
from warpreg.designs import load
from warpreg.designs.interface.declaration import Declaration
from warpreg.designs.loading.composition import joined
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.evaluation.runs.hardware import Use
from warpreg.evaluation.runs.run import Run
from warpreg.evaluation.runs.sampling import ONE_SM, Sampling, timed
from warpreg.evaluation.runs.scheduled import Variant
from warpreg.replay import Counts
from warpreg.timing import TimingResult

EMPTY = "empty"
"""In the stall account, a warp slot without a warp."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Sample:
    """What the timing of a sample found, summed over its launches."""

    cycles: int
    warp_instructions: int
    """Of the whole sample, those that the design adds included."""
    counts: Counts
    """Accesses and events under the design."""
    plain: Counts
    """Accesses of the main register file alone on the same path."""
    resources: Mapping[str, int]
    """Quantities of the design, summed over cycles and SMs."""
    sms: int = 1
    """SMs that the sample was timed on."""
    busy_cycles: int
    """Cycles of all SMs that a launch gave a thread block."""
    stalls: Mapping[str, int]
    """Cycles of warp slots by cause."""
    bank_conflicts: int = 0
    """Banks with a read that was not granted, summed over cycles."""
    until_dispatch: int = 0
    """Cycles of all instructions from their issue to their dispatch, in the operand collection stage."""

    @classmethod
    def of(cls, launches: Sequence[TimingResult], **own: Any) -> Self:
        """The sample of timed launches; ``own`` are the fields that a study adds."""
        total = timing.joined(launches)
        return cls(
            cycles=total.cycles,
            warp_instructions=total.warp_instructions,
            counts=total.counts,
            plain=total.plain,
            resources=total.resources,
            sms=total.sms,
            busy_cycles=sum(one.cycles * int((one.issued > 0).sum()) for one in launches),
            stalls=total.stall_account,
            bank_conflicts=total.bank_conflicts,
            until_dispatch=total.latch_cycles + total.collect_cycles + total.collect_cycles_memory,
            **own,
        )

    @property
    def use(self) -> Use:
        """What the sample used, for prices: of an SM without thread block, nothing."""
        return Use(self.counts.events, self.busy_cycles, 1, self.resources)

    @property
    def ipc(self) -> float:
        """Warp-instructions per cycle."""
        return self.warp_instructions / max(1, self.cycles)

    @property
    def ipc_of_kernel(self) -> float:
        """Warp-instructions per cycle, without those that the design has added to the kernel."""
        return (self.warp_instructions - self.counts.added_warp_instructions) / max(1, self.cycles)

    @property
    def warp_cycles(self) -> int:
        """Cycles of all warp slots that hold a warp."""
        return sum(cycles for cause, cycles in self.stalls.items() if cause != EMPTY)

    @property
    def achieved(self) -> float:
        """Mean share of warp slots that hold a warp."""
        return self.warp_cycles / max(1, sum(self.stalls.values()))


class Recorder(Protocol):
    """What records beside a design: a frozen dataclass without fields, in or above the module of its design file."""

    file: ClassVar[Path]
    """A design of the slot ``policy`` that decides nothing."""


@dataclass(frozen=True, slots=True)
class Sampled:
    """The measure of a sample."""

    machine: str
    variant: Variant | None = None
    """The design; None for the main register file alone."""
    sampling: Sampling = ONE_SM
    recorder: Recorder | None = None

    @property
    def declarations(self) -> tuple[Declaration, ...]:
        """Those of its designs, which say what the run must record of values."""
        return (load(self.variant.design).declaration,) if self.variant else ()

    def __call__(self, run: Run) -> Sample:
        machine = gpu.load(self.machine)
        return Sample.of(timed(self.sampling.pieces(run, machine), machine, designs=self.chosen()))

    def chosen(self) -> ConfiguredDesign:
        """The design with its parameters, and the recorder."""
        designs = [] if self.variant is None else [load(self.variant.design)]
        values: dict[str, Any] = {} if self.variant is None else dict(self.variant.values)
        if self.recorder is not None:
            values = {joined(design, name): value for design in designs for name, value in values.items()}
            designs.append(load(self.recorder.file))
        return ConfiguredDesign.of(designs, values)
