"""A recorded launch that designs are checked on, and its replay with values followed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from warpreg import simt, timing
from warpreg.checks.value_tracker import Tracker, followed
from warpreg.designs import Design
from warpreg.designs.interface.parameters import Value
from warpreg.designs.interface.program import placed
from warpreg.designs.loading.composition import parts_of
from warpreg.evaluation.runs.recording import needed_record
from warpreg.replay import Suspend, replay_launches
from warpreg.trace.schedule import Schedule

RESULTS = frozenset({"plan_write", "produced"})
"""Hooks that plan results."""
PLANNING = RESULTS | {"plan_reads"}
"""Without these hooks all operands are in the MRF, and there is nothing to follow."""


@dataclass(frozen=True)
class Subject:
    """A recorded launch to check a design on; with a schedule if the design needs one."""

    workload: str
    launch: simt.Launch
    schedule: Schedule | None

    @staticmethod
    def of(workload: str, launch: simt.Launch, design: Design, machine: str) -> Subject:
        """The launch, timed on the machine if the design needs the order of its warps."""
        order = design.declaration.order
        if order not in ("scheduler", "sm"):
            return Subject(workload, launch, None)
        return Subject(workload, launch, timing.recorded_schedule(launch, machine, order=order)[1])

    @property
    def runs(self) -> list[tuple[Any, Schedule | None]]:
        return [(self.launch.trace, self.schedule)]


def record_for(design: Design) -> simt.Record:
    """What a launch has to record."""
    return needed_record([design.declaration], addresses=True)


def tracker_for(design: Design, values: Mapping[str, Value], subject: Subject) -> Tracker:
    """A tracker that knows nothing yet of the launch under the design."""
    given = design.configure(**values)
    code = design.rewrite(subject.launch.kernel, given)
    program = design.program(code, given)
    if subject.schedule is not None:
        program = placed(program, subject.schedule.slots.warps, subject.schedule.slots.schedulers)
    keeps_reads = any(hasattr(part.module, "collectors") for part in parts_of(design))
    hooks = design.hooks
    return Tracker(code, program, design.levels, "plan_reads" in hooks, not RESULTS.isdisjoint(hooks), keeps_reads)


def follow(
    tracker: Tracker, design: Design, values: Mapping[str, Value], subject: Subject, suspend: Suspend = "never"
) -> None:
    """Replay the launch, following its values.  Raises DesignError for a check that fails."""
    declared = design.declaration
    in_order = replace(declared, order="warp") if declared.order == "static" else declared
    spied = replace(design, hooks=followed(design.hooks, tracker), declaration=in_order)
    parameters: dict[str, Any] = dict(values)
    replay_launches(subject.runs, subject.launch.kernel, spied, mode="interpreted", suspend=suspend, **parameters)
