"""How far the greedy placement of the compiler-managed hierarchy is from the best one (no paper says)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from warpreg.analysis.strands import Strand
from warpreg.designs import load, program_table
from warpreg.designs.placement.hierarchy import Options, allocate, candidates, strands_of
from warpreg.designs.placement.instances import KernelView
from warpreg.designs.placement.optimum import LIMIT_S, optimum
from warpreg.experiments.result import Value
from warpreg.experiments.runs import Run
from warpreg.ir.kernel import Kernel


@dataclass(frozen=True, slots=True)
class Open:
    """A strand whose best placement was not proven in time; savings in pJ for one execution of each access."""

    kernel: str
    pc: int
    instructions: int
    greedy_pj: float
    best_pj: float
    bound_pj: float


@dataclass(frozen=True, slots=True)
class Gap:
    """Greedy against best over the strands of a run, each weighted by how often it was entered.

    ``instructions`` are executed warp-instructions, ``proven_instructions`` those in strands that were solved to proven
    optimality.  Savings are pJ over the main register file alone, by the energy model that both optimise; no placement
    saves more than ``bound_pj``.
    """

    strands: int
    instructions: int
    proven_instructions: int
    greedy_pj: float
    best_pj: float
    bound_pj: float
    unproven: tuple[Open, ...]

    @property
    def share_of_best(self) -> float:
        """What the greedy placement saves of what the best one does; 1 where nothing can be saved."""
        return self.greedy_pj / self.best_pj if self.best_pj else 1.0

    @property
    def proven_share(self) -> float:
        """Share of executed instructions in strands with a proven optimum; 1 without instructions."""
        return self.proven_instructions / self.instructions if self.instructions else 1.0

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "strands": self.strands,
            "instructions": self.instructions,
            "greedy_pj": self.greedy_pj,
            "best_pj": self.best_pj,
            "bound_pj": self.bound_pj,
            "share_of_best": self.share_of_best,
            "proven_share": self.proven_share,
            "unproven": [asdict(one) for one in self.unproven],
        }


@dataclass(frozen=True, slots=True)
class OracleGap:
    """The measure: ``values`` are parameters of the design orf-lrf, ``limit_s`` the solver's time for one strand."""

    values: tuple[tuple[str, Value], ...] = ()
    limit_s: float = LIMIT_S

    def __call__(self, run: Run) -> Gap:
        design = load("orf-lrf")
        options = cast(Options, cast(Any, design.module).options(design.configure(**dict(self.values))))
        found = [gap for kernel in run.kernels for gap in _gaps(kernel, options, _visits(run, kernel), self.limit_s)]
        return total(found)


def total(gaps: Iterable[Gap]) -> Gap:
    """Several gaps together."""
    gaps = tuple(gaps)
    return Gap(
        strands=sum(one.strands for one in gaps),
        instructions=sum(one.instructions for one in gaps),
        proven_instructions=sum(one.proven_instructions for one in gaps),
        greedy_pj=sum(one.greedy_pj for one in gaps),
        best_pj=sum(one.best_pj for one in gaps),
        bound_pj=sum(one.bound_pj for one in gaps),
        unproven=tuple(strand for one in gaps for strand in one.unproven),
    )


def _visits(run: Run, kernel: Kernel) -> NDArray[np.int64]:
    visits = [launch.block_visits.astype(np.int64) for launch in run.launches_of(kernel)]
    summed: NDArray[np.int64] = np.sum(visits, axis=0)
    return summed


def _gaps(kernel: Kernel, options: Options, visits: NDArray[np.int64], limit_s: float) -> Iterator[Gap]:
    program = program_table(kernel)
    view = KernelView(kernel, program)
    for strand in strands_of(kernel, program, options).strands:
        entered = int(visits[strand.segments[0].block])
        if entered:
            yield _gap(view, strand, options, visits, entered, limit_s)


def _gap(
    view: KernelView, strand: Strand, options: Options, visits: NDArray[np.int64], entered: int, limit_s: float
) -> Gap:
    outcome, _ = allocate(candidates(view, strand, options), options)
    greedy = sum(placed.savings for placed in outcome.placed)
    best = optimum(view, strand, options, limit_s)
    executed = sum(int(visits[segment.block]) * len(segment.pcs) for segment in strand.segments)
    left = Open(view.kernel.name, strand.pcs[0], executed, greedy, best.savings, best.bound)
    return Gap(
        strands=1,
        instructions=executed,
        proven_instructions=executed if best.proven else 0,
        greedy_pj=entered * greedy,
        best_pj=entered * best.savings,
        bound_pj=entered * best.bound,
        unproven=() if best.proven else (left,),
    )
