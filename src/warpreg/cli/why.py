"""``warpreg why``: where two designs differ, by instruction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from warpreg import energy, gpu
from warpreg.cli import output
from warpreg.cli.compile_options import compile_options
from warpreg.cli.cycles import recorded
from warpreg.cli.designs import design_choices, set_option
from warpreg.cli.launching import LaunchSpec, launch_options
from warpreg.cli.listings import styled
from warpreg.cli.options import (
    json_option,
    limit_option,
    machine_option,
    problem_options,
    technology_option,
    trace_options,
    unchecked_option,
)
from warpreg.cli.targets import TARGET, run_target
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.energy import Technology
from warpreg.evaluation.runs.by_instruction import ByInstruction, by_instruction
from warpreg.evaluation.runs.comparison import Setting
from warpreg.evaluation.runs.counting import Timed
from warpreg.evaluation.runs.provenance import NOTE, code_version
from warpreg.evaluation.runs.run import CompileChoice, Run
from warpreg.evaluation.runs.traces import TraceChoice
from warpreg.gpu import Machine
from warpreg.ir.cpp_names import forms, normal
from warpreg.ir.errors import UnknownNameError
from warpreg.ir.kernel import Kernel
from warpreg.report.listing import listing

ELSEWHERE = "between instructions"


@click.command()
@click.argument("first", metavar="DESIGN")
@click.argument("second", metavar="DESIGN")
@click.argument("target", metavar=TARGET)
@launch_options
@set_option
@machine_option
@technology_option
@click.option("--cycles", is_flag=True, help="Time the kernel under both designs: also print where warps wait.")
@click.option(
    "--top", type=click.IntRange(min=1), default=10, show_default=True, metavar="N", help="Rows of the sorted table."
)
@problem_options("tiny")
@compile_options
@limit_option
@trace_options
@unchecked_option
@json_option
def command(
    first: str,
    second: str,
    target: str,
    launching: LaunchSpec,
    settings: tuple[str, ...],
    machine: str,
    technology: str | None,
    cycles: bool,
    top: int,
    size: str,
    seed: int,
    choice: CompileChoice,
    max_instructions: int | None,
    reading: TraceChoice,
    unchecked: bool,
    as_json: bool,
) -> None:
    """Show where two designs differ on a kernel: accesses and energy of each instruction, sorted and over the listing.

    Of a run with several kernels, --kernel names one; by default it is the one that executes most instructions. The
    same design is compared with itself if --set gives a parameter two values.

    \b
    warpreg why mrf rfc hotspot
    warpreg why rfc rfc hotspot --set rfc.entries=2,6
    warpreg why rfc bow-wr hotspot --cycles --machine gtx480
    """
    described = gpu.load(machine)
    choices = _two(first, second, settings, described, unchecked)
    setting = Setting.load(described, technology, choices)
    setting.check(choices)
    timed = Timed() if cycles else None
    with output.alone(as_json), output.steps() as progress:
        progress.begin(f"running {target}")
        record = recorded(timed, choices)
        run = run_target(target, launching, size, seed, choice, max_instructions, reading, record)
        kernel = _chosen(run, launching.kernel)
        found = []
        for one in choices:
            progress.begin(f"{'timing' if cycles else 'counting'} {one.design.name}")
            found.append(by_instruction(run, kernel, one, setting.machine, timed))
    difference = Difference(found[0], found[1], (_label(choices[0]), _label(choices[1])), setting.technology)
    if as_json:
        output.print_json(_as_dict(run, difference, setting))
    else:
        _print(run, difference, top)


@dataclass(frozen=True)
class Difference:
    """Two designs on one kernel, with their labels."""

    first: ByInstruction
    second: ByInstruction
    labels: tuple[str, str]
    technology: Technology

    @property
    def kernel(self) -> Kernel:
        return self.first.kernel

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels of either design."""
        return tuple(dict.fromkeys((*self.first.total.levels, *self.second.total.levels)))

    def uses(self, pc: int) -> dict[str, tuple[int, int]]:
        """By level, its reads and writes under both designs."""
        return {level: (_uses(self.first, pc, level), _uses(self.second, pc, level)) for level in self.levels}

    def energies(self) -> list[tuple[float, float]]:
        """By row, the pJ of arrays and wires under both designs."""
        rows = range(self.kernel.instruction_count + 1)
        return [(self._energy(self.first, pc), self._energy(self.second, pc)) for pc in rows]

    def _energy(self, found: ByInstruction, pc: int) -> float:
        return energy.account(found.row(pc).energy_list(), self.technology).total_pj


def _two(first: str, second: str, settings: Sequence[str], machine: Machine, unchecked: bool) -> list[ConfiguredDesign]:
    """The two designs.  Raises click.UsageError if there are more or fewer."""
    choices = design_choices(list(dict.fromkeys((first, second))), settings, machine=machine, unchecked=unchecked)
    if len(choices) != 2:
        remedy = f"; --set {first}.PARAMETER=A,B compares two values" if first == second else ""
        raise click.UsageError(f"expected two designs with one value for each parameter, found {len(choices)}{remedy}")
    return choices


