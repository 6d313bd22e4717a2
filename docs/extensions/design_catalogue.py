"""Sphinx extension: write one page per design, from its docstring, declaration and parameters.

The pages are ``designs/NAME.md``, one for each name of ``warpreg.designs.names()``, and ``generated/designs.md``, the
table of all that the page of the catalogue includes.  They are written before each build and are not checked in, so a
new design needs no entry anywhere.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from warpreg import designs, energy, gpu
from warpreg.designs import Design
from warpreg.designs.interface import Logic, Table
from warpreg.designs.interface.parameters import ParameterSpec
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.energy import technology
from warpreg.energy.counts import Structure
from warpreg.evaluation.runs.hardware import check_prices
from warpreg.evaluation.runs.technologies import DEFAULT_TECHNOLOGY
from warpreg.ir.errors import WarpregError
from warpreg_papers.published import papers, results
from warpreg_papers.reproduction import PAPERS

if TYPE_CHECKING:
    from sphinx.application import Sphinx

BASELINE = "mrf"
SILENT = re.compile(r"Where the (?:paper|text|thesis) is silent(?:, ([^:]+))?:")
"""Begins what the source of a design leaves open."""
LIMITS = "Limits:"
EXAMPLE = "hotspot"
TIMED = ("scheduler", "sm")
TIMED_MACHINE = "gtx980-two-level"
MACHINES = dict.fromkeys(("packing", "virtualization", "corf", "corf-pp"), "corf-fermi")
TWO_SUPPLIES = ("power-gated", "all-tfet", "drowsy", "cmos-ra", "mem-ra", "ideal-mem-ra")
MACHINES["warped-compression"] = "gtx480"
MACHINES |= dict.fromkeys(TWO_SUPPLIES, "tfet") | dict.fromkeys(("larf", "las"), "larf-gp102")
"""Machines of designs whose parameters give the size of the register file."""
TECHNOLOGIES = dict.fromkeys(TWO_SUPPLIES, "tfet") | {"warped-compression": "common-40nm"}
"""Technologies of designs whose levels or logic few others have."""
RESULTS = {"warped-compression": "[Compressed registers](../explanation/register-compression.md)"}
"""Pages with results of designs whose papers are not reproduced."""
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
    loaded = [designs.load(name) for name in designs.names()]
    for design in loaded:
        _write(folder / f"{design.name}.md", page(design))
    generated = Path(app.srcdir) / "generated"
    generated.mkdir(exist_ok=True)
    _write(generated / "designs.md", overview(loaded))


def _write(path: Path, lines: Iterable[str]) -> None:
    text = "\n".join(lines) + "\n"
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def overview(loaded: Sequence[Design]) -> Iterator[str]:
    """The table of designs as lines of Markdown: links, the first sentence of each, slots and source."""
    yield from ("| design | idea | slot | source |", "|---|---|---|---|")
    for design in loaded:
        idea = " ".join(sections(inspect.getdoc(design.module) or "")[0].replace("``", "`").split())
        yield f"| [{design.name}](../designs/{design.name}.md) | {idea} | {_slots(design)} | {_paper(design)} |"


def _slots(design: Design) -> str:
    slot = design.declaration.slot
    return ", ".join(f"`{one}`" for one in (slot if isinstance(slot, tuple) else (slot,)))


def _paper(design: Design) -> str:
    """The short name of the paper; any other source in words."""
    paper = design.declaration.source.split()[0]
    return f"`{paper}`" if paper in PAPERS else design.declaration.source


def page(design: Design) -> Iterator[str]:
    """The page of a design as lines of Markdown."""
    idea, rules, silent, limits = sections(inspect.getdoc(design.module) or "")
    yield f"# {design.name}\n"
    yield _markdown(idea)
    yield from _part("Rules", rules)
    yield from _part("Where the source is silent", silent)
    yield from _parameters(design.parameters)
    yield from _storage(design)
    yield from _declaration(design)
    yield from _results(design)
    yield "## Limits\n"
    yield from (_markdown(text) for text in limits)
    yield from _needs(design)
    yield from _example(design)


def sections(docstring: str) -> tuple[str, list[str], list[str], list[str]]:
    """The parts of a docstring: its first paragraph, then the rules; from "Where the ... is silent" on, what the source
    leaves open; from "Limits:" on, limits.
    """
    idea, *paragraphs = docstring.split("\n\n")
    parts: tuple[list[str], list[str], list[str]] = ([], [], [])
    part = 0
    for paragraph in paragraphs:
        if found := SILENT.match(paragraph):
            part, paragraph = 1, _sentence(paragraph[found.end() :], found[1])
        elif paragraph.startswith(LIMITS):
            part, paragraph = 2, _sentence(paragraph.removeprefix(LIMITS))
        parts[part].append(paragraph)
    return idea, *parts


def _sentence(text: str, what: str | None = None) -> str:
    """What follows a colon as a paragraph of its own; ``what`` says where other rules are."""
    begun = text.lstrip()
    if begun and not begun.startswith("- "):
        begun = begun[0].upper() + begun[1:]
    return f"{what.strip().capitalize()}:\n{begun}" if what else begun


def _part(title: str, paragraphs: Sequence[str]) -> Iterator[str]:
    if paragraphs:
        yield f"## {title}\n"
        yield from (_markdown(text) for text in paragraphs if text)


def _markdown(docstring: str) -> str:
    """A docstring as Markdown: one backtick for code, an empty line before a list."""
    return docstring.replace("``", "`").replace(":\n- ", ":\n\n- ") + "\n"


def _declaration(design: Design) -> Iterator[str]:
    declared = design.declaration
    yield "## Source and declaration\n"
    yield from ("| | |", "|---|---|")
    yield f"| source | {declared.source} |"
    yield f"| slot | {_slots(design)} |"
    yield f"| levels | {', '.join(declared.levels)} |"
    yield f"| order | `{declared.order}`: {ORDERS[declared.order]} |"
    if declared.events:
        yield f"| counters | {', '.join(f'`{name}`' for name in declared.events)} |"
    if declared.resources:
        yield f"| quantities over time | {', '.join(f'`{name}`' for name in declared.resources)} |"
    yield f"| hooks | {', '.join(f'`{name}`' for name in design.hooks) or 'none'} |"
    yield ""


def _results(design: Design) -> Iterator[str]:
    """What its paper reports, measured; a baseline and a design without a paper have none."""
    paper = design.declaration.source.split()[0]
    if paper == "modern":
        yield "## Results\n"
        yield "[A modern GPU](../reference/modern-gpu.md) compares it with all other designs on the H100.\n"
    if paper not in PAPERS and design.name in papers():
        yield "## Results\n"
        yield "The source prints these results. `warpreg reproduce` does not measure them: its text was not at hand.\n"
        yield from ("| result | value | where |", "|---|---|---|")
        yield from (f"| {one.what} | {one.text or f'{one.value:g}'} | {one.where} |" for one in results(design.name))
        yield ""
        if design.name in RESULTS:
            yield f"{RESULTS[design.name]} shows runs beside them.\n"
    if paper not in PAPERS or design.name == BASELINE:
        return
    yield "## Results\n"
    yield f"`warpreg reproduce {paper}` measures what the source reports, and prints it beside the published values."
    page = Path(__file__).parents[1] / "reference" / f"reproduction-{paper}.md"
    if page.is_file():
        yield f"[Results at size small](../reference/{page.name}) shows them with figures."
    yield "[Reproducing the papers](../explanation/reproduction.md) explains method and differences.\n"


def _needs(design: Design) -> Iterator[str]:
    """Limits that follow from the declaration."""
    declared = design.declaration
    if declared.order in TIMED:
        yield "- Counts need the order of warps: a timing run or its schedule."
    if declared.uses:
        used = ", ".join(f"`{name}`" for name in declared.uses)
        yield f"- It uses the state of {used}: `--designs {'+'.join((*declared.uses, design.name))}`."
    if declared.patterns:
        yield "- It reads patterns of values, which hardware traces do not have."
    if declared.widths:
        yield "- It reads widths of values, which hardware traces do not have."
    if declared.lanes:
        yield "- It reads addresses of loads, which only a timing run knows."
    priced = ", ".join(f"`{name}`" for name in _technologies(design)) or "none"
    yield f"- Technologies that price it with its default parameters: {priced}.\n"


def _technologies(design: Design) -> Iterator[str]:
    choice = ConfiguredDesign.load(design.name)
    machine = gpu.load(MACHINES.get(design.name, TIMED_MACHINE))
    for name in technology.names():
        try:
            check_prices([choice], machine, energy.load(name))
        except WarpregError:
            continue
        yield name


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
    low, high = ("" if bound is None else f"{bound:,.10g}" for bound in (spec.low, spec.high))
    return f"{low} to {high}"


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _storage(design: Design) -> Iterator[str]:
    values = design.configure()
    machine = gpu.load(MACHINES.get(design.name, TIMED_MACHINE))
    yield "## Storage and hardware\n"
    yield "With the default parameters, as the energy model receives it:\n"
    yield from ("| level, table or logic | size |", "|---|---|")
    for structure in design.structures(values):
        yield f"| {structure.level} | {_size(structure)} |"
    for one in design.hardware(values, machine):
        yield f"| {one.name} | {_hardware(one)} |"
    if (collectors := design.collectors(values, machine)) is not None:
        size = f"{collectors.entries or 'enough'} entries, {collectors.instructions} instructions"
        yield f"| collector of each warp | {size} |"
    yield ""


def _hardware(one: Table | Logic) -> str:
    if isinstance(one, Table):
        size = f"{_many(one.entries, 'entry', 'entries')} of {_many(one.bits, 'bit')}"
        return f"table of {size} in {_many(one.banks, 'bank')}, {_many(one.stages, 'stage')}"
    return f"logic, charged for each {f'event `{one.event}`' if one.event else 'cycle'}"


def _size(structure: Structure) -> str:
    if structure.array is not None:
        array = structure.array
        return f"{_many(array.banks, 'bank')} of {_many(array.words, 'word')} of {_many(array.word_bits, 'bit')}"
    if structure.registers is not None:
        return _many(structure.registers, "warp-register")
    if structure.entries is None:
        return "register file of the machine"
    warps = "" if structure.warps is None else f", {structure.warps} warps"
    return f"{_many(structure.entries, 'warp-register')} per warp{warps}"


def _many(count: int, one: str, several: str = "") -> str:
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def _example(design: Design) -> Iterator[str]:
    """Commands to compare the design; those whose order of warps matters run with ``--cycles``."""
    own = "+".join((*design.declaration.uses, design.name))
    names = BASELINE if design.name == BASELINE else f"{BASELINE},{own}"
    priced_by = next(
        (str(spec.default) for spec in design.parameters if spec.name == "technology"),
        TECHNOLOGIES.get(design.name, DEFAULT_TECHNOLOGY),
    )
    options = "" if priced_by == DEFAULT_TECHNOLOGY else f" --technology {priced_by}"
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
