"""A page of kernels beside their source: one HTML file that opens from disk.

The source is on the left and the listing on the right.  Pointing at a line, or moving to it with the arrow keys, marks
the instructions that belong to it, and the other way round.  Style and script are in `source_page.css` and
`source_page.js`; the page runs no other script and fetches nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from warpreg.report import inline
from warpreg.report.listing import Line
from warpreg.report.source_cells import Cells, head
from warpreg.report.source_view import Explanation, SourceLine

CONTEXT = 2
"""Lines of the source that are shown before and after those with instructions."""
MAX_BETWEEN = 12
"""Lines without instructions that are shown between two with instructions; more are left out."""
PARTS = {
    "ranges": "Live ranges", "energy": "Energy", "waits": "Waits", "widths": "Widths", "banks": "Bank conflicts",
    "places": "Placements", "notes": "Notes",
}  # fmt: skip
"""Columns that a reader can hide, by class."""
HEADS = {"energy": "nJ", "waits": "waits", "widths": "bytes"}
"""Columns of what a run has cost."""


def source_page(title: str, kernels: Sequence[Explanation], about: Mapping[str, str] | None = None) -> str:
    """The page as text; ``about`` says of what run and design the numbers are."""
    script, style = inline.text(__package__, "source_page.js"), inline.style(__package__, "source_page.css")
    policy = f"default-src 'none'; script-src 'sha256-{inline.sha256(script)}'; style-src 'unsafe-inline'"
    shown = [part for part in PARTS if any(part in _parts(kernel) for kernel in kernels)]
    body = "\n".join(part for place, kernel in enumerate(kernels) for part in _kernel(place, kernel))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)} · Warpreg</title>
<style>
{style}
</style>
</head>
<body>
<a class="skip" href="#main">Skip to the code</a>
<header>
<p class="name">Warpreg <span class="quiet">explain</span></p>
<h1>{escape(title)}</h1>
{_facts(about or {})}
<fieldset class="show"><legend>Show</legend>{"".join(_choice(part) for part in shown)}</fieldset>
</header>
<main id="main" tabindex="-1">
{body}
</main>
<script>{script}</script>
</body>
</html>
"""


def _parts(kernel: Explanation) -> list[str]:
    """The parts of which the kernel has something to show."""
    has = {
        "ranges": True,
        "energy": bool(kernel.costs),
        "widths": any(cost.widths for cost in kernel.costs.values()),
        "waits": kernel.is_timed,
        "banks": bool(kernel.conflicts),
        "places": any(note.places for note in kernel.notes.values()),
        "notes": bool(kernel.notes),
    }
    return [part for part in PARTS if has[part]]


def _choice(part: str) -> str:
    return f'<label><input type="checkbox" checked data-part="{part}"> {PARTS[part]}</label>'


def _facts(facts: Mapping[str, str]) -> str:
    told = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in facts.items())
    return f"<dl>{told}</dl>" if told else ""


def _kernel(place: int, explanation: Explanation) -> Iterator[str]:
    kernel, cells = explanation.listing.kernel, Cells.of(explanation)
    facts = {
        "Instructions": f"{kernel.instruction_count:,}",
        "Registers": str(kernel.register_count),
        "Live at most": str(explanation.listing.pressure),
    }
    if explanation.conflicts:
        facts["Bank conflicts"] = (
            f"{sum(explanation.conflicts.values()):,} in {len(explanation.conflicts)} instructions"
        )
    if explanation.costs:
        facts["Executed"] = f"{sum(cost.executed for cost in explanation.costs.values()):,} warp-instructions"
        facts["Register energy"] = f"{sum(cost.energy_pj for cost in explanation.costs.values()) / 1000:,.1f} nJ"
    if explanation.is_timed:
        facts["Waits"] = f"{sum(explanation.stalls(explanation.costs).values()):,} cycles of warps"
    parts, name = _parts(explanation), escape(kernel.name)
    yield f'<section aria-labelledby="kernel-{place}">'
    yield f'<h2 id="kernel-{place}">{name}</h2>{_facts(facts)}'
    yield from cells.legends()
    yield f'<div class="sides"><div class="side" role="region" aria-label="Source of {name}"><table>'
    yield f'<caption class="spoken">Source lines of {name}; the arrow keys move between lines</caption>'
    yield from _source(explanation, cells, parts)
    yield f'</table></div><div class="side" role="region" aria-label="Listing of {name}"><table>'
    yield f'<caption class="spoken">Instructions of {name}; the arrow keys move between them</caption>'
    yield from _listing(explanation, cells, parts)
    yield "</table></div></div></section>"


