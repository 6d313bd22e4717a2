"""Words of constant banks by what they stand for: parameters, words of the launch, variables, addresses, constants."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from warpreg.ir.kernel import Block, Kernel, Placement
from warpreg.ir.operands import ConstantBank, Immediate, Operand, Special
from warpreg.ir.types import B32, Type
from warpreg.machine_code.code import Code
from warpreg.machine_code.errors import MachineCodeError
from warpreg.machine_code.listing import ListedInstruction
from warpreg.machine_code.services import ADDRESSES, is_indexed_address

LITERALS, VARIABLES = 2, 3
"""Constant banks: constants of the code and jump tables; ``__constant__`` variables."""

LAUNCH_WORDS = frozenset([*range(0, 0x2C, 4), 0x118, 0x11C, 0x128, 0x18C, 0x208, 0x20C])
"""Words of constant bank 0 below the parameters that are known: extents of block and grid, generic addresses of shared
and local memory, stack pointer; of each architecture, the descriptor of global memory, and a flag that selects the
scope of a fence, both 0."""

BANK_BYTES = 1 << 16

WORKSPACE = {
    "sm_80": {0x8C: "%envreg1", 0x90: "%envreg2"},
    "sm_90": {0x44: "%envreg1", 0x48: "%envreg2"},
}
"""Words of constant bank 0 with the address of the workspace of a cooperative grid, by what PTX reads instead."""


class Banks:
    """The constant banks of a function, whose parameters have ``parameter_bytes``."""

    def __init__(self, code: Code, parameter_bytes: int) -> None:
        self.code = code
        self.end = code.first_parameter + parameter_bytes if parameter_bytes else BANK_BYTES
        symbols = code.cubin.symbols.get(f".nv.constant{VARIABLES}", ())
        self.variables = sorted((one.offset, one.bytes, one.name) for one in symbols if one.bytes)
        self.addresses = code.cubin.relocated.get(f".nv.constant{ADDRESSES}", {})
        self.handles = code.cubin.relocated.get(f".nv.constant0.{code.function.name}", {})
        self.literals = code.cubin.contents.get(f".nv.constant{LITERALS}.{code.function.name}", b"")
        self.reads_addresses = False

    def word(self, word: ConstantBank, one: ListedInstruction, kind: Type | str | None) -> Operand:
        """What a word stands for in a slot of a kind.  Raises MachineCodeError if that is not known."""
        if is_indexed_address(word):
            self.reads_addresses = True
        if word.index and word.bank in (VARIABLES, ADDRESSES):
            return word
        if word.bank == VARIABLES:
            for offset, size, name in reversed(self.variables):
                if offset <= max(word.offset, 0) and word.offset < offset + size:
                    return replace(word, offset=word.offset - offset, name=name)
        if word.bank == 0 and word.offset in self.handles and word.type.bits == B32.bits:
            held = self.handles[word.offset]
            return replace(word, bank=ADDRESSES, offset=held.addend, name=held.symbol)
        if word.bank == ADDRESSES and word.offset & ~4 in self.addresses:
            held = self.addresses[word.offset & ~4]
            return replace(word, offset=held.addend, name=held.symbol, word=word.offset >> 2 & 1)
        if word.bank == LITERALS and word.index is None and word.offset + word.type.bytes <= len(self.literals):
            form = kind.name if isinstance(kind, Type) and kind.name in ("f32", "f64") else "int"
            return Immediate(int.from_bytes(self.literals[word.offset :][: word.type.bytes], "little"), form)
        workspace = WORKSPACE.get(self.code.architecture, {})
        if word.bank == 0 and word.offset in workspace and word.type.bits == B32.bits:
            return Special(workspace[word.offset])
        if word.bank == LITERALS or (word.bank == 0 and self._is_known(word)):
            return word
        remedy = "" if self.code.cubin.contents else "; variables and textures need the cubin, beside the listing"
        raise MachineCodeError(f"{self.code.place(one)}: nothing is known to be at {word}{remedy}")

    def _is_known(self, word: ConstantBank) -> bool:
        """Whether the value of a word of bank 0 is known, unlike that of the generic address of bank 3."""
        is_parameter = self.code.first_parameter <= word.offset < self.end
        return bool(word.index) or word.offset in LAUNCH_WORDS or is_parameter

    def placements(self, source: Kernel, lifted: Iterable[Block]) -> tuple[Placement, ...]:
        """Those of the PTX, variables whose addresses the code takes, and those of bank 3 with their offsets in it; all
        of them where an index or a pair of words may reach one that the code does not name.

        Raises MachineCodeError for a name that is no variable of the module.
        """
        words = [o for block in lifted for i in block.instructions for o in i.operands if isinstance(o, ConstantBank)]
        reaches = any(word.bank == VARIABLES and (word.index or word.type.bits > 32) for word in words)
        placed = {p.variable.unique_name for p in source.placements}
        declared = {v.unique_name: v for v in source.module.static_variables}
        taken = {word.name for word in words if word.name and word.name not in placed}
        if unknown := sorted(taken - declared.keys()):
            raise MachineCodeError(f"{self.code.file}: {self.code.function.name}: no variable is named {unknown[0]}")
        own = placed | taken
        known = [row for row in self.variables if row[2] in declared and (reaches or row[2] in own)]
        banked = [Placement(declared[name], "const", offset, size) for offset, size, name in known]
        names = {p.variable.unique_name for p in banked}
        addressed = [Placement(declared[name], declared[name].space, 0, declared[name].bytes) for name in sorted(taken)]
        others = (p for p in (*source.placements, *addressed) if p.variable.unique_name not in names)
        return (*others, *banked)
