"""Values of one basic block: operands as 32-lane vectors, results in cells, loads and stores of cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from warpreg.codegen.lower.address_layout import CONSTANT_BANK, PARAMETER_BANK
from warpreg.ir import opcodes
from warpreg.ir.address_space import HIGH_SHARED_WINDOW
from warpreg.ir.errors import UnsupportedError
from warpreg.ir.instruction import Instruction
from warpreg.ir.opcodes.sass.source_modifiers import SIGN, modified
from warpreg.ir.operands import ConstantBank, Immediate, ModifiedOperand, Not, Operand, Part, Register, Special
from warpreg.ir.types import U32, Type
from warpreg.simt.block.native_records import Slot, set_slot, slot
from warpreg.simt.block.register_storage import Cell
from warpreg.simt.lanes import lane_instructions, nans
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import FULL, I8, I32, I64, LANES, MASK, Code, Value, apart, lanes_of

if TYPE_CHECKING:
    from warpreg.simt.block.address_groups import Group

UNIFORM_SPECIALS = {
    "%ntid.x": Slot.NTID_X,
    "%ntid.y": Slot.NTID_Y,
    "%ntid.z": Slot.NTID_Z,
    "%nctaid.x": Slot.NCTAID_X,
    "%nctaid.y": Slot.NCTAID_Y,
    "%nctaid.z": Slot.NCTAID_Z,
    "%ctaid.x": Slot.CTAID_X,
    "%ctaid.y": Slot.CTAID_Y,
    "%ctaid.z": Slot.CTAID_Z,
    "%clusterid.x": Slot.CTAID_X,
    "%clusterid.y": Slot.CTAID_Y,
    "%clusterid.z": Slot.CTAID_Z,
    "%nclusterid.x": Slot.NCTAID_X,
    "%nclusterid.y": Slot.NCTAID_Y,
    "%nclusterid.z": Slot.NCTAID_Z,
    "%warpid": Slot.WARP,
    "%nwarpid": Slot.WARP_COUNT,
    "%clock": Slot.EXECUTED,
    "%clock64": Slot.EXECUTED,
    "%globaltimer": Slot.EXECUTED,
    "%globaltimer_lo": Slot.EXECUTED,
    "%dynamic_smem_size": Slot.DYNAMIC_SHARED,
    "%total_smem_size": Slot.SHARED_BYTES,
    "%stack_base": Slot.STACK_BASE,
    "%stack_end": Slot.LOCAL_BYTES,
    "%reserved_smem_offset_1": Slot.RESERVED_SHARED,
    "%envreg1": Slot.ENVREG1,
    "%envreg2": Slot.ENVREG2,
}
"""Special registers that are equal in all lanes; clocks count the launch's warp-instructions before the basic block."""

CLOCKS = frozenset(name for name, field in UNIFORM_SPECIALS.items() if field is Slot.EXECUTED)

AXES = ("x", "y", "z")
"""The mask with all lanes active."""

CONSTANT_SPECIALS = {
    "%smid": 0,
    "%nsmid": 1,
    "%gridid": 0,
    "%is_explicit_cluster": 0,
    "%cluster_ctarank": 0,
    "%cluster_nctarank": 1,
    **{f"%cluster_ctaid.{axis}": 0 for axis in AXES},
    **{f"%cluster_nctaid.{axis}": 1 for axis in AXES},
    **{f"%{name}.w": 0 for name in ("tid", "ntid", "ctaid", "nctaid", "clusterid", "nclusterid")},
    **{f"%cluster_{name}.w": 0 for name in ("ctaid", "nctaid")},
    "SR_CgaCtaId": 0,
    "SR_SWINHI": HIGH_SHARED_WINDOW >> 32,
    "%clock_hi": 0,
    "%globaltimer_hi": 0,
    "%current_graph_exec": 0,
    "%aggr_smem_size": 0,
    "%reserved_smem_offset_begin": 0,
    "%reserved_smem_offset_end": 0,
    "%reserved_smem_offset_cap": 0,
    "%reserved_smem_offset_0": 0,
    **{f"%envreg{number}": 0 for number in range(32) if number not in (1, 2)},
    **{f"%pm{number}{width}": 0 for number in range(8) for width in ("", "_64")},
}
"""Special registers that are equal in every launch: one SM, clusters of one thread block, no performance counters, no
environment except a grid's workspace, no reserved shared memory except the part for cooperative groups.
"""

