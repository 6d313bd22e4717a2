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
number, of an array, or of a texture (``[textures.NAME]`` with ``array`` and the arguments of `Device.texture`), or a
text as on the command line: ``"struct:f32:2.5,s32:n,buffer:x"``, where ``buffer:x`` is a pointer to the array x.
``include``, ``define`` and ``arch`` are options of CUDA C++.  A kernel may be an instance of a template:
``fill<float>``.

``[symbols]`` fills variables of the module before the first launch, ``symbols`` of a launch before that launch:

    [symbols]
    coefficients = "f32:1,2,3,4"     # a text as on the command line
    scale = 2.5                      # a number, in the type of the variable
    table = "x"                      # the contents of an array
    samples = "buffer:y"             # a pointer to an array
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from warpreg.ir.errors import WarpregError
from warpreg.ir.toml_files import STRICT
from warpreg.simt.texture.arrays import Address, Filter, Kind, Read

Number = int | str
"""A number, or the name of one of the size's numbers."""

Given = int | float | str
"""A number, or a text that names or describes a value."""

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
    arguments: list[Given] = []
    symbols: dict[str, Given] = {}
    shared_bytes: Number = 0
    repeat: Number = 1


class ExpectEntry(Entry):
    """The expected content of an array, or of a variable of the module, at the end."""

    file: str
    relative: float = 0.0
    absolute: float = 0.0


class Description(Entry):
    """The whole file; paths in it are relative to its folder."""

    source: str
    """PTX or CUDA C++."""
    include: list[str] = []
    """Folders with headers."""
    define: list[str] = []
    """Macros."""
    arch: str | None = None
    """Architecture to compile CUDA C++ for."""
    name: str | None = None
    sizes: dict[str, dict[str, int]] = {}
    """Parameters by size."""
    arrays: dict[str, ArrayEntry] = {}
    """Host arrays by name."""
    textures: dict[str, TextureEntry] = {}
    symbols: dict[str, Given] = {}
    """Contents of module variables by name."""
    launches: Annotated[list[LaunchEntry], Field(min_length=1)]
    """In their order."""
    expect: dict[str, ExpectEntry] = {}
    """Expected contents by array."""
