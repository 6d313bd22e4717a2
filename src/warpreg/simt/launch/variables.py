"""Variables of a module on a device: their buffers and initial contents, their names, and values from the host."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg.codegen.lower.functions import function_addresses
from warpreg.ir.errors import UnknownNameError, UnsupportedError
from warpreg.ir.kernel import Parameter
from warpreg.ir.module import AddressByte, Content, GenericAddress, Module, Variable
from warpreg.ir.operands import Immediate, Symbol
from warpreg.ir.source_names import is_called, source_name
from warpreg.ir.types import Kind
from warpreg.simt.launch.arguments import Conversion
from warpreg.simt.launch.faults import LaunchError
from warpreg.simt.launch.structures import NUMPY_TYPES, raw, type_name
from warpreg.simt.memory.arena import ALIGNMENT, Buffer, GlobalMemory
from warpreg.simt.texture.objects import TextureTable

SPACES = ("global", "const")


class Variables:
    """The ``__device__`` and ``__constant__`` variables of a module in the memory of a device.

    ``buffers`` holds the bytes of each by its unique name.
    """

    def __init__(self, module: Module, memory: GlobalMemory, textures: TextureTable) -> None:
        self._module, self._memory, self._textures = module, memory, textures
        placed = [v for v in module.static_variables if v.space in SPACES and v.linkage != "extern"]
        self._declared = {v.unique_name: v for v in placed if v.name not in textures.references}
        self.buffers = _loaded(self._declared.values(), module, memory)
        self._filled: set[str] = set()

    def of(self, name: str) -> Buffer:
        """The bytes of a variable, named as in the source or in PTX.  A constant that is asked for counts as filled.

        Raises UnknownNameError, and LaunchError for a name of something else or of several variables.
        """
        return self.buffers[self._found(name)]

    def declaration(self, name: str) -> Variable:
        """The declaration of a variable.  Raises like `of`."""
        return self._declared[self._found(name)]

    def assign(self, name: str, array: NDArray[Any]) -> None:
        """Copy the bytes of ``array`` to the start of a variable.  Raises like `of`, LaunchError for too many bytes."""
        data = raw(array)
        buffer = self.of(name)
        if len(data) > buffer.bytes:
            raise LaunchError(f"variable '{name}' has {buffer.bytes} bytes, but the array has {len(data)}")
        self._memory.bytes_at(buffer.address, len(data))[:] = np.frombuffer(data, np.uint8)

    def fill(self, name: str, value: Any) -> None:
        """Set all bytes of a variable: to a number, an array of its type, a structure, a record, or bytes.

        Raises like `of`, LaunchError for a value of another type or size.
        """
        variable, buffer = self.declaration(name), self.of(name)
        slot = Parameter(name, variable.type, 0, variable.bytes, alignment=variable.natural_alignment)
        try:
            _expect_type(variable, value)
            if isinstance(value, (np.ndarray, bytes, bytearray)):
                data = raw(value)
            else:
                data = Conversion(self._memory, self._textures, self._module.address_size).bytes_of(slot, value)
            if len(data) != variable.bytes:
                raise LaunchError(f"expected {variable.bytes} bytes, found {len(data)}{_as_array(value)}")
        except LaunchError as error:
            raise LaunchError(f"variable '{name}': {error}") from None
        self._memory.bytes_at(buffer.address, len(data))[:] = np.frombuffer(data, np.uint8)

    def expect_distinct(self, names: Iterable[str]) -> None:
        """Check that no two names mean the same variable.  Raises like `of`, LaunchError."""
        found: dict[str, str] = {}
        for name in names:
            other = found.setdefault(self._found(name), name)
            if other != name:
                raise LaunchError(f"variable '{name}': it is given twice, also as '{other}'")

    def content(self, name: str) -> NDArray[Any]:
        """A copy of a variable in its PTX type; bytes of one without a type, as of an array of CUDA C++.  Raises like
        `of`.
        """
        variable = self.declaration(name)
        found = self.of(name).download()[: variable.bytes]
        if variable.type.name not in NUMPY_TYPES:
            return found
        shape = (*variable.dimensions, *((variable.vector,) if variable.vector > 1 else ()))
        return found.view(NUMPY_TYPES[variable.type.name]).reshape(shape)

    def unfilled(self, names: Iterable[str]) -> list[str]:
        """Those of the variables (unique names) that are constants without an initialiser or a value of the host."""
        wanted = {*names} - self._filled
        unset = (v for v in self._declared.values() if v.space == "const" and v.initializer is None)
        return [source_name(v.name) for v in unset if v.unique_name in wanted]

    def _found(self, name: str) -> str:
        matches = next(iter(self._matches(name)), [])
        if len(matches) > 1:
            sources = {source_name(self._declared[one].name) for one in matches}
            told = ", ".join(sorted(sources) if len(sources) == len(matches) else matches)
            raise LaunchError(f"variable '{name}': expected the name of one variable, found {len(matches)}: {told}")
        if not matches:
            raise self._unknown(name)
        self._filled.add(matches[0])
        return matches[0]

    def _matches(self, name: str) -> Iterator[list[str]]:
        """The unique names of variables of that name, the closest kind of match first."""
        kinds: tuple[Callable[[Variable], bool], ...] = (
            lambda one: name in (one.name, one.unique_name),
            lambda one: name == source_name(one.name),
            lambda one: is_called(one.name, name),
        )
        for is_same in kinds:
            found = [unique for unique, one in self._declared.items() if is_same(one)]
            if found:
                yield found

    def _unknown(self, name: str) -> Exception:
        """What a name stands for that is no variable which the host can fill."""
        if any(source_name(one) == name or one == name for one in self._textures.references):
            return LaunchError(
                f"variable '{name}': it is a texture, sampler or surface reference: expected a __device__ or "
                "__constant__ variable; a reference is bound"
            )
        others = (*self._module.variables, *self._module.function_variables)
        for one in others:
            if one.name == name or is_called(one.name, name):
                what = {"shared": "shared memory of a thread block", "local": "local memory of a thread"}
                where = what.get(one.space, "declared extern, and another module defines it")
                return LaunchError(f"variable '{name}': it is {where}: expected a __device__ or __constant__ variable")
        named = [source_name(v.name) for v in self._declared.values() if not v.name.startswith(("$", "__unnamed"))]
        return UnknownNameError("module variable", name, named)


def _expect_type(variable: Variable, value: Any) -> None:
    """Raise LaunchError for NumPy numbers of another type than those of a variable that has one."""
    if not isinstance(value, (np.generic, np.ndarray)) or variable.type.kind is Kind.BITS:
        return
    dtype, declared = value.dtype, variable.type
    fits = dtype.kind == "f" if declared.is_float else dtype.kind in "iub"
    if not fits or (dtype.itemsize != declared.bytes and isinstance(value, np.ndarray)):
        raise LaunchError(f"expected {declared}, found {type_name(dtype)}")
    if dtype.itemsize != declared.bytes:
        raise LaunchError(f"expected {declared.bytes} bytes ({declared}), found {dtype.itemsize} ({type_name(dtype)})")


def _as_array(value: Any) -> str:
    return f" ({type_name(value.dtype)}{list(value.shape)})" if isinstance(value, np.ndarray) else ""


def _loaded(variables: Iterable[Variable], module: Module, memory: GlobalMemory) -> dict[str, Buffer]:
    """A buffer for each variable, with its initial content."""
    wanted = list(variables)
    buffers = {}
    for v in wanted:
        alignment = max(ALIGNMENT, v.natural_alignment)
        buffers[v.unique_name] = memory.allocate(max(1, v.bytes), np.uint8, v.unique_name, alignment)
    addresses = function_addresses(module)
    addresses |= {name: buffer.address for name, buffer in buffers.items()}
    for variable in wanted:
        if variable.initializer is not None and variable.type.kind is not Kind.OPAQUE:
            content = buffers[variable.unique_name].download()
            if isinstance(variable.initializer, Content):
                _copy(content, variable.initializer, variable, addresses)
            else:
                _initialize(content, variable, addresses)
            buffers[variable.unique_name].write(content)
    return buffers


def _initialize(content: NDArray[np.uint8], variable: Variable, addresses: dict[str, int]) -> None:
    """Fill a variable's bytes from its initialiser; bytes without an initialiser remain zero."""
    size = variable.type.bytes

    def fill(item: Any, extents: tuple[int, ...], first: int) -> None:
        if isinstance(item, tuple):
            inner = math.prod(extents[1:])
            for position, part in enumerate(item):
                fill(part, extents[1:], first + position * inner)
        elif (first + 1) * size > len(content):
            raise UnsupportedError(f"initialiser of variable '{variable.name}'", variable.location, "is too long")
        else:
            content[first * size : (first + 1) * size] = np.frombuffer(_scalar(item, variable, addresses), np.uint8)

    fill(variable.initializer, (*variable.dimensions, *((variable.vector,) if variable.vector > 1 else ())), 0)


