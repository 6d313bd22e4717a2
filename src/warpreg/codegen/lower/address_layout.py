"""Address layout: parameters in constant bank 0, static variables in shared and local memory, addresses of module
variables in bank 4, contents of constant variables in bank 3.

Parameter offsets follow PTX: each at the next multiple of its alignment (PTX ISA, "Kernel Function Parameters").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from warpreg.codegen.machine.operand_rewriting import map_operand, rebase
from warpreg.ir.errors import UnsupportedError
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Parameter, Placement
from warpreg.ir.module import Function, Variable
from warpreg.ir.operands import Address, AddressTuple, ConstantBank, Immediate, Operand, Register, Symbol
from warpreg.ir.types import B32, TYPES, U64, Type

MAX_PARAMETER_BYTES = 32_764
"""Maximum parameter bytes of a kernel (PTX ISA, section 5.1.6.1, from sm_70 and PTX 8.1 on)."""

PARAMETER_BANK = 0
VARIABLE_BANK = 4
CONSTANT_BANK = 3
PARAMETER_COPY = "%parameters"
"""Name of the constant variable that holds a copy of the parameters, for a kernel that takes their address."""
BANKED = frozenset({"global", "const", "tex"})
PLACED = frozenset({"shared", "local"})


def align(offset: int, alignment: int) -> int:
    """The next multiple of ``alignment`` from ``offset`` on."""
    return -(-offset // alignment) * alignment


def parameters(function: Function, pointers: frozenset[str] = frozenset()) -> tuple[Parameter, ...]:
    """The kernel's parameters laid out; ``pointers`` names those whose value is used as an address."""
    laid, offset = [], 0
    for variable in function.parameters:
        offset = align(offset, variable.natural_alignment)
        pointer = "ptr" in {q.lstrip(".") for q in variable.qualifiers} or variable.name in pointers
        laid.append(
            Parameter(variable.name, variable.type, offset, variable.bytes, pointer, variable.natural_alignment)
        )
        offset += variable.bytes
        if offset > MAX_PARAMETER_BYTES:
            reason = f"needs {offset} bytes of parameters, at most {MAX_PARAMETER_BYTES} are possible"
            raise UnsupportedError(f"kernel '{function.name}'", function.location, reason)
    return tuple(laid)


def pointer_parameters(instructions: Iterable[Instruction]) -> frozenset[str]:
    """Parameters loaded whole into a register that ``cvta`` converts or that is a memory base."""
    loaded: dict[str, str] = {}
    pointers: set[str] = set()
    for instruction in instructions:
        if instruction.traits.loads and "param" in instruction.modifiers:
            target, address = instruction.operands[0], instruction.operands[1]
            if isinstance(target, Register) and isinstance(address, Address) and isinstance(address.base, Symbol):
                loaded[target.name] = address.base.name
                continue
        pointers.update(loaded[name] for name in _addressing(instruction) if name in loaded)
    return frozenset(pointers)


def _addressing(instruction: Instruction) -> Iterator[str]:
    for operand in instruction.operands:
        if isinstance(operand, Address) and isinstance(operand.base, Register):
            yield operand.base.name
    if instruction.opcode == "cvta" and isinstance(instruction.operands[1], Register):
        yield instruction.operands[1].name


@dataclass
class Layout:
    """Placements of the variables that a kernel names, and the sizes of its memories in bytes."""

    placements: dict[str, Placement] = field(default_factory=dict)
    shared_bytes: int = 0
    local_bytes: int = 0
    dynamic_shared_offset: int = 0

    @staticmethod
    def of(variables: Mapping[str, Variable], named: Iterable[str]) -> Layout:
        """Static variables in order of declaration, each aligned; unsized shared arrays all start after them."""
        layout = Layout()
        named_variables = set(named)
        chosen = {n: v for n, v in variables.items() if n in named_variables and v.space in PLACED | BANKED}
        unsized = {n: v for n, v in chosen.items() if v.space == "shared" and v.bytes == 0}
        for name, variable in chosen.items():
            if name not in unsized:
                layout.place(name, variable)
        start = align(layout.shared_bytes, max((v.natural_alignment for v in unsized.values()), default=1))
        layout.dynamic_shared_offset = start
        layout.placements |= {n: Placement(v, "shared", start, 0) for n, v in unsized.items()}
        return layout

    def place_parameters(self, size: int) -> None:
        """Place a copy of the parameters, ``size`` bytes, as a constant variable."""
        self.place(PARAMETER_COPY, Variable("const", TYPES["b8"], PARAMETER_COPY, 16, (size,)))

    def place(self, name: str, variable: Variable, space: str = "") -> None:
        """Place a variable at the next free address of its own space or of ``space``."""
        space = space or variable.space
        if space == "shared":
            offset = align(self.shared_bytes, variable.natural_alignment)
            self.shared_bytes = offset + variable.bytes
        elif space == "local":
            offset = align(self.local_bytes, variable.natural_alignment)
            self.local_bytes = offset + variable.bytes
        else:
            offset = 0
        self.placements[name] = Placement(variable, space, offset, variable.bytes)


