"""Variations of a comparison that a ranking should stand: another instruction order, address width or machine.

Each changes one thing of the comparison, so a case that turns the ranking names its cause.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import click

from warpreg import gpu
from warpreg.cli.rankings import Rows
from warpreg.evaluation.runs.row import Failure, Row
from warpreg.evaluation.runs.run import CompileChoice

ORDER, ADDRESS_BITS, MACHINE = "order", "address-bits", "machine="
ALL_BITS = (32, 64)


@dataclass(frozen=True, slots=True)
class Variation:
    """The machine and compile options of a comparison; ``name`` is what differs from the comparison itself."""

    name: str
    machine: str
    choice: CompileChoice

    def named(self, failure: Failure) -> Failure:
        """A failure that names the variation."""
        return dataclasses.replace(failure, workload=f"{failure.workload} ({self.name})") if self.name else failure

    def rows(self, found: Sequence[Row | Failure], size: str, seed: int) -> Rows:
        """The rows that have a result, as a ranking takes them."""
        axes = {"machine": self.machine, "size": size, "seed": seed, "compile": self.choice.as_dict()}
        return [
            (one.label, {**one.as_dict(), **axes, "technology": one.provenance.technology})
            for one in found
            if isinstance(one, Row)
        ]


def variations(named: Sequence[str], machine: str, choice: CompileChoice) -> list[Variation]:
    """The comparison itself, then what ``--vary`` names.  Raises click.UsageError for anything else."""
    found = [Variation("", machine, choice)]
    for name in dict.fromkeys(named):
        if name == ORDER:
            found.append(Variation(name, machine, dataclasses.replace(choice, schedule=not choice.schedule)))
        elif name == ADDRESS_BITS:
            (bits,) = (one for one in ALL_BITS if one != choice.address_bits)
            found.append(Variation(name, machine, dataclasses.replace(choice, address_bits=bits)))
        elif name.startswith(MACHINE) and name != MACHINE:
            gpu.load(name.removeprefix(MACHINE))
            found.append(Variation(name, name.removeprefix(MACHINE), choice))
        else:
            raise click.UsageError(f"--vary {name}: expected {ORDER}, {ADDRESS_BITS} or {MACHINE}NAME")
    return found
