"""All rows, and the properties of instructions derived from them."""

from __future__ import annotations

import functools
import operator
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from warpreg.ir.errors import UnsupportedError
from warpreg.ir.opcodes import (
    asynchronous,
    control,
    cross_lane,
    machine,
    mbarrier,
    memory,
    order,
    refused,
    tensor,
    texture,
)
from warpreg.ir.opcodes.arithmetic import (
    bits,
    compare,
    elementary,
    floating,
    half,
    integer,
    packed,
    video,
    video_simd,
)
from warpreg.ir.opcodes.conversion import byte, convert, random, scale
from warpreg.ir.opcodes.conversion import half as convert_half
from warpreg.ir.opcodes.form import Form, Latency, Opcode, Selection, Signature, Unit
from warpreg.ir.opcodes.sass import asynchronous as sass_asynchronous
from warpreg.ir.opcodes.sass import conversion as sass_conversion
from warpreg.ir.opcodes.sass import effects as sass_effects
from warpreg.ir.opcodes.sass import floating as sass_floating
from warpreg.ir.opcodes.sass import halves as sass_halves
from warpreg.ir.opcodes.sass import integer as sass_integer
from warpreg.ir.opcodes.sass import lanes as sass_lanes
from warpreg.ir.opcodes.sass import logic as sass_logic
from warpreg.ir.opcodes.sass import staging as sass_staging
from warpreg.ir.opcodes.sass.pattern import operand_pattern
from warpreg.ir.opcodes.trait import ANSWERS, ORDERED, Flow, Trait, Traits
from warpreg.ir.operands import (
    AddressTuple,
    Arguments,
    ModifiedOperand,
    Operand,
    Pair,
    Part,
    Register,
    Vector,
    registers_of,
)
from warpreg.ir.types import PRED

if TYPE_CHECKING:
    from warpreg.ir.instruction import Instruction

GROUPS = (
    integer,
    floating,
    half,
    packed,
    elementary,
    bits,
    compare,
    convert,
    convert_half,
    byte,
    random,
    scale,
    video,
    video_simd,
    memory,
    texture,
    control,
    cross_lane,
    tensor,
    machine,
    asynchronous,
    mbarrier,
)
OPCODES: tuple[Opcode, ...] = tuple(row for group in GROUPS for row in group.OPCODES)
"""Every row of PTX and of this compiler; at most one matches a full opcode with a given number of operands."""

MACHINE_GROUPS = (
    sass_integer, sass_logic, sass_floating, sass_halves, sass_conversion, sass_lanes, sass_effects, sass_staging,
    sass_asynchronous,
)  # fmt: skip
MACHINE_OPCODES: tuple[Opcode, ...] = tuple(row for group in MACHINE_GROUPS for row in group.OPCODES)
"""Every row of the vendor's machine code, in upper case."""

CARRY = Register("%CC", PRED)
"""The condition code ``CC.CF``: the carry of the machine's adder, which after a subtraction is *not* the borrow."""


@functools.cache
def _by_name() -> dict[str, tuple[Opcode, ...]]:
    rows: dict[str, list[Opcode]] = defaultdict(list)
    for row in (*OPCODES, *MACHINE_OPCODES):
        rows[row.name].append(row)
    return {name: tuple(found) for name, found in rows.items()}


@functools.cache
def _in_traces() -> dict[str, tuple[Opcode, ...]]:
    return {row.name: (row,) for row in sass_effects.IN_TRACES}


def is_known(opcode: str) -> bool:
    """Whether the table has a row of this base opcode."""
    return opcode in _by_name()


@functools.lru_cache(maxsize=4096)
def _matching(opcode: str, modifiers: tuple[str, ...]) -> tuple[Opcode, ...]:
    text = ".".join((opcode, *modifiers))
    return tuple(row for row in _by_name().get(opcode, ()) if row.pattern.fullmatch(text))


