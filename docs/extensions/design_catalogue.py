"""Sphinx extension: write one page per design, from its docstring, declaration and parameters.

The pages are ``designs/NAME.md``, one for each name of ``warpreg.designs.names()``.  They are written before each build
and are not checked in, so a new design needs no entry anywhere.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from warpreg import designs
from warpreg.designs import Design
from warpreg.designs.interface.parameters import ParameterSpec
from warpreg.energy.counts import Structure
from warpreg.experiments.runs.comparison import DEFAULT_TECHNOLOGY

if TYPE_CHECKING:
    from sphinx.application import Sphinx

BASELINE = "mrf"
EXAMPLE = "hotspot"
TIMED = ("scheduler", "sm")
TIMED_MACHINE = "gtx980-two-level"
MACHINES = dict.fromkeys(("packing", "virtualization", "corf", "corf-pp"), "corf-fermi")
TWO_SUPPLIES = ("power-gated", "all-tfet", "drowsy", "cmos-ra", "mem-ra", "ideal-mem-ra")
MACHINES |= dict.fromkeys(TWO_SUPPLIES, "tfet") | dict.fromkeys(("larf", "las"), "larf-gp102")
"""Machines of designs whose parameters give the size of the register file."""
TECHNOLOGIES = dict.fromkeys(TWO_SUPPLIES, "tfet")
"""Technologies of designs whose levels few others have."""
ORDERS = {
    "static": "accesses depend on the compiled kernel only",
    "warp": "accesses depend on the path of one warp",
    "scheduler": "accesses depend on the order of the warps of a scheduler; needs `--cycles` or `--schedule`",
    "sm": "accesses depend on the order of all warps of an SM; needs `--cycles` or a schedule of that order",
}
"""What the declared order means for a user."""


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages when the builder starts."""
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True}


def write_pages(app: Sphinx) -> None:
    """One page per design; unchanged pages keep their time stamp, pages of removed designs are deleted."""
    folder = Path(app.srcdir) / "designs"
    for path in folder.glob("*.md"):
        if path.stem not in ("index", *designs.names()):
            path.unlink()
    for name in designs.names():
        path = folder / f"{name}.md"
        text = "\n".join(page(designs.load(name))) + "\n"
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def page(design: Design) -> Iterator[str]:
    """The page of a design as lines of Markdown."""
    yield f"# {design.name}\n"
    yield _markdown(inspect.getdoc(design.module) or "")
    yield from _declaration(design)
    yield from _parameters(design.parameters)
    yield from _storage(design)
    yield from _example(design)


def _markdown(docstring: str) -> str:
    """A docstring as Markdown: one backtick for code, an empty line before a list."""
    return docstring.replace("``", "`").replace(":\n- ", ":\n\n- ") + "\n"


def _declaration(design: Design) -> Iterator[str]:
    declared = design.declaration
    yield "## Declaration\n"
    yield from ("| | |", "|---|---|")
    yield f"| source | {declared.source} |"
    yield f"| slot | `{declared.slot}` |"
    yield f"| levels | {', '.join(declared.levels)} |"
    yield f"| order | `{declared.order}`: {ORDERS[declared.order]} |"
    if declared.events:
        yield f"| counters | {', '.join(f'`{name}`' for name in declared.events)} |"
    yield ""


def _parameters(specs: tuple[ParameterSpec, ...]) -> Iterator[str]:
    if not specs:
        return
    yield "## Parameters\n"
    yield from ("| name | default | values | unit | source and meaning |", "|---|---|---|---|---|")
    for spec in specs:
        yield f"| `{spec.name}` | `{_shown(spec.default)}` | {_values(spec)} | {spec.unit} | {spec.source} |"
    yield ""


def _values(spec: ParameterSpec) -> str:
    if spec.choices:
        return ", ".join(f"`{choice}`" for choice in spec.choices)
    if spec.type is bool:
        return "`true`, `false`"
    if spec.low is None and spec.high is None:
        return "text" if spec.type is str else "number"
    low, high = ("" if bound is None else f"{bound:g}" for bound in (spec.low, spec.high))
    return f"{low} to {high}"


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _storage(design: Design) -> Iterator[str]:
    yield "## Storage\n"
    yield "The storage behind each level with the default parameters, as the energy model receives it:\n"
    yield from ("| level | size |", "|---|---|")
    for structure in design.structures(design.configure()):
        yield f"| {structure.level} | {_size(structure)} |"
    yield ""


def _size(structure: Structure) -> str:
    if structure.array is not None:
        array = structure.array
        return f"{array.words} words of {array.word_bits} bits in each of {array.banks} banks"
    if structure.registers is not None:
        return f"{structure.registers} warp-registers"
    if structure.entries is None:
        return "register file of the machine"
    warps = "" if structure.warps is None else f", {structure.warps} warps"
    return f"{structure.entries} warp-registers per warp{warps}"


def _example(design: Design) -> Iterator[str]:
    """Commands to compare the design; those whose order of warps matters run with ``--cycles``."""
    own = "+".join((*design.declaration.uses, design.name))
    names = BASELINE if design.name == BASELINE else f"{BASELINE},{own}"
    technology = next(
        (str(spec.default) for spec in design.parameters if spec.name == "technology"),
        TECHNOLOGIES.get(design.name, DEFAULT_TECHNOLOGY),
    )
    options = "" if technology == DEFAULT_TECHNOLOGY else f" --technology {technology}"
    if design.declaration.order in TIMED or design.name in TECHNOLOGIES:
        options += f" --cycles --machine {MACHINES.get(design.name, TIMED_MACHINE)}"
    command = f"warpreg compare {EXAMPLE} --designs {names}{options}"
    yield "## Example\n"
    yield "```"
    yield command
    default = design.parameters[0].default if design.parameters else None
    if isinstance(default, int) and not isinstance(default, bool):
        values = ",".join(map(str, sorted({max(1, default // 2), default, default * 2})))
        yield f"{command} --set {design.name}.{design.parameters[0].name}={values}"
    yield "```"
