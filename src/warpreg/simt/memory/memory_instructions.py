"""Memory instructions inside a basic block: address, state space, elements, and the call of the native operation."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warpreg.ir.errors import UnsupportedError
from warpreg.ir.instruction import Instruction
from warpreg.ir.memory_access import ATOMICS as ATOMICS
from warpreg.ir.memory_access import SPACES, memory_form
from warpreg.ir.operands import Address, ConstantBank, Immediate, Operand, Register
from warpreg.ir.types import U32, U64, Type
from warpreg.sass.isa.opcodes import is_sass
from warpreg.simt.block import address_recording
from warpreg.simt.block.address_groups import Site, append_step
from warpreg.simt.block.block_values import BlockValues
from warpreg.simt.block.native_records import SITE_BYTES, Slot, set_slot, slot
from warpreg.simt.block.register_storage import Cell
from warpreg.simt.block.sites import Span
from warpreg.simt.llvm.emitter import I32, I64, Value, lanes_of
from warpreg.simt.memory import coalesced_path, expected_path
from warpreg.simt.memory.coalesced_path import Place
from warpreg.simt.memory.expected_path import ExpectedLanes, is_expected
from warpreg.simt.memory.load_store import Operation

if TYPE_CHECKING:
    from warpreg.simt.block.sites import NativeOperation, Sites

Source = tuple[Operand, Type, tuple[Cell, ...]]


@dataclass(frozen=True)
class Expectation:
    """What is expected of the access at ``pc`` in the lanes of ``mask``: they are as those of ``lanes`` should be, and
    ``sound`` holds; ``place`` is where it is, ``guard`` that of the instruction."""

    pc: int
    mask: Value
    guard: Value | None
    lanes: ExpectedLanes
    sound: Value
    place: Place
    in_global_memory: bool

    @property
    def stride(self) -> int:
        """Bytes between the lanes."""
        return self.place.span.stride or 0


class MemoryAccess:
    """One load, store or atomic of a block."""

    def __init__(self, values: BlockValues, sites: Sites, instruction: Instruction, pc: int) -> None:
        self.values = values
        self.sites = sites
        self.instruction = instruction
        self.pc = pc
        self.code = values.code
        self.form = memory_form(instruction)
        named = [SPACES[m.split("::")[0]] for m in instruction.modifiers if m.split("::")[0] in SPACES]
        self.space = self.form.space if self.form else named[0] if named else "generic"

    @property
    def type(self) -> Type:
        """The type of an element."""
        return self.form.type if self.form else self.instruction.types[-1]

    def new_site(self) -> Value:
        """The address of a new site record for the instruction."""
        self.site_number = self.sites.site(self.pc, self.instruction.guard is not None)
        return self.values.field(Slot.SITES) + self.site_number * SITE_BYTES

    def located(self, source: Source, space: str) -> Value:
        """The 32 addresses of a memory operand in ``space``, which differs from that of the instruction's other
        operands: offsets (i32) in shared memory, else i64."""
        operand, _, cells = source
        if not isinstance(operand, Address) or not isinstance(operand.base, (Register, Immediate, ConstantBank)):
            raise UnsupportedError(f"'{self.instruction}'", self.instruction.location, "has no address")
        base = self.values.operand(operand.base, U32 if space == "shared" else U64, cells, self.instruction)
        return base + operand.offset % (1 << base.type.element.width) if operand.offset else base

    def update(
        self, address: Value, site: Value, mask: Value, arrivals: Value | None = None, bytes_: Value | None = None
    ) -> Value:
        """Change the arrivals and expected bytes (i64) of mbarriers at ``address``; returns their old state."""
        none = self.code.const(lanes_of(I64), 0)
        space = "shared" if address.type.element == I32 else self.space
        operation = Operation("mbarrier.update", space, 8)
        set_slot(self.values.launch, Slot.FAILED_WAITS, self.code.const(I64, 0))
        return self.call(operation, site, mask, [address, arrivals or none, bytes_ or none])

    def operands(self, sources: list[Source]) -> list[Value]:
        """Source operands as vectors."""
        return [self.values.operand(o, t, c, self.instruction) for o, t, c in sources]

    def address(self, source: Source) -> Value:
        """The 32 addresses of a memory operand."""
        operand, _, cells = source
        if not isinstance(operand, Address):
            raise UnsupportedError(f"'{self.instruction}'", self.instruction.location, "has no address")
        base = self._base(operand, cells)
        return base + operand.offset % (1 << base.type.element.width) if operand.offset else base

    def emit(self, sources: list[Source], mask: Value) -> list[Value]:
        """Perform the access in the lanes of ``mask`` (i32); returns the loaded values."""
        if "mbarrier::complete_tx::bytes" in self.instruction.modifiers:
            return self._remote(sources, mask)
        return self._access(sources[:-1] if "L2::cache_hint" in self.instruction.modifiers else sources, mask)

    def _remote(self, sources: list[Source], mask: Value) -> list[Value]:
        """``st.async`` and ``red.async`` on shared memory: the access, and the count of its bytes at the mbarrier named
        by the last operand."""
        self._access(sources[:-1], mask)
        size = self.code.const(lanes_of(I64), self.type.bytes * elements(self.instruction))
        none = self.code.const(lanes_of(I64), 0)
        self.update(self.located(sources[-1], "shared"), self.new_site(), mask, bytes_=none - size)
        return []

    def _access(self, sources: list[Source], mask: Value) -> list[Value]:
        (operand, _, cells), *rest = sources
        if not isinstance(operand, Address):
            raise UnsupportedError(f"'{self.instruction}'", self.instruction.location, "has no address")
        if self.space == "param":
            return self._parameter(operand)
        base = self._base(operand, cells)
        site, given = self.new_site(), self.operands(rest)
        count, atomic = elements(self.instruction), self.form is not None and self.form.is_atomic
        if self.is_inline:
            return self._inline(base, operand.offset, site, mask, given)
        address = base + operand.offset % (1 << base.type.element.width) if operand.offset else base
        if atomic:
            return self._atomic(address, site, mask, given)
        results = []
        for element in range(count):
            action = "store" if given else "load"
            alignment = self.type.bytes * count if count > 1 and element == 0 else 0
            recorded = self.sites.record and element == 0
            scattered = self.pc in self.sites.scattered
            operation = Operation(action, self.space, self.type.bytes, recorded, alignment, scattered=scattered)
            at = address + element * self.type.bytes if element else address
            call = functools.partial(self.call, operation, site, mask, [at, *given[element : element + 1]])
            results.append(self._unless_idle(operation, site, mask, call) if count == 1 else call())
            if given and element == 0 and count > 1:  # the whole vector has been checked: a fault leaves it unwritten
                mask = (slot(self.code, self.values.launch, Slot.FAULT) != 0).select(0, mask)
        return [] if given else results

    def _unless_idle(self, operation: Operation, site: Value, mask: Value, call: Callable[[], Value]) -> Value:
        """Call a memory operation if a lane needs it, or its record is not that of an idle one after another."""
        if self.instruction.guard is None or not self.sites.skip_idle:
            return call()
        self.values.field(Slot.HELPERS)
        code, needed = self.code, mask != 0
        if operation.record:
            needed = needed | address_recording.mask_changed(site, mask)

        def use() -> list[Value]:
            found = call()
            return [found] if operation.gives_values else []

        def stay_idle() -> list[Value]:
            if operation.record:
                address_recording.append_idle(code, self.values.launch)
            return [code.const(operation.result, 0)] if operation.gives_values else []

        found = code.choose_several(needed, use, stay_idle)
        return found[0] if found else mask

    def _inline(self, base: Value, offset: int, site: Value, mask: Value, given: list[Value]) -> list[Value]:
        """The fast path inline, other cases by the memory operation."""
        operation = Operation("store" if given else "load", self.space, self.type.bytes, self.sites.record)
        place = self.place(offset, site)
        if self.pc in self.values.version.expected:
            lanes = ExpectedLanes.of(self.values, base, operation.size, place.span.stride or 0)
            word = self.values.version.expected[self.pc]
            if word is not None:
                append_step(self.values, word, site, mask, self.instruction.guard is not None)
            if not given:
                return [expected_path.load(self.values, operation, lanes, place)]
            expected_path.store(self.values, operation, lanes, place, given[0], mask)
            return []
        shape = coalesced_path.shape(self.values, base, operation.size, mask)
        self.values.field(Slot.HELPERS)

        def otherwise() -> Value:
            address = base + offset % (1 << base.type.element.width) if offset else base
            return self.call(operation, site, mask, [address, *given])

        if given:
            coalesced_path.store(self.values, operation, shape, place, given[0], otherwise)
            return []
        return [coalesced_path.load(self.values, operation, shape, place, otherwise)]

    def record_idle(self) -> None:
        """Record that no lane executes the instruction."""
        word, nobody = address_recording.step_word(self.code.const(I64, 0)), self.code.const(I32, 0)
        append_step(self.values, word, self.new_site(), nobody, has_guard=True)

    def place(self, offset: int, site: Value) -> Place:
        """Where the instruction accesses memory, with a byte offset from its address."""
        return Place(offset, Site(site, self.site_number), self.sites.inline[self.pc])

    @property
    def is_inline(self) -> bool:
        """Whether the access has a fast path here."""
        has_guard = self.instruction.guard is not None
        return self.pc in self.sites.inline and self.values.version.is_inline(self.pc, has_guard, self.sites.record)

    def expectation(self, source: Source, mask: Value, guard: Value | None) -> Expectation:
        """What is expected of the access in the lanes of ``mask``, if anything is (`expects`)."""
        operand, _, cells = source
        assert isinstance(operand, Address)
        size, base = self.type.bytes, self._base(operand, cells)
        lanes = ExpectedLanes.of(self.values, base, size, self.sites.inline[self.pc].stride or 0)
        place, in_global_memory = self.place(operand.offset, self.new_site()), self.space == "global"
        sound = is_expected(self.values, self.space, lanes, place, size)
        return Expectation(self.pc, mask, guard, lanes, sound, place, in_global_memory)

    def _base(self, operand: Address, cells: tuple[Cell, ...]) -> Value:
        """The 32 base addresses in the operation's width."""
        type_ = U32 if self.space in ("shared", "local") else U64
        if not isinstance(operand.base, (Register, Immediate, ConstantBank)):
            raise UnsupportedError(f"address '{operand}'", self.instruction.location)
        uniform = operand.uniform
        if uniform is None:
            return self.values.operand(operand.base, type_, cells, self.instruction)
        own = len(cells) - max(1, len(uniform.words))
        base = self.values.operand(operand.base, type_, cells[:own], self.instruction)
        return base + self.values.operand(uniform, type_, cells[own:], self.instruction)

    def _parameter(self, operand: Address) -> list[Value]:
        """Kernel parameters are read from constant bank 0."""
        if not isinstance(operand.base, ConstantBank) or not self.instruction.traits.loads:
            raise UnsupportedError(f"'{self.instruction}'", self.instruction.location, "indexes parameters at run time")
        base = operand.base
        offsets = (base.offset + operand.offset + i * self.type.bytes for i in range(elements(self.instruction)))
        words = (ConstantBank(base.bank, offset, self.type) for offset in offsets)
        return [self.values.operand(word, self.type, (), self.instruction) for word in words]

    def _atomic(self, address: Value, site: Value, mask: Value, given: list[Value]) -> list[Value]:
        """An atomic operation, or one for each element of a vector."""
        assert self.form is not None
        returns = self.form.action == "atomic"
        action, count = f"{self.form.operation}.{self.type}", self.form.count
        before = []
        for element in range(count):
            first = element == 0
            whole = self.type.bytes * count if count > 1 and first else 0
            recorded = self.sites.record and first
            operation = Operation(action, self.space, self.type.bytes, recorded, whole, returns=returns)
            operands = given if count == 1 else given[element : element + 1]
            at = address if first else address + element * self.type.bytes
            before.append(self.call(operation, site, mask, [at, operands[0], operands[-1]]))
        return before if returns else []

    def call(self, operation: Operation, site: Value, mask: Value, arguments: list[Value]) -> Value:
        """Call a memory operation for the lanes of ``mask``."""
        return self.call_native(operation, operation.result, [self.values.launch, site, mask, *arguments])

    def call_native(self, operation: NativeOperation, result: Any, arguments: list[Value]) -> Value:
        """Call a native operation by the launch's table."""
        table = self.values.field(Slot.HELPERS)
        address = (table + 8 * self.sites.operation(operation)).load(I64)
        return self.code.call_at(address, result, arguments)