def is_allowed(opcode: str, modifiers: tuple[str, ...]) -> bool:
    """Whether a row has these modifiers in this order."""
    return bool(_matching(opcode, modifiers))


@functools.lru_cache(maxsize=4096)
def canonical(opcode: str, modifiers: tuple[str, ...]) -> tuple[str, ...]:
    """Modifiers in the order of the first row that has them; unchanged if a row has this order, or no row has them."""
    if len(modifiers) < 2 or _matching(opcode, modifiers):
        return modifiers
    found = (order.arranged(opcode, row.syntax, modifiers) for row in _by_name().get(opcode, ()))
    return next((one for one in found if one is not None), modifiers)


@functools.lru_cache(maxsize=4096)
def _resolved(
    opcode: str, modifiers: tuple[str, ...], results: int, sources: int, predicates: int = 0
) -> tuple[Opcode, Form] | None:
    """The first row with these numbers of operands.  ``predicates`` is the number of predicates among the sources,
    checked for ``cp``, which takes a predicate or a number in one position.
    """
    for row in _matching(opcode, modifiers):
        signature = None if row.arrangement else row.signature(modifiers, results, sources)
        if signature and (opcode != "cp" or signature.sources.count(PRED) == predicates):
            return row, Form(opcode, modifiers, signature)
    return None


NESTED = (Vector, Arguments, AddressTuple, Pair)
"""Operands that contain operands."""


