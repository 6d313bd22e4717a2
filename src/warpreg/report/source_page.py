"""A page of kernels beside their source: one HTML file that opens from disk.

Source lines are on the left and the listing on the right.  Pointing at a line, or moving to it with the tab key, marks
the instructions that belong to it, and the other way round.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from warpreg.report.listing import LEGEND
from warpreg.report.source_view import Explained

STYLE = """
:root { color-scheme: light dark; --ink: #222; --paper: #fff; --quiet: #666; --mark: #fff1b8; --bar: #bfe1f6; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #ddd; --paper: #181818; --quiet: #999; --mark: #4a4000; --bar: #0a4a70; }
}
body { color: var(--ink); background: var(--paper); font: 14px/1.45 system-ui, sans-serif; margin: 1rem; }
.sides { display: grid; grid-template-columns: minmax(20rem, 2fr) minmax(30rem, 3fr); gap: 1rem; }
.side { overflow: auto; max-height: 85vh; border: 1px solid var(--quiet); }
table { border-collapse: collapse; font: 12px/1.5 ui-monospace, monospace; white-space: pre; width: 100%; }
th { text-align: left; position: sticky; top: 0; background: var(--paper); }
td, th { padding: 0 .5rem; } td.number { text-align: right; } .quiet { color: var(--quiet); }
tr.marked { background: var(--mark); } tr:focus { outline: 2px solid var(--quiet); }
.bar { background: linear-gradient(to right, var(--bar) var(--share), transparent var(--share)); }
@media (max-width: 60rem) { .sides { grid-template-columns: 1fr; } .side { max-height: none; } }
@media print { .side { max-height: none; overflow: visible; } }
"""
SCRIPT = """
for (const kernel of document.querySelectorAll(".sides")) {
  const mark = (key, on) => kernel.querySelectorAll("tr[data-line]").forEach(row => {
    if (row.dataset.line === key) row.classList.toggle("marked", on);
  });
  for (const row of kernel.querySelectorAll("tr[data-line]")) {
    const key = row.dataset.line;
    for (const [enter, leave] of [["mouseenter", "mouseleave"], ["focus", "blur"]]) {
      row.addEventListener(enter, () => mark(key, true));
      row.addEventListener(leave, () => mark(key, false));
    }
    row.addEventListener("click", () => {
      const side = row.closest(".side");
      for (const other of kernel.querySelectorAll(".side")) {
        const found = [...other.querySelectorAll("tr[data-line]")].find(one => one.dataset.line === key);
        if (other !== side && found) found.scrollIntoView({block: "center"});
      }
    });
  }
}
"""


def source_page(title: str, kernels: Sequence[Explained]) -> str:
    """The page as text."""
    body = "\n".join(part for kernel in kernels for part in _kernel(kernel))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n"
        f"<body><h1>{escape(title)}</h1>\n{body}\n<script>{SCRIPT}</script></body></html>\n"
    )


def _kernel(found: Explained) -> Iterator[str]:
    kernel = found.listing.kernel
    yield f"<h2>{escape(kernel.name)}</h2>"
    yield (
        f"<p>{kernel.instruction_count} instructions, {kernel.register_count} registers, {found.listing.pressure} live "
        f'at most. <span class="quiet">{escape(LEGEND)}</span></p>'
    )
    yield '<div class="sides"><div class="side"><table>'
    yield from _source(found)
    yield '</table></div><div class="side"><table>'
    yield from _listing(found)
    yield "</table></div></div>"


def _source(found: Explained) -> Iterator[str]:
    most = max((found.energy_pj(line) for line in found.lines), default=0.0)
    costs = ["nJ"] if found.costs else []
    costs += ["waits"] if any(cost.waits is not None for cost in found.costs.values()) else []
    yield f"<tr>{''.join(f'<th>{name}</th>' for name in ('line', *costs, 'code', 'live', 'source'))}</tr>"
    for line in found.lines:
        spent = found.energy_pj(line)
        share = f' style="--share: {100 * spent / most:.1f}%"' if most else ""
        cells = (*_costs(costs, spent, found.waits(line)), str(len(line.pcs)), str(found.pressure(line)))
        yield (
            f'<tr tabindex="0" data-line="{escape(_key(line.file, line.number))}">'
            f'<td class="number">{line.number or ""}</td>'
            + "".join(f'<td class="number">{cell}</td>' for cell in cells)
            + f'<td class="bar"{share}>{escape(line.text)}</td></tr>'
        )


def _costs(names: Sequence[str], energy_pj: float, waits: int | None) -> list[str]:
    values = {"nJ": f"{energy_pj / 1000:,.2f}", "waits": "" if waits is None else f"{waits:,}"}
    return [values[name] for name in names]


def _listing(found: Explained) -> Iterator[str]:
    costs = ["nJ"] if found.costs else []
    costs += ["waits"] if any(cost.waits is not None for cost in found.costs.values()) else []
    tens, units = (escape(text) for text in found.listing.header())
    heads = ("pc", f"{tens}\n{units}", "live", "instruction", *costs, "notes")
    yield f"<tr>{''.join(f'<th>{name}</th>' for name in heads)}</tr>"
    for block in found.listing.blocks:
        yield f'<tr><td></td><td colspan="{len(heads) - 1}"><b>{escape(block.title)}</b></td></tr>'
        for line in block.lines:
            source, cost = line.instruction.source, found.costs.get(line.pc)
            key = _key(source.file, source.line) if source else _key("", 0)
            spent = _costs(costs, cost.energy_pj, cost.waits) if cost else [""] * len(costs)
            yield (
                f'<tr tabindex="0" data-line="{escape(key)}"><td class="number">{line.pc}</td>'
                f'<td class="quiet">{line.ranges}</td><td class="number">{line.pressure}</td>'
                f"<td>{escape(str(line.instruction))}</td>"
                + "".join(f'<td class="number">{one}</td>' for one in spent)
                + f'<td class="quiet">{escape(found.notes.get(line.pc, ""))}</td></tr>'
            )


def _key(file: str, number: int) -> str:
    return f"{file}:{number}"
