"""Methods of counting accesses of a design on a run: replay, replay along the schedules of a timing run, or timing."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from piecewise_numba.options import Mode
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.evaluation.runs.provenance import DIGITS
from warpreg.evaluation.runs.run import Run, RunError
from warpreg.gpu import Machine
from warpreg.ir.kernel import Kernel
from warpreg.replay import Counts, Suspend, replay, replay_launches
from warpreg.trace.path import RecordedPath
from warpreg.trace.schedule import Schedule

if TYPE_CHECKING:
    from warpreg.timing import Estimate, Sample


@dataclass(frozen=True, eq=False)
class DesignCounts:
    """Counts of a design on a run, to be summed; ``estimate`` of its cycles if they were timed."""

    counts: Sequence[Counts]
    estimate: Estimate | None = None


class CountingMethod(Protocol):
    """A method of counting."""

    @property
    def options(self) -> Mapping[str, Any]:
        """Its entries in a result row, in addition to the options of the run."""

    def count(self, run: Run, choice: ConfiguredDesign, machine: Machine) -> DesignCounts:
        """The counts of the design on the run."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """Replay without a schedule; ``suspend`` selects where warps leave the active set."""

    suspend: Suspend = "never"

    @property
    def options(self) -> Mapping[str, Any]:
        return {} if self.suspend == "never" else {"suspend": self.suspend}

    def count(self, run: Run, choice: ConfiguredDesign, machine: Machine) -> DesignCounts:
        order = choice.design.declaration.order
        if order not in ("static", "warp"):
            raise RunError(
                f"{choice.design.name}: depends on the order of warps ({order}), so it needs a recorded schedule:"
                " --cycles makes one, --schedule FILE reads one; in Python and in a study file, cycles = true does"
            )
        return DesignCounts(replayed(run, choice, self.suspend, machine))


def replayed(
    run: Run, choice: ConfiguredDesign, suspend: Suspend = "never", machine: Machine | None = None
) -> list[Counts]:
    """The counts of the design on each kernel of the run, over all launches of the kernel."""
    return [
        replay(run.path(kernel), kernel, choice.design, suspend=suspend, machine=machine, **choice.parameters)
        for kernel in run.kernels
    ]


@dataclass(frozen=True)
class AlongSchedule:
    """Replay along the schedules of a file, one for each launch of the run."""

    file: Path

    @cached_property
    def schedules(self) -> list[Schedule]:
        """The schedules of the file.  Raises TraceError for a file without schedules, OSError."""
        return Schedule.open_all(self.file)

    @property
    def options(self) -> Mapping[str, Any]:
        return {"schedule": hashlib.sha256(self.file.read_bytes()).hexdigest()[:DIGITS]}

    def count(self, run: Run, choice: ConfiguredDesign, machine: Machine) -> DesignCounts:
        return DesignCounts(
            [
                replay_launches(
                    self._scheduled(run, kernel), kernel, choice.design, machine=machine, **choice.parameters
                )
                for kernel in run.kernels
            ]
        )

    def _scheduled(self, run: Run, kernel: Kernel) -> list[tuple[RecordedPath, Schedule]]:
        """The launches of a kernel, each with its schedule."""
        found, expected = len(self.schedules), len(run.launches)
        if found != expected:
            raise RunError(f"{self.file}: holds schedules of {found} launches, but {run.name} has {expected}")
        of_kernel = [one for launch, one in zip(run.launches, self.schedules, strict=True) if launch.kernel is kernel]
        return list(zip(run.path(kernel).traces, of_kernel, strict=True))


@dataclass(frozen=True, slots=True)
class Timed:
    """Timing of the whole run or of a sample; ``mode``, ``cold`` and ``threads`` as in
    `warpreg.timing.launch.simulate`.

    ``copies``: the second-level cache is filled by the copies from the host that the run has recorded.  ``resume``: a
    whole run goes on behind the launches that an earlier one has kept.
    """

    sample: Sample | None = None
    mode: Mode = "compiled"
    cold: bool = False
    copies: bool = False
    threads: int | None = None
    resume: bool = True

    @property
    def options(self) -> Mapping[str, Any]:
        found: dict[str, Any] = {"cycles": True}
        if self.sample is not None:
            found["sample"] = dataclasses.asdict(self.sample)
        return found | {name: True for name in ("cold", "copies") if getattr(self, name)}

    def between(self, run: Run) -> dict[str, Any]:
        """The parameters of a timing that concern the caches between launches.  Raises RunError for a run without
        copies, if it should have some.
        """
        if self.copies and not run.copies:
            raise RunError(f"{run.name}: no copies from the host are recorded; a kernelslist.g names them")
        return {"cold": self.cold, "copies": run.copies if self.copies else ()}

    def count(self, run: Run, choice: ConfiguredDesign, machine: Machine) -> DesignCounts:
        from warpreg.timing import estimate, simulate  # takes a tenth of a second
        from warpreg.timing.launch.estimate import whole

        registers = run.options.get("registers")
        options = {"registers": registers, "mode": self.mode, "threads": self.threads, **self.between(run)}
        if self.sample is None:
            timed = simulate(run.launches, machine, designs=choice, resume=self.resume, **options)
            found = whole(timed, len(run.launches))
        else:
            found = estimate(run.launches, machine, self.sample, designs=choice, **options)
        return DesignCounts([found.timed.counts], found)
