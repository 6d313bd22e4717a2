"""A launch description: a small TOML file that defines a workload for a user's ``.cu`` or ``.ptx`` file.

    source = "saxpy.cu"
    define = ["FACTOR=2"]

    [sizes.small]
    n = 1_000_000
    blocks = 3907

    [arrays.x]
    dtype = "float32"
    shape = ["n"]
    fill = "random"

    [arrays.y]
    file = "y.npy"

    [[launches]]
    kernel = "saxpy"
    grid = ["blocks"]
    block = [256]
    arguments = [2.0, "x", "y", "n"]

    [expect.y]
    file = "y_expected.npy"
    relative = 1e-6

Instead of a number, the name of a number of the chosen size can be used. An argument is a number, or the name of a
number, of an array, or of a texture (``[textures.NAME]`` with ``array`` and the arguments of `Device.texture`).
``include``, ``define`` and ``arch`` are options of CUDA C++.  A kernel may be an instance of a template:
``fill<float>``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import BaseModel, Field

from warpreg.ir.errors import UnknownNameError, WarpregError
from warpreg.ir.toml_files import STRICT, read_toml
from warpreg.ptx.cuda.options import CudaOptions
from warpreg.ptx.cuda.templates import is_instance
from warpreg.simt.texture.arrays import Address, Filter, Kind, Read
from warpreg.workloads.workload import Array, Arrays, Buffer, Device, Size, Tolerance, Workload

FILLS = ("zeros", "ones", "arange", "random")
DEFAULT_SIZE = "small"

Number = int | str
"""A number, or the name of one of the size's numbers."""

Extent = Annotated[list[Number], Field(min_length=1, max_length=3)]


class DescriptionError(WarpregError):
    """An invalid launch description; the message names the file and the entry."""


class Entry(BaseModel):
    """An entry of the file: unknown keys are errors, and there are no implicit conversions."""

    model_config = STRICT


class ArrayEntry(Entry):
    """A global array: read from a ``.npy`` file, or given by shape and dtype and filled by a rule or with a number."""

    file: str | None = None
    dtype: str = "float32"
    shape: list[Number] | None = None
    fill: str | int | float = "zeros"


class TextureEntry(Entry):
    """A texture over an array, with the arguments of `Device.texture`; kernel writes to the array are visible."""

    array: str
    kind: Kind = "2d"
    address: Address | list[Address] = "clamp"
    filter: Filter = "point"
    normalized: bool = False
    read: Read = "element"


class LaunchEntry(Entry):
    """One launch, or ``repeat`` consecutive launches."""

    kernel: str
    grid: Extent
    block: Extent
    arguments: list[int | float | str] = []
    shared_bytes: Number = 0
    repeat: Number = 1


class ExpectEntry(Entry):
    """The expected content of an array at the end."""

    file: str
    relative: float = 0.0
    absolute: float = 0.0


class Description(Entry):
    """The whole file; paths in it are relative to its folder."""

    source: str
    include: list[str] = []
    define: list[str] = []
    arch: str | None = None
    name: str | None = None
    sizes: dict[str, dict[str, int]] = {}
    arrays: dict[str, ArrayEntry] = {}
    textures: dict[str, TextureEntry] = {}
    launches: Annotated[list[LaunchEntry], Field(min_length=1)]
    expect: dict[str, ExpectEntry] = {}


MOST_ELEMENTS = 1 << 31
"""Of an array that is filled by a rule."""


def load_description(path: Path | str) -> Workload:
    """The workload that a TOML file describes.

    Its outputs are all arrays after the last launch; those under ``expect`` are checked.  Raises DescriptionError.
    """
    path = Path(path)
    description = read_toml(path, Description, DescriptionError)
    source = path.parent / description.source
    if source.suffix not in (".cu", ".ptx") or not source.is_file():
        raise DescriptionError(f"{path}: source: expected a .cu or .ptx file, found '{description.source}'")
    _check_names(path, description)
    cuda = _cuda(path, description)
    if cuda.is_given and source.suffix == ".ptx":
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
    """The files of arrays that a description names.  Raises DescriptionError."""
    description = read_toml(path, Description, DescriptionError)
    named = [one.file for one in description.arrays.values()] + [one.file for one in description.expect.values()]
    return [path.parent / file for file in named if file is not None]


