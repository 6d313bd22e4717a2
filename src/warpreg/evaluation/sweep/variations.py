"""Variations of a comparison that a ranking should stand: another instruction order, address width or machine.

Each changes one thing of the comparison, so a case that turns the ranking names its cause.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warpreg import gpu
from warpreg.evaluation.runs.choices import Grids, attempted
from warpreg.evaluation.runs.comparing import Comparison, Progress, RunOptions
from warpreg.evaluation.runs.counting import CountingMethod
from warpreg.evaluation.runs.row import Failure, Row
from warpreg.evaluation.runs.run import CompileChoice
from warpreg.evaluation.sweep.found_rows import compared_once
from warpreg.ir.errors import WarpregError

ORDER, ADDRESS_BITS, MACHINE = "order", "address-bits", "machine="
ALL_BITS = (32, 64)


class VariationError(WarpregError):
    """A variation that there is not."""


@dataclass(frozen=True, slots=True)
class Variation:
    """The machine and compile options of a comparison."""

    name: str
    """What differs from the comparison itself; empty for that."""
    machine: str
    choice: CompileChoice

    def named(self, failure: Failure) -> Failure:
        """A failure that names the variation."""
        return dataclasses.replace(failure, workload=f"{failure.workload} ({self.name})") if self.name else failure

    def rows(self, results: Sequence[Row | Failure], size: str, seed: int) -> list[tuple[str, dict[str, Any]]]:
        """The rows that have a result with the values of all axes, each with the label of its design."""
        axes = {"machine": self.machine, "size": size, "seed": seed, "compile": self.choice.as_dict()}
        return [
            (one.label, {**one.as_dict(), **axes, "technology": one.provenance.technology})
            for one in results
            if isinstance(one, Row)
        ]


def variations(named: Sequence[str], machine: str, choice: CompileChoice) -> list[Variation]:
    """The comparison itself, then what is named.  Raises VariationError for anything else."""
    requested = [Variation("", machine, choice)]
    for name in dict.fromkeys(named):
        if name == ORDER:
            requested.append(Variation(name, machine, dataclasses.replace(choice, schedule=not choice.schedule)))
        elif name == ADDRESS_BITS:
            (bits,) = (one for one in ALL_BITS if one != choice.address_bits)
            requested.append(Variation(name, machine, dataclasses.replace(choice, address_bits=bits)))
        elif name.startswith(MACHINE) and name != MACHINE:
            gpu.load(name.removeprefix(MACHINE))
            requested.append(Variation(name, name.removeprefix(MACHINE), choice))
        else:
            raise VariationError(f"{name}: expected {ORDER}, {ADDRESS_BITS} or {MACHINE}NAME")
    return requested


@dataclass(frozen=True, slots=True)
class VariationStudy:
    """Designs on workloads or traces, to be compared under several variations."""

    names: Sequence[str]
    """Workloads and traces."""
    grids: Grids
    technology: str
    how: CountingMethod
    making: RunOptions
    """How runs are made; its compile options are those of the variation."""
    unchecked: bool = False
    """Hooks of design files run without checks."""

    def compared(
        self,
        varied: Sequence[Variation],
        processes: int,
        done: Progress = lambda name: None,
        found: Progress = lambda name: None,
        *,
        recompute: bool = False,
    ) -> Iterator[list[Row | Failure]]:
        """The rows of each variation, those of designs with refused values last; ``recompute`` as in `compared_once`.

        All designs are checked before anything is measured.
        """
        for whole, failures in [self._comparison(one) for one in varied]:
            yield [*compared_once(whole, self.names, processes, done, found, recompute=recompute), *failures]

    def _comparison(self, one: Variation) -> tuple[Comparison, list[Failure]]:
        """The comparison under a variation, and the rows of designs that it cannot have."""
        own, refused = attempted(self.grids, machine=gpu.load(one.machine), unchecked=self.unchecked)
        making = dataclasses.replace(self.making, choice=one.choice)
        sources = tuple((design.source, design.parameters) for design in own)
        whole = Comparison(sources, self.unchecked, one.machine, self.technology, self.how, making)
        return whole, [bad.on(name) for name in self.names for bad in refused]


def against(results: Sequence[Row | Failure], baseline: str) -> Iterator[Row | Failure]:
    """Rows normalized to the baseline on the same run; where that has failed, so has the row."""
    by_run: Mapping[str, Row] = {
        one.workload: one for one in results if isinstance(one, Row) and one.design == baseline
    }
    causes = {
        one.workload: f": {one.message}" for one in results if isinstance(one, Failure) and one.design in (baseline, "")
    }
    for one in results:
        if isinstance(one, Failure):
            yield one
        elif one.workload in by_run:
            yield one.against(by_run[one.workload])
        else:
            yield Failure(
                one.workload,
                f"the baseline {baseline} has no result{causes.get(one.workload, '')}",
                one.design,
                one.parameters,
                one.defaults,
            )