def flattened(operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
    """Operand slots: brace lists, pairs, argument lists and texture operands flattened."""
    for operand in operands:
        if isinstance(operand, NESTED):
            break
    else:
        return operands
    slots: list[Operand] = []
    for operand in operands:
        if isinstance(operand, (Vector, Arguments, AddressTuple)):
            slots += flattened(operand.elements)
        elif isinstance(operand, Pair):
            slots += flattened((operand.first, operand.second))
        else:
            slots.append(operand)
    return tuple(slots)


def resolve(instr: Instruction) -> tuple[Opcode, Form]:
    """The row of an instruction, and the form that the row's meaning takes.

    Raises UnsupportedError with the full opcode and the location if no row allows these modifiers, types and operands.
    """
    if instr.opcode[:1].isupper():
        return _machine(instr)
    results, sources = len(flattened(instr.results)), len(flattened(instr.sources))
    predicates = sum(r.is_predicate for o in instr.sources for r in registers_of(o)) if instr.opcode == "cp" else 0
    found = _arranged(instr, results, sources) or _resolved(instr.opcode, instr.modifiers, results, sources, predicates)
    if found:
        return (found[0], _selecting(found[1], instr)) if instr.opcode.startswith("v") else found
    if _matching(instr.opcode, instr.modifiers):
        reason = f"does not take {results} results and {sources} sources"
        raise UnsupportedError(instr.full_opcode, instr.location, reason)
    raise UnsupportedError(instr.full_opcode, instr.location, refused.reason(instr))


def _machine(instr: Instruction) -> tuple[Opcode, Form]:
    """The row of an instruction of machine code."""
    rows = _matching(instr.opcode, instr.modifiers)
    pattern = operand_pattern(instr.opcode, instr.modifiers)
    if not rows or pattern is None:
        raise UnsupportedError(instr.full_opcode, instr.location)
    form = Form(instr.opcode, instr.modifiers, Signature(*pattern.types))
    if rows[0].keeps_signs:
        signs = tuple(Selection(negated=isinstance(o, ModifiedOperand) and o.negated) for o in instr.sources)
        form = replace(form, selections=signs)
    return rows[0], form


def _arranged(instr: Instruction, results: int, sources: int) -> tuple[Opcode, Form] | None:
    """The row of an instruction whose signature depends on the grouping of its operands."""
    for row in _matching(instr.opcode, instr.modifiers):
        signature = row.arrangement(instr) if row.arrangement else None
        if signature and (len(signature.results), len(signature.sources)) == (results, sources):
            return row, Form(instr.opcode, instr.modifiers, signature)
    return None


def _selecting(form: Form, instr: Instruction) -> Form:
    """The form of a video instruction that reads or writes parts of registers."""
    operands = (*instr.results, *instr.sources)
    if not any(isinstance(o, Part) for o in operands):
        return form
    parts = [Selection(o.selector, o.negated) if isinstance(o, Part) else Selection() for o in operands]
    return replace(form, selections=tuple(parts[1:]), destination=parts[0].selector)


def lookup(instr: Instruction) -> Opcode:
    """The row of an instruction.  Raises UnsupportedError as `resolve` does."""
    return resolve(instr)[0]


def form(instr: Instruction) -> Form:
    """The modifiers and signature that a meaning takes.  Raises UnsupportedError as `resolve` does."""
    return resolve(instr)[1]


def signature(instr: Instruction) -> Signature:
    """The type of each operand slot of `flattened` results and sources.  Raises UnsupportedError as `resolve` does."""
    return resolve(instr)[1].signature


def classify(instr: Instruction) -> tuple[Unit, Latency]:
    """Unit and latency class.  Never raises: an instruction without row is classified by its base opcode, or as ALU."""
    rows = _matching(instr.opcode, instr.modifiers) or _by_name().get(instr.opcode, ())
    return (rows[0].unit, rows[0].latency_of(instr.modifiers)) if rows else (Unit.ALU, Latency.ALU)


@functools.lru_cache(maxsize=4096)
def traits_of(opcode: str, modifiers: tuple[str, ...] = ()) -> Traits:
    """What the parts of Warpreg ask about an opcode.  Never raises: where no row has these modifiers, the answers come
    from all rows of the base opcode, but those about the carry; without such rows, there are none.
    """
    exact = _matching(opcode, modifiers)
    rows = exact or _by_name().get(opcode) or _in_traces().get(opcode, ())
    if not rows:
        return Traits()
    stated = functools.reduce(operator.or_, (row.traits for row in rows))
    is_ordered = not ORDERED.isdisjoint(modifiers)
    writes_carry, elements = any(row.writes_carry for row in exact), Trait.ELEMENTS in stated
    return Traits(
        is_pure=all(row.is_pure for row in rows),
        is_removable=all(row.is_removable for row in rows) and not (is_ordered or writes_carry),
        takes_constant=all(row.takes_constant for row in rows),
        is_warp_wide=any(row.lanes for row in rows),
        has_effect=any(row.meaning is None for row in rows),
        has_result=any(row.has_result for row in rows),
        reads_carry=any(row.reads_carry for row in exact),
        writes_carry=writes_carry,
        takes_address=any(row.takes_address for row in rows),
        is_texture=any(row.unit is Unit.TEX for row in rows),
        is_ordered=is_ordered,
        flow=rows[0].flow,
        space=rows[0].space,
        ends_lanes=Trait.EXIT in stated or rows[0].flow is Flow.EXIT,
        awaits_others=_awaits_others(stated, rows[0].flow, modifiers),
        is_direct=Trait.BRANCH in stated and Trait.INDIRECT not in stated,
        loads=elements and Trait.WRITES not in stated,
        stores=elements and Trait.WRITES in stated,
        **{name: bool(stated & enough) for name, enough in ANSWERS.items()},
    )


def _awaits_others(stated: Trait, flow: Flow, modifiers: tuple[str, ...]) -> bool:
    """Whether a barrier of the thread block blocks the warp."""
    is_barrier = Trait.BARRIER in stated or flow is Flow.BARRIER
    return is_barrier and {"warp", "arrive", "ARV"}.isdisjoint(modifiers)


def carry_defs(instr: Instruction) -> tuple[Register, ...]:
    """(CARRY,) if the instruction writes it, else ()."""
    return (CARRY,) if instr.traits.writes_carry else ()


def carry_uses(instr: Instruction) -> tuple[Register, ...]:
    """(CARRY,) if the instruction reads it, else ()."""
    return (CARRY,) if instr.traits.reads_carry else ()
