"""The options ``--source``, ``--energy`` and ``--cycles`` of ``warpreg explain``."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from warpreg import energy
from warpreg.cli import output
from warpreg.cli.cycles import recorded
from warpreg.cli.launching import KERNEL_FILES
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.evaluation.runs.by_instruction import by_instruction
from warpreg.evaluation.runs.comparison import Setting
from warpreg.evaluation.runs.counting import Timed
from warpreg.evaluation.runs.run import CompileChoice, Run, find_workload, run_workload
from warpreg.evaluation.runs.stalls_by_instruction import stalls_by_instruction
from warpreg.evaluation.runs.value_widths import value_deltas, value_widths
from warpreg.ir.kernel import Kernel
from warpreg.report.source_view import Cost, Explanation, SourceLine, mean_width
from warpreg.timing import CAUSES


@dataclass(frozen=True)
class CostMeasurement:
    """A run of a workload that costs are measured on."""

    target: str
    size: str
    seed: int
    options: CompileChoice
    choice: ConfiguredDesign
    setting: Setting

    def costs(self, is_timed: bool) -> Mapping[str, Mapping[int, Cost]]:
        """By kernel and pc.  Raises click.UsageError for a kernel file, which has no launches."""
        if Path(self.target).suffix in KERNEL_FILES:
            raise click.UsageError(f"--energy and --cycles need launches: a workload or launch file, not {self.target}")
        self.setting.check([self.choice])
        timed = Timed() if is_timed else None
        with output.steps() as progress:
            progress.begin(f"running {self.target}")
            record = dataclasses.replace(recorded(timed, [self.choice]), patterns=True)
            run = run_workload(find_workload(self.target), self.size, self.seed, self.options, record)
            by_kernel = {}
            for kernel in run.kernels:
                progress.begin(f"counting {kernel.name}")
                counts = by_instruction(run, kernel, self.choice, self.setting.machine, timed)
                widths, deltas = value_widths(run, kernel).tolist(), value_deltas(run, kernel).tolist()
                stalls = self._stalls(run, kernel) if is_timed else [None] * kernel.instruction_count
                by_kernel[kernel.name] = {
                    pc: Cost(
                        int(counts.issued[pc]),
                        energy.account(counts.row(pc).energy_list(), self.setting.technology).total_pj,
                        widths[pc],
                        stalls[pc],
                        deltas[pc],
                    )
                    for pc in range(kernel.instruction_count)
                }
        return by_kernel

    def _stalls(self, run: Run, kernel: Kernel) -> list[dict[str, int] | None]:
        found = stalls_by_instruction(run, kernel, self.choice, self.setting.machine).tolist()
        return [{cause: cycles for cause, cycles in zip(CAUSES, row, strict=True) if cycles} for row in found]


def print_lines(kernels: Sequence[Explanation], as_json: bool) -> None:
    """The source lines of kernels as tables, or as JSON."""
    if as_json:
        output.print_json([{"kernel": one.listing.kernel.name, "lines": _rows(one, whole=True)} for one in kernels])
        return
    tables = []
    for one in kernels:
        rows = _rows(one)
        columns = [name for name in rows[0] if any(row[name] is not None for row in rows)]
        tables.append(output.table(rows, columns, one.listing.kernel.name))
    output.print_tables(tables)


def _rows(view: Explanation, whole: bool = False) -> list[dict[str, Any]]:
    """A row for each line; ``whole`` keeps file and pcs as values."""
    rows = []
    for line in view.lines:
        place = {"file": line.file, "line": line.number} if whole else {"line": str(line.number or "")}
        rows.append(
            {
                **place,
                "source": line.text if whole else line.text.strip(),
                "pcs": list(line.pcs) if whole else line.spans,
                "instructions": len(line.pcs),
                "live": view.pressure(line),
                "executed": view.executed(line) if view.costs else None,
                "nJ": round(view.energy_pj(line) / 1000, 3) if view.costs else None,
                "bytes": _rounded(mean_width(view.widths(line.pcs))),
                "deltas": _rounded(mean_width(view.deltas(line.pcs), least=0)),
                "waits": view.waits(line),
                **({"stalls": view.stalls(line.pcs)} if whole else {"mostly": _main_cause(view, line)}),
            }
        )
    return rows


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 2)


def _main_cause(found: Explanation, line: SourceLine) -> str | None:
    """What warps mostly wait for before the instructions of a line."""
    return next(iter(found.stalls(line.pcs)), "") if found.is_timed else None
