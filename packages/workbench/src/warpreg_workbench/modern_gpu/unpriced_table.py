"""The section of the page about parts without a price."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warpreg.designs.interface.own_memory import LINE_BYTES
from warpreg_workbench.modern_gpu.bounds import bound, hit_share
from warpreg_workbench.modern_gpu.design_figures import CASES, Case, figures
from warpreg_workbench.modern_gpu.study import LARGER, DesignMeasurement
from warpreg_workbench.modern_gpu.unpriced import (
    HBM2,
    K40_DRAM,
    K40_FIRST,
    K40_SECOND,
    LINE_BITS,
    OPERAND_PORTS,
    Estimate,
    estimates,
    line_pj,
    setting,
    together,
)

MOVES = "regless"
"""The design whose registers go to memory."""


def unpriced_text(found: Sequence[DesignMeasurement], size: str) -> Iterator[str]:
    """Markdown lines: what the parts are, and what they could cost."""
    machine, technology = setting()
    read, write = line_pj(technology, machine)
    first, second, dram = (pj * LINE_BITS for pj in (K40_FIRST, K40_SECOND, K40_DRAM))
    assert machine.memory.l1 is not None
    yield "## Parts without a price\n"
    yield (
        f"`{technology.name}` has no price for some parts of designs. The table says what the energy beside the reuse "
        "cache alone would be if they cost what the array model says, or what is published. *Uses*: of each access of "
        "the plain register file. *Gone at*: the pJ of a use at which the mean saving would be gone if all other parts "
        "were free; *first*: that of the first workload.\n"
    )
    yield (
        "- *Tags* are numbers of registers, of shared entries also of warps. A read of any level, a write of a level "
        f"of the design, and a preload look up a set, which is a bank of `{MOVES}`. At the least its tags are one "
        f"word; at the most each is read by itself in a table with {OPERAND_PORTS} ports, and one is written.\n"
        "- *Warp control block* of `ltrf`: which registers of a warp are in the cache, and which were written; read "
        "and written where a warp enters an interval.\n"
        f"- *Moved registers* of `{MOVES}` go to memory or come back. The array of the first level, "
        f"{machine.memory.l1.bytes // 1024} KB and far beyond the points of the model, takes {read:.0f} pJ to read "
        f"{LINE_BYTES} bytes and {write:.0f} pJ to write them, without tags and wires. A K40 takes {first:,.0f} pJ "
        f"from the first level to registers, {second:,.0f} pJ more from the second, and {dram:,.0f} pJ more from "
        f"GDDR5 ({K40_FIRST}, {K40_SECOND} and {K40_DRAM} pJ a bit: Arunkumar et al., HPCA 2019; measured as power of "
        "the board, so with all that a load does, at 28 nm, not scaled here). An access of HBM2 takes "
        f"{HBM2} pJ a bit in the memory alone (O'Connor et al., MICRO 2017). Both are cited after later work."
        f"{_hits(found)}\n"
        f"- *Compressor* of `{MOVES}`: no number is known. The price is that of the one of `warped-compression`, and "
        "a line of its own store.\n"
        f"- *Capacity manager* of `{MOVES}`: no number is known. A use is a region.\n"
    )
    yield from _table(found, size)


def _hits(found: Sequence[DesignMeasurement]) -> str:
    share = hit_share(found, _larger(), MOVES)
    if share is None:
        return ""
    return (
        f" At {LARGER.size}, the first level has {100 * share:.1f} more hits for 100 fetches of registers; what is "
        "written passes through it to the second level."
    )


def _larger() -> Case:
    return Case(LARGER.name, LARGER)


def _table(found: Sequence[DesignMeasurement], size: str) -> Iterator[str]:
    cases = {size: CASES[0], str(LARGER.size): _larger()}
    energies = {label: {one.design: one.energy for one in figures(found, case)} for label, case in cases.items()}
    sizes = [label for label in cases if energies[label]]
    heads = [head for label in sizes for head in (f"uses, {label}", f"energy, {label}")]
    heads = [f"pJ a use, {sizes[-1]}", *heads, f"gone at, {sizes[-1]}"]
    yield f"| design | part | at the price of | {' | '.join(heads)} | first |"
    yield f"|---|---|---|{'---:|' * len(heads)}---:|"
    for design in energies[sizes[-1]]:
        if parts := estimates(design, *setting()):
            without = [cell for label in sizes for cell in ("", _number(energies[label].get(design), ".3f"))]
            yield f"| `{design}` | without them | | | {' | '.join(without)} | | |"
            yield from _of_parts(found, design, parts, [cases[label] for label in sizes])
    yield ""


def _of_parts(
    found: Sequence[DesignMeasurement], design: str, parts: Sequence[Estimate], cases: Sequence[Case]
) -> Iterator[str]:
    before = ""
    for one in (*parts, *together(parts)):
        bounds = [bound(found, case, design, one) for case in cases]
        last = bounds[-1]
        cells = [cell for each in bounds for cell in (_number(each.uses, ".4f"), _number(each.energy, ".3f"))]
        gone = ["", ""] if one.part == before else [_number(pj, ",.1f") for pj in (last.gone, last.first_gone)]
        yield f"| | {one.part} | {one.how} | {_number(last.pj, ',.1f')} | {' | '.join([*cells, *gone])} |"
        before = one.part


def _number(value: float | None, form: str) -> str:
    return format(value, form) if value else ""
