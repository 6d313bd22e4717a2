"""The workload of a launch description (`warpreg.workloads.launch_file`): its inputs, launches and outputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np

from warpreg.ir.errors import UnknownNameError, WarpregError
from warpreg.ir.toml_files import read_toml
from warpreg.machine_code.files import SUFFIXES
from warpreg.ptx.cuda.options import CudaOptions
from warpreg.ptx.cuda.templates import is_instance
from warpreg.workloads.launch_file import (
    ArrayEntry,
    Description,
    DescriptionError,
    Given,
    LaunchEntry,
    Number,
    TextureEntry,
)
from warpreg.workloads.value_text import FILLS, MAX_ELEMENTS, ValueReader, files_of, filled
from warpreg.workloads.workload import Array, Arrays, Buffer, Device, Size, Tolerance, Workload

DEFAULT_SIZE = "small"
Result = TypeVar("Result")


def load_description(path: Path | str) -> Workload:
    """The workload that a TOML file describes.

    Its outputs are all arrays, and the variables that are filled or expected, after the last launch; those under
    ``expect`` are checked.  Raises DescriptionError.
    """
    path = Path(path)
    description = read_toml(path, Description, DescriptionError)
    source = path.parent / description.source
    if source.suffix not in (".cu", ".ptx", *SUFFIXES) or not source.is_file():
        expected = ", ".join((".cu", ".ptx", *SUFFIXES))
        raise DescriptionError(f"{path}: source: expected a file ({expected}), found '{description.source}'")
    _check_names(path, description)
    cuda = _cuda(path, description)
    if cuda.is_given and source.suffix != ".cu":
        raise DescriptionError(f"{path}: include, define and arch are for CUDA C++, found '{description.source}'")
    tolerances = {name: Tolerance(entry.relative, entry.absolute) for name, entry in description.expect.items()}
    return Workload(
        name=description.name or source.stem,
        title=description.name or source.stem,
        description=f"Launches described by {path.name}.",
        source=source,
        sizes=description.sizes or {DEFAULT_SIZE: {}},
        inputs=partial(_inputs, path, description),
        run=partial(_run, path, description),
        reference=partial(_expected, path, description),
        tolerance=tolerances,
        tags=("own",),
        cuda=cuda,
        templates=tuple(dict.fromkeys(one.kernel for one in description.launches if is_instance(one.kernel))),
    )


def _cuda(path: Path, description: Description) -> CudaOptions:
    folders = tuple(str(path.parent / folder) for folder in description.include)
    try:
        return CudaOptions(folders, tuple(description.define), description.arch)
    except WarpregError as error:
        raise DescriptionError(f"{path}: {error}") from error


def data_files(path: Path) -> list[Path]:
    """The files of values that a description names.  Raises DescriptionError."""
    description = read_toml(path, Description, DescriptionError)
    named = [one.file for one in description.arrays.values()] + [one.file for one in description.expect.values()]
    for launch in description.launches:
        for text in (*launch.arguments, *launch.symbols.values(), *description.symbols.values()):
            if isinstance(text, str) and ":" in text:
                named += _at(path, f"'{text}'", partial(lambda one: list(files_of(one)), text))
    return list(dict.fromkeys(path.parent / file for file in named if file is not None))


def _check_names(path: Path, description: Description) -> None:
    """Check that every name is defined; raises DescriptionError with the nearest name."""
    numbers = {name for size in description.sizes.values() for name in size}
    arrays, textures = set(description.arrays), set(description.textures)
    for name, texture in description.textures.items():
        _expect_known(path, f"textures.{name}.array", "array", texture.array, arrays)
    known = numbers | arrays | textures
    for place, launch in enumerate(description.launches):
        for position, argument in enumerate(launch.arguments):
            where = f"launches.{place}.arguments.{position}"
            _expect_value(path, where, "number, array or texture", argument, known)
        for name, value in launch.symbols.items():
            _expect_value(path, f"launches.{place}.symbols.{name}", "number, array or texture", value, known)
    for name, value in description.symbols.items():
        _expect_value(path, f"symbols.{name}", "number, array or texture", value, known)


def _expect_value(path: Path, place: str, kind: str, given: Given, known: set[str]) -> None:
    if isinstance(given, str) and ":" not in given:
        _expect_known(path, place, kind, given, known)


def _expect_known(path: Path, place: str, kind: str, name: str, known: set[str]) -> None:
    if name not in known:
        raise DescriptionError(f"{path}: {place}: {UnknownNameError(kind, name, sorted(known))}")


def _inputs(path: Path, description: Description, size: Size, rng: np.random.Generator) -> Arrays:
    return {name: _array(path, name, entry, size, rng) for name, entry in description.arrays.items()}


def _array(path: Path, name: str, entry: ArrayEntry, size: Size, rng: np.random.Generator) -> Array:
    where = f"arrays.{name}"
    if entry.file is not None:
        return _load(path, where, entry.file)
    if not entry.shape:
        raise DescriptionError(f"{path}: {where}: expected a shape or a file")
    shape = tuple(_number(path, f"{where}.shape", extent, size) for extent in entry.shape)
    if min(shape) < 0 or math.prod(shape) > MAX_ELEMENTS:
        raise DescriptionError(f"{path}: {where}.shape: expected 0 to {MAX_ELEMENTS} elements, found {list(shape)}")
    try:
        dtype = np.dtype(entry.dtype)
    except TypeError as error:
        raise DescriptionError(f"{path}: {where}.dtype: expected a NumPy dtype, found '{entry.dtype}'") from error
    if not isinstance(entry.fill, str):
        return np.full(shape, entry.fill, dtype)
    if entry.fill not in FILLS:
        raise DescriptionError(f"{path}: {where}.fill: {UnknownNameError('fill', entry.fill, FILLS)}, or a number")
    return filled(dtype, shape, entry.fill, rng)


def _load(path: Path, where: str, file: str) -> Array:
    try:
        array: Array = np.load(path.parent / file, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise DescriptionError(f"{path}: {where}.file: {error}") from error
    return np.ascontiguousarray(array)


def _number(path: Path, where: str, number: Number, size: Size) -> int:
    if isinstance(number, int):
        return number
    if number not in size:
        raise DescriptionError(f"{path}: {where}: {UnknownNameError('number of the size', number, sorted(size))}")
    return size[number]


def _run(path: Path, description: Description, device: Device, size: Size, inputs: Arrays) -> Arrays:
    buffers = {name: device.upload(array) for name, array in inputs.items()}
    textures = {
        name: _texture(path, name, entry, device, buffers[entry.array]) for name, entry in description.textures.items()
    }
    values = Values(path, buffers, textures, size)
    variables = [name for name in description.expect if name not in buffers]
    for name in variables:
        _at(path, f"expect.{name}: no array of this name", partial(device.content, name))
    _at(path, "symbols", partial(device.fill_all, values.symbols("symbols", description.symbols)))
    prepared = [values.arguments(place, launch) for place, launch in enumerate(description.launches)]
    for place, (launch, arguments) in enumerate(zip(description.launches, prepared, strict=True)):
        where = f"launches.{place}"
        grid, block = (_extent(path, f"{where}.{key}", extent, size) for key, extent in _extents(launch))
        shared_bytes = _number(path, f"{where}.shared_bytes", launch.shared_bytes, size)
        for _ in range(_number(path, f"{where}.repeat", launch.repeat, size)):
            symbols = values.symbols(f"{where}.symbols", launch.symbols)
            _at(path, f"{where}.symbols", partial(device.fill_all, symbols))
            run = partial(device.launch, launch.kernel, grid, block, *arguments, shared_bytes=shared_bytes)
            _at(path, where, run)
    filled = [*description.symbols, *(name for launch in description.launches for name in launch.symbols)]
    expected = _expected(path, description, size, inputs)
    outputs = {name: buffer.download() for name, buffer in buffers.items()}
    return {name: _as(device.content(name), expected.get(name)) for name in (*filled, *variables)} | outputs


def _as(content: Array, expected: Array | None) -> Array:
    """The bytes of a variable in the type and shape of what is expected, if there are as many."""
    if expected is None or expected.nbytes != content.nbytes:
        return content
    return content.reshape(-1).view(np.uint8).view(expected.dtype).reshape(expected.shape)


def _at(path: Path, where: str, action: Callable[[], Result]) -> Result:
    """The result of an action.  Raises DescriptionError that names the place in the file."""
    try:
        return action()
    except WarpregError as error:
        raise DescriptionError(f"{path}: {where}: {error}") from error


@dataclass(frozen=True)
class Values:
    """What arguments and symbols of a description stand for, on a device."""

    path: Path
    buffers: Mapping[str, Buffer]
    textures: Mapping[str, object]
    size: Size

    @property
    def reader(self) -> ValueReader:
        return ValueReader(None, self.path.parent, self.size, self.buffers, self.textures)

    def arguments(self, place: int, launch: LaunchEntry) -> list[object]:
        """The arguments of a launch."""
        return [
            self._value(f"launches.{place}.arguments.{position}", given, self.buffers, self.reader.argument)
            for position, given in enumerate(launch.arguments)
        ]

    def symbols(self, where: str, given: Mapping[str, Given]) -> dict[str, object]:
        """Values of variables; an array is its present contents."""
        named = {value for value in given.values() if value in self.buffers}
        contents = {name: self.buffers[name].download() for name in self.buffers if name in named}
        return {
            name: self._value(f"{where}.{name}", value, contents, self.reader.contents) for name, value in given.items()
        }

    def _value(self, where: str, given: Given, arrays: Mapping[str, object], read: Callable[[str], object]) -> object:
        if not isinstance(given, str):
            return given
        known: Mapping[str, object] = {**self.size, **arrays, **self.textures}
        return known[given] if given in known else _at(self.path, where, partial(read, given))


def _texture(path: Path, name: str, entry: TextureEntry, device: Device, buffer: Buffer) -> object:
    texture = partial(
        device.texture,
        buffer,
        entry.kind,
        address=entry.address,
        filter=entry.filter,
        normalized=entry.normalized,
        read=entry.read,
    )
    return _at(path, f"textures.{name}", texture)


def _extents(launch: LaunchEntry) -> Sequence[tuple[str, list[Number]]]:
    return (("grid", launch.grid), ("block", launch.block))


def _extent(path: Path, where: str, extent: list[Number], size: Size) -> tuple[int, ...]:
    return tuple(_number(path, where, part, size) for part in extent)


def _expected(path: Path, description: Description, size: Size, inputs: Arrays) -> Arrays:
    return {name: _load(path, f"expect.{name}", entry.file) for name, entry in description.expect.items()}
