"""What the compilers make of a text, and what designs decide about it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warpreg import codegen, designs, ptx
from warpreg.evaluation.runs.placement import Placement, placements
from warpreg.evaluation.runs.run import CompileChoice
from warpreg.ir.cpp_names import short_name
from warpreg.ir.errors import WarpregError
from warpreg.ir.kernel import Kernel
from warpreg.ir.module import Module, SourceKernels
from warpreg.machine_code.assembler import MachineCode
from warpreg.ptx.cuda.sealed import compile_sealed
from warpreg.ptx.own_lines import by_own_lines
from warpreg.report.explorer.places import Problem, problems
from warpreg.report.explorer.subject import CUDA, OWN, Edit, Subject
from warpreg.report.explorer.table import table
from warpreg.report.listing import listing

MAX_KERNELS = 16
"""Kernels of a text that are compiled."""


@dataclass(frozen=True)
class View:
    """One code of one kernel: a ``title``, numbers of it by name, the listing as HTML; or what went wrong."""

    title: str
    code: str
    facts: Mapping[str, int]
    table: str
    problems: tuple[Problem, ...] = ()


def compiled(edit: Edit, subject: Subject) -> dict[str, Any]:
    """All that the page shows of a text: ``problems`` of the text, or ``kernels`` with their views, and the number of
    kernels that are ``left_out``, as JSON values.
    """
    try:
        module = _module(edit, subject)
        wanted = [name for one in subject.kernels or (None,) for name in module.kernel_names(one)]
    except WarpregError as error:
        return {"problems": [dataclasses.asdict(one) for one in problems(error, subject.name)], "kernels": []}
    kernels = [
        {
            "name": name,
            "shown": short_name(name),
            "views": [
                dataclasses.asdict(view)
                for code in edit.codes
                for view in _views(module, name, code, edit, subject.name)
            ],
        }
        for name in wanted[:MAX_KERNELS]
    ]
    return {"problems": [], "kernels": kernels, "left_out": max(0, len(wanted) - MAX_KERNELS)}


def _module(edit: Edit, subject: Subject) -> Module:
    if subject.language != CUDA:
        return by_own_lines(ptx.parse(edit.text, subject.name), subject.name)
    made = compile_sealed(edit.text, subject.name, edit.choice.cuda, subject.instances, subject.headers)
    source = SourceKernels(made.instances, made.templates)
    return dataclasses.replace(ptx.parse(made.ptx, f"<ptx of {subject.name}>"), source=source)


def _views(module: Module, name: str, code: str, edit: Edit, file: str) -> Iterator[View]:
    """The kernel, and once more under each design that changes its code."""
    try:
        kernel = codegen.translate(module, name, _options(code, edit.choice))
    except WarpregError as error:
        yield View(code, code, {}, "", tuple(problems(error, file)))
        return
    notes: dict[str, Mapping[int, Placement]] = {}
    failed: list[Problem] = []
    own: list[View] = []
    for design_name, values in (edit.designs if code == edit.shown else {}).items():
        shown = Path(design_name).stem
        try:
            design = designs.load(design_name, checked=False)
            chosen = dataclasses.asdict(design.configure(**values))
            changed = design.rewrite(kernel, design.configure(**values))
            found = placements(changed, design_name, chosen)
        except WarpregError as error:
            failed += [Problem(f"{shown}: {one.message}") for one in problems(error, file)]
            continue
        if changed.blocks == kernel.blocks:
            notes[shown] = found
        else:
            own.append(_view(f"{code} · {shown}", code, changed, {shown: found}, file))
    yield dataclasses.replace(_view(code, code, kernel, notes, file), problems=tuple(failed))
    yield from own


def _view(title: str, code: str, kernel: Kernel, notes: Mapping[str, Mapping[int, Placement]], file: str) -> View:
    facts = {
        "Registers": kernel.register_demand,
        "Live at most": listing(kernel).pressure,
        "Instructions": kernel.instruction_count,
        "Local bytes": kernel.local_bytes,
        "Shared bytes": kernel.shared_bytes,
    }
    return View(title, code, facts, table(kernel, notes, file))


def _options(code: str, choice: CompileChoice) -> codegen.CompileOptions:
    if code == OWN:
        return choice.options()
    assembler = dataclasses.replace(MachineCode.of(code, choice.max_registers), lines=True)
    return codegen.CompileOptions(assembler=assembler)
