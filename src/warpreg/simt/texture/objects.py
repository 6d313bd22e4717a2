"""Textures, samplers and surfaces of a device: Python objects, and their records for native code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg.ir.address_space import TEXTURE_WINDOW, WINDOW_BYTES
from warpreg.ir.module import Module, Property, Variable
from warpreg.ir.operands import Symbol
from warpreg.ir.types import Kind as TypeKind
from warpreg.simt.memory.arena import Buffer
from warpreg.simt.texture.arrays import Layout, Sampling, TextureError, check_levels
from warpreg.simt.texture.state import ADDRESS_MODES, FILTERS, KINDS, ORDERS, RECORD_BYTES, Field, Resource

AS_DECLARED = Sampling(("clamp", "clamp", "clamp"), "point", False)
"""Defaults of a module's sampler, which its initialiser may override."""


@dataclass(frozen=True, eq=False)
class Texture:
    """A texture object of the device with that ``table``; as a kernel argument it is its 64-bit ``handle``.

    ``buffer`` holds the texels; later writes to it are visible to fetches.
    """

    table: TextureTable
    handle: int
    buffer: Buffer
    layout: Layout
    sampling: Sampling


@dataclass(frozen=True, eq=False)
class Sampler:
    """How a texture is sampled in independent mode."""

    table: TextureTable
    handle: int
    sampling: Sampling


@dataclass(frozen=True, eq=False)
class Surface:
    """A surface object; as a kernel argument it is its 64-bit ``handle``.  ``buffer`` holds the elements."""

    table: TextureTable
    handle: int
    buffer: Buffer
    layout: Layout

    def download(self) -> NDArray[Any]:
        """A copy of the content, in the shape and dtype of the array that it was made of."""
        return self.buffer.download()


Bindable = Texture | Sampler | Surface