def expects(span: Span | None, instruction: Instruction) -> bool:
    """Whether something is expected of an access; its span is None if it has no fast path."""
    if span is None or span.stride is None:
        return False
    address = next(one for one in instruction.operands if isinstance(one, Address))
    return address.offset % instruction.types[-1].bytes == 0


def elements(instruction: Instruction) -> int:
    """Elements of the vector that each lane loads or stores; 1 for a scalar."""
    form = memory_form(instruction)
    if form:
        return form.count
    return next((int(m[1:]) for m in instruction.modifiers if m in ("v2", "v4", "v8")), 1)


SIZES = {"U8": 1, "U16": 2, "64": 8, "U64": 8, "S64": 8, "SD64": 8, "128": 16}
"""Bytes of an access by modifier of copies and surface instructions of machine code; 4 without one."""


def alignment(instruction: Instruction) -> int:
    """The required alignment of a memory instruction's addresses, in bytes."""
    traits = instruction.traits
    if is_sass(instruction) and (traits.is_copy or traits.is_texture):
        return next((bytes_ for word, bytes_ in SIZES.items() if word in instruction.modifiers), 4)
    if is_sass(instruction) and traits.is_asynchronous:
        return 16 if traits.writes_memory else 8
    if traits.is_matrix:
        whole = instruction.modifiers[:1] in (("load",), ("store",))
        return min(4, instruction.types[-1].bytes) if whole else 16
    if traits.is_asynchronous and traits.writes_memory:
        small = instruction.operands[2] if "bulk" not in instruction.modifiers else None
        return small.value if isinstance(small, Immediate) else 16
    form = memory_form(instruction)
    return form.bytes if form else instruction.types[-1].bytes * elements(instruction)