def _check_names(path: Path, description: Description) -> None:
    """Check that every name is defined; raises DescriptionError with the nearest name."""
    numbers = {name for size in description.sizes.values() for name in size}
    arrays, textures = set(description.arrays), set(description.textures)
    for name, texture in description.textures.items():
        _expect_known(path, f"textures.{name}.array", "array", texture.array, arrays)
    for name in description.expect:
        _expect_known(path, f"expect.{name}", "array", name, arrays)
    for place, launch in enumerate(description.launches):
        for position, argument in enumerate(launch.arguments):
            if isinstance(argument, str):
                where = f"launches.{place}.arguments.{position}"
                _expect_known(path, where, "number, array or texture", argument, numbers | arrays | textures)


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
    if min(shape) < 0 or math.prod(shape) > MOST_ELEMENTS:
        raise DescriptionError(f"{path}: {where}.shape: expected 0 to {MOST_ELEMENTS} elements, found {list(shape)}")
    try:
        dtype = np.dtype(entry.dtype)
    except TypeError as error:
        raise DescriptionError(f"{path}: {where}.dtype: expected a NumPy dtype, found '{entry.dtype}'") from error
    if not isinstance(entry.fill, str):
        return np.full(shape, entry.fill, dtype)
    if entry.fill not in FILLS:
        raise DescriptionError(f"{path}: {where}.fill: {UnknownNameError('fill', entry.fill, FILLS)}, or a number")
    if entry.fill == "random":
        is_float = np.issubdtype(dtype, np.floating)
        return (rng.random(shape) if is_float else rng.integers(0, 128, shape)).astype(dtype)
    if entry.fill == "arange":
        return np.arange(np.prod(shape)).astype(dtype).reshape(shape)
    return np.full(shape, entry.fill == "ones", dtype)


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
    values: Mapping[str, object] = {**size, **buffers, **textures}
    for place, launch in enumerate(description.launches):
        where = f"launches.{place}"
        arguments = [values[argument] if isinstance(argument, str) else argument for argument in launch.arguments]
        grid, block = (_extent(path, f"{where}.{key}", extent, size) for key, extent in _extents(launch))
        shared_bytes = _number(path, f"{where}.shared_bytes", launch.shared_bytes, size)
        for _ in range(_number(path, f"{where}.repeat", launch.repeat, size)):
            try:
                device.launch(launch.kernel, grid, block, *arguments, shared_bytes=shared_bytes)
            except WarpregError as error:
                raise DescriptionError(f"{path}: {where}: {error}") from error
    return {name: buffer.download() for name, buffer in buffers.items()}


def _texture(path: Path, name: str, entry: TextureEntry, device: Device, buffer: Buffer) -> object:
    try:
        return device.texture(
            buffer,
            entry.kind,
            address=entry.address,
            filter=entry.filter,
            normalized=entry.normalized,
            read=entry.read,
        )
    except WarpregError as error:
        raise DescriptionError(f"{path}: textures.{name}: {error}") from error


def _extents(launch: LaunchEntry) -> Sequence[tuple[str, list[Number]]]:
    return (("grid", launch.grid), ("block", launch.block))


def _extent(path: Path, where: str, extent: list[Number], size: Size) -> tuple[int, ...]:
    return tuple(_number(path, where, part, size) for part in extent)


def _expected(path: Path, description: Description, size: Size, inputs: Arrays) -> Arrays:
    return {name: _load(path, f"expect.{name}", entry.file) for name, entry in description.expect.items()}