LANE_SPECIALS: dict[str, Callable[[int], int]] = {
    "%laneid": lambda lane: lane,
    "%lanemask_eq": lambda lane: 1 << lane,
    "%lanemask_lt": lambda lane: (1 << lane) - 1,
    "%lanemask_le": lambda lane: (2 << lane) - 1,
    "%lanemask_gt": lambda lane: ~((2 << lane) - 1) & 0xFFFFFFFF,
    "%lanemask_ge": lambda lane: ~((1 << lane) - 1) & 0xFFFFFFFF,
}


@dataclass(frozen=True)
class Version:
    """What the code of a block may assume, from some instruction on (`block_versions`).

    ``expected``: by pc of an access whose lanes are as expected, the word that it appends to recorded addresses;
    ``idle_guard``: a guard that holds for no lane; ``is_plain``: accesses have no fast path.
    """

    expected: Mapping[int, Value | None] = field(default_factory=dict)
    idle_guard: Value | None = None
    is_plain: bool = False

    @property
    def is_divided(self) -> bool:
        """Whether there are other versions."""
        return self.is_plain or self.idle_guard is not None or bool(self.expected)

    def is_inline(self, pc: int, has_guard: bool, is_recorded: bool) -> bool:
        """Whether an access has a fast path, if any version of it has.  Behind a division, recorded addresses are in
        step only where they are expected (`address_groups`)."""
        if self.is_plain or pc in self.expected:
            return not self.is_plain
        return not has_guard and not (is_recorded and self.is_divided)


