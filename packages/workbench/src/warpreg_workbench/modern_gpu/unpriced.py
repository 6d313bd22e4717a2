"""What parts of designs that no technology prices could cost: tags, registers that move to memory, and more.

An estimate is a price of a use, from the array model or a published measurement, and counts of the study's rows say how
often a part was used.  Where no price is known, an estimate has none, and only the price at which the saving is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warpreg import designs, energy, gpu
from warpreg.designs.caches.rc import WAYS
from warpreg.designs.interface import ArraySpec, Table
from warpreg.designs.interface.own_memory import LINE_BYTES
from warpreg.energy.array import SRAM
from warpreg.energy.hardware import logic_cost, table_cost
from warpreg.energy.technology import Technology
from warpreg.gpu import Machine
from warpreg_workbench.modern_gpu.design_figures import LEVELS_BELOW, level_names
from warpreg_workbench.modern_gpu.study import TECHNOLOGIES, WINDOW

Row = Mapping[str, Any]
LINE_BITS = 8 * LINE_BYTES
K40_FIRST, K40_SECOND, K40_DRAM = 5.85, 15.48, 30.55
"""pJ per bit from the first level to registers, from the second level to the first, and from GDDR5 to the second level,
measured on a K40 of 28 nm (Arunkumar et al., HPCA 2019).  The paper was not at hand: these are the numbers that later
work cites.
"""
HBM2 = 3.92
"""pJ per bit of an access, in the memory alone (O'Connor et al., MICRO 2017, as later work cites it)."""
OPERAND_PORTS = 3
"""Sources of an instruction that look up their tags at once, at the most."""


@dataclass(frozen=True, slots=True)
class TagSets:
    """``sets`` of ``ways`` tags of ``bits`` bits; a lookup compares all tags of a set."""

    sets: int
    ways: int
    bits: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """A part of a design, and what all its uses in a row take in pJ, None if nothing is known; ``is_least`` and
    ``is_most``: whether this is the least or the most that is estimated for the part.
    """

    part: str
    how: str
    uses: Callable[[Row], float]
    pj: Callable[[Row], float] | None
    is_least: bool = False
    is_most: bool = False


def tags_of(design: str, machine: Machine) -> TagSets | None:
    """The tags that a lookup of a design compares, None if it has none.

    Entries of a warp need the number of the register, shared ones also that of the warp.  No bit is left out that the
    set implies.
    """
    of_scheduler = machine.sm.warps // machine.schedulers.count
    register = machine.register_file.registers_per_thread.bit_length()
    chosen = designs.load(design)
    parameters = chosen.configure(**chosen.of_machine(machine))
    match design:
        case "rfc" | "rfc-lrf" | "ltrf":
            return TagSets(of_scheduler, parameters.entries, register)
        case "rc" | "rc-rsp":
            return TagSets(parameters.lines // WAYS, WAYS, register + (of_scheduler - 1).bit_length())
        case "regless":
            return TagSets(1, parameters.lines, register + (machine.sm.warps - 1).bit_length())
    return None


def lookups(row: Row) -> float:
    """Accesses that look up a tag: reads of any level, writes of levels above the reuse cache, and preloads."""
    names = level_names(row)
    reads = sum(row[f"{name}_reads"] for name in names)
    writes = sum(row[f"{name}_writes"] for name in names if name not in LEVELS_BELOW)
    return float(reads + writes + sum(n for name, n in row.get("events", {}).items() if name.startswith("preloads")))


def of_events(*names: str) -> Callable[[Row], float]:
    """The sum of events of a row."""
    return lambda row: float(sum(row["events"][name] for name in names))


def line_pj(technology: Technology, machine: Machine) -> tuple[float, float]:
    """A read and a write of a line of the first-level data array in pJ, without tags and wires."""
    assert machine.memory.l1 is not None
    cost = technology.arrays.cost(ArraySpec(SRAM, machine.memory.l1.bytes // LINE_BYTES, LINE_BITS))
    return cost.read_pj, cost.write_pj


def estimates(design: str, machine: Machine, technology: Technology) -> list[Estimate]:
    """What parts of a design without a price could cost; empty for a design that has a price for all."""
    tags = tags_of(design, machine)
    found = [] if tags is None else [*tag_estimates(tags, technology)]
    if design == "ltrf":
        found += _warp_control(machine, technology)
    if design == "regless":
        found += [*_moved(machine, technology), *_compressor(design, machine, technology)]
        found.append(Estimate("capacity manager", "nothing known", of_events("regions"), None))
    return found


def tag_estimates(tags: TagSets, technology: Technology) -> Iterator[Estimate]:
    """At least a set is one word; at most each of its tags is read by itself with more ports, and one is written."""
    word = table_cost(technology, Table("tags", tags.sets, tags.ways * tags.bits))
    tag = table_cost(technology, Table("tags", tags.sets * tags.ways, tags.bits, ports=OPERAND_PORTS))
    shape = f"{tags.ways} x {tags.bits} bits"
    yield _priced("tags", f"{shape}, one word", lookups, word.read_pj, is_least=True)
    yield _priced("tags", f"{shape}, one by one", lookups, tags.ways * tag.read_pj + tag.write_pj, is_most=True)


def _warp_control(machine: Machine, technology: Technology) -> Iterator[Estimate]:
    """For each warp, a bit for each register that is in the cache, and one for each that was written."""
    registers = 1 << machine.register_file.registers_per_thread.bit_length()
    table = Table("warp control block", machine.sm.warps // machine.schedulers.count, 2 * registers)
    cost = table_cost(technology, table)
    uses = of_events("prefetches", "reloads")
    pj = cost.read_pj + cost.write_pj
    yield _priced("warp control block", f"2 x {registers} bits", uses, pj, is_least=True, is_most=True)


def _moved(machine: Machine, technology: Technology) -> Iterator[Estimate]:
    """Registers that go to memory and come back, from the first level's array alone to DRAM."""
    part, (read, write) = "moved registers", line_pj(technology, machine)
    to_memory, from_memory = of_events("memory writes"), of_events("memory reads")
    transfers = of_events("memory writes", "memory reads")
    first, second = K40_FIRST * LINE_BITS, (K40_FIRST + K40_SECOND) * LINE_BITS

    def array(row: Row) -> float:
        events = row["events"]
        return float(read * events["memory bytes read"] + write * events["memory bytes written"]) / LINE_BYTES

    def as_run(row: Row) -> float:
        return from_memory(row) * first + to_memory(row) * second

    yield Estimate(part, "first level, array alone", transfers, array, is_least=True)
    yield _priced(part, "first level, K40", transfers, first)
    yield Estimate(part, "reads: first level, writes: second, K40", transfers, as_run)
    yield _priced(part, "DRAM, K40", transfers, second + K40_DRAM * LINE_BITS, is_most=True)


def _compressor(design: str, machine: Machine, technology: Technology) -> Iterator[Estimate]:
    """A line of the compressor, and the logic of another one, for each value that it tests, packs or unpacks."""
    chosen = designs.load(design)
    parameters = chosen.configure(**chosen.of_machine(machine))
    logic = logic_cost(technology, "compressor", by_event=True).event_pj
    line = technology.arrays.cost(ArraySpec(SRAM, parameters.compressor_lines, LINE_BITS)).write_pj
    uses = of_events("values saved", "values packed", "preloads decompressed")
    yield _priced("compressor", "as of `warped-compression`", uses, logic + line, is_least=True, is_most=True)


def together(found: Sequence[Estimate]) -> Iterator[Estimate]:
    """All parts at their least, and at their most; nothing if there is only one."""
    if len({one.part for one in found if one.pj}) > 1:
        yield Estimate("all", "at the least", _nothing, _sum_of([one.pj for one in found if one.is_least]))
        yield Estimate("all", "at the most", _nothing, _sum_of([one.pj for one in found if one.is_most]))


def _sum_of(parts: Sequence[Callable[[Row], float] | None]) -> Callable[[Row], float]:
    return lambda row: sum(pj(row) for pj in parts if pj)


def _nothing(row: Row) -> float:
    return 0.0


def setting() -> tuple[Machine, Technology]:
    """The machine and the technology of the estimates."""
    return gpu.load(WINDOW.machine), energy.load(TECHNOLOGIES[0])


def _priced(
    part: str, how: str, uses: Callable[[Row], float], pj: float, is_least: bool = False, is_most: bool = False
) -> Estimate:
    return Estimate(part, how, uses, lambda row: uses(row) * pj, is_least, is_most)
