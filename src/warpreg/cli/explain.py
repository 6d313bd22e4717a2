"""``warpreg explain``: print an annotated listing of a compiled kernel, with live ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from warpreg import codegen
from warpreg.cli import output
from warpreg.cli.compile_options import compile_options
from warpreg.cli.designs import one_value, set_option
from warpreg.cli.explorer import explore, subject_of
from warpreg.cli.launching import KERNEL_FILES, module_of
from warpreg.cli.listings import styled
from warpreg.cli.options import json_option, problem_options, trace_options
from warpreg.cli.source_lines import CostMeasurement, print_lines
from warpreg.cli.targets import check_reading
from warpreg.codegen import watch
from warpreg.codegen.regalloc.bank_assignment import conflicts, conflicts_of
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.evaluation.runs.comparison import BASELINE, DEFAULT_MACHINE, Setting
from warpreg.evaluation.runs.placement import Placement, placements
from warpreg.evaluation.runs.provenance import code_version, kernel_digest
from warpreg.evaluation.runs.row import Value
from warpreg.evaluation.runs.run import CompileChoice, find_workload
from warpreg.evaluation.runs.traces import TraceChoice, is_trace, recorded_run
from warpreg.gpu import Machine
from warpreg.ir.errors import UnknownNameError
from warpreg.ir.kernel import Kernel
from warpreg.ir.module import Module
from warpreg.ir.opcodes import classify
from warpreg.machine_code.assembler import MachineCode
from warpreg.report.listing import Line, Listing, listing
from warpreg.report.source_page import source_page
from warpreg.report.source_view import Cost, Explanation, source_lines, source_texts
from warpreg.trace.files import whole


@click.command()
@click.argument("target", metavar="KERNEL.cu|.ptx|.cubin|NAME|kernelslist.g")
@click.option("--kernel", help="Show only this kernel of the file.")
@click.option("--design", "design_name", metavar="NAME|FILE.py", help="Show the placement decisions of this design.")
@set_option
@click.option(
    "--print-after",
    "wanted",
    metavar="PASS|all",
    help="Print the kernel after this pass of the compiler, or after every pass that changed it.",
)
@click.option("--source", "by_line", is_flag=True, help="Print the lines of the source with what becomes of each.")
@click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write a page with the source beside the listing.",
)
@click.option(
    "--serve",
    is_flag=True,
    help="Show the source in the browser, to edit: what the compilers make of it stands beside it.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="With --serve: the port. Default: a free one.")
@click.option("--no-browser", is_flag=True, help="With --serve: print the address, do not open the browser.")
@click.option(
    "--energy",
    "costs",
    flag_value="energy",
    help="With --source or --html: run the workload and add the energy of register accesses under the design.",
)
@click.option("--cycles", "costs", flag_value="cycles", help="The same, and time it: also add where warps wait.")
@click.option("--machine", default=DEFAULT_MACHINE, show_default=True, help="Machine of the run (name or .toml file).")
@click.option(
    "--technology",
    help="Technology for the energy (name or .toml file). Default: the first that prices all designs, their own first,"
    " then gebhart-40nm.",
)
@problem_options("tiny")
@click.option("--verify-each", is_flag=True, help="Verify the kernel after every pass.")
@compile_options
@trace_options
@json_option
def command(
    target: str,
    kernel: str | None,
    design_name: str | None,
    settings: tuple[str, ...],
    wanted: str | None,
    by_line: bool,
    html: Path | None,
    serve: bool,
    port: int,
    no_browser: bool,
    costs: str | None,
    machine: str,
    technology: str | None,
    size: str,
    seed: int,
    verify_each: bool,
    choice: CompileChoice,
    reading: TraceChoice,
    as_json: bool,
) -> None:
    """Print a compiled kernel, or those of a hardware trace: blocks, instructions, source lines, live ranges and
    register pressure.
    """
    if serve:
        _expect_page_alone(bool(wanted or by_line or html or costs or as_json or choice.machine_code))
        explore(
            subject_of(target, kernel, choice, design_name, _values(design_name, settings)), port, show=not no_browser
        )
        return
    if costs and not (by_line or html):
        raise click.UsageError(f"--{costs} requires --source or --html")
    check_reading([target], reading)
    values = _values(design_name, settings)
    if is_trace(target):
        if wanted or by_line or html:
            raise click.UsageError("--print-after, --source and --html require a kernel file or workload")
        compiled = _recorded(target, reading, choice, kernel)
    else:
        module = _module(target, choice, kernel)
        names = module.kernel_names(kernel)
        options = _with_lines(choice.options_for(module)) if by_line or html else choice.options_for(module)
        if wanted:
            _check_passes(module, target, design_name)
            _print_passes(module, names, options, wanted, verify_each, as_json)
            return
        compiled = [codegen.translate(module, name, options, verify_each=verify_each) for name in names]
    if not costs:  # which are by instruction of the kernel without what a design adds
        compiled = [_rewritten(one, design_name, values) for one in compiled]
    notes = [_notes(one, design_name, values) for one in compiled]
    if by_line or html:
        spent: Mapping[str, Mapping[int, Cost]] = {}
        about, banks = {"Design": design_name or "none"}, choice.banks
        if costs:
            chosen = ConfiguredDesign.load(design_name or BASELINE, values)
            setting = Setting.load(machine, technology, [chosen])
            spent = CostMeasurement(target, size, seed, choice, chosen, setting).costs(costs == "cycles")
            about = {"Design": chosen.design.name, **_parameters(values), **_setting(setting), "Size": size}
            banks = banks or _banks(setting.machine)
        folder = _folder(target)
        views = [
            Explanation(
                listing(one),
                note,
                source_lines(one, folder),
                spent.get(one.name, {}),
                _conflicts(one, banks),
                source_texts(one, folder),
            )
            for one, note in zip(compiled, notes, strict=True)
        ]
        if html:
            with whole(html) as unfinished:
                unfinished.write_text(source_page(target, views, about), encoding="utf-8")
            click.echo(f"wrote {html}", err=as_json)
        if by_line:
            print_lines(views, as_json)
        return
    texts = [_texts(note, _conflicts(one, choice.banks)) for one, note in zip(compiled, notes, strict=True)]
    if as_json:
        output.print_json(
            [_as_dict(listing(one), note, choice.banks) for one, note in zip(compiled, texts, strict=True)]
        )
        return
    console = output.console()
    for one, note in zip(compiled, texts, strict=True):
        for line in styled(listing(one), note, choice.banks):
            console.print(line, soft_wrap=True)


def _expect_page_alone(is_other: bool) -> None:
    if is_other:
        raise click.UsageError("--serve shows a page: leave out --print-after, --source, --html, --json and --code")


def _print_passes(
    module: Module, names: list[str], options: codegen.CompileOptions, wanted: str, verify_each: bool, as_json: bool
) -> None:
    pass_name = watch.chosen(wanted)
    entries: list[dict[str, Any]] = []
    for name in names:
        ran = False
        for shot in watch.snapshots(module, name, options, pass_name, verify_each=verify_each):
            ran = True
            if as_json:
                entries.append({"kernel": name, "pass": shot.name, "changed": shot.is_changed, "text": shot.text()})
            else:
                _print_snapshot(name, shot, pass_name == watch.ALL)
        if not ran:
            raise click.UsageError(f"--print-after {wanted}: this pass does not run with these options")
    if as_json:
        output.print_json(entries)


def _print_snapshot(kernel: str, shot: watch.Snapshot, only_changes: bool) -> None:
    heading = f"{kernel} after {shot.name}"
    if not shot.is_changed:
        heading += ": no change"
    click.echo(f"== {heading}")
    if shot.is_changed or not only_changes:
        click.echo(shot.text())


def _module(target: str, choice: CompileChoice, kernel: str | None) -> Module:
    if Path(target).suffix in KERNEL_FILES:
        return module_of(target, choice, kernel)
    return find_workload(target).module(choice.cuda)


def _with_lines(options: codegen.CompileOptions) -> codegen.CompileOptions:
    """The same, where the code of ``ptxas`` names its source lines."""
    made = options.assembler
    return replace(options, assembler=replace(made, lines=True)) if isinstance(made, MachineCode) else options


def _check_passes(module: Module, target: str, design_name: str | None) -> None:
    """Machine code has been through no passes, and a design's code is no pass."""
    if module.code:
        raise click.UsageError(f"--print-after shows the passes of Warpreg's compiler; {target} is machine code")
    if design_name:
        raise click.UsageError("--print-after shows the compiler's passes: leave --design out")