def _source(explanation: Explanation, cells: Cells, parts: Sequence[str]) -> Iterator[str]:
    costs = [part for part in HEADS if part in parts]
    heads = "".join(head(HEADS[part], f"number {part}") for part in costs)
    yield f"<thead><tr>{head('line', 'number')}{head('source')}{heads}{head('live', 'number less')}</tr></thead>"
    width = len(costs) + 3
    for file in dict.fromkeys(line.file for line in explanation.lines):
        yield "<tbody>"
        if file:
            yield f'<tr><th class="file" scope="rowgroup" colspan="{width}">{escape(file)}</th></tr>'
        by_number = {line.number: line for line in explanation.lines if line.file == file}
        for number in excerpt(list(by_number), len(explanation.texts.get(file, ()))):
            if number is None:
                yield f'<tr class="quiet gap"><td colspan="{width}">⋯</td></tr>'
            elif number in by_number:
                yield _source_row(by_number[number], explanation, cells, costs)
            else:
                code = _code(explanation.texts[file][number - 1], width - 1)
                yield f'<tr class="quiet"><th class="number" scope="row">{number}</th>{code}</tr>'
        yield "</tbody>"


def excerpt(numbers: Sequence[int], length: int) -> Iterator[int | None]:
    """The numbers of the lines that are shown of a file with so many lines; None where lines are left out."""
    shown = sorted(set(numbers))
    before = shown[0] - CONTEXT
    for number in (*shown, None):
        end = min(length, shown[-1] + CONTEXT) + 1 if number is None else number
        first = max(1, before)
        if number is not None and end - first > MAX_BETWEEN:
            yield None
        elif length:
            yield from range(first, end)
        if number is not None:
            yield number
            before = number + 1


def _source_row(line: SourceLine, explanation: Explanation, cells: Cells, costs: Sequence[str]) -> str:
    spent = "".join(cells.cost(part, line.pcs) for part in costs)
    return (
        f'<tr data-line="{escape(_key(line.file, line.number))}">'
        f'<th class="number" scope="row">{line.number or ""}</th>'
        f'{_code(line.text)}{spent}<td class="number less">{explanation.pressure(line)}</td></tr>'
    )


def _code(text: str, columns: int = 1) -> str:
    """A line of the source; where it wraps, it keeps its indentation."""
    line = text.expandtabs(4)
    indentation = len(line) - len(line.lstrip())
    return f'<td class="code" colspan="{columns}" style="--in: {indentation}">{escape(line.strip())}</td>'


def _listing(explanation: Explanation, cells: Cells, parts: Sequence[str]) -> Iterator[str]:
    tens, units = (escape(text) for text in explanation.listing.header())
    heads = {
        "ranges": head(f"{tens}\n{units}", "ranges", label="live ranges by register"),
        **{part: head(text, f"number {part}") for part, text in HEADS.items()},
        "banks": head("conflicts", "number banks"),
        "places": head("operands", "places"),
        "notes": head("notes", "notes"),
    }
    after = [part for part in parts if part != "ranges"]
    texts = "".join(heads[part] for part in after)
    yield f"<thead><tr>{head('pc', 'number')}{heads['ranges']}{head('instruction')}{texts}{head('live', 'number')}</tr>"
    yield "</thead>"
    for block in explanation.listing.blocks:
        title = escape(block.title)
        yield f'<tbody><tr><th class="file" scope="rowgroup" colspan="{len(after) + 4}">{title}</th></tr>'
        for line in block.lines:
            yield _listing_row(line, cells, after)
        yield "</tbody>"


def _listing_row(line: Line, cells: Cells, parts: Sequence[str]) -> str:
    source = line.instruction.source
    key = _key(source.file, source.line) if source else _key("", 0)
    return (
        f'<tr data-line="{escape(key)}"><th class="number" scope="row">{line.pc}</th>'
        f'<td class="ranges" aria-hidden="true">{line.ranges}</td><td>{instruction_text(line)}</td>'
        f'{"".join(cells.of_instruction(part, line.pc) for part in parts)}<td class="number">{line.pressure}</td></tr>'
    )


def instruction_text(line: Line) -> str:
    """An instruction with its opcode in bold."""
    opcode, _, operands = str(line.instruction).partition(" ")
    if opcode.startswith("@"):
        predicate, (opcode, _, operands) = f"{opcode} ", operands.partition(" ")
    else:
        predicate = ""
    return f"{escape(predicate)}<b>{escape(opcode)}</b> {escape(operands)}"


def _key(file: str, number: int) -> str:
    return f"{file}:{number}"