class BlockValues:
    """Cells and operands of one basic block during its compilation.

    A cell is loaded at its first use and kept as an SSA value.  ``flush`` stores the live cells, for the active lanes
    only.  Those in ``blind`` may hold any NaN for another.

    A cell that was written under a guard has two values: that of all lanes, and what was written, which is enough for
    an instruction under the same guard (``under``).  It does not wait for the old value, and lanes for which the guard
    does not hold have addresses like the others, which keeps rows of addresses whole.
    """

    def __init__(self, code: Code, symbols: dict[str, int], blind: frozenset[Cell] = frozenset()) -> None:
        self.code = code
        self.symbols = symbols
        self.blind = blind
        self.launch, self.registers, self.mask = code.arguments[:3]
        self.active = self.mask.bitcast(MASK)
        self._values: dict[Cell, Value] = {}
        self._guarded: dict[Cell, tuple[Value, Value]] = {}
        self._guard: Value | None = None
        self._scalars: dict[Cell, Value] = {}
        self._wholes: dict[tuple[Cell, ...], tuple[Value, list[Value]]] = {}
        self._places: dict[Cell, Value] = {}
        self._dirty: dict[Cell, None] = {}
        self._fields: dict[Slot, Value] = {}
        self._scratch: Value | None = None
        self._inverses: dict[int, tuple[Value, Value]] = {}
        self.shapes: dict[tuple[object, ...], Any] = {}
        self.groups: dict[int, Group] = {}
        """Groups of accesses whose addresses are recorded together, by their address register."""
        self._position: Value | None = None
        self.version = Version()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Code whose values are not known behind it."""
        before = {name: dict(one) if isinstance(one, dict) else one for name, one in vars(self).items()}
        yield
        vars(self).update(before)

    def scratch(self, bytes_: int) -> Value:
        """Address (i64) of stack memory for one instruction; shared by all instructions of the block."""
        if self._scratch is None:
            self._scratch = self.code.array(I8, bytes_)
        return self._scratch

    def field(self, field: Slot) -> Value:
        """A field of the launch record that is constant while the block runs; loaded once."""
        if field not in self._fields:
            self._fields[field] = slot(self.code, self.launch, field)
        return self._fields[field]

    def position(self) -> Value:
        """The address (i64) of the next word of recorded addresses."""
        if self._position is None:
            self._position = slot(self.code, self.launch, Slot.ADDRESSES)
        return self._position

    def go_on_at(self, position: Value) -> None:
        """Change this address; the launch record has it only after `hand_over`."""
        self._position = position

    def hand_over(self) -> None:
        """Leave recording to code outside the block, from here on."""
        if self._position is not None:
            set_slot(self.launch, Slot.ADDRESSES, self._position)
            self._position = None

    def inverse(self, predicate: Value) -> Value:
        """The negated predicate, computed once."""
        key = id(predicate.llvm)
        if key not in self._inverses:
            self._inverses[key] = predicate, ~predicate
        return self._inverses[key][1]

    def lanes(self, guard: Value) -> Value:
        """The active lanes (i32) for which a guard holds, computed once."""
        key = ("lanes", id(guard.llvm))
        if key not in self.shapes:
            self.shapes[key] = guard.bitcast(I32) & self.mask
        found: Value = self.shapes[key]
        return found

    def get(self, cell: Cell) -> Value:
        """The value of a cell in all lanes; inside of `under`, in those for which the guard holds."""
        guard, written = self._guarded.get(cell, (None, None))
        if self._guard is not None and guard is not None and guard.llvm is self._guard.llvm:
            assert written is not None
            return written
        if cell not in self._values:
            self._values[cell] = self._load(cell)
        return self._values[cell]

    @contextmanager
    def under(self, guard: Value | None) -> Iterator[None]:
        """Read cells for an instruction that nothing uses of the lanes for which its guard does not hold."""
        self._guard = guard
        yield
        self._guard = None

    def assume(self, cell: Cell, value: Value) -> None:
        """Take this for the value that memory holds."""
        self._values[cell] = value
        self._scalars.pop(cell, None)

    def set(self, cell: Cell, value: Value) -> None:
        """Set the value of a cell; inactive lanes are undefined until ``flush``."""
        self._values[cell] = value
        self._dirty[cell] = None
        self._guarded.pop(cell, None)
        self._scalars.pop(cell, None)

    def scalar(self, cell: Cell) -> Value:
        """The value of a uniform cell, which all lanes hold."""
        if cell not in self._scalars:
            is_new = cell not in self._values and cell.bits > 1
            self._scalars[cell] = self._load_scalar(cell) if is_new else self.get(cell).lane(0)
        return self._scalars[cell]

    def set_scalar(self, cell: Cell, scalar: Value) -> None:
        """Set the value of a uniform cell."""
        self.set(cell, scalar.sext(I32).bitcast(MASK) if cell.bits == 1 else scalar.splat())
        self._scalars[cell] = scalar

    def scalar_register(self, cells: tuple[Cell, ...]) -> Value:
        """A uniform register as one number."""
        words = [self.scalar(cell) for cell in dict.fromkeys(cells)]
        if len(words) == 1:
            return words[0]
        wide = ir.IntType(32 * len(words))
        whole = words[0].zext(wide)
        for position, word in enumerate(words[1:], 1):
            whole = whole | (word.zext(wide) << 32 * position)
        return whole

    def resized_scalar(self, value: Value, bits: int) -> Value:
        """Truncate, or extend by zeros, to ``bits``."""
        type_ = ir.IntType(bits)
        return value.trunc(type_) if value.type.width > bits else value.zext(type_)

    def _load_scalar(self, cell: Cell) -> Value:
        return self._place(cell).load(ir.IntType(cell.bits), align=cell.bits // 8)

    def _load(self, cell: Cell) -> Value:
        if cell.bits == 1:
            return self._place(cell).load(I32, align=4).bitcast(MASK)
        if cell.is_uniform:
            return self.scalar(cell).splat()
        return self._place(cell).load(lanes_of(ir.IntType(cell.bits)), align=64)

    def _place(self, cell: Cell) -> Value:
        """The address of a cell, computed once."""
        if cell not in self._places:
            self._places[cell] = self.registers + cell.offset
        return self._places[cell]

    def flush(self, kept: frozenset[Cell]) -> None:
        """Store the written cells that are in ``kept``; inactive lanes keep their value in memory.

        With all lanes active, and in a uniform cell, the value is stored as it is; a uniform cell has one number.
        """
        vectors = []
        for cell in self._dirty:
            if cell in kept:
                address, value = self._place(cell), self._values[cell]
                if cell in self.blind:
                    value = Value(self.code, nans.bare(value.llvm))
                if cell.is_uniform:
                    stored = value.bitcast(I32) if cell.bits == 1 else self.scalar(cell)
                    address.store(stored, align=max(cell.bits, 32) // 8)
                elif cell.bits == 1:
                    old = address.load(I32, align=4)
                    address.store((old & ~self.mask) | (value.bitcast(I32) & self.mask), align=4)
                else:
                    vectors.append((address, value))
        if vectors:
            with self.code.if_else(self.mask == FULL) as (all_lanes, some_lanes):
                with all_lanes:
                    for address, value in vectors:
                        address.store(value, align=64)
                with some_lanes:
                    for address, value in vectors:
                        address.store(self.active.select(value, apart(address.load(value.type, align=64))), align=64)

    def read(self, cells: tuple[Cell, ...], bits: int) -> Value:
        """A register as ``bits`` per lane, from one cell or several 32-bit cells, lowest word first."""
        words = [self.get(cell) for cell in dict.fromkeys(cells)]
        whole = words[0] if len(words) == 1 else self._whole(cells, words)
        return self.resized(whole, bits, signed=False)

    def _whole(self, cells: tuple[Cell, ...], words: list[Value]) -> Value:
        """The words of a register as one value; the one that was written or read last, if they are still its words."""
        whole, parts = self._wholes.get(cells, (None, []))
        if whole is None or any(one.llvm is not part.llvm for one, part in zip(words, parts, strict=True)):
            wide = lanes_of(ir.IntType(32 * len(words)))
            whole = words[0].zext(wide)
            for position, word in enumerate(words[1:], 1):
                whole = whole | (word.zext(wide) << 32 * position)
            self._wholes[cells] = whole, words
        return whole

    def write(self, cells: tuple[Cell, ...], value: Value, signed: bool, guard: Value | None) -> None:
        """Write a register; ``signed`` selects the extension of a narrow value, ``guard`` the lanes.  A uniform one
        is written if the guard holds in any lane."""
        if len(set(cells)) > 1:
            value = self.resized(value, 32 * len(cells), signed)
            parts = [(value >> 32 * position).trunc(lanes_of(I32)) for position in range(len(cells))]
            self._wholes[cells] = value, parts
        else:
            parts = [self.resized(value, cells[0].bits, signed)]
        chosen = (guard.bitcast(I32) & self.mask) != 0 if guard and cells[0].is_uniform else guard
        for cell, part in zip(dict.fromkeys(cells), parts, strict=True):
            self.set(cell, chosen.select(part, self.get(cell)) if chosen else part)
            if guard:
                self._guarded[cell] = guard, part

    def resized(self, value: Value, bits: int, signed: bool) -> Value:
        """Truncate, or extend by sign or zeros, to ``bits`` per lane."""
        width = value.type.element.width
        if width == bits:
            return value
        type_ = lanes_of(ir.IntType(bits))
        if width > bits:
            return value.trunc(type_)
        return value.sext(type_) if signed else value.zext(type_)

    def operand(self, operand: Operand, type_: Type, cells: tuple[Cell, ...], instruction: Instruction) -> Value:
        """A source operand as a vector of the width of ``type_``; ``cells`` are those of its register, if any."""
        if isinstance(operand, Register):
            return self.read(cells, type_.bits)
        if isinstance(operand, Part) and instruction.opcode.startswith("v"):
            return self.read(cells, type_.bits)
        if isinstance(operand, Not):
            return ~self.read(cells, 1)
        if isinstance(operand, ModifiedOperand):
            inner = U32 if operand.part == SIGN else type_
            value = self.operand(operand.operand, inner, cells, instruction).llvm
            lanes = lane_instructions.algebra(self.code.builder, self.code.module)
            row, form = opcodes.resolve(instruction)
            if nans.is_number(operand):
                value = nans.without_canonical(form, value, type_)
            return Value(self.code, modified(lanes, operand, type_, value, row.keeps_signs))
        if isinstance(operand, Immediate):
            return Value(self.code, lane_instructions.immediate(operand, type_))
        if isinstance(operand, ConstantBank):
            return self.bank(operand, type_, instruction).splat()
        if isinstance(operand, Special):
            return self.resized(self.special(operand, instruction), type_.bits, signed=False)
        raise UnsupportedError(f"operand '{operand}' of '{instruction}'", instruction.location)

    def bank(self, operand: ConstantBank, type_: Type, instruction: Instruction) -> Value:
        """A scalar from a constant bank."""
        scalar = ir.IntType(type_.bits)
        if operand.bank == PARAMETER_BANK:
            return (self.field(Slot.PARAMETERS) + operand.offset).load(scalar, align=1)
        if operand.name not in self.symbols:
            raise UnsupportedError(
                f"variable '{operand.name}'", instruction.location, "is not in global or constant memory"
            )
        symbol = (self.field(Slot.SYMBOLS) + 8 * self.symbols[operand.name]).load(I64)
        if operand.bank == CONSTANT_BANK:
            return (symbol + self.field(Slot.GLOBAL_BIAS) + operand.offset).load(scalar, align=1)
        address = symbol + operand.offset % (1 << 64)
        return (address >> 32 * operand.word).trunc(scalar)

    def special(self, operand: Special, instruction: Instruction) -> Value:
        """A special register as a vector of its own width.  Raises UnsupportedError for registers without meaning
        here.
        """
        name = operand.name
        if name in UNIFORM_SPECIALS:
            return self.field(UNIFORM_SPECIALS[name]).splat()
        if name in LANE_SPECIALS:
            return self.code.const(lanes_of(I32), [LANE_SPECIALS[name](lane) for lane in range(LANES)])
        if name in CONSTANT_SPECIALS:
            return self.code.const(lanes_of(I32), CONSTANT_SPECIALS[name])
        if name in ("%tid.x", "%tid.y", "%tid.z"):
            offset = 128 * "xyz".index(name[-1])
            return (self.registers + offset).load(lanes_of(I32), align=64)
        raise UnsupportedError(f"special register '{name}'", instruction.location)
