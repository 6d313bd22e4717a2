"""The listing of a kernel as HTML: one row per instruction, with live ranges, reads of values, and designs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape

from warpreg.analysis.values import values
from warpreg.evaluation.runs.placement import Placement
from warpreg.ir.kernel import Kernel
from warpreg.report.listing import LEGEND, Line, Listing, listing
from warpreg.report.source_cells import Cells, head
from warpreg.report.source_page import instruction_text
from warpreg.report.source_view import Explanation

MAX_ROWS = 5_000
"""Instructions that a table shows; a browser lays out more of them slowly."""
READS = "instructions that read the value / instructions to the last of them"


def table(kernel: Kernel, notes: Mapping[str, Mapping[int, Placement]], file: str) -> str:
    """A table of a kernel; ``notes`` are the decisions of designs by their names and by pc.

    ``data-line`` of a row is its line in ``file``; a row of another file names its place.
    """
    listed = listing(kernel)
    cells = {name: Cells.of(Explanation(listed, note, (), {})) for name, note in notes.items()}
    name = escape(kernel.name)
    return (
        f'{_legends(cells)}<div class="rows" role="region" aria-label="Instructions of {name}" tabindex="-1"><table>'
        f'<caption class="spoken">Instructions of {name}; the arrow keys move between them, Enter goes to the source'
        f"</caption>{_heads(listed, cells)}{''.join(_blocks(listed, cells, file))}</table></div>"
    )


def _legends(cells: Mapping[str, Cells]) -> str:
    levels = "".join(cell.level_legend(name) for name, cell in cells.items() if cell.levels)
    return f'<div class="legends"><p>{escape(LEGEND)}</p>{levels}</div>'


def _heads(listed: Listing, cells: Mapping[str, Cells]) -> str:
    ranges = escape("\n".join(listed.header()))
    designs = "".join(head(escape(name), "design") for name in cells)
    return (
        f"<thead><tr>{head('pc', 'number')}{head(ranges, 'ranges', label='live ranges by register')}"
        f'{head("instruction")}<th scope="col" class="number" title="{READS}">reads / life</th>'
        f"{head('live', 'number')}{designs}</tr></thead>"
    )


def _blocks(listed: Listing, cells: Mapping[str, Cells], file: str) -> Iterator[str]:
    reuse, rows = reads(listed.kernel), 0
    for block in listed.blocks:
        yield f'<tbody><tr><th class="file" scope="rowgroup" colspan="{len(cells) + 5}">{escape(block.title)}</th></tr>'
        for line in block.lines:
            if rows == MAX_ROWS:
                more = f"and {listed.kernel.instruction_count - MAX_ROWS:,} more instructions"
                yield f'<tr class="quiet"><td colspan="{len(cells) + 5}">{more}</td></tr></tbody>'
                return
            rows += 1
            yield _row(line, reuse.get(line.pc, ""), cells, file)
        yield "</tbody>"


def _row(line: Line, reuse: str, cells: Mapping[str, Cells], file: str) -> str:
    source = line.instruction.source
    place = f' data-line="{source.line}"' if source and source.file == file else ""
    elsewhere = f' title="{escape(str(source))}"' if source and not place else ""
    control = f'<span class="quiet control">{escape(line.control.strip())}</span> ' if line.control else ""
    designs = "".join(f'<td class="design">{_decided(cell, line.pc)}</td>' for cell in cells.values())
    return (
        f'<tr data-pc="{line.pc}"{place}{elsewhere}><th class="number" scope="row">{line.pc}</th>'
        f'<td class="ranges" aria-hidden="true">{line.ranges}</td><td>{control}{instruction_text(line)}</td>'
        f'<td class="number quiet">{reuse}</td><td class="number">{line.pressure}</td>{designs}</tr>'
    )


def _decided(cell: Cells, pc: int) -> str:
    places, words = cell.places(pc), cell.words(pc)
    return f'{places} <span class="quiet">{words}</span>' if places and words else places or words


def reads(kernel: Kernel) -> dict[int, str]:
    """By pc, how often the value of a register that an instruction writes is read, and its lifetime: ``2 / 7``.

    A wide value counts once.  A value that several instructions write, or that is read in a later iteration of a loop,
    has no lifetime here.
    """
    found, shown = values(kernel), {}
    for pc, numbers in enumerate(found.written):
        made = [found.values[number] for number in numbers]
        readers = {reader for value in made for reader in value.reads}
        if not made:
            continue
        is_single = all(value.definitions == (pc,) for value in made) and min(readers, default=0) > pc
        shown[pc] = f"{len(readers)} / {max(readers) - pc}" if readers and is_single else f"{len(readers)}"
    return shown
