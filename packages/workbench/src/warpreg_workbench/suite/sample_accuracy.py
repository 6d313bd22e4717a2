"""Error and error range of sampled runs: ``python -m warpreg_workbench.suite.sample_accuracy``.

The first launch of each workload is timed completely and from samples of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import click

from warpreg import gpu, simt
from warpreg.evaluation.runs.demand import demand_on
from warpreg.evaluation.runs.run import find_workload, run_workload
from warpreg.timing import Sample, estimate, simulate

WORKLOADS = ("vector-add", "matrix-mul", "reduction", "bfs", "hotspot", "mandelbrot", "histogram", "spmv")
SAMPLES = {"8 windows": Sample(), "8 windows, a fifth of the SMs": Sample(sms=3)}
"""Samples of a machine with 15 SMs."""
MACHINE = "gtx480"
EVERYTHING = simt.Record(path=True, addresses=True)


@dataclass(frozen=True, slots=True)
class Accuracy:
    """One sample: cycles of the whole launch, estimate and margin; ``share`` of its instructions that were timed,
    including those in front of windows.
    """

    workload: str
    sample: str
    cycles: int
    estimated: float
    margin: float
    share: float

    @property
    def error(self) -> float:
        """Error of the estimate relative to the cycles of the whole launch."""
        return self.estimated / self.cycles - 1

    @property
    def is_within(self) -> bool:
        """Whether the cycles of the whole launch are in the range of the estimate."""
        return abs(self.estimated - self.cycles) <= max(self.margin, 0.5)


def accuracies(workload: str, size: str, machine: str) -> Iterator[Accuracy]:
    """Each sample of one workload."""
    described = gpu.load(machine)
    launch = run_workload(find_workload(workload), size, record=EVERYTHING).launches[0]
    registers = demand_on(launch, described)
    whole = simulate([launch], described, registers=registers)
    for name, sample in SAMPLES.items():
        found = estimate([launch], described, sample, registers=registers)
        share = found.timed.warp_instructions / whole.warp_instructions
        yield Accuracy(workload, name, whole.cycles, found.cycles, found.margin, share)


HEAD = ("| workload | cycles | sample | timed | error | range | within |", "|---|---:|---|---:|---:|---:|---|")


def line(row: Accuracy) -> str:
    """Error and half width of a sample in percent, and whether the error is inside the range: a line of `HEAD`."""
    width, within = f"±{row.margin / row.cycles:.1%}", "yes" if row.is_within else "no"
    return (
        f"| {row.workload} | {row.cycles:,} | {row.sample} | {row.share:.0%} | {row.error:+.1%} | {width} | {within} |"
    )


@click.command()
@click.argument("names", nargs=-1)
@click.option("--machine", default=MACHINE, show_default=True)
@click.option("--size", type=click.Choice(("tiny", "small", "full")), default="small", show_default=True)
def main(names: tuple[str, ...], machine: str, size: str) -> None:
    """Compare samples of workloads with complete runs."""
    print(*HEAD, sep="\n")
    for name in names or WORKLOADS:
        for row in accuracies(name, size, machine):
            print(line(row), flush=True)


if __name__ == "__main__":
    main()
