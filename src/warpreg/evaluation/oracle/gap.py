"""The gap between greedy and optimal placements (not reported by the papers).

Each strand is placed by the algorithm of the design and by an integer program that may do all that the encoding of
operands allows (:mod:`warpreg.designs.parts.placement.stays`).  Savings are in pJ relative to the main register file
alone, per entry of a strand with each of its accesses executed once; this is the objective of both.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import asdict, dataclass, field
from multiprocessing import get_context
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg import simt
from warpreg.analysis.strands import Strand, strands
from warpreg.designs import program_table
from warpreg.designs.parts.placement.allocate import Allocation
from warpreg.designs.parts.placement.instances import Accesses, KernelView, accesses_of
from warpreg.designs.parts.placement.optimal_placement import LIMIT_S, Optimum, optimum, saved_pj
from warpreg.designs.parts.placement.stays import ANY, OWN, Choices
from warpreg.evaluation.oracle.greedy_steps import Algorithm, algorithm
from warpreg.evaluation.runs.row import Value
from warpreg.evaluation.runs.run import AS_COMPILED, CompileChoice, Run, find_workload, run_workload
from warpreg.evaluation.runs.worker_process import WorkerPool
from warpreg.ir.kernel import Kernel

STEPS: Mapping[str, Mapping[str, Choices]] = {
    "orf-lrf": {"ORF": OWN, "LRF with ORF": OWN, "all": ANY},
    "rsp": {"all": ANY},
}
"""Steps by design, from the ranges of its greedy allocation to all ranges.  In the step ORF the greedy contents of the
LRF are fixed.  The best of several greedy orders, if there are several, comes before these steps."""
ORDERS = "orders"


@dataclass(frozen=True, slots=True)
class OpenStrand:
    """A strand without a proven optimum; savings in pJ for one execution of each access."""

    kernel: str
    pc: int
    instructions: int
    greedy_pj: float
    best_pj: float
    bound_pj: float


@dataclass(frozen=True, slots=True)
class Gap:
    """Greedy against optimal placement over strands, each weighted by its number of entries; savings are relative to
    ``alone_pj``.
    """

    strands: int = 0
    instructions: int = 0
    """Executed warp-instructions."""
    proven_instructions: int = 0
    """Those in strands with a proven optimum."""
    alone_pj: float = 0.0
    """Energy of the main register file alone."""
    greedy_pj: float = 0.0
    """Saved by the greedy placement."""
    best_pj: float = 0.0
    """Saved by the optimal placement."""
    bound_pj: float = 0.0
    """What no placement saves more than."""
    unproven: tuple[OpenStrand, ...] = ()
    """Strands without a proven optimum."""
    steps: Mapping[str, float] = field(default_factory=dict)
    """Savings of optimal placements with increasing freedom (`STEPS`); empty unless requested."""
    executed: Mapping[str, float] = field(default_factory=dict)
    """Savings weighted with block frequencies: of the greedy placement, of the optimal one, and of the optimal one for
    these frequencies; empty unless requested.
    """

    @property
    def proven_share(self) -> float:
        """Share of executed instructions in strands with a proven optimum; 1 without instructions."""
        return self.proven_instructions / self.instructions if self.instructions else 1.0

    def as_dict(self) -> dict[str, Any]:
        """For JSON; ``greedy``, ``best`` and ``bound`` are energies normalized to the main register file alone."""
        alone = self.alone_pj or 1.0
        return {
            "strands": self.strands,
            "instructions": self.instructions,
            "greedy": 1 - self.greedy_pj / alone,
            "best": 1 - self.best_pj / alone,
            "bound": 1 - self.bound_pj / alone,
            "share_of_best": self.greedy_pj / self.best_pj if self.best_pj else 1.0,
            "proven_share": self.proven_share,
            "greedy_pj": self.greedy_pj,
            "best_pj": self.best_pj,
            "bound_pj": self.bound_pj,
            "alone_pj": self.alone_pj,
            "steps_pj": dict(self.steps),
            "executed_pj": dict(self.executed),
            "unproven": [asdict(one) for one in self.unproven],
        }


def total(gaps: Iterable[Gap]) -> Gap:
    """The sum of several gaps."""
    gaps = tuple(gaps)
    return Gap(
        strands=sum(one.strands for one in gaps),
        instructions=sum(one.instructions for one in gaps),
        proven_instructions=sum(one.proven_instructions for one in gaps),
        alone_pj=sum(one.alone_pj for one in gaps),
        greedy_pj=sum(one.greedy_pj for one in gaps),
        best_pj=sum(one.best_pj for one in gaps),
        bound_pj=sum(one.bound_pj for one in gaps),
        unproven=tuple(strand for one in gaps for strand in one.unproven),
        steps=_added(one.steps for one in gaps),
        executed=_added(one.executed for one in gaps),
    )


def _added(tables: Iterable[Mapping[str, float]]) -> Mapping[str, float]:
    sums: dict[str, float] = {}
    for table in tables:
        for name, pj in table.items():
            sums[name] = sums.get(name, 0.0) + pj
    return sums


@dataclass(frozen=True, slots=True)
class OracleGap:
    """The measure: ``values`` are parameters of the ``design``, ``limit_s`` the solver's time limit per strand;
    ``explains``: compute steps and executed savings too."""

    design: str = "orf-lrf"
    values: tuple[tuple[str, Value], ...] = ()
    limit_s: float = LIMIT_S
    explains: bool = False

    def __call__(self, run: Run) -> Gap:
        chosen = algorithm(self.design, dict(self.values))
        return total(gap for kernel in run.kernels for gap in self._gaps(kernel, chosen, _visits(run, kernel)))

    def _gaps(self, kernel: Kernel, chosen: Algorithm, visits: NDArray[np.int64]) -> Iterator[Gap]:
        view = KernelView(kernel, program_table(kernel))
        found = strands(kernel, chosen.rules, [bool(x) for x in view.program.long_latency])
        for strand in found.strands:
            entered = int(visits[strand.segments[0].block])
            if entered:
                yield self._gap(view, strand, chosen, visits, entered)

    def _gap(self, view: KernelView, strand: Strand, chosen: Algorithm, visits: NDArray[np.int64], entered: int) -> Gap:
        greedy = chosen.place(view, strand)
        saved = sum(placed.savings for placed in greedy)
        best = optimum(view, strand, chosen.upper, ANY, self.limit_s)
        executed = sum(int(visits[segment.block]) * len(segment.pcs) for segment in strand.segments)
        left = OpenStrand(view.kernel.name, strand.pcs[0], executed, saved, max(saved, best.savings), best.bound)
        frequency = {pc: int(visits[segment.block]) / entered for segment in strand.segments for pc in segment.pcs}
        steps = self._steps(view, strand, chosen, greedy, best) if self.explains else {}
        frequent = self._executed(view, strand, chosen, greedy, best, frequency) if self.explains else {}
        return Gap(
            strands=1,
            instructions=executed,
            proven_instructions=executed if best.proven else 0,
            alone_pj=entered * _alone(accesses_of(view, strand), chosen),
            greedy_pj=entered * saved,
            best_pj=entered * max(saved, best.savings),
            bound_pj=entered * best.bound,
            unproven=() if best.proven else (left,),
            steps={name: entered * pj for name, pj in steps.items()},
            executed={name: entered * pj for name, pj in frequent.items()},
        )

    def _steps(
        self, view: KernelView, strand: Strand, chosen: Algorithm, greedy: Sequence[Allocation], best: Optimum
    ) -> Mapping[str, float]:
        in_lrf = [placed for placed in greedy if placed.level != chosen.upper.level]
        steps = {}
        if chosen.others:
            tried = [greedy, *(place(view, strand) for place in chosen.others)]
            steps[ORDERS] = max(sum(placed.savings for placed in one) for one in tried)
        for name, choices in STEPS[self.design].items():
            given = in_lrf if name == "ORF" else None
            found = best if choices == ANY else optimum(view, strand, chosen.upper, choices, self.limit_s, given)
            steps[name] = max(
                sum(placed.savings for placed in greedy), found.savings + sum(placed.savings for placed in given or ())
            )
        return steps

    def _executed(
        self,
        view: KernelView,
        strand: Strand,
        chosen: Algorithm,
        greedy: Sequence[Allocation],
        best: Optimum,
        frequency: Mapping[int, float],
    ) -> Mapping[str, float]:
        """Savings per entry of the strand, with instructions weighted by their mean frequency."""

        def saved(placed: Iterable[Allocation]) -> float:
            costs = chosen.costs
            return sum(one.candidate.savings(costs[one.level], costs[0], frequency) for one in placed)

        upper = dataclasses.replace(chosen.upper, frequency=frequency)
        known = best
        if any(times != 1 for times in frequency.values()):
            known = optimum(view, strand, upper, ANY, self.limit_s)
        solved = saved_pj(best.placed, best.copied, upper) if best.placed else saved(greedy)
        return {"greedy": saved(greedy), "best": solved, "knowing": max(known.savings, saved(greedy), solved)}


def _visits(run: Run, kernel: Kernel) -> NDArray[np.int64]:
    visits = [launch.block_visits.astype(np.int64) for launch in run.launches_of(kernel)]
    summed: NDArray[np.int64] = np.sum(visits, axis=0)
    return summed


def _alone(found: Accesses, chosen: Algorithm) -> float:
    mrf = chosen.costs[0]
    reads = sum(len(read.words) * mrf.read[read.datapath] for read in found.reads)
    return reads + sum(len(write.words) * mrf.write[write.datapath] for write in found.writes)


def gaps(
    workloads: Sequence[str],
    measures: Sequence[OracleGap],
    size: str = "small",
    choice: CompileChoice = AS_COMPILED,
    processes: int = 1,
) -> Iterator[tuple[str, list[Gap]]]:
    """Name and gaps of each workload, in order of completion."""
    tasks = [(name, tuple(measures), size, choice) for name in workloads]
    if processes == 1 or len(tasks) == 1:
        yield from map(_measured, tasks)
        return
    with WorkerPool(processes, get_context("spawn")) as pool:
        for future in as_completed([pool.submit(_measured, task) for task in tasks]):
            yield future.result()


def _measured(task: tuple[str, tuple[OracleGap, ...], str, CompileChoice]) -> tuple[str, list[Gap]]:
    name, measures, size, choice = task
    run = run_workload(find_workload(name), size, choice=choice, record=simt.Record())
    return name, [measure(run) for measure in measures]
