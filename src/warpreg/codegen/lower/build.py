"""From a function of a PTX module to a kernel of basic blocks with virtual registers.

Nested scopes are resolved, device functions inlined or laid out, static variables and parameters placed, unreachable
code dropped and, optionally, short branches if-converted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TypeGuard

from warpreg.codegen.lower.address_layout import Layout, SymbolResolver, parameters, pointer_parameters, symbols_of
from warpreg.codegen.lower.call_parameters import CallParameters
from warpreg.codegen.lower.clusters import single_block
from warpreg.codegen.lower.flatten import FlatCode, flatten
from warpreg.codegen.lower.if_conversion import predicated
from warpreg.codegen.lower.normalize_legacy import legacy_normalizer
from warpreg.codegen.lower.operand_forms import check_forms
from warpreg.codegen.lower.parameter_addresses import needs_copy, through_addresses
from warpreg.codegen.lower.recursive_calls import Linker
from warpreg.codegen.lower.shorthand import spelled_out
from warpreg.codegen.lower.split_blocks import Item, split
from warpreg.codegen.machine.textures import canonical
from warpreg.ir.errors import UnknownNameError
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.module import Function, Module
from warpreg.ir.types import U32, U64


def build_kernel(module: Module, kernel_name: str, *, predicate: bool = False) -> Kernel:
    """The kernel ``kernel_name`` of ``module`` with virtual registers; ``predicate``: if-convert short branches.

    Raises UnknownNameError if the module has no such entry, UnsupportedError for a branch to an unknown label and for
    an instruction whose operands its opcode does not accept.
    """
    function = _entry(module, kernel_name)
    flat = flatten(module, function)
    _normalize_legacy(module, flat)
    instructions = list(flat.instructions())
    check_forms(instructions)
    laid = parameters(function, pointer_parameters(instructions))
    own = {p.name for p in laid}
    formal = {name for r in flat.routines.values() for name in (*r.parameters, *r.results)}
    calls = frozenset(n for n, v in flat.variables.items() if v.space == "param" and n not in own | formal)
    items = _linked(module, flat, calls)
    size = max((p.offset + p.bytes for p in laid), default=0)
    items = [new for item in items for new in _through_addresses(item, size, flat.names.register)]
    layout = Layout.of(flat.variables, _named(items))
    for name in sorted(calls & set(_named(items))):
        layout.place(name, flat.variables[name], "local")
    resolver = SymbolResolver(layout, {p.name: p for p in laid}, U64 if module.address_size == 64 else U32)
    if needs_copy((i for i in items if isinstance(i, Instruction)), own):
        layout.place_parameters(size)
    kernel = Kernel(
        name=function.name,
        parameters=laid,
        blocks=split(_resolved(items, resolver), flat.tables),
        module=module,
        placements=tuple(layout.placements.values()),
        shared_bytes=layout.shared_bytes,
        dynamic_shared_offset=layout.dynamic_shared_offset,
        local_bytes=layout.local_bytes,
        rolled=frozenset(flat.rolled),
        location=function.location,
    )
    return predicated(kernel) if predicate else kernel


def _normalize_legacy(module: Module, flat: FlatCode) -> None:
    normalize = legacy_normalizer(module)
    for items in (flat.items, *(routine.items for routine in flat.routines.values())):
        items[:] = _spelled_out(items, flat)
        if normalize:
            items[:] = [normalize(i) if isinstance(i, Instruction) else i for i in items]
        items[:] = [canonical(i) if _is_texture(i) else i for i in single_block(items)]


def _spelled_out(items: list[Item], flat: FlatCode) -> list[Item]:
    spelled: list[Item] = []
    for item in items:
        if isinstance(item, Instruction):
            spelled.extend(spelled_out(item, flat.variables, flat.names.register))
        else:
            spelled.append(item)
    return spelled


def _is_texture(item: Item) -> TypeGuard[Instruction]:
    return isinstance(item, Instruction) and item.traits.is_texture


def _entry(module: Module, name: str) -> Function:
    kernels = {f.name: f for f in module.kernels}
    if name not in kernels:
        raise UnknownNameError("kernel", name, kernels)
    return kernels[name]


def _linked(module: Module, flat: FlatCode, names: frozenset[str]) -> list[Item]:
    """One list that includes the routines, with call parameters in registers or local memory."""
    if not names and not flat.routines:
        return flat.items
    slots = CallParameters.of(flat.instructions(), names)
    items = _rewritten(flat.items, slots)
    if not flat.routines:
        return items
    for routine in flat.routines.values():
        routine.items = _rewritten(routine.items, slots)
    linker = Linker(module, flat.routines, slots, flat.variables, flat.tables, flat.names, frozenset(flat.shared))
    return linker.link(items)


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
            operands = resolver.resolve(item)
            same = all(a is b for a, b in zip(operands, item.operands, strict=True))
            yield item if same else replace(item, operands=operands)
        else:
            yield item


def _through_addresses(item: Item, size: int, unique: Callable[[str], str]) -> Iterable[Item]:
    return through_addresses(item, size, unique) if isinstance(item, Instruction) else (item,)