def _recorded(target: str, reading: TraceChoice, choice: CompileChoice, kernel: str | None) -> list[Kernel]:
    """The kernels of a trace, or the one of this name.  Raises UnknownNameError for another name."""
    found = {one.name: one for one in recorded_run(target, reading, choice).kernels}
    if kernel is not None and kernel not in found:
        raise UnknownNameError("kernel", kernel, found)
    return [*found.values()] if kernel is None else [found[kernel]]


def _values(design_name: str | None, settings: Sequence[str]) -> Mapping[str, Value]:
    """The values of ``--set``.  Raises click.UsageError without a design or a value."""
    if settings and design_name is None:
        raise click.UsageError(f"--set {settings[0]} requires --design")
    return one_value(design_name, settings) if design_name is not None else {}


def _folder(target: str) -> Path:
    """Where the source files of the target are."""
    is_file = Path(target).suffix in KERNEL_FILES
    return Path(target).parent if is_file else find_workload(target).source.parent


def _parameters(values: Mapping[str, Value]) -> dict[str, str]:
    return {"Parameters": ", ".join(f"{name}={value}" for name, value in values.items())} if values else {}


def _setting(setting: Setting) -> dict[str, str]:
    return {"Machine": setting.machine.name, "Technology": setting.technology.name}


def _texts(notes: Mapping[int, Placement], conflicts: Mapping[int, int]) -> dict[int, str]:
    """Notes and bank conflicts by pc, in words."""
    words = {pc: f"{count} bank conflict{'s' if count > 1 else ''}" for pc, count in conflicts.items()}
    pcs = sorted({*notes, *words})
    return {
        pc: ", ".join([*([str(notes[pc])] if pc in notes else []), *([words[pc]] if pc in words else [])]) for pc in pcs
    }


