"""Memory instructions inside a basic block: address, state space, vector elements, and the call of the native operation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llvmlite import ir

from warpreg.ir.errors import UnsupportedError
from warpreg.ir.instruction import Instruction
from warpreg.ir.operands import Address, ConstantBank, Immediate, Operand, Register
from warpreg.ir.types import U32, U64, Type
from warpreg.simt.emitter import I64, Value, lanes_of
from warpreg.simt.memory_operations import Operation
from warpreg.simt.state import SITE_BYTES, Slot
from warpreg.simt.storage import Cell
from warpreg.simt.values import BlockValues

if TYPE_CHECKING:
    from warpreg.simt.blocks import Sites

MEMORY = frozenset({"ld", "ldu", "st", "atom", "red"})
SPACES = {"global": "global", "const": "global", "shared": "shared", "local": "local", "param": "param"}
"""State space of the instruction to state space of the operation; constant variables lie in global memory."""

Source = tuple[Operand, Type, tuple[Cell, ...]]


class MemoryAccess:
    """One load, store or atomic of a block."""

    def __init__(self, values: BlockValues, sites: Sites, instruction: Instruction, pc: int) -> None:
        self.values = values
        self.sites = sites
        self.instruction = instruction
        self.pc = pc
        self.code = values.code
        named = [SPACES[m.split("::")[0]] for m in instruction.modifiers if m.split("::")[0] in SPACES]
        self.space = named[0] if named else "generic"
        self.type = instruction.types[-1]

    def emit(self, sources: list[Source], mask: Value) -> list[Value]:
        """Perform the access in the lanes of ``mask`` (i32); returns what it loads."""
        (operand, _, cells), *rest = sources
        if not isinstance(operand, Address):
            raise UnsupportedError(f"'{self.instruction}'", self.instruction.location, "has no address")
        if self.space == "param":
            return self._parameter(operand)
        address = self._address(operand, cells)
        number = self.sites.site(self.pc, self.instruction.guard is not None)
        site = self.values.field(Slot.SITES) + number * SITE_BYTES
        given = [self.values.operand(o, t, c, self.instruction) for o, t, c in rest]
        if self.instruction.opcode in ("atom", "red"):
            return self._atomic(address, site, mask, given)
        count = max(1, next((int(m[1:]) for m in self.instruction.modifiers if m in ("v2", "v4", "v8")), 1))
        results = []
        for element in range(count):
            action = "store" if given else "load"
            operation = Operation(action, self.space, self.type.bytes, self.sites.record and element == 0)
            at = address + element * self.type.bytes if element else address
            results.append(self._call(operation, site, mask, [at, *given[element : element + 1]]))
        return [] if given else results

    def _address(self, operand: Address, cells: tuple[Cell, ...]) -> Value:
        """The 32 lane addresses in the operation's width."""
        wide = self.space in ("global", "generic")
        type_, vector = (U64, lanes_of(I64)) if wide else (U32, lanes_of(ir.IntType(32)))
        base = operand.base
        if not isinstance(base, (Register, Immediate, ConstantBank)):
            raise UnsupportedError(f"address '{operand}'", self.instruction.location)
        value = self.values.operand(base, type_, cells, self.instruction)
        return value + self.code.const(vector, operand.offset % (1 << type_.bits)) if operand.offset else value

    def _parameter(self, operand: Address) -> list[Value]:
        """Kernel parameters are read from constant bank 0."""
        if not isinstance(operand.base, ConstantBank) or self.instruction.opcode != "ld":
            raise UnsupportedError(f"'{self.instruction}'", self.instruction.location, "indexes parameters at run time")
        base = operand.base
        count = max(1, next((int(m[1:]) for m in self.instruction.modifiers if m in ("v2", "v4", "v8")), 1))
        words = (
            ConstantBank(base.bank, base.offset + operand.offset + i * self.type.bytes, self.type) for i in range(count)
        )
        return [self.values.operand(word, self.type, (), self.instruction) for word in words]

    def _atomic(self, address: Value, site: Value, mask: Value, given: list[Value]) -> list[Value]:
        names = [m for m in self.instruction.modifiers if m in ATOMICS]
        operation = Operation(f"{names[-1]}.{self.type}", self.space, self.type.bytes, self.sites.record)
        old = self._call(operation, site, mask, [address, given[0], given[-1]])
        return [old] if self.instruction.opcode == "atom" else []

    def _call(self, operation: Operation, site: Value, mask: Value, arguments: list[Value]) -> Value:
        table = self.values.field(Slot.HELPERS)
        address = (table + 8 * self.sites.operation(operation)).load(I64)
        return self.code.call_at(address, operation.result, [self.values.launch, site, mask, *arguments])


ATOMICS = frozenset("add and or xor exch cas min max inc dec".split())
