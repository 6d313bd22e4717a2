"""The address size of a module without ``.address_size``.

The directive came with PTX 2.3, and its default is 32 bits.  Compilers of 64-bit programs wrote none before, so
``ptxas`` takes the size from the code: 32 bits if an address in a 32-bit register is used for global memory, otherwise
64.  Local, shared and constant memory may have 32-bit addresses in either case.  A module that holds no address in a
register says nothing, and has the default.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterable, Iterator, Mapping

from warpreg.ir.errors import WarpregWarning
from warpreg.ir.instruction import Instruction
from warpreg.ir.module import Module
from warpreg.ir.operands import Address, Operand, Register, Symbol

DEFAULT = 32
WIDE = 64
_SMALL = ("const", "local", "shared", "param", "tex")
"""State spaces whose addresses may have 32 bits in a program with 64-bit addresses."""


class AddressSizeWarning(WarpregWarning):
    """A module has 64-bit addresses without saying so."""


def address_size(module: Module) -> int:
    """The bits of an address in a module without ``.address_size``; warns, once for a place, if these are 64."""
    spaces = {variable.name: variable.space for variable in module.static_variables}
    wide: tuple[Instruction, Operand] | None = None
    for instruction in (i for function in module.functions for i in function.instructions()):
        for operand, bits, is_global in _addresses(instruction, spaces):
            if bits == DEFAULT and is_global:
                return DEFAULT
            if bits == WIDE and wide is None:
                wide = instruction, operand
    if wide is None:
        return DEFAULT
    instruction, operand = wide
    _warn(f"{instruction.location}: addresses have 64 bits, as '{operand}' has here; .address_size is not given")
    return WIDE


def _addresses(instruction: Instruction, spaces: Mapping[str, str]) -> Iterator[tuple[Operand, int, bool]]:
    """Each address in a register: its operand, its bits, and whether it is one of global memory."""
    is_global = not any(m.startswith(_SMALL) for m in instruction.modifiers)
    for operand in instruction.operands:
        if isinstance(operand, Address) and isinstance(operand.base, Register):
            yield operand, operand.base.type.bits, is_global
        elif instruction.opcode == "cvta" and isinstance(operand, Register):
            yield operand, operand.type.bits, True
        elif instruction.opcode == "mov" and isinstance(operand, Symbol) and operand.name in spaces:
            yield operand, _bits(instruction.operands[:1]), spaces[operand.name] == "global"


def _bits(operands: Iterable[Operand]) -> int:
    return next((operand.type.bits for operand in operands if isinstance(operand, Register)), 0)


@functools.cache
def _warn(message: str) -> None:
    warnings.warn(message, AddressSizeWarning, stacklevel=5)