def _label(choice: ConfiguredDesign) -> str:
    """The design with the values that are not its defaults."""
    defaults = choice.design.defaults
    told = [f"{name}={value}" for name, value in choice.parameters.items() if value != defaults.get(name)]
    return f"{choice.design.name}({', '.join(told)})" if told else choice.design.name


def _chosen(run: Run, name: str | None) -> Kernel:
    if name is None:
        return max(run.kernels, key=lambda one: sum(int(each.warp_instructions) for each in run.launches_of(one)))
    for kernel in run.kernels:
        if name == run.name or normal(name) in forms(kernel.name):
            return kernel
    raise click.UsageError(f"--kernel: {UnknownNameError('kernel in this run', name, [k.name for k in run.kernels])}")


def _uses(found: ByInstruction, pc: int, level: str) -> int:
    levels = found.total.levels
    return found.uses(pc, levels.index(level)) if level in levels else 0


def _print(run: Run, difference: Difference, top: int) -> None:
    kernel, energies = difference.kernel, difference.energies()
    total = sum(after - before for before, after in energies)
    order = sorted(range(len(energies)), key=lambda pc: -abs(energies[pc][1] - energies[pc][0]))
    console = output.console()
    console.print(_summary(run, difference, energies), highlight=False)
    texts = [str(instruction) for instruction in kernel.instructions()] + [ELSEWHERE]
    rows = [_row(difference, pc, texts[pc], energies[pc], total) for pc in order[:top]]
    columns = [name for name in rows[0] if name != "waits" or difference.first.cycles is not None]
    output.print_tables([output.table(rows, columns)])
    console.print("\naccesses and waits: first design -> second, where they differ; share: of the whole difference\n",
                  style="dim")  # fmt: skip
    for line in styled(listing(kernel), _notes(difference, energies)):
        console.print(line, soft_wrap=True)


def _summary(run: Run, difference: Difference, energies: Sequence[tuple[float, float]]) -> str:
    """Both designs in a line each."""
    launches = len(run.launches_of(difference.kernel))
    lines = [f"{difference.kernel.name}, {launches} {'launch' if launches == 1 else 'launches'}"]
    if run.note:
        lines[0] += f" ({run.note})"
    if others := [kernel.name for kernel in run.kernels if kernel is not difference.kernel]:
        lines[0] += f"; not shown: {', '.join(others)}"
    for place, (label, found) in enumerate(zip(difference.labels, (difference.first, difference.second), strict=True)):
        spent = sum(one[place] for one in energies) / 1000
        cycles = "" if found.cycles is None else f", {found.cycles:,.0f} cycles"
        lines.append(f"  {label}: {spent:,.1f} nJ in arrays and wires{cycles}")
    return "\n".join(lines) + "\n"


def _row(difference: Difference, pc: int, text: str, spent: tuple[float, float], total: float) -> Mapping[str, Any]:
    last = difference.kernel.instruction_count
    more = spent[1] - spent[0]
    waits = int(difference.first.waited[pc]), int(difference.second.waited[pc])
    return {
        "pc": "" if pc == last else str(pc),
        "instruction": text,
        "executed": int(difference.first.issued[pc]),
        **{f"{level}": _pair(pair) for level, pair in difference.uses(pc).items()},
        "nJ": f"{more / 1000:+,.2f}",
        "share": f"{more / total:.1%}" if total else "",
        "waits": _pair(waits),
    }


def _pair(pair: tuple[int, int]) -> str:
    return f"{pair[0]:,}" if pair[0] == pair[1] else f"{pair[0]:,} -> {pair[1]:,}"


def _notes(difference: Difference, energies: Sequence[tuple[float, float]]) -> dict[int, str]:
    """By pc, what differs."""
    notes = {}
    for pc in range(difference.kernel.instruction_count):
        words = [f"{level} {_pair(pair)}" for level, pair in difference.uses(pc).items() if pair[0] != pair[1]]
        more = energies[pc][1] - energies[pc][0]
        words += [f"{more / 1000:+,.2f} nJ"] if more else []
        waits = int(difference.second.waited[pc] - difference.first.waited[pc])
        words += [f"waits {waits:+,}"] if waits else []
        if words:
            notes[pc] = ", ".join(words)
    return notes


def _as_dict(run: Run, difference: Difference, setting: Setting) -> dict[str, Any]:
    energies = difference.energies()
    texts = [str(instruction) for instruction in difference.kernel.instructions()] + [None]
    timed = difference.first.cycles is not None
    rows = [
        {
            "pc": None if text is None else pc,
            "text": text,
            "executed": int(difference.first.issued[pc]),
            "accesses": {level: list(pair) for level, pair in difference.uses(pc).items()},
            "energy_pj": list(energies[pc]),
            **({"waits": [int(difference.first.waited[pc]), int(difference.second.waited[pc])]} if timed else {}),
        }
        for pc, text in enumerate(texts)
    ]
    return {
        "run": run.name,
        **({NOTE: run.note} if run.note else {}),
        "kernel": difference.kernel.name,
        "designs": list(difference.labels),
        **({"cycles": [difference.first.cycles, difference.second.cycles]} if timed else {}),
        "energy_pj": [sum(one[place] for one in energies) for place in (0, 1)],
        "instructions": rows,
        "machine": setting.machine.name,
        "technology": setting.technology.name,
        "code": code_version(),
    }
