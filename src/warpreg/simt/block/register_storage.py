"""Layout of a warp's registers in host memory: one storage cell for each value (web) of the kernel.

The lanes of a value are contiguous, in the width of its register; a 64-bit value that is always accessed as a whole
register pair is one 64-bit cell, any other is one cell per 32-bit register.  Predicates are 32-bit lane masks.  No read
is reached by definitions of two webs, so separate memory for each web preserves the kernel's semantics, and 64-bit
values need not be split on the host.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from warpreg.analysis.accesses import Cells, accesses
from warpreg.analysis.liveness import liveness
from warpreg.analysis.values import Values, values_by_call
from warpreg.ir.kernel import Block, Kernel
from warpreg.ir.operands import Register

WARP = 32
PREDICATE_BYTES = 64
THREAD_INDEX_BYTES = 3 * 128
"""A warp's register memory begins with tid.x, tid.y and tid.z of its lanes."""


@dataclass(frozen=True, slots=True)
class Cell:
    """``bits`` per lane (1 for predicates) at byte ``offset`` of the warp's register memory.

    ``is_uniform``: it belongs to the warp, so that all lanes hold the same value, active or not, which is stored
    once."""

    offset: int
    bits: int
    is_uniform: bool = False


Group = tuple[Register, tuple[int, ...]]
"""A register operand and the webs of its words."""

CARRY_CELL = Cell(THREAD_INDEX_BYTES, 1)
"""The carry flag, which every kernel has."""


@dataclass(frozen=True, slots=True)
class Storage:
    """The cells of a kernel: ``written[pc]`` and ``read[pc]`` correspond to those of `warpreg.analysis.accesses`, so a
    register pair that is one 64-bit cell is listed twice.  ``bytes`` is the register memory of a warp; its last
    ``contents_bytes`` hold the ``contents`` of registers by number, where these are kept."""

    written: tuple[tuple[Cell, ...], ...]
    read: tuple[tuple[Cell, ...], ...]
    bytes: int
    contents: Mapping[int, Cell] = field(default_factory=dict)
    contents_bytes: int = 0

    def kept(self, kernel: Kernel, block: int) -> list[frozenset[Cell]]:
        """Per instruction of a block: cells that it or an earlier one wrote and that are live after it."""
        table, live = accesses(kernel), liveness(kernel)
        current: dict[int, Cell] = {}
        rows = []
        for pc, after in zip(table.block_pcs(block), live.after(block), strict=True):
            current.update(zip(table.written[pc], self.written[pc], strict=True))
            rows.append(frozenset(cell for word, cell in current.items() if after >> word & 1))
        return rows


