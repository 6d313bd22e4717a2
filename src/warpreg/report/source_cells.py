"""The cells of a page of source and listing: energy, widths, waits by cause, and placements."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from warpreg.report.listing import LEGEND
from warpreg.report.source_view import Explanation, mean_width

COLOURS = 12
"""Of the style sheet, for causes and levels; further ones begin again."""
SIZES = ("1 byte", "2 bytes", "3 bytes", "4 bytes")


def head(text: str, kind: str = "", label: str = "") -> str:
    """The heading of a column."""
    named = f' aria-label="{escape(label)}"' if label else ""
    return f'<th scope="col" class="{kind}"{named}>{text}</th>'


def bar(share: float) -> str:
    """A bar of a share of the highest value."""
    return f'<span class="bar" style="--share: {100 * share:.1f}%"></span>'


def stack(parts: Mapping[int, float], scale: str = "series") -> str:
    """A bar of parts with their colours; the parts are shares of the bar."""
    stops, end = [], 0.0
    for colour, share in parts.items():
        stops.append(f"var(--{scale}-{colour % COLOURS}) {100 * end:.1f}% {100 * (end + share):.1f}%")
        end += share
    return f'<span class="bar" style="--stops: {", ".join(stops)}, transparent 0"></span>' if stops else ""


@dataclass(frozen=True)
class Cells:
    """Cells of a kernel.  Bars are shares of the highest value of their side; ``causes`` and ``levels`` are in the
    order of their colours.
    """

    explanation: Explanation
    most_of_lines: Mapping[str, float]
    most_of_instructions: Mapping[str, float]
    causes: Sequence[str]
    levels: Sequence[str]

    @staticmethod
    def of(explanation: Explanation) -> Cells:
        """The cells of a kernel."""
        places = (place for note in explanation.notes.values() for place in note.places)
        return Cells(
            explanation,
            _most(explanation, [line.pcs for line in explanation.lines]),
            _most(explanation, [(pc,) for pc in explanation.costs]),
            list(explanation.stalls(explanation.costs)),
            list(dict.fromkeys(level for place in places for level in _levels(place))),
        )

    def legends(self) -> Iterator[str]:
        """What signs and colours mean."""
        entries = [f'<p class="ranges">{escape(LEGEND)}</p>']
        if any(cost.widths for cost in self.explanation.costs.values()):
            entries.append(_legend("Significant bytes of written values", SIZES, "widths", "size"))
        if self.causes:
            entries.append(_legend("Cycles that warps wait before an instruction, by cause", self.causes, "waits"))
        if self.levels:
            entries.append(self.level_legend("Where operands are"))
        yield f'<div class="legends">{"".join(entries)}</div>'

    def level_legend(self, title: str) -> str:
        """The colours of the levels of a register file."""
        return _legend(title, self.levels, "places")

    def places(self, pc: int) -> str:
        """Where the design puts the operands of an instruction; empty without."""
        note = self.explanation.notes.get(pc)
        return " ".join(map(self._place, note.places)) if note else ""

    def words(self, pc: int) -> str:
        """What else the design says of an instruction."""
        note = self.explanation.notes.get(pc)
        words = [*note.facts, *(["strand ends"] if note.ends_strand else []), note.reason] if note else []
        return escape(", ".join(filter(None, words)))

    def cost(self, part: str, pcs: Sequence[int]) -> str:
        """A cell of a source line."""
        return self._cost(part, pcs, self.most_of_lines)

    def of_instruction(self, part: str, pc: int) -> str:
        """A cell of an instruction."""
        if part in ("energy", "widths", "waits"):
            return self._cost(part, (pc,), self.most_of_instructions)
        if part == "banks":
            count = self.explanation.conflicts.get(pc, "")
            return f'<td class="number banks">{f"<span class=badge>{count}</span>" if count else ""}</td>'
        if part == "places":
            return f'<td class="places">{self.places(pc)}</td>'
        return f'<td class="quiet notes">{self.words(pc)}</td>'

    def _cost(self, part: str, pcs: Sequence[int], most: Mapping[str, float]) -> str:
        explanation = self.explanation
        known = [explanation.costs[pc] for pc in pcs if pc in explanation.costs]
        if part == "energy":
            energy = sum(cost.energy_pj for cost in known)
            share = energy / most["energy"] if most["energy"] else 0.0
            return f'<td class="number energy">{bar(share)}{energy / 1000:,.2f}</td>' if known else _empty(part)
        if part == "widths":
            widths = explanation.widths(pcs)
            mean = mean_width(widths)
            if mean is None:
                return _empty(part)
            written = sum(widths)
            told = ", ".join(
                f"{count / written:.0%} {size}" for count, size in zip(widths, SIZES, strict=True) if count
            )
            bars = stack({size: count / written for size, count in enumerate(widths) if count}, "size")
            return f'<td class="number widths" title="{told}">{bars}{mean:.1f}</td>'
        stalls = explanation.stalls(pcs)
        waits = sum(stalls.values())
        told = ", ".join(f"{cause} {cycles:,}" for cause, cycles in stalls.items())
        bars = stack({self.causes.index(cause): cycles / most["waits"] for cause, cycles in stalls.items() if cycles})
        cause = f' <span class="quiet cause">{escape(next(iter(stalls), ""))}</span>'
        return f'<td class="number waits" title="{escape(told)}">{bars}{waits:,}{cause}</td>' if known else _empty(part)

    def _place(self, place: str) -> str:
        """``R3 from ORF 1`` with the colour of its last level."""
        colour = self.levels.index(_levels(place)[0]) % COLOURS if _levels(place) else 0
        return f'<span class="place" style="--level: var(--series-{colour})">{escape(place)}</span>'


def _levels(place: str) -> list[str]:
    """The levels that a place names: those after *from*, *to*, *and* and *in*."""
    words = place.replace(",", "").split()
    return [after for word, after in itertools.pairwise(words) if word in ("from", "to", "and", "in")]


def _most(explanation: Explanation, groups: Sequence[Sequence[int]]) -> dict[str, float]:
    energies = [sum(explanation.costs[pc].energy_pj for pc in pcs if pc in explanation.costs) for pcs in groups]
    waits = [sum(explanation.stalls(pcs).values()) for pcs in groups]
    return {"energy": max(energies, default=0.0), "waits": float(max(waits, default=0))}


def _empty(part: str) -> str:
    return f'<td class="number {part}"></td>'


def _legend(title: str, names: Sequence[str], part: str, scale: str = "series") -> str:
    entries = "".join(
        f'<li><span class="key" style="--level: var(--{scale}-{place % COLOURS})"></span>{escape(name)}</li>'
        for place, name in enumerate(names)
    )
    return f'<div class="{part}"><span class="quiet">{escape(title)}:</span> <ul>{entries}</ul></div>'