def _banks(machine: Machine) -> int:
    """Banks that the operands of an instruction share; 0 if the register of a warp does not choose the bank."""
    file = machine.register_file
    if file.mapping == "warp" or not machine.collectors:
        return 0
    return file.banks // machine.schedulers.count if file.private_banks else file.banks


def _conflicts(kernel: Kernel, banks: int) -> dict[int, int]:
    """By pc, its bank conflicts, where there are some."""
    if not banks:
        return {}
    found = {pc: conflicts_of(one, banks) for pc, one in enumerate(kernel.instructions())}
    return {pc: count for pc, count in found.items() if count}


def _rewritten(kernel: Kernel, design_name: str | None, values: Mapping[str, Value]) -> Kernel:
    """The code that runs under the design."""
    if design_name is None:
        return kernel
    from warpreg.designs import load

    design = load(design_name, checked=False)
    return design.rewrite(kernel, design.configure(**values))


def _notes(kernel: Kernel, design_name: str | None, values: Mapping[str, Value]) -> dict[int, Placement]:
    """By pc, where the design reads and writes operands; empty for designs that decide at run time."""
    if design_name is None:
        return {}
    return placements(kernel, design_name, values)


def _as_dict(listed: Listing, notes: dict[int, str], banks: int) -> dict[str, Any]:
    kernel = listed.kernel
    return {
        "kernel": kernel.name,
        "digest": kernel_digest([kernel]),
        "code": code_version(),
        "registers": kernel.register_count,
        "register_demand": kernel.register_demand,
        **({"bank_conflicts": conflicts(kernel, banks)} if banks else {}),
        "predicates": kernel.predicate_count,
        "live_at_most": listed.pressure,
        "shared_bytes": kernel.shared_bytes,
        "local_bytes": kernel.local_bytes,
        "blocks": [
            {
                "block": block.block.index,
                "label": block.block.label,
                "successors": list(block.block.successors),
                "instructions": [_instruction(line, notes.get(line.pc)) for line in block.lines],
            }
            for block in listed.blocks
        ],
    }


def _instruction(line: Line, note: str | None) -> dict[str, Any]:
    unit, latency = classify(line.instruction)
    fields: dict[str, Any] = {
        "pc": line.pc,
        "text": str(line.instruction),
        "unit": unit.value,
        "latency": latency.value,
        "source": str(line.instruction.source) if line.instruction.source else None,
        "live_after": list(line.live),
    }
    control = line.instruction.control
    return fields | ({"control": str(control)} if control else {}) | ({"design": note} if note else {})
