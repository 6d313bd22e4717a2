"""Private functions of the module under construction, made on first use: long compositions, and arithmetic that does
not round to nearest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from warpreg.simt.llvm import text as ir

MODES = {"rz": 0, "rn": 1, "rp": 2, "rm": 3}
"""Rounding modes with the numbers of ``llvm.set.rounding``."""


def function(module: Any, name: str, result: Any, arguments: Sequence[Any], build: Callable[[Any, Any], None]) -> Any:
    """The function of that name; ``build(builder, function)`` writes its body the first time."""
    existing = module.globals.get(name)
    if existing is not None:
        return existing
    made = ir.Function(module, ir.FunctionType(result, list(arguments)), name)
    made.linkage = "internal"
    made.attributes.add("noinline")
    made.attributes.add("nounwind")
    build(ir.IRBuilder(made), made)
    return made


def intrinsic(module: Any, name: str, result: Any, arguments: Sequence[Any]) -> Any:
    """The declaration of an intrinsic by its full name."""
    return module.globals.get(name) or ir.Function(module, ir.FunctionType(result, list(arguments)), name)


def suffix(type_: Any) -> str:
    """The suffix of a type in an intrinsic's name: ``v32f32``."""
    if isinstance(type_, ir.VectorType):
        return f"v{type_.count}{suffix(type_.element)}"
    return {"float": "f32", "double": "f64"}.get(str(type_), str(type_))


def rounded(module: Any, operation: str, rounding: str, result: Any, operands: Sequence[Any]) -> Any:
    """A function that performs one floating-point operation in a directed rounding mode.

    ``operation`` is the LLVM name (fadd, fsub, fmul, fdiv, fma, sqrt, fptrunc), ``operands`` the argument types.  The
    function sets the host's rounding mode, computes, and sets it back to nearest.
    """

    def build(builder: Any, made: Any) -> None:
        made.attributes.add("strictfp")
        overloads = [suffix(result)] + ([suffix(operands[0])] if operation == "fptrunc" else [])
        metadata = ir.MetadataType()
        name = ".".join(["llvm.experimental.constrained", operation, *overloads])
        compute = intrinsic(module, name, result, [*operands, metadata, metadata])
        modes = [ir.Metadata(text) for text in ("round.dynamic", "fpexcept.strict")]
        set_rounding = intrinsic(module, "llvm.set.rounding", ir.VoidType(), [ir.IntType(32)])
        builder.call(set_rounding, [ir.Constant(ir.IntType(32), MODES[rounding])])
        value = builder.call(compute, [*made.args, *modes])
        builder.call(set_rounding, [ir.Constant(ir.IntType(32), MODES["rn"])])
        builder.ret(value)

    return function(module, f"warpreg.{operation}.{rounding}.{suffix(result)}", result, operands, build)
