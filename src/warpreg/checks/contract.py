"""``warpreg check``: what every design must keep, checked on a design over recorded runs, in replay and in time.

Each check is passed, failed or not made, with the reason; nothing passes that was not looked at.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from piecewise_numba.options import Mode
from warpreg import gpu, timing
from warpreg.checks.counterexample import Counterexample, counterexample
from warpreg.checks.random_kernels import launched, random_program
from warpreg.checks.statements import Ran, unset_columns
from warpreg.checks.subject import PLANNING, Subject, follow, record_for, tracker_for
from warpreg.designs import Design, load
from warpreg.designs.interface.parameters import Value
from warpreg.designs.loading.composition import parts_of
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.evaluation.runs.run import find_workload, run_workload
from warpreg.ir.errors import WarpregError
from warpreg.replay import Counts, replay_launches

WORKLOADS = ("vector-add", "matrix-mul", "reduction", "bfs", "hotspot", "nw", "mandelbrot", "histogram")
MACHINE = "gtx980-two-level"
FOLLOWED = 3
"""Kernels over which values are followed."""
MAX_FOLLOWED = 30_000
"""Warp-instructions of each."""

KERNELS = 40
"""Random kernels."""
TIMED_KERNELS = 6
"""Those that are timed with hooks as plain Python."""
IN_REPLAY = frozenset(
    ("plan_reads", "plan_write", "issued", "collected", "produced", "arrived", "warp_start", "warp_end")
) | {"block_start", "block_end", "activated", "suspended"}
"""Hooks that a replay calls, the last four with a schedule."""
NOTHING_PLANNED = "no hook plans operands, so all are in the MRF"

Verdict = Literal["passed", "failed", "not checked"]
Begin = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Finding:
    """One check and what came of it; with a small kernel on which it fails, if one was found."""

    check: str
    verdict: Verdict
    detail: str
    counterexample: Counterexample | None = None


def check_design(
    name: str,
    values: Mapping[str, Value] | None = None,
    workloads: Sequence[str] = WORKLOADS,
    machine: str = MACHINE,
    begin: Begin = lambda what: None,
    mode: Mode = "compiled",
    kernels: int = KERNELS,
    seed: int = 0,
) -> list[Finding]:
    """All checks of a design by name or path, on workloads and on so many random ``kernels`` of a ``seed``.

    Raises DesignError for a file that is no design.
    """
    design = load(name, checked=True)
    given = {**design.of_machine(gpu.load(machine)), **(values or {})}
    design.configure(**given)
    subjects = []
    for workload in workloads:
        begin(f"running {workload}")
        subjects.append(_subject(workload, design, machine))
    findings = [Finding("declaration", "passed", "; ".join(undefined(design)) or "everything is defined")]
    begin("following values")
    ran = Ran(design)
    with ran.watching():
        findings.append(_guarded("every read sees the last write", lambda: values_kept(design, given, subjects)))
    if kernels:
        begin("following values on random kernels")
        with ran.watching():
            findings.append(_guarded("random kernels", lambda: random_kernels(design, given, kernels, seed, machine)))
    begin("replaying")
    replayed = _guarded("checked replay", lambda: _replayed(design, given, subjects, mode))
    findings.append(replayed)
    if replayed.verdict == "passed":
        findings += [
            _guarded("counts conserve", lambda: conserved(design, given, subjects)),
            _guarded("resets clean", lambda: resets(design, given, subjects, mode)),
            _guarded("switched off", lambda: switched_off(design, given, subjects)),
        ]
    begin("timing")
    findings.append(_guarded("checked timing", lambda: _timed(design, given, subjects, machine, mode)))
    begin("looking for what has not run")
    with ran.watching():
        timed_kernels = _guarded("timing of random kernels", lambda: _timed_kernels(design, given, machine, seed))
    if timed_kernels.verdict == "failed":
        findings.append(timed_kernels)
    findings.append(_all_ran(ran))
    return findings


def undefined(design: Design) -> Iterator[str]:
    """In words, what the design does not define and what holds instead."""
    hooks = design.hooks
    if "plan_reads" not in hooks:
        yield "no plan_reads: every source is read from the MRF"
    if hooks.keys().isdisjoint(("plan_write", "produced")):
        yield "no plan_write or produced: every result is written to the MRF"
    if "suspended" not in hooks and len(design.levels) > 1:
        yield "no suspended: a warp that leaves the active set keeps what its levels hold"
    for part in parts_of(design):
        named = f"{part.name}: " if len(parts_of(design)) > 1 else ""
        if not hasattr(part.module, "structures") and len(part.levels) > 1:
            yield f"{named}no structures: the energy model knows no size of {', '.join(part.levels[1:])}"
        if not hasattr(part.module, "residency"):
            yield f"{named}no residency: a warp occupies the registers of its kernel"
        if not hasattr(part.module, "init"):
            yield f"{named}no state"
        if columns := unset_columns(part):
            yield f"{named}no compile: {', '.join(columns)} of the program, which it reads, stay 0"


def values_kept(design: Design, values: Mapping[str, Value], subjects: Sequence[Subject]) -> Finding:
    """No write is lost, and every read sees the last write."""
    check = "every read sees the last write"
    if PLANNING.isdisjoint(design.hooks):
        return Finding(check, "not checked", NOTHING_PLANNED)
    short = [one for one in subjects if one.launch.warp_instructions <= MAX_FOLLOWED][:FOLLOWED]
    if not short:
        return Finding(check, "not checked", f"no launch is shorter than {MAX_FOLLOWED} warp-instructions")
    reads = lost = nowhere = 0
    for subject in short:
        tracker = tracker_for(design, values, subject)
        follow(tracker, design, values, subject)
        if tracker.wrong:
            return Finding(check, "failed", f"{subject.workload}: {tracker.wrong}")
        reads, lost = reads + tracker.reads, lost + tracker.not_followed
        nowhere += tracker.read_nowhere
    return _followed(check, reads, lost, nowhere, ", ".join(one.workload for one in short))


def random_kernels(design: Design, values: Mapping[str, Value], kernels: int, seed: int, machine: str) -> Finding:
    """The same on random kernels; one that fails is made as small as it can be."""
    check = "random kernels"
    if PLANNING.isdisjoint(design.hooks):
        return Finding(check, "not checked", NOTHING_PLANNED)
    search = counterexample(design, values, kernels, seed, machine)
    if search.counterexample is not None:
        return Finding(check, "failed", str(search.counterexample), search.counterexample)
    return _followed(check, search.reads, search.not_followed, search.read_nowhere, f"{kernels} kernels")


def _followed(check: str, reads: int, lost: int, nowhere: int, where: str) -> Finding:
    """What came of following reads, none of which was wrong."""
    if nowhere:
        told = f"{nowhere} of {reads + nowhere} sources are accessed nowhere, so no level holds their values"
        return Finding(check, "not checked", told)
    if lost:
        return Finding(check, "not checked", f"{lost} of {reads} reads come after a move without a register; name it")
    if not reads:
        return Finding(check, "not checked", f"{where} read nothing")
    return Finding(check, "passed", f"{reads} reads followed on {where}")


def conserved(design: Design, values: Mapping[str, Value], subjects: Sequence[Subject]) -> Finding:
    """Every operand is accounted for: compiled and interpreted hooks count alike."""
    check = "counts conserve"
    short = [one for one in subjects if one.launch.warp_instructions <= MAX_FOLLOWED][:FOLLOWED]
    if not short:
        return Finding(check, "not checked", f"no launch is shorter than {MAX_FOLLOWED} warp-instructions")
    for subject in short:
        fast, slow = (_counts(design, values, subject, mode) for mode in ("compiled", "interpreted"))
        if not _are_equal(fast, slow):
            return Finding(check, "failed", f"{subject.workload}: compiled and interpreted hooks count differently")
    return Finding(check, "passed", f"compiled as interpreted on {', '.join(one.workload for one in short)}")


def resets(design: Design, values: Mapping[str, Value], subjects: Sequence[Subject], mode: Mode) -> Finding:
    """A second launch finds everything as the first did."""
    for subject in subjects:
        once, twice = (_counts(design, values, subject, mode, times) for times in (1, 2))
        if not (np.array_equal(2 * once.accesses, twice.accesses) and np.array_equal(2 * once.moves, twice.moves)):
            detail = f"{subject.workload}: a launch counts {once.accesses.sum()} accesses, two of them "
            return Finding("resets clean", "failed", detail + str(twice.accesses.sum()))
    return Finding("resets clean", "passed", "two launches count twice what one does")


def switched_off(design: Design, values: Mapping[str, Value], subjects: Sequence[Subject]) -> Finding:
    """With the values that its parameters declare as off, the design is the plain register file."""
    check, plain = "switched off", load("mrf")
    off = {spec.name: spec.off for spec in design.parameters if spec.off is not None}
    if not off:
        return Finding(check, "not checked", "no parameter declares the value `off` that switches the design off")
    words = ", ".join(f"{name}={str(value).lower()}" for name, value in off.items())
    subject = min(subjects, key=lambda one: int(one.launch.warp_instructions))
    found = _counts(design, {**values, **off}, subject, "interpreted")
    wanted = _counts(plain, {}, subject, "interpreted")
    above = found.accesses[1:].sum() + found.moves.sum()
    if above == 0 and np.array_equal(found.accesses[0], wanted.accesses[0]):
        told = f"with {words} it counts as the plain register file does, in a replay of {subject.workload}"
        return Finding(check, "passed", told)
    return Finding(check, "failed", f"{subject.workload}: with {words} it counts other accesses than the register file")


def _replayed(design: Design, values: Mapping[str, Value], subjects: Sequence[Subject], mode: Mode) -> Finding:
    if IN_REPLAY.isdisjoint(design.hooks):
        return Finding("checked replay", "not checked", "a replay calls none of its hooks")
    for subject in subjects:
        _counts(design, values, subject, mode)
    uncalled = [name for name in design.hooks if name not in IN_REPLAY]
    note = f"; a replay does not call {', '.join(uncalled)}" if uncalled else ""
    return Finding("checked replay", "passed", ", ".join(one.workload for one in subjects) + note)


def _timed_kernels(design: Design, values: Mapping[str, Value], machine: str, seed: int) -> Finding:
    """Time small random kernels with hooks as plain Python, which shows what of them runs."""
    chosen = ConfiguredDesign.of([design], values)
    for number in range(TIMED_KERNELS):
        launch = launched(random_program(random.Random(f"{seed} {number}")), record_for(design))
        timing.simulate([launch], machine, designs=chosen, mode="interpreted")
    return Finding("timed kernels", "passed", "")


def _all_ran(ran: Ran) -> Finding:
    """Whether each hook of a design was called, and each of its statements ran."""
    check = "every statement runs"
    uncalled, idle = ran.uncalled(), ran.idle()
    if not uncalled and not idle:
        return Finding(check, "passed", "in the runs that follow values, and in time on random kernels")
    told = [f"never called: {', '.join(uncalled)}"] if uncalled else []
    told += [f"never run: {', '.join(idle)}"] if idle else []
    return Finding(check, "not checked", f"{'; '.join(told)} (of the short runs in which statements are watched)")


def _timed(
    design: Design, values: Mapping[str, Value], subjects: Sequence[Subject], machine: str, mode: Mode
) -> Finding:
    chosen = ConfiguredDesign.of([design], values)
    for subject in subjects:
        timing.simulate([subject.launch], machine, designs=chosen, mode=mode)
    return Finding(
        "checked timing", "passed", f"every warp ends on {machine}: {', '.join(o.workload for o in subjects)}"
    )


def _guarded(check: str, make: Callable[[], Finding]) -> Finding:
    """The finding, or the error as one."""
    try:
        return make()
    except WarpregError as error:
        return Finding(check, "failed", str(error))


def _counts(design: Design, values: Mapping[str, Value], subject: Subject, mode: Any, times: int = 1) -> Counts:
    parameters: dict[str, Any] = dict(values)
    return replay_launches(subject.runs * times, subject.launch.kernel, design, mode=mode, **parameters)


def _are_equal(one: Counts, other: Counts) -> bool:
    same = np.array_equal(one.accesses, other.accesses) and np.array_equal(one.moves, other.moves)
    return same and one.events == other.events


def _subject(workload: str, design: Design, machine: str) -> Subject:
    run = run_workload(find_workload(workload), "tiny", record=record_for(design))
    return Subject.of(workload, run.launches[0], design, machine)
