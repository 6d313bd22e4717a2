"""The function through which Python calls an entry point, in place of numba's own.

numba's own calls numba's runtime, so a process that only loads machine code would have to import numba, which takes as
long as importing NumPy twice.  This one needs CPython's C interface and the head of NumPy's array object.  An argument
of another type than the one that it was compiled for is a TypeError.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from llvmlite import ir as llvmlite_ir
from numba.core import cgutils as numba_cgutils
from numba.core import types as numba_types
from numba.np import arrayobj as numba_arrays
from numba.np import numpy_support

from piecewise_numba.entry_points import OBJECTS

ir, numba, types, arrays = (cast(Any, one) for one in (llvmlite_ir, numba_cgutils, numba_types, numba_arrays))
Byte, Word, Int = ir.IntType(8), ir.IntType(64), ir.IntType(32)
Object = Byte.as_pointer()
TYPE = 8
"""Byte offset of an object's type."""
DATA, DIMENSIONS, SHAPE, STRIDES, ELEMENT, FLAGS = 16, 24, 32, 40, 56, 64
"""Byte offsets in ``PyArrayObject_fields`` of NumPy 1 and 2."""
NUMBER_OF_TYPE = 28
"""Byte offset of ``type_num`` in ``PyArray_Descr``."""
LAYOUTS = {"C": 1, "F": 2, "A": 0}
ALIGNED, WRITEABLE = 0x100, 0x400


def create_python_entry(
    context: Any, library: Any, fndesc: Any, env: Any, call_helper: Any, release_gil: bool = False
) -> None:
    """Add ``PyObject *entry(PyObject *, PyObject *arguments, PyObject *)`` to a library, under numba's name of it.

    It takes the arguments as a tuple and releases the interpreter's lock while the entry point runs.  Raises TypeError
    for types of arguments or of a result that it does not know.
    """
    module = context.create_module("entry")
    called = ir.Function(
        module, context.call_conv.get_function_type(fndesc.restype, fndesc.argtypes), fndesc.llvm_func_name
    )
    function = ir.Function(module, ir.FunctionType(Object, [Object] * 3), fndesc.llvm_cpython_wrapper_name)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    reader = _Reader(context, module, builder)
    whole = types.Tuple(fndesc.argtypes)
    values = reader.elements(function.args[1], whole, "argument")
    thread = reader.call("PyEval_SaveThread", Object)
    status, result = context.call_conv.call_function(
        builder, called, fndesc.restype, fndesc.argtypes, values, attrs=("noinline",)
    )
    reader.call("PyEval_RestoreThread", ir.VoidType(), thread)
    with builder.if_then(builder.not_(status.is_ok), likely=False):
        reader.fail_with(status.excinfoptr)
    builder.ret(reader.boxed(result, fndesc.restype))
    library.add_ir_module(module)


