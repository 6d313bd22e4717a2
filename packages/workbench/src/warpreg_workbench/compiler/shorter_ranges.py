"""What shorter live ranges change: ``python -m warpreg_workbench.compiler.shorter_ranges``.

Every kernel of the workloads is compiled without the passes that move computations and recompute values, with them for
the words of a thread at full occupancy (`Target.unhurried`), and wherever they can (``live_words=0``).  The table has,
by target, the registers, the ratio to those of `ptxas` (`warpreg.workloads.vendor`, as in ``warpreg bench compiler``),
the bytes of local memory, and static instructions.  ``--executed`` adds the warp-instructions that workloads execute at
size tiny (target ``plain``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import click

from warpreg import codegen, workloads
from warpreg.evaluation.runs.row import geometric_mean
from warpreg.evaluation.runs.run import CompileChoice, find_workload, run_workload
from warpreg.ptx import parse
from warpreg.simt import Record
from warpreg.workloads.vendor import vendor_kernels
from warpreg_workbench.compiler.bench import SIZE, percentile_90, ratio

WITHOUT, FULL, EVERYWHERE = "without", "for full occupancy", "everywhere"
TARGETS = tuple(codegen.TARGETS)


def choices(target: str) -> Mapping[str, CompileChoice]:
    """The compile options of each code."""
    full = codegen.target(target).unhurried
    words = {WITHOUT: None, FULL: full, EVERYWHERE: 0}
    return {code: CompileChoice(target=target, live_words=most) for code, most in words.items()}


@dataclass(frozen=True, slots=True)
class CompiledKernel:
    """A kernel of a workload: ``registers`` of a thread, its ``local_bytes``, and static ``instructions``."""

    workload: str
    kernel: str
    registers: int
    local_bytes: int
    instructions: int


def compiled(workload: str, choice: CompileChoice) -> Iterator[CompiledKernel]:
    """The kernels of a workload in one code."""
    path = workloads.find(workload).ptx_path
    module, options = parse(path.read_text(encoding="utf-8"), path.name), choice.options()
    for function in module.kernels:
        kernel = codegen.translate(module, function.name, options)
        yield CompiledKernel(
            workload, function.name, kernel.register_demand, kernel.local_bytes, kernel.instruction_count
        )


def executed(workload: str, choice: CompileChoice) -> int:
    """Warp-instructions of a workload at size tiny."""
    run = run_workload(find_workload(workload), SIZE, 0, choice, Record(path=False))
    return sum(int(launch.warp_instructions) for launch in run.launches)


@dataclass(frozen=True, slots=True)
class Change:
    """All kernels on one target in one code, compared with those ``WITHOUT``: how many need fewer and more registers;
    the geometric mean and 90th percentile of the ratios to `ptxas`, None where its registers are not known."""

    target: str
    code: str
    registers: int
    fewer: int
    more: int
    geomean: float | None
    percentile: float | None
    local_bytes: int
    instructions: int


def change(target: str, code: str, before: Sequence[CompiledKernel], after: Sequence[CompiledKernel]) -> Change:
    """The kernels of a code compared with the same kernels in another."""
    pairs = [(old.registers, new.registers) for old, new in zip(before, after, strict=True)]
    theirs = {(row.workload, row.kernel): row.registers for row in vendor_kernels() if row.target == target}
    ratios = [ratio(one.registers, theirs[key]) for one in after if (key := (one.workload, one.kernel)) in theirs]
    return Change(
        target,
        code,
        sum(new for _, new in pairs),
        sum(new < old for old, new in pairs),
        sum(new > old for old, new in pairs),
        geometric_mean(ratios) if ratios else None,
        percentile_90(ratios) if ratios else None,
        sum(one.local_bytes for one in after),
        sum(one.instructions for one in after),
    )


def line(row: Change) -> str:
    """A row of the table."""
    ratios = " | ".join("" if value is None else f"{value:.3f}" for value in (row.geomean, row.percentile))
    counts = f"{row.registers} | {row.fewer} | {row.more}"
    return f"| {row.target} | {row.code} | {counts} | {ratios} | {row.local_bytes} | {row.instructions} |"


HEAD = (
    "| target | code | registers | fewer | more | ratio, geomean | p90 | local bytes | instructions |",
    "|---|---|---:|---:|---:|---:|---:|---:|---:|",
)


def _print_executed(names: Sequence[str]) -> None:
    codes = choices(codegen.PLAIN.name)
    totals = dict.fromkeys(codes, 0)
    for name in names:
        counts = {code: executed(name, choice) for code, choice in codes.items()}
        totals = {code: totals[code] + counts[code] for code in codes}
        for code, count in counts.items():
            if count > counts[WITHOUT]:
                print(f"{name}, {code}: {count - counts[WITHOUT]:+} of {counts[WITHOUT]} warp-instructions", flush=True)
    for code, count in totals.items():
        print(f"{code}: {count} warp-instructions, {count / totals[WITHOUT] - 1:+.3%}")


@click.command()
@click.argument("names", nargs=-1)
@click.option("--executed", "is_executed", is_flag=True, help="Also run every workload and count instructions.")
@click.option("--kernels", "is_each", is_flag=True, help="Also print the kernels whose registers change.")
def main(names: tuple[str, ...], is_executed: bool, is_each: bool) -> None:
    """Compile all workloads, or these, with and without shorter live ranges."""
    names = names or tuple(workloads.names())
    print(*HEAD, sep="\n")
    for target in TARGETS:
        codes = {code: _all(names, choice) for code, choice in choices(target).items()}
        for code, after in codes.items():
            print(line(change(target, code, codes[WITHOUT], after)), flush=True)
            for old, new in zip(codes[WITHOUT], after, strict=True) if is_each else ():
                if old.registers != new.registers:
                    print(f"  {new.workload} {new.kernel}: {old.registers} -> {new.registers}")
    if is_executed:
        _print_executed(names)


def _all(names: Sequence[str], choice: CompileChoice) -> list[CompiledKernel]:
    return [one for name in names for one in compiled(name, choice)]


if __name__ == "__main__":
    main()
