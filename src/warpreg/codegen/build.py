"""From a function of a PTX module to a kernel of basic blocks with virtual registers.

Nested scopes are resolved, device functions inlined or laid out, static variables and parameters placed, unreachable
code dropped.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeGuard

from warpreg.codegen.blocks import Item, split
from warpreg.codegen.callparams import CallParameters
from warpreg.codegen.clusters import single_block
from warpreg.codegen.flatten import Flattened, flatten
from warpreg.codegen.layout import Layout, SymbolResolver, parameters, pointer_parameters, symbols_of
from warpreg.codegen.legacy import modernizer
from warpreg.codegen.operand_forms import check_forms
from warpreg.codegen.parameter_addresses import with_copies
from warpreg.codegen.routines import Linker
from warpreg.codegen.textures import canonical
from warpreg.ir.errors import UnknownNameError
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.module import Function, Module
from warpreg.ir.opcodes.texture import OPCODE_NAMES
from warpreg.ir.operands import Address, Register, Symbol
from warpreg.ir.types import U32, U64


def build(module: Module, kernel_name: str) -> Kernel:
    """The kernel ``kernel_name`` of ``module`` with virtual registers.

    Raises UnknownNameError where the module has no such entry, UnsupportedError for a branch that goes to no label and
    for an instruction whose operands its opcode does not take.
    """
    function = _entry(module, kernel_name)
    flat = flatten(module, function)
    _put_into_todays_words(module, flat)
    with_copies(function, flat)
    instructions = list(flat.instructions())
    check_forms(instructions)
    laid = parameters(function, pointer_parameters(instructions))
    own = {p.name for p in laid}
    formal = {name for r in flat.routines.values() for name in (*r.parameters, *r.results)}
    calls = frozenset(n for n, v in flat.variables.items() if v.space == "param" and n not in own | formal)
    items = _linked(module, flat, calls)
    layout = Layout.of(flat.variables, _named(items))
    for name in sorted(calls & set(_named(items))):
        layout.place(name, flat.variables[name], "local")
    resolver = SymbolResolver(layout, {p.name: p for p in laid}, U64 if module.address_size == 64 else U32)
    if any(name in resolver.parameters for name in _taken(items)):
        layout.place_parameters(max(p.offset + p.bytes for p in laid))
    return Kernel(
        name=function.name,
        parameters=laid,
        blocks=split(_resolved(items, resolver), flat.tables),
        module=module,
        placements=tuple(layout.placements.values()),
        shared_bytes=layout.shared_bytes,
        dynamic_shared_offset=layout.dynamic_shared_offset,
        local_bytes=layout.local_bytes,
        location=function.location,
    )


def _put_into_todays_words(module: Module, flat: Flattened) -> None:
    modernize = modernizer(module)
    for items in (flat.items, *(routine.items for routine in flat.routines.values())):
        if modernize:
            items[:] = [modernize(i) if isinstance(i, Instruction) else i for i in items]
        items[:] = [canonical(i) if _is_texture(i) else i for i in single_block(items)]


def _is_texture(item: Item) -> TypeGuard[Instruction]:
    return isinstance(item, Instruction) and item.opcode in OPCODE_NAMES


def _entry(module: Module, name: str) -> Function:
    kernels = {f.name: f for f in module.kernels}
    if name not in kernels:
        raise UnknownNameError("kernel", name, kernels)
    return kernels[name]


def _linked(module: Module, flat: Flattened, names: frozenset[str]) -> list[Item]:
    """One list with the parameters of calls in registers or local memory, and the routines laid out."""
    if not names and not flat.routines:
        return flat.items
    slots = CallParameters.of(flat.instructions(), names)
    items = _rewritten(flat.items, slots)
    if not flat.routines:
        return items
    for routine in flat.routines.values():
        routine.items = _rewritten(routine.items, slots)
    return Linker(module, flat.routines, slots, flat.variables, flat.tables, flat.names.unique).link(items)


def _rewritten(items: list[Item], slots: CallParameters) -> list[Item]:
    rewritten: list[Item] = []
    for item in items:
        rewritten.extend(slots.rewrite(item) if isinstance(item, Instruction) else (item,))
    return rewritten


def _named(items: list[Item]) -> Iterator[str]:
    for item in items:
        if isinstance(item, Instruction):
            yield from (symbol.name for symbol in symbols_of(item))


def _resolved(items: list[Item], resolver: SymbolResolver) -> Iterator[Item]:
    for item in items:
        if isinstance(item, Instruction):
            item = _parameters_by_address(item)
            operands = resolver.resolve(item)
            same = all(a is b for a, b in zip(operands, item.operands, strict=True))
            yield item if same else replace(item, operands=operands)
        else:
            yield item


def _taken(items: list[Item]) -> Iterator[str]:
    """Names that stand for an address in an instruction, other than as the place that it accesses."""
    for item in items:
        if isinstance(item, Instruction) and item.opcode != "call":
            yield from (operand.name for operand in item.operands if isinstance(operand, Symbol))


def _parameters_by_address(instruction: Instruction) -> Instruction:
    """A load of a parameter through a register reads the parameters' copy in constant memory."""
    if instruction.opcode != "ld" or not any(m.startswith("param") for m in instruction.modifiers):
        return instruction
    if not any(isinstance(o, Address) and isinstance(o.base, Register) for o in instruction.operands):
        return instruction
    modifiers = tuple("const" if m.startswith("param") else m for m in instruction.modifiers)
    return replace(instruction, modifiers=modifiers)