class _Reader:
    """Emits what turns Python's objects into values of numba's types, and one value into an object."""

    def __init__(self, context: Any, module: Any, builder: Any) -> None:
        self._context, self._module, self._builder = context, module, builder
        self._matches = _matching(module)

    def call(self, name: str, result: Any, *arguments: Any) -> Any:
        """Call a function of CPython."""
        kind = ir.FunctionType(result, [argument.type for argument in arguments])
        return self._builder.call(numba.get_or_insert_function(self._module, kind, name), arguments)

    def elements(self, given: Any, kind: Any, place: str) -> list[Any]:
        """The elements of a tuple."""
        size = self.call("PyTuple_Size", Word, given)
        self._refuse_unless(self._builder.icmp_signed("==", size, Word(len(kind.types))), place, f"{kind.count} values")
        names = getattr(kind, "fields", None) or map(str, range(kind.count))
        found = []
        for number, (name, one) in enumerate(zip(names, kind.types, strict=True)):
            element = self.call("PyTuple_GetItem", Object, given, Word(number))
            found.append(self.value(element, one, f"{place}.{name}"))
        return found

    def value(self, given: Any, kind: Any, place: str) -> Any:
        """The value of an object; ``place`` is its name in messages."""
        if isinstance(kind, types.BaseTuple):
            return self._context.make_tuple(self._builder, kind, self.elements(given, kind, place))
        if isinstance(kind, types.Array):
            return self._array(given, kind, place)
        if isinstance(kind, types.NoneType):
            return self._context.get_dummy_value()
        return self._number(given, kind, place)

    def boxed(self, value: Any, kind: Any) -> Any:
        """A new object of a result: a number, or None."""
        builder, context = self._builder, self._context
        if isinstance(kind, types.NoneType):
            found = _address(self._module, None)
            self.call("Py_IncRef", ir.VoidType(), found)
            return found
        if isinstance(kind, types.Boolean):
            return self.call("PyBool_FromLong", Object, builder.zext(value, Word))
        if isinstance(kind, types.Float):
            return self.call("PyFloat_FromDouble", Object, context.cast(builder, value, kind, types.float64))
        if isinstance(kind, types.Integer):
            wide = context.cast(builder, value, kind, types.int64 if kind.signed else types.uint64)
            return self.call(f"PyLong_From{'' if kind.signed else 'Unsigned'}LongLong", Object, wide)
        raise TypeError(f"an entry point cannot return {kind}")

    def fail_with(self, information: Any) -> None:
        """Return with a SystemError that carries the address of numba's description of an exception."""
        number = self.call("PyLong_FromVoidPtr", Object, self._builder.bitcast(information, Object))
        self.call("PyErr_SetObject", ir.VoidType(), _address(self._module, SystemError), number)
        self.call("Py_DecRef", ir.VoidType(), number)
        self._builder.ret(Object(None))

    def _number(self, given: Any, kind: Any, place: str) -> Any:
        builder = self._builder
        if isinstance(kind, types.Boolean):
            truth = self.call("PyObject_IsTrue", Int, given)
            self._return_if_raised(builder.icmp_signed("<", truth, Int(0)))
            return builder.icmp_signed("!=", truth, Int(0))
        if isinstance(kind, types.Float):
            number, wide, wrong = self.call("PyFloat_AsDouble", ir.DoubleType(), given), types.float64, -1.0
            suspicious = builder.fcmp_ordered("==", number, ir.DoubleType()(wrong))
        elif isinstance(kind, types.Integer):
            name = "PyLong_AsLongLong" if kind.signed else "PyLong_AsUnsignedLongLongMask"
            number, wide = self.call(name, Word, given), types.int64 if kind.signed else types.uint64
            suspicious = builder.icmp_signed("==", number, Word(-1))
        else:
            raise TypeError(f"an entry point cannot take {kind} ({place})")
        with builder.if_then(suspicious, likely=False):
            raised = self.call("PyErr_Occurred", Object)
            self._return_if_raised(builder.icmp_unsigned("!=", raised, Object(None)))
        return self._context.cast(builder, number, wide, kind)

    def _array(self, given: Any, kind: Any, place: str) -> Any:
        builder, context = self._builder, self._context
        flags = LAYOUTS[kind.layout] | (ALIGNED if kind.aligned else 0) | (WRITEABLE if kind.mutable else 0)
        arguments = given, Int(kind.ndim), Word(_numbers_of(numpy_support.as_dtype(kind.dtype))), Int(flags)
        self._refuse_unless(builder.call(self._matches, arguments), place, str(kind))
        address = context.get_data_type(kind.dtype).as_pointer()
        made = arrays.make_array(kind)(context, builder)
        extents = [self._words(given, start, kind.ndim) for start in (SHAPE, STRIDES)]
        size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
        data = builder.load(_at(builder, given, DATA, address))
        arrays.populate_array(made, data, *extents, size, None)
        return made._getvalue()

    def _words(self, array: Any, start: int, count: int) -> list[Any]:
        first = self._builder.load(_at(self._builder, array, start, Word.as_pointer()))
        return [self._builder.load(self._builder.gep(first, [Word(place)])) for place in range(count)]

    def _refuse_unless(self, fine: Any, place: str, wanted: str) -> None:
        with self._builder.if_then(self._builder.not_(fine), likely=False):
            text = self._context.insert_const_string(self._module, f"{place}: expected {wanted}")
            self.call("PyErr_SetString", ir.VoidType(), _address(self._module, TypeError), text)
            self._builder.ret(Object(None))

    def _return_if_raised(self, raised: Any) -> None:
        with self._builder.if_then(raised, likely=False):
            self._builder.ret(Object(None))


def _matching(module: Any) -> Any:
    """``i1 matches(PyObject *, i32 dimensions, i64 type numbers, i32 flags)``: whether an object is such an array."""
    function = ir.Function(module, ir.FunctionType(ir.IntType(1), [Object, Int, Word, Int]), "piecewise_matches")
    function.linkage = "internal"
    function.attributes.add("noinline")
    given, dimensions, numbers, flags = function.args
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    array = _address(module, np.ndarray)
    kind = builder.load(_at(builder, given, TYPE, Object))
    subtype = numba.get_or_insert_function(module, ir.FunctionType(Int, [Object, Object]), "PyType_IsSubtype")
    with builder.if_then(builder.icmp_unsigned("!=", kind, array), likely=False):
        is_array = builder.icmp_signed("!=", builder.call(subtype, (kind, array)), Int(0))
        with builder.if_then(builder.not_(is_array), likely=False):
            builder.ret(ir.IntType(1)(0))
    element = builder.load(_at(builder, given, ELEMENT, Object))
    number = builder.zext(builder.load(_at(builder, element, NUMBER_OF_TYPE, Int)), Word)
    known = builder.and_(builder.lshr(numbers, builder.and_(number, Word(63))), Word(1))
    found = builder.load(_at(builder, given, FLAGS, Int))
    tests = (
        builder.icmp_signed("==", builder.load(_at(builder, given, DIMENSIONS, Int)), dimensions),
        builder.icmp_unsigned("!=", known, Word(0)),
        builder.icmp_unsigned("==", builder.and_(found, flags), flags),
    )
    builder.ret(builder.and_(builder.and_(tests[0], tests[1]), tests[2]))
    return function


def _at(builder: Any, given: Any, offset: int, kind: Any) -> Any:
    """The address of a field of an object."""
    return builder.bitcast(builder.gep(given, [Word(offset)]), kind.as_pointer())


def _address(module: Any, known: object) -> Any:
    """The address of an object that all processes have."""
    name = OBJECTS[known]
    if name not in module.globals:
        ir.GlobalVariable(module, Byte, name).linkage = "external"
    return module.globals[name]


def _numbers_of(element: np.dtype[Any]) -> int:
    """A bit for each of NumPy's type numbers whose elements are these: ``long`` and ``long long`` may be equal."""
    numbers = {element.num, *(np.dtype(code).num for code in np.typecodes["AllInteger"] if np.dtype(code) == element)}
    return sum(1 << number for number in numbers)
