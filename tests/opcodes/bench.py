"""Run single instructions over 32 lanes: many in one LLVM module, values in and out as Python integers."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from llvmlite import binding

from warpreg.ir import opcodes
from warpreg.ir.instruction import Instruction
from warpreg.ir.operands import Immediate, Operand, Pair, Part, Register, Vector
from warpreg.ir.types import TYPES, U32, Type
from warpreg.simt.lanes import lane_instructions
from warpreg.simt.llvm import text as ir

LANES = 32
WORD = ir.VectorType(ir.IntType(64), LANES)
Values = Sequence[int]


def register(name: str, type_: Type) -> Register:
    return Register(name, type_)


def group(operands: Sequence[Operand], pair: bool = False) -> Operand:
    """One operand, or several as a brace list or a pair."""
    if len(operands) == 1:
        return operands[0]
    return Pair(operands[0], operands[1]) if pair else Vector(tuple(operands))


@dataclass
class Case:
    """An instruction with the lane values of its sources; an Immediate stands for a constant operand."""

    opcode: str
    sources: Sequence[Values | Immediate]
    results: int = 1
    widths: Sequence[int] = ()
    carry: Values | None = None
    active: int = 0xFFFFFFFF
    parts: Sequence[str] = ()
    outcome: list[list[int]] = field(default_factory=list)
    carry_out: list[int] = field(default_factory=list)

    def values(self, source: int) -> Values:
        """The lane values of a source that is not a constant."""
        found = self.sources[source]
        assert not isinstance(found, Immediate)
        return found

    def instruction(self) -> Instruction:
        """With registers of the slots' types, at least 16 bits wide, or of ``widths`` (results, then sources)."""
        base, *modifiers = self.opcode.split(".")
        names = [register(f"d{i}", U32) for i in range(self.results)]
        blanks: list[Operand] = [register(f"s{i}", U32) for i in range(len(self.sources))]
        shape = self._assembled(base, tuple(modifiers), names, blanks)
        signature = opcodes.signature(shape)
        slots = [*signature.results, *signature.sources]
        widths = self.widths or [1 if t.is_predicate else max(16, t.bits) for t in slots]
        types = [TYPES["pred"] if w == 1 else TYPES[f"b{w}"] for w in widths]
        results = [register(f"d{i}", t) for i, t in enumerate(types[: self.results])]
        sources: list[Operand] = [
            s if isinstance(s, Immediate) else register(f"s{i}", t)
            for i, (s, t) in enumerate(zip(self.sources, types[self.results :], strict=True))
        ]
        return self._assembled(base, tuple(modifiers), results, sources)

    def _assembled(
        self, base: str, modifiers: tuple[str, ...], results: Sequence[Register], sources: Sequence[Operand]
    ) -> Instruction:
        packs = base == "mov" and len(sources) > 1
        listed = (group(sources),) if packs else tuple(sources)
        first = (group(results, pair=base in ("setp", "shfl", "lop3", "match", "elect")),) if results else ()
        return Instruction(base, modifiers, self._with_parts((*first, *listed)))

    def _with_parts(self, operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
        """``parts`` (of the result, then the sources, such as ``h1`` or ``-``) put on the operands."""
        chosen = [*self.parts, *[""] * (len(operands) - len(self.parts))]
        return tuple(
            Part(o, part.removeprefix("-"), part.startswith("-")) if part and isinstance(o, Register) else o
            for o, part in zip(operands, chosen, strict=True)
        )


class Frame:
    """The context of one case's code."""

    def __init__(self, builder: Any, module: Any, active: Any, carry: Any) -> None:
        self.builder, self.module, self.active, self.carry = builder, module, active, carry


def run(cases: Sequence[Case], opt: int = 1) -> None:
    """Compile all cases into one module, run them, and fill in their outcomes."""
    module = ir.Module("cases")
    plans = [compile_case(module, index, case) for index, case in enumerate(cases)]
    engine = finish(module, opt)
    for index, (case, sources) in enumerate(zip(cases, plans, strict=True)):
        given = np.zeros((len(sources) + 1, LANES), np.uint64)
        for row, values in enumerate([*sources, case.carry or [0] * LANES]):
            given[row] = np.array(values, dtype=object).astype(np.uint64)
        out = np.zeros((case.results + 1, LANES), np.uint64)
        address = engine.get_function_address(f"case{index}")
        ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(address)(given.ctypes.data, out.ctypes.data)
        case.outcome = [[int(x) for x in row] for row in out[: case.results]]
        case.carry_out = [int(x) for x in out[-1]]


def finish(module: Any, opt: int = 1) -> Any:
    """An engine with the module's machine code."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    parsed = binding.parse_assembly(str(module))
    parsed.verify()
    target = binding.Target.from_default_triple()
    machine = target.create_target_machine(
        cpu=binding.get_host_cpu_name(), features=binding.get_host_cpu_features().flatten(), opt=opt
    )
    engine = binding.create_mcjit_compiler(parsed, machine)
    engine.finalize_object()
    return engine


def compile_case(module: Any, index: int, case: Case) -> list[Values]:
    """Code that loads the sources, executes and stores; returns the sources that are not constants."""
    pointer = ir.ArrayType(WORD, 1).as_pointer()
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [pointer, pointer]), f"case{index}")
    builder = ir.IRBuilder(function)
    taken, given = function.args

    def at(base: Any, row: int) -> Any:
        return builder.gep(base, [ir.Constant(ir.IntType(64), 0), ir.Constant(ir.IntType(64), row)])

    def load(row: int, bits: int) -> Any:
        value = builder.load(at(taken, row), align=8)
        return value if bits == 64 else builder.trunc(value, ir.VectorType(ir.IntType(bits), LANES))

    def store(row: int, value: Any) -> None:
        wide = value if value.type == WORD else builder.zext(value, WORD)
        builder.store(wide, at(given, row), align=8)

    instruction = case.instruction()
    signature = opcodes.signature(instruction)
    values: list[Any] = []
    variable: list[Values] = []
    for operand, type_, source in zip(
        opcodes.flattened(instruction.sources), signature.sources, case.sources, strict=True
    ):
        if isinstance(source, Immediate):
            values.append(lane_instructions.immediate(source, type_))
        else:
            whole = operand.register if isinstance(operand, Part) else operand
            assert isinstance(whole, Register)
            values.append(load(len(variable), whole.type.bits))
            variable.append(source)
    full = case.active == 0xFFFFFFFF
    mask = ir.VectorType(ir.IntType(1), LANES)
    active = None if full else builder.bitcast(ir.Constant(ir.IntType(32), case.active), mask)
    frame = Frame(builder, module, active, load(len(variable), 1))
    results = lane_instructions.emit(frame, instruction, values)
    for row, value in enumerate(results):
        store(row, value)
    store(case.results, frame.carry)
    builder.ret_void()
    return variable


def check(expectations: Sequence[tuple[Case, Any]], opt: int = 1) -> None:
    """Run the cases; each lane's results must be what its function makes of the lane's sources (one number or a
    tuple)."""
    run([case for case, _ in expectations], opt)
    for case, expected in expectations:
        for lane in range(LANES):
            if not case.active >> lane & 1:
                continue
            given = [s.value if isinstance(s, Immediate) else s[lane] for s in case.sources]
            if case.carry is not None:
                given.append(case.carry[lane])
            wanted = expected(*given)
            found = tuple(row[lane] for row in case.outcome)
            wanted = wanted if isinstance(wanted, tuple) else (wanted,)
            if len(wanted) > len(found):
                found = (*found, case.carry_out[lane])
            assert found == wanted, (
                f"{case.opcode} of {', '.join(map(hex, given))} (lane {lane}): "
                f"found {', '.join(map(hex, found))}, expected {', '.join(map(hex, wanted))}"
            )
