"""Annotated listings of compiled kernels on the console."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rich.text import Text

from warpreg.codegen.regalloc.bank_assignment import conflicts
from warpreg.report.listing import LEGEND, Line, Listing

FADE = "dim"
MARK = "→"


def styled(listed: Listing, notes: Mapping[int, str], banks: int = 0, marked: int | None = None) -> Iterable[Text]:
    """A listing as lines, with ``notes`` by pc behind the instructions; the instruction ``marked`` has an arrow."""
    kernel = listed.kernel
    memory = ", ".join(
        f"{amount} bytes of {space} memory"
        for space, amount in (("shared", kernel.shared_bytes), ("local", kernel.local_bytes))
        if amount
    )
    summary = (
        f"{kernel.instruction_count} instructions, {kernel.register_count} registers, {listed.pressure} live at most"
    )
    if banks:
        summary += f", {conflicts(kernel, banks)} conflicts of {banks} banks"
    yield Text.assemble((kernel.name, "bold"), f": {summary}", f", {memory}" if memory else "")
    yield Text(LEGEND, FADE)
    tens, units = listed.header()
    yield Text(f"\n      {tens}", FADE)
    yield Text(f"   pc {units} live{listed.control_header}", FADE)
    for block in listed.blocks:
        yield Text(block.title, "bold cyan")
        for line in block.lines:
            yield _line(line, notes.get(line.pc, ""), line.pc == marked)
    yield Text()


def _line(line: Line, note: str, is_marked: bool) -> Text:
    text = Text(f"{MARK}{line.pc:4d} ", "bold red") if is_marked else Text(f"{line.pc:5d} ")
    for mark in line.ranges:
        text.append(mark, FADE if mark == "│" else "yellow")
    text.append(f" {line.pressure:4d}{line.control}  ", FADE)
    guard, _, rest = str(line.instruction).rpartition(line.instruction.full_opcode)
    text.append(guard).append(line.instruction.full_opcode, "bold").append(rest)
    if note:
        text.append(f"  ; {note}", "red" if is_marked else "green")
    if line.instruction.source:
        text.append(f"  // {line.instruction.source}", FADE)
    return text
