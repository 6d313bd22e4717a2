"""Recursive functions: laid out once for each call from outside the recursion, with frames on the stack.

A recursive function cannot be inlined.  Its group of mutual callers is laid out as blocks of the kernel; a frame holds
its parameters, results and local variables, and a call inside the group saves registers that are live across it:

    caller's frame | saved registers ... number of the return point | parameters, results, locals of the callee

Lanes at different depths share the code but have separate stacks, so results are correct under any divergence.  A
return is a branch table over the possible return points.  Each outer call has its own layout, so all of its lanes
reconverge where it returns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from warpreg.analysis.accesses import members
from warpreg.analysis.liveness import liveness
from warpreg.codegen.lower.call_parameters import CallParameters
from warpreg.codegen.lower.calls import Call
from warpreg.codegen.lower.frames import RETURN_BYTES, Frame, Routine, load, save_area, store
from warpreg.codegen.lower.scopes import UniqueNames
from warpreg.codegen.lower.split_blocks import Item, split
from warpreg.codegen.lower.stack import STACK, emit
from warpreg.ir.instruction import Instruction, registers_of
from warpreg.ir.kernel import Kernel
from warpreg.ir.module import LabelStatement, Module, Variable
from warpreg.ir.opcodes import flattened
from warpreg.ir.operands import Address, Arguments, Immediate, Label, Operand, Register, Symbol
from warpreg.ir.types import TYPES

RETURN = Instruction("ret", (), ())


def call_of(routine: Routine, instruction: Instruction, call: Call) -> Instruction:
    """A call of a routine, which a `Linker` expands."""
    operands = (Label(routine.label), Arguments(call.results), Arguments(call.arguments))
    return replace(instruction, modifiers=(), operands=operands, guard=None)


@dataclass
class Linker:
    """Expands the calls of routines and appends their bodies.

    ``variables`` are all of the kernel, ``tables`` gets the branch tables of the returns, ``names`` makes new names,
    ``shared`` are the registers that all functions share, which no call saves.
    """

    module: Module
    routines: Mapping[str, Routine]
    slots: CallParameters
    variables: Mapping[str, Variable]
    tables: dict[str, tuple[str, ...]]
    names: UniqueNames
    shared: frozenset[str]
    frames: dict[str, Frame] = field(init=False)
    returns: dict[str, list[str]] = field(init=False)

    def __post_init__(self) -> None:
        in_registers = frozenset(name for name, _ in self.slots.slots)
        self.frames = {label: Frame(routine, in_registers) for label, routine in self.routines.items()}
        self.returns = {label: [] for label in self.routines}

    def fresh(self, name: str, kind: str) -> Register:
        return Register(self.names.register(name), TYPES[kind])

    def link(self, items: list[Item]) -> list[Item]:
        """The kernel's items and those of all routines as one list."""
        linked = [*self._expanded(items, None, {}), RETURN]
        bodies = [(label, self._body(routine)) for label, routine in self.routines.items()]
        for label, body in bodies:
            linked += body
            linked += self._return(label)
        return linked

    def _body(self, routine: Routine) -> list[Item]:
        """Entry, body and the release of the frame."""
        frame = self.frames[routine.label]
        template = replace(RETURN, location=routine.function.location)
        items: list[Item] = [LabelStatement(routine.label), *frame.enter(template)]
        for item in routine.items:
            items += frame.resolved(item, self.fresh) if isinstance(item, Instruction) else (item,)
        items += frame.leave(template, self.fresh)
        return list(self._expanded(items, frame, self._live_across(items)))

    def _live_across(self, items: list[Item]) -> dict[int, list[Register]]:
        """By the identity of each call of a routine: the registers live after it."""
        kernel = Kernel("", (), split([*items, RETURN], self.tables), self.module)
        live = liveness(kernel)
        common = self.shared | {STACK.name}
        names, registers = live.accesses.cells.names, live.accesses.cells.registers
        live_after = {}
        for block in kernel.blocks:
            for instruction, after in zip(block.instructions, live.after(block.index), strict=True):
                if self._target(instruction):
                    live_after[id(instruction)] = [registers[c] for c in members(after) if names[c] not in common]
        return live_after

    def _target(self, item: Item) -> Routine | None:
        if isinstance(item, Instruction) and item.traits.is_call and isinstance(item.operands[0], Label):
            return self.routines.get(item.operands[0].name)
        return None

    def _return(self, label: str) -> Iterator[Item]:
        number, table = self.fresh("%return", "b32"), self.names.unique(f"{label}$returns")
        self.tables[table] = tuple(self.returns[label])
        template = replace(RETURN, location=self.routines[label].function.location)
        yield emit(template, "ld.local.u32", number, Address(STACK, -RETURN_BYTES))
        yield emit(template, "brx.idx", number, Label(table))

    def _expanded(self, items: list[Item], caller: Frame | None, saved: dict[int, list[Register]]) -> Iterator[Item]:
        for item in items:
            routine = self._target(item)
            if routine and isinstance(item, Instruction):
                yield from self._call(item, routine, caller, saved.get(id(item), []))
            else:
                yield item

    def _call(self, call: Instruction, routine: Routine, caller: Frame | None, saved: list[Register]) -> Iterator[Item]:
        """Save registers, pass arguments, branch, return, load results, restore."""
        offsets, back = self.frames[routine.label].offsets, self.names.unique(f"{routine.label}$back")
        results, arguments = (o.elements for o in call.operands[1:] if isinstance(o, Arguments))
        given = {register.name for actual in results for register in self._registers(actual)}
        places, size = save_area([r for r in saved if r.name not in given])
        self.returns[routine.label].append(back)
        for register, offset in places:
            yield from store(call, register, Address(STACK, offset), register.type, self.fresh)
        for name, actual in zip(routine.parameters, arguments, strict=True):
            yield from self._copies(call, actual, routine.frame[name], size + offsets[name], caller, into=True)
        number = Immediate(len(self.returns[routine.label]) - 1)
        yield emit(call, "st.local.u32", Address(STACK, size - RETURN_BYTES), number)
        yield emit(call, "add.u32", STACK, STACK, Immediate(size))
        yield emit(call, "bra", Label(routine.label))
        yield LabelStatement(back, call.location)
        yield emit(call, "add.u32", STACK, STACK, Immediate(-size))
        for name, actual in zip(routine.results, results, strict=True):
            yield from self._copies(call, actual, routine.frame[name], size + offsets[name], caller, into=False)
        for register, offset in places:
            yield from load(call, register, Address(STACK, offset), register.type)

    def _registers(self, actual: Operand) -> Iterator[Register]:
        if isinstance(actual, Symbol):
            yield from (slot for (name, _), slot in self.slots.slots.items() if name == actual.name)
        else:
            yield from registers_of(actual)

    def _copies(
        self, call: Instruction, actual: Operand, formal: Variable, offset: int, caller: Frame | None, *, into: bool
    ) -> Iterator[Instruction]:
        """Copy an argument ``into`` the callee's frame, ``offset`` bytes above the top of the stack, or a result
        back."""
        if not isinstance(actual, Symbol):
            for i, element in enumerate(flattened((actual,))):
                at = Address(STACK, offset + i * formal.type.bytes)
                if into:
                    yield from store(call, element, at, formal.type, self.fresh)
                elif isinstance(element, Register):
                    yield from load(call, element, at, formal.type)
            return
        for place, kind, here in self._pieces(actual, formal, caller):
            there = Address(STACK, offset + place)
            if isinstance(here, Address):
                piece = self.fresh("%piece", f"b{max(16, TYPES[kind].bits)}")
                yield emit(call, f"ld.local.{kind}", piece, here if into else there)
                yield emit(call, f"st.local.{kind}", there if into else here, piece)
            elif into:
                yield emit(call, f"st.local.{kind}", there, here)
            else:
                yield emit(call, f"ld.local.{kind}", here, there)

    def _pieces(
        self, actual: Symbol, formal: Variable, caller: Frame | None
    ) -> Iterator[tuple[int, str, Register | Address]]:
        """The parts of the caller's parameter variable: offset, type, and the register or memory that holds it."""
        if actual.name not in self.slots.in_memory:
            for (name, place), slot in self.slots.slots.items():
                if name == actual.name:
                    yield place, f"b{8 * self.slots.sizes[name, place]}", slot
            return
        together = formal.bytes | formal.natural_alignment | self.variables[actual.name].natural_alignment | 8
        step = together & -together
        for place in range(0, formal.bytes, step):
            owned = caller is not None and actual.name in caller.offsets
            at = caller.address(actual.name, place) if caller and owned else Address(Symbol(actual.name), place)
            yield place, f"b{8 * step}", at