def _copy(content: NDArray[np.uint8], given: Content, variable: Variable, addresses: dict[str, int]) -> None:
    """Fill a variable with bytes and the addresses in them."""
    content[: len(given.data)] = np.frombuffer(given.data, np.uint8)
    for offset, symbol in given.addresses:
        if symbol.name not in addresses:
            raise UnsupportedError(f"initialiser '{symbol}' of variable '{variable.name}'", variable.location)
        address = addresses[symbol.name] + symbol.offset
        content[offset : offset + 8] = np.frombuffer(address.to_bytes(8, "little"), np.uint8)


def _scalar(item: Any, variable: Variable, addresses: dict[str, int]) -> bytes:
    """One element: a number, a variable's address (generic and specific addresses are equal), or one byte of an
    address.
    """
    size = variable.type.bytes
    if isinstance(item, Immediate):
        from warpreg.simt.lanes import lane_instructions

        return lane_instructions.immediate_bits(item, variable.type).to_bytes(size, "little")
    mask = item.mask if isinstance(item, AddressByte) else 0
    named = item.symbol if isinstance(item, AddressByte) else item
    symbol = named.symbol if isinstance(named, GenericAddress) else named
    own = f"{variable.owner}.{symbol.name}" if isinstance(symbol, Symbol) else ""
    if not isinstance(symbol, Symbol) or (symbol.name not in addresses and own not in addresses):
        raise UnsupportedError(f"initialiser '{symbol}' of variable '{variable.name}'", variable.location)
    address = addresses.get(own, addresses.get(symbol.name, 0)) + symbol.offset
    if mask:
        address = (address & mask) >> ((mask & -mask).bit_length() - 1)
    return (address % (1 << 8 * size)).to_bytes(size, "little")