def symbols_of(instruction: Instruction) -> Iterator[Symbol]:
    """Every symbol in an instruction's operands; a call has none, since its operands remain names."""
    if instruction.traits.is_call:
        return
    yield from _symbols(instruction.operands)


def _symbols(operands: Iterable[Operand]) -> Iterator[Symbol]:
    for operand in operands:
        if isinstance(operand, Symbol):
            yield operand
        elif isinstance(operand, AddressTuple):
            yield from _symbols(operand.elements)
        elif isinstance(operand, Address) and isinstance(operand.base, Symbol):
            yield operand.base


@dataclass(frozen=True)
class SymbolResolver:
    """Replaces the names of variables by their addresses."""

    layout: Layout
    parameters: Mapping[str, Parameter]
    address_type: Type

    def resolve(self, instruction: Instruction) -> tuple[Operand, ...]:
        """The instruction's operands without symbols of variables."""
        if instruction.traits.is_call:
            return instruction.operands
        kind = instruction.types[-1] if instruction.types else B32
        if instruction.traits.is_texture:
            return tuple(self._handle(o) for o in instruction.operands)
        operands = tuple(self._operand(o, kind) for o in instruction.operands)
        for operand in operands:
            if isinstance(operand, Address) and isinstance(operand.base, ConstantBank):
                self._check_bounds(instruction, operand.base)
        return operands

    def _check_bounds(self, instruction: Instruction, word: ConstantBank) -> None:
        """Check that a fixed offset into constant bank 0 is within the parameters."""
        count = next((int(m[1:]) for m in instruction.modifiers if m in ("v2", "v4", "v8")), 1)
        size = max((p.offset + p.bytes for p in self.parameters.values()), default=0)
        end = word.offset + count * word.type.bytes
        if word.bank == PARAMETER_BANK and not 0 <= word.offset < end <= size:
            reason = f"reads bytes {word.offset} to {end - 1} of {size} bytes of parameters"
            raise UnsupportedError(f"'{instruction}'", instruction.location, reason)

    def _handle(self, operand: Operand) -> Operand:
        """The location of the handle of a texture, sampler or surface, named directly or by a parameter."""
        if isinstance(operand, AddressTuple):
            return AddressTuple(tuple(self._handle(e) for e in operand.elements))
        if isinstance(operand, Address):
            base = self._handle(operand.base)
            return operand if base is operand.base else rebase(operand, base)
        if isinstance(operand, Symbol) and operand.name in self.parameters:
            offset = self.parameters[operand.name].offset + operand.offset
            return ConstantBank(PARAMETER_BANK, offset, U64)
        if isinstance(operand, Symbol) and operand.name in self.layout.placements:
            variable = self.layout.placements[operand.name].variable
            return ConstantBank(VARIABLE_BANK, operand.offset, U64, variable.unique_name)
        return operand

    def _operand(self, operand: Operand, kind: Type) -> Operand:
        if isinstance(operand, AddressTuple):
            return operand
        if isinstance(operand, Address):
            if not isinstance(operand.base, Symbol):
                return operand
            if operand.base.name in self.parameters:
                offset = self.parameters[operand.base.name].offset + operand.base.offset + operand.offset
                return Address(ConstantBank(PARAMETER_BANK, offset, kind))
            return rebase(operand, self._symbol(operand.base))
        return map_operand(operand, lambda o: self._symbol(o) if isinstance(o, Symbol) else o)

    def _symbol(self, symbol: Symbol) -> Operand:
        parameter = self.parameters.get(symbol.name)
        if parameter:
            return ConstantBank(VARIABLE_BANK, parameter.offset + symbol.offset, self.address_type, PARAMETER_COPY)
        placement = self.layout.placements.get(symbol.name)
        if placement is None:
            return symbol
        if placement.space in PLACED:
            return Immediate(placement.offset + symbol.offset)
        return ConstantBank(VARIABLE_BANK, symbol.offset, self.address_type, placement.variable.unique_name)