def assign(kernel: Kernel, contents: bool = False) -> Storage:
    """Cells for every value of the kernel, and, with ``contents``, for what each register holds."""
    cells, webs = accesses(kernel).cells, values_by_call(kernel)
    instructions = list(kernel.instructions())
    written = [_grouped(i.defined, numbers, cells) for i, numbers in zip(instructions, webs.written, strict=True)]
    read = [_grouped(i.used, numbers, cells) for i, numbers in zip(instructions, webs.read, strict=True)]
    allocator = _Allocator(_always_paired([*written, *read]), bool(kernel.machine_code))
    lasting = _lasting(kernel, webs)
    for first in (lasting & _accessed(kernel, webs, _without_calls(kernel)), lasting):
        for groups in (*written, *read):
            allocator.place(group for group in groups if not first.isdisjoint(group[1]))
    placed = [(allocator.place(w), allocator.place(r)) for w, r in zip(written, read, strict=True)]
    end = (allocator.end + 63) // 64 * 64
    kept = _contents(kernel, end) if contents else {}
    size = sum(cell.bits // 8 * WARP for cell in set(kept.values()))
    return Storage(tuple(w for w, _ in placed), tuple(r for _, r in placed), end + size, kept, size)


def _lasting(kernel: Kernel, webs: Values) -> frozenset[int]:
    """The webs that several blocks access.  Their cells come first, and before all others those that blocks without
    calls access: the others are seldom stored, and between them a warp's registers would take several times as many
    pages and lines of the host's caches."""
    seen: set[int] = set()
    several: set[int] = set()
    for block in kernel.blocks:
        own = _accessed(kernel, webs, [block])
        several |= seen & own
        seen |= own
    return frozenset(several)


def _accessed(kernel: Kernel, webs: Values, blocks: Iterable[Block]) -> frozenset[int]:
    """The webs that some blocks access."""
    pcs = (pc for block in blocks for pc in accesses(kernel).block_pcs(block.index))
    return frozenset(web for pc in pcs for web in (*webs.written[pc], *webs.read[pc]))


def _without_calls(kernel: Kernel) -> list[Block]:
    """The blocks that the entry reaches without a call: ``ptxas`` calls the slow paths of its own code, which few warps
    take."""
    reached, pending = {0}, [0]
    while pending:
        for one in kernel.blocks[pending.pop()].successors:
            last = kernel.blocks[one].instructions[-1:]
            if one not in reached and not any(instruction.opcode == "CALL" for instruction in last):
                reached.add(one)
                pending.append(one)
    return [block for block in kernel.blocks if block.index in reached]


def _contents(kernel: Kernel, first: int) -> dict[int, Cell]:
    """A cell per written register by number; a pair that is only written as a whole is one cell."""
    numbers = accesses(kernel).cells
    written = {numbers.of(r): r.type for i in kernel.instructions() for r in i.defined if not r.is_predicate}
    company = Counter(number for words in written for number in words)
    cells: dict[int, Cell] = {}
    for words, type_ in written.items():
        is_whole = all(company[number] == 1 for number in words)
        for part in [words] if is_whole else [(number,) for number in words]:
            if part[0] not in cells:
                bits = 32 * type_.words // len(words) * len(part)
                cells |= dict.fromkeys(part, Cell(first, bits))
                first += bits // 8 * WARP
    return cells


@dataclass
class _Allocator:
    """``warp_wide``: uniform registers are those of machine code, one per warp."""

    paired: frozenset[tuple[int, ...]]
    warp_wide: bool = False
    end: int = CARRY_CELL.offset + PREDICATE_BYTES
    cells: dict[tuple[int, ...], Cell] = field(default_factory=dict)

    def place(self, groups: Iterable[Group]) -> tuple[Cell, ...]:
        """The cell of each word of the registers, in order."""
        placed: list[Cell] = []
        for register, web in groups:
            uniform = self.warp_wide and register.is_uniform
            if web in self.paired:
                placed += [self._cell(web, 64, uniform)] * 2
            else:
                bits = 32 if len(web) > 1 else _container_bits(register)
                placed += [self._cell((w,), bits, uniform) for w in web]
        return tuple(placed)

    def _cell(self, web: tuple[int, ...], bits: int, uniform: bool) -> Cell:
        if web not in self.cells:
            self.cells[web] = Cell(self.end, bits, uniform)
            self.end += PREDICATE_BYTES if bits == 1 or uniform else max(64, 4 * bits)
        return self.cells[web]


def _container_bits(register: Register) -> int:
    narrow = register.is_architected and not register.is_predicate
    return max(32, register.type.bits) if narrow else register.type.bits


def _grouped(registers: tuple[Register, ...], webs: tuple[int, ...], cells: Cells) -> list[Group]:
    """Each register with the webs of its words."""
    if len(webs) == len(registers):
        return [(register, (web,)) for register, web in zip(registers, webs, strict=True)]
    at, groups = 0, []
    for register in registers:
        count = len(cells.of(register))
        groups.append((register, webs[at : at + count]))
        at += count
    return groups


def _always_paired(accessed: Iterable[Iterable[Group]]) -> frozenset[tuple[int, ...]]:
    """The pairs of webs that every instruction accesses together, as one 64-bit register."""
    pairs: set[tuple[int, ...]] = set()
    apart: set[int] = set()
    for groups in accessed:
        for _, webs in groups:
            if len(webs) == 2:
                pairs.add(webs)
            else:
                apart.update(webs)
    company = Counter(member for pair in pairs for member in set(pair))
    return frozenset(p for p in pairs if apart.isdisjoint(p) and all(company[member] == 1 for member in p))
