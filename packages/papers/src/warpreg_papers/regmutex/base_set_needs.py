"""How often a kernel needs more than its base set: ``python -m warpreg_papers.regmutex.base_set_needs``.

RegMutex gives a warp its base set of |Bs| registers always, and the extended set only while more are live (§4.1).  The
table shows, for the kernels of Table 4.1 with at most the printed number of registers and with |Bs| as printed, the
share of executed warp-instructions at which more than |Bs| registers are live, the mean of the live registers, and the
bytes that a thread spills: without passes that shorten live ranges, with them, and where these passes aim at |Bs|.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import click
import numpy as np

from warpreg.analysis.kernel_analysis import Analysis
from warpreg.counting.capacity import RecordedLaunch, frequencies_of
from warpreg.evaluation.runs.run import CompileChoice
from warpreg.ir.kernel import Kernel
from warpreg.simt import Record
from warpreg_papers.regmutex.codes import within_printed
from warpreg_papers.regmutex.kernels import TABLE, Entry

WITHOUT, SHORTENED, AIMED = "without", "with them", "aimed at the base set"
"""Codes by the passes that shorten live ranges."""


@dataclass(frozen=True, slots=True)
class Need:
    """``registers`` of a thread and its ``local_bytes``, spills included; of the executed warp-``instructions``, the
    share at which more registers than the base set are live, and the mean of the live registers."""

    registers: int
    local_bytes: int
    instructions: int
    above: float
    mean: float


def options(entry: Entry) -> Mapping[str, CompileChoice]:
    """The compile options of each code of a kernel."""
    return {
        WITHOUT: CompileChoice(sink=False, rematerialize=False),
        SHORTENED: CompileChoice(),
        AIMED: CompileChoice(live_words=entry.base),
    }


def need(kernel: Kernel, launches: Iterable[RecordedLaunch], base: int) -> Need:
    """The registers that a kernel needs in all its launches, of which ``base`` are the base set."""
    analysis = Analysis(kernel)
    live = (analysis.live_before | analysis.live_after | analysis.waiting[analysis.block_of]).sum(axis=1)
    blocks = np.sum([frequencies_of(launch)(kernel) for launch in launches], axis=0)
    executed = blocks[analysis.block_of]
    total = int(executed.sum())
    above, words = int(executed[live > base].sum()), int((executed * live).sum())
    return Need(kernel.register_demand, kernel.local_bytes, total, above / total, words / total)


def rows(workload: str, size: str) -> Iterator[tuple[str, Need]]:
    """A kernel of the table in each code."""
    entry = TABLE[workload]
    for name, choice in options(entry).items():
        run = within_printed(workload, size, 0, choice, Record(path=True))
        kernel = next(one for one in run.kernels if one.name == entry.kernel)
        yield name, need(kernel, run.launches_of(kernel), entry.base)


@click.command()
@click.option("--size", type=click.Choice(("tiny", "small", "full")), default="tiny", show_default=True)
@click.argument("workloads", nargs=-1, metavar="[NAME]...")
def main(size: str, workloads: tuple[str, ...]) -> None:
    """Print a row for each kernel of Table 4.1, or of these workloads, and code."""
    print("| kernel | base set | code | registers | local bytes | above the base set | mean live | instructions |")
    print("|---|---:|---|---:|---:|---:|---:|---:|")
    for workload in workloads or TABLE:
        for name, row in rows(workload, size):
            cells = (TABLE[workload].kernel, TABLE[workload].base, name, row.registers, row.local_bytes)
            print("|", *(f"{cell} |" for cell in cells), f"{row.above:.1%} | {row.mean:.1f} | {row.instructions} |")


if __name__ == "__main__":
    main()