class TextureTable:
    """The records of a device, in the order of their handles; a module's references come first."""

    def __init__(self, module: Module) -> None:
        self._records = np.zeros((16, RECORD_BYTES), np.uint8)
        self.table_at = self._records.ctypes.data
        """The host address of the `table`."""
        self._count = 0
        self._names: list[str] = []
        self.references: dict[str, int] = {}
        for variable in module.variables:
            resource = reference(variable)
            if resource is not None:
                record = np.zeros(RECORD_BYTES, np.uint8)
                _set(record, Field.RESOURCE, resource)
                if resource is Resource.SAMPLER:
                    _sample(record, _declared(variable))
                self.references[variable.name] = self._add(record, variable.name)

    def texture(
        self, buffer: Buffer, layout: Layout, sampling: Sampling, smaller: Sequence[tuple[Buffer, Layout]] = ()
    ) -> Texture:
        """A new texture over a buffer, with ``smaller`` levels of detail.

        Raises TextureError if the format cannot be filtered, or if levels do not halve.
        """
        if sampling.filter == "linear" and not layout.format.is_float:
            raise TextureError(
                f"texture '{buffer.name}': a linear filter needs floating-point elements or normalized reads, "
                f"found {buffer.dtype} elements"
            )
        record = _texels(Resource.TEXTURE, buffer, layout)
        _sample(record, sampling)
        _set(record, Field.NORMALIZED, sampling.normalized or layout.kind.startswith("cube"))
        _set(record, Field.UNNORMALIZED, 0)
        if smaller:
            check_levels([layout, *(one for _, one in smaller)], sampling)
            handles = [self.texture(*one, sampling).handle for one in smaller]
            _set(record, Field.LEVELS, 1 + len(smaller))
            _set(record, Field.SMALLER, handles[0] - TEXTURE_WINDOW)
        return Texture(self, self._add(record, buffer.name), buffer, layout, sampling)

    def surface(self, buffer: Buffer, layout: Layout) -> Surface:
        """A new surface over a buffer."""
        return Surface(self, self._add(_texels(Resource.SURFACE, buffer, layout), buffer.name), buffer, layout)

    def sampler(self, sampling: Sampling) -> Sampler:
        """A new sampler."""
        record = np.zeros(RECORD_BYTES, np.uint8)
        _set(record, Field.RESOURCE, Resource.SAMPLER)
        _sample(record, sampling)
        return Sampler(self, self._add(record, "a sampler"), sampling)

    def bind(self, name: str, bound: Bindable) -> None:
        """Bind a module's reference to a texture, sampler or surface.  Raises TextureError."""
        if name not in self.references:
            known = f"there are: {', '.join(self.references)}" if self.references else "there are none"
            raise TextureError(f"the module has no texture, sampler or surface reference '{name}'; {known}")
        if bound.table is not self:
            raise TextureError(f"reference '{name}': what is bound to it belongs to another device")
        own, other = self._at(self.references[name]), self._at(bound.handle)
        if own[Field.RESOURCE] != other[Field.RESOURCE]:
            expected, found = (Resource(int(r[Field.RESOURCE])).name.lower() for r in (own, other))
            raise TextureError(f"reference '{name}': expected a {expected}, found a {found}")
        own[:] = other

    def table(self) -> NDArray[np.uint8]:
        """The records, shape (records, bytes of one); empty without any."""
        return self._records[: self._count]

    def described(self, handle: int) -> str:
        """A description of the object of a handle."""
        place, misfit = divmod(handle - TEXTURE_WINDOW, RECORD_BYTES)
        if misfit or not 0 <= place < self._count:
            return f"{handle:#x}, which is no handle"
        record = self._records[place].view(np.uint32)
        resource, kind = Resource(int(record[Field.RESOURCE // 4])), KINDS[int(record[Field.KIND // 4])]
        if resource is Resource.SAMPLER:
            return f"sampler '{self._names[place]}'"
        if kind == KINDS[0]:
            return f"{resource.name.lower()} reference '{self._names[place]}' with nothing bound to it"
        return f"{kind} {resource.name.lower()} '{self._names[place]}'"

    def _add(self, record: NDArray[np.uint8], name: str) -> int:
        if (self._count + 1) * RECORD_BYTES > WINDOW_BYTES:
            raise TextureError(f"a device has at most {WINDOW_BYTES // RECORD_BYTES} textures, samplers and surfaces")
        if self._count == len(self._records):
            self._records = np.concatenate([self._records, np.zeros_like(self._records)])
            self.table_at = self._records.ctypes.data
        self._records[self._count] = record
        self._names.append(name)
        self._count += 1
        return TEXTURE_WINDOW + (self._count - 1) * RECORD_BYTES

    def _at(self, handle: int) -> NDArray[np.uint8]:
        record: NDArray[np.uint8] = self._records[(handle - TEXTURE_WINDOW) // RECORD_BYTES]
        return record


def reference(variable: Variable) -> Resource | None:
    """The kind of resource that a module variable refers to, None if it is not a reference."""
    if variable.space == "tex":
        return Resource.TEXTURE
    if variable.type.kind is not TypeKind.OPAQUE or variable.dimensions or variable.linkage == "extern":
        return None
    names = {"texref": Resource.TEXTURE, "samplerref": Resource.SAMPLER, "surfref": Resource.SURFACE}
    return names[variable.type.name]


def _declared(variable: Variable) -> Sampling:
    """The sampling options of a ``.samplerref`` initialiser (PTX ISA, "Texture Sampler and Surface Types")."""
    modes = {"wrap": "wrap", "mirror": "mirror", "clamp_ogl": "clamp", "clamp_to_edge": "clamp"}
    modes["clamp_to_border"] = "border"
    address, filter_, normalized = list(AS_DECLARED.address), AS_DECLARED.filter, True
    given = variable.initializer if isinstance(variable.initializer, tuple) else ()
    for item in given:
        if not isinstance(item, Property):
            continue
        named = item.value.name if isinstance(item.value, Symbol) else item.value.value
        if item.name.startswith("addr_mode_"):
            numbered = list(modes.values())[named] if isinstance(named, int) and named < len(modes) else "clamp"
            address[int(item.name[-1])] = modes[named] if isinstance(named, str) else numbered
        elif item.name == "filter_mode":
            filter_ = "linear" if named in ("linear", 1) else "point"
        elif item.name == "force_unnormalized_coords":
            normalized = named in (0, "false")
    x, y, z = address
    return Sampling((x, y, z), filter_, normalized)


def _texels(resource: Resource, buffer: Buffer, layout: Layout) -> NDArray[np.uint8]:
    record = np.zeros(RECORD_BYTES, np.uint8)
    cubes = layout.layers // 6 if layout.kind == "cube-layered" else layout.layers
    row = layout.width * layout.texel_bytes
    for field, value in (
        (Field.RESOURCE, resource),
        (Field.KIND, KINDS.index(layout.kind)),
        (Field.WIDTH, layout.width),
        (Field.HEIGHT, layout.height),
        (Field.DEPTH, layout.depth),
        (Field.LAYERS, cubes if "layered" in layout.kind else 0),
        (Field.TEXEL_SHIFT, layout.texel_bytes.bit_length() - 1),
        (Field.ROW, row),
        (Field.SLICE, row * layout.height),
        (Field.FORMAT, layout.format),
        (Field.ORDER, ORDERS[layout.channels]),
        (Field.CHANNELS, layout.channels),
        (Field.FILTERABLE, layout.format.is_float),
    ):
        _set(record, field, int(value))
    record[Field.BASE : Field.BASE + 8].view(np.uint64)[0] = buffer.address
    extents = np.array(layout.extents, np.float32)
    record[Field.EXTENT : Field.EXTENT + 12].view(np.float32)[:] = extents
    return record


def _sample(record: NDArray[np.uint8], sampling: Sampling) -> None:
    for axis, mode in enumerate(sampling.address):
        _set(record, Field.ADDRESS + 4 * axis, ADDRESS_MODES[mode])
    _set(record, Field.FILTER, FILTERS[sampling.filter])
    _set(record, Field.UNNORMALIZED, not sampling.normalized)


def _set(record: NDArray[np.uint8], field: int, value: int) -> None:
    record[field : field + 4].view(np.uint32)[0] = value
