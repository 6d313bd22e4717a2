"""Entry points: machine code that Python calls, loaded without numba."""

from __future__ import annotations

import ctypes
import functools
import pickle
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from llvmlite import binding

from piecewise_numba.fault_record import provide_record

OBJECTS: Mapping[object, str] = {
    None: "piecewise_none",
    np.ndarray: "piecewise_array_type",
    SystemError: "piecewise_system_error",
    TypeError: "piecewise_type_error",
}
"""The symbols of objects that machine code names."""
_Called = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
llvm = cast(Any, binding)


class EntryCode(NamedTuple):
    """Machine code that can be stored: the symbol that Python calls, its object code, and that of units apart."""

    symbol: str
    code: bytes
    apart: Sequence[bytes]

    def as_bytes(self) -> bytes:
        """What `EntryPoint.loaded` takes."""
        return pickle.dumps(tuple(self), protocol=4)


class EntryPoint:
    """Machine code at an address, called with the arguments that it was compiled for; ``code`` is None if it cannot be
    stored, and ``owner`` keeps it in memory.
    """

    def __init__(self, address: int, code: EntryCode | None, owner: object) -> None:
        self.code = code
        self._owner = owner
        self._called = _Called(address)

    @staticmethod
    def loaded(code: EntryCode) -> EntryPoint:
        """The entry point of stored code."""
        engine = _engine()
        for part in (code.code, *code.apart):
            engine.add_object_file(llvm.ObjectFileRef.from_data(part))
        engine.finalize_object()
        return EntryPoint(engine.get_function_address(code.symbol), code, engine)

    def __call__(self, *arguments: Any) -> Any:
        """Run it.  Raises TypeError for arguments of other types, and what the code raises."""
        try:
            return self._called(None, arguments, None)
        except SystemError as error:
            raise _raised(error) from None


def code_from(data: bytes) -> EntryCode:
    """The code of `EntryCode.as_bytes`."""
    return EntryCode(*pickle.loads(data))


@functools.cache
def provide_symbols() -> None:
    """Let machine code that is loaded from now on find what it names."""
    provide_record()
    for known, symbol in OBJECTS.items():
        llvm.add_symbol(symbol, id(known))


def _engine() -> Any:
    """An engine without code, which finds symbols among what it is given and in this process."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    provide_symbols()
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)


class _Description(ctypes.Structure):
    """The beginning of numba's description of an exception that compiled code raises."""

    _fields_ = (("data", ctypes.c_void_p), ("size", ctypes.c_int32))


def _raised(error: SystemError) -> BaseException:
    """The exception of an entry point, described at the address that a SystemError carries."""
    address = error.args[0] if error.args else None
    if not isinstance(address, int):
        return error
    description = _Description.from_address(address)
    kind, arguments, _ = pickle.loads(ctypes.string_at(description.data, description.size))
    raised: BaseException = kind(*arguments)
    return raised
