"""Functions that the host provides to a kernel: ``vprintf``, ``__assertfail``, ``malloc``, ``free``.

A call becomes one instruction that ends its block, so that the warp can stop there while the host executes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from warpreg.codegen.lower.calls import Call
from warpreg.codegen.lower.stack import emit
from warpreg.ir.instruction import Instruction
from warpreg.ir.operands import Address, Operand, Register, Symbol

SERVICES = {
    "vprintf": ("vprintf.u32", ("b64", "b64"), "b32"),
    "malloc": ("malloc.u64", ("b64",), "b64"),
    "free": ("free.u64", ("b64",), ""),
    "__assertfail": ("assertfail", ("b64", "b64", "b32", "b64", "b64"), ""),
}
"""By function: the instruction, the types of its arguments, the type of its result."""

DYNAMIC_PARALLELISM = ("cudaGetParameterBuffer", "cudaLaunchDevice", "cudaDeviceSynchronize", "cudaStreamCreate")
"""Name prefixes of functions that launch kernels from kernels."""


def is_service(call: Call) -> bool:
    """Whether the host provides the function, with the call's number of arguments and results."""
    if call.target not in SERVICES:
        return False
    _, arguments, result = SERVICES[str(call.target)]
    return len(call.arguments) == len(arguments) and len(call.results) <= (1 if result else 0)


def service(instruction: Instruction, call: Call, fresh: Callable[[str, str], Register]) -> Iterator[Instruction]:
    """The replacement of the call, without its guard; ``fresh`` makes a new register of a name and type."""
    opcode, kinds, result = SERVICES[str(call.target)]
    sources: list[Operand] = []
    for actual, kind in zip(call.arguments, kinds, strict=True):
        if isinstance(actual, Symbol):
            value = fresh("%argument", kind)
            yield emit(instruction, f"ld.param.{kind}", value, Address(actual))
            actual = value
        sources.append(actual)
    if not result:
        yield emit(instruction, opcode, *sources)
        return
    returned = fresh("%returned", result)
    yield emit(instruction, opcode, returned, *sources)
    for actual in call.results:
        if isinstance(actual, Symbol):
            yield emit(instruction, f"st.param.{result}", Address(actual), returned)
        else:
            yield emit(instruction, f"mov.{result}", actual, returned)


def reason(call: Call) -> str:
    """Why a call that is neither a service nor a function of the module cannot be run."""
    if isinstance(call.target, str) and call.target.startswith(DYNAMIC_PARALLELISM):
        return "starts a kernel from a kernel (dynamic parallelism), which is not supported"
    if isinstance(call.target, str):
        return f"calls '{call.target}', which this module does not define with these parameters"
    return "calls an address, but this module has no function whose address is taken and whose parameters fit"
