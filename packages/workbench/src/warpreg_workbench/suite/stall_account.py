"""Stall accounts of the suite by machine: ``python -m warpreg_workbench.suite.stall_account [NAME]...``.

Prints a table for docs/reference/timing.md, and fails if an account does not add up or contains cycles without a cause.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import click

from warpreg import gpu, workloads
from warpreg.evaluation.runs.cached_memory import with_cached_memory
from warpreg.evaluation.runs.demand import demand_on
from warpreg.evaluation.runs.run import Run
from warpreg.evaluation.studies.study import Study, study
from warpreg.timing import CAUSES, TimingResult, Window, joined, simulate

MACHINES = ("gebhart", "corf-fermi", "gtx480", "gtx980", "titanx", "larf-gp102", "v100", "rtx3070")
MAX_INSTRUCTIONS = 500_000
"""Approximate number of warp-instructions timed per workload: the first thread blocks of each launch."""
MIN_BLOCKS = 64
MIN_SHARE = 0.005
"""A cause has no column if its share is below this on every machine."""


@dataclass(frozen=True, slots=True)
class Account:
    """The stall account of one workload, in slot-cycles.

    ``unaccounted``: difference between cycles x warp slots x SMs and the sum of the account.
    """

    causes: Mapping[str, int]
    unaccounted: int

    @property
    def shares(self) -> dict[str, float]:
        """Shares by cause of the cycles of slots that hold a warp."""
        occupied = {cause: cycles for cause, cycles in self.causes.items() if cause != "empty"}
        total = sum(occupied.values())
        return {cause: cycles / total if total else 0.0 for cause, cycles in occupied.items()}


@dataclass(frozen=True, slots=True)
class Accounted:
    """Measure: the account of the first thread blocks with up to `MAX_INSTRUCTIONS`, on a machine whose memory has no
    contention.
    """

    machine: str

    def __call__(self, run: Run) -> Account:
        return account_of(timed(run, with_cached_memory(gpu.load(self.machine))))


def timed(run: Run, machine: gpu.Machine) -> TimingResult:
    """Time the first thread blocks of each launch."""
    share = min(1.0, MAX_INSTRUCTIONS / run.warp_instructions)
    results = []
    for launch in run.launches:
        x, y, z = launch.grid
        window = Window(max(MIN_BLOCKS, round(x * y * z * share)))
        results.append(simulate([launch], machine, window=window, registers=demand_on(launch, machine)))
    return joined(results)


def account_of(result: TimingResult) -> Account:
    """The account of a result."""
    causes = result.stall_account
    return Account(causes, result.cycles * result.slots * result.sms - sum(causes.values()))


def table(study: Study, machines: Sequence[str]) -> str:
    """By machine: workloads, the largest error and share of `other`, and mean shares of occupied slot-cycles in
    percent.
    """
    means = {machine: _means(list(study[Accounted(machine)].values())) for machine in machines}
    kept = [c for c in CAUSES if any(mean.get(c, 0.0) >= MIN_SHARE for mean in means.values())]
    head = ["machine", "workloads", "unaccounted", "`other`", *kept]
    lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    for machine, mean in means.items():
        accounts = study[Accounted(machine)].values()
        worst = max(abs(one.unaccounted) for one in accounts)
        other = max(one.shares["other"] for one in accounts)
        cells = [machine, str(len(accounts)), str(worst), f"{other:.1%}", *(f"{100 * mean[c]:.1f}" for c in kept)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _means(accounts: Sequence[Account]) -> dict[str, float]:
    return {c: sum(one.shares[c] for one in accounts) / len(accounts) for c in CAUSES if c != "empty"}


@click.command()
@click.argument("names", nargs=-1)
@click.option("--machine", "machines", multiple=True, help=f"Default: {', '.join(MACHINES)}.")
@click.option("--size", type=click.Choice(("tiny", "small", "full")), default="tiny", show_default=True)
@click.option("--processes", type=click.IntRange(min=1), help="Default: one a processor.")
def main(names: tuple[str, ...], machines: tuple[str, ...], size: str, processes: int | None) -> None:
    """Account for the cycles of workloads (default: all)."""
    on = machines or MACHINES
    measures = [Accounted(machine) for machine in on]
    measured = study(names or workloads.names(), measures, size, processes=processes, progress=_tell, keep=True)
    print(table(measured, on))
    for name, reason in measured.reasons.items():
        print(f"{name}: {reason}", file=sys.stderr)
    wrong = [
        f"{name} on {measure.machine}"
        for measure in measures
        for name, one in measured[measure].items()
        if one.unaccounted or one.causes["other"]
    ]
    sys.exit(f"not accounted for: {', '.join(wrong)}" if wrong else 0)


def _tell(name: str) -> None:
    print(name, file=sys.stderr)


if __name__ == "__main__":
    from warpreg_workbench.suite import stall_account

    stall_account.main()
