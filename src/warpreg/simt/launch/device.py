"""Device: a loaded module, its global memory, and its launches."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from warpreg import ptx
from warpreg.codegen import CompileOptions
from warpreg.codegen.lower.address_layout import PARAMETER_COPY
from warpreg.ir.address_space import GLOBAL_BASE
from warpreg.ir.errors import WarpregWarning
from warpreg.ir.kernel import Kernel
from warpreg.ir.module import Module
from warpreg.ir.operands import ConstantBank
from warpreg.simt.kernel.kernel_cache import load_or_compile
from warpreg.simt.kernel.native_kernel import NativeKernel, Record, load
from warpreg.simt.launch import side_by_side
from warpreg.simt.launch.faults import LaunchError
from warpreg.simt.launch.launch import MAX_INSTRUCTIONS, STACK_BYTES, Launch, LaunchRun, dimensions
from warpreg.simt.launch.linked import LinkedKernel
from warpreg.simt.launch.variables import Variables
from warpreg.simt.memory.arena import Buffer, GlobalMemory
from warpreg.simt.memory.heap import HEAP_BYTES, Heap
from warpreg.simt.texture.arrays import Address, Filter, Kind, Layout, Read, Sampling, TextureError
from warpreg.simt.texture.objects import Sampler, Surface, Texture, TextureTable

if TYPE_CHECKING:
    from warpreg.simt.block.tracked import Tracked


class UnfilledWarning(WarpregWarning):
    """A launched kernel reads a constant variable that has neither an initialiser nor a value of the host."""


AS_COMPILED = CompileOptions()
NOTHING = Record()


class Device:
    """Runs the kernels of one module.

    ``options`` controls the compilation of kernels to architected registers; None runs the virtual registers of the
    PTX.  ``record`` selects what launches record.  ``launches`` contains every finished launch in order.
    ``stack_bytes`` is the stack of a thread for recursive calls and ``alloca``, ``heap_bytes`` the total size that
    ``malloc`` may allocate (cudaLimitStackSize, cudaLimitMallocHeapSize).  ``memory_base`` is the address of the first
    buffer, a multiple of 256 from `GLOBAL_BASE` on.  Output of kernels goes to ``sys.stdout``.
    Results depend only on the module, its inputs and the order of launches: one host thread runs thread blocks in
    linear order.
    """

    def __init__(
        self,
        module: Module | str,
        options: CompileOptions | None = AS_COMPILED,
        record: Record = NOTHING,
        max_instructions: int = MAX_INSTRUCTIONS,
        stack_bytes: int = STACK_BYTES,
        heap_bytes: int = HEAP_BYTES,
        memory_base: int = GLOBAL_BASE,
    ) -> None:
        self.module = ptx.parse(module) if isinstance(module, str) else module
        self.options = options
        self.record = record
        self.max_instructions = max_instructions
        self.stack_bytes = stack_bytes
        self.memory = GlobalMemory(memory_base)
        self.textures = TextureTable(self.module)
        self.heap = Heap(self.memory, heap_bytes)
        self.launches: list[Launch] = []
        self._kernels: dict[str, NativeKernel] = {}
        self._linked: dict[str, LinkedKernel] = {}
        self._grid_workspace: Buffer | None = None
        self._parameter_copies: dict[str, Buffer] = {}
        self.variables = Variables(self.module, self.memory, self.textures)

    def upload(self, array: NDArray[Any], name: str = "") -> Buffer:
        """A new buffer with the contents of the array."""
        buffer = self.memory.allocate(array.shape, array.dtype, name)
        buffer.write(array)
        return buffer

    def zeros(self, shape: int | Sequence[int], dtype: DTypeLike, name: str = "") -> Buffer:
        """A new buffer filled with zeros."""
        return self.memory.allocate(shape, dtype, name)

    def texture(
        self,
        source: NDArray[Any] | Buffer | Sequence[NDArray[Any] | Buffer],
        /,
        kind: Kind = "2d",
        *,
        address: Address | Sequence[Address] = "clamp",
        filter: Filter = "point",
        normalized: bool = False,
        read: Read = "element",
    ) -> Texture:
        """A texture of a copy of an array, or of a buffer, whose later contents it shows.  A sequence of them gives
        levels of detail, each half as large as the previous one.

        Axes are (layer, z, y, x) as far as the kind has them, then 1, 2 or 4 channels if there is one more.
        ``address`` is one mode, or one per dimension, x first.  ``normalized``: coordinates are in 0 to 1.
        ``read="normalized"``: integers are read as numbers from 0 or -1 to 1.  Raises TextureError.
        """
        sampling = Sampling.of(address, filter, normalized)
        sources = [source] if isinstance(source, (np.ndarray, Buffer)) else list(source)
        layouts = [Layout.of(level.shape, level.dtype, kind, read) for level in sources]
        if not sources:
            raise TextureError(f"a {kind} texture: expected a level at least")
        first, *smaller = zip(map(self._buffer, sources), layouts, strict=True)
        return self.textures.texture(*first, sampling, smaller)

    def surface(self, source: NDArray[Any] | Buffer, /, kind: Kind = "2d") -> Surface:
        """A surface of a copy of an array, or of a buffer; axes as in `texture`.  Raises TextureError."""
        layout = Layout.of(source.shape, source.dtype, kind)
        return self.textures.surface(self._buffer(source), layout)

    def sampler(
        self, *, address: Address | Sequence[Address] = "clamp", filter: Filter = "point", normalized: bool = True
    ) -> Sampler:
        """A sampler for textures in independent mode; without ``normalized``, coordinates count texels, regardless of
        the texture.  Raises TextureError.
        """
        return self.textures.sampler(Sampling.of(address, filter, normalized))

    def bind(self, name: str, bound: Texture | Sampler | Surface) -> None:
        """Bind the module's ``.texref``, ``.samplerref`` or ``.surfref`` of this name to ``bound``.

        Raises TextureError for an unknown name, or one of another type.
        """
        self.textures.bind(name, bound)

    def _buffer(self, source: NDArray[Any] | Buffer) -> Buffer:
        if isinstance(source, Buffer):
            if source.memory is not self.memory:
                raise LaunchError(f"buffer '{source.name}' belongs to another device")
            return source
        return self.upload(source)

    def variable(self, name: str) -> Buffer:
        """The bytes of a ``__device__`` or ``__constant__`` variable, named as in the source or in PTX.

        Raises UnknownNameError for an unknown name, LaunchError for one of several variables or of something else.
        """
        return self.variables.of(name)

    def assign(self, name: str, array: NDArray[Any]) -> None:
        """Copy the bytes of ``array`` to the start of a ``__device__`` or ``__constant__`` variable.

        Raises like `variable`, LaunchError for an array that is larger than the variable.
        """
        self.variables.assign(name, array)

    def fill(self, name: str, value: Any) -> None:
        """Set a ``__device__`` or ``__constant__`` variable to a number, an array, a structure, a record or bytes.

        A pointer variable takes a buffer.  Raises like `variable`, LaunchError for a value of another type or size.
        """
        self.variables.fill(name, value)

    def fill_all(self, values: Mapping[str, Any]) -> None:
        """`fill` each variable; raises LaunchError for two names of one."""
        self.variables.expect_distinct(values)
        for name, value in values.items():
            self.variables.fill(name, value)

    def content(self, name: str) -> NDArray[Any]:
        """A copy of a variable in its PTX type, as bytes if it has none.  Raises like `variable`."""
        return self.variables.content(name)

    def kernel(self, name: str) -> Kernel:
        """The kernel that launches run: compiled, or virtual if the device has no compile options."""
        return self.native(name).kernel

    def native(self, name: str) -> NativeKernel:
        """The kernel's native code, compiled at first use.  Raises UnsupportedError and UnknownNameError."""
        if name not in self._kernels:
            self._kernels[name] = load_or_compile(self.module, name, self.options, self.record)
        return self._kernels[name]

    def install(self, kernel: Kernel, taints: Tracked | None = None) -> None:
        """Replace a kernel by this version, for example by the output of a compiler pass; with ``taints``, a launch
        raises TaintFault if an operand is read from a location that need not hold it.
        """
        from warpreg.simt.kernel.compile_image import compile_image  # most runs find their kernels in the disk cache

        self._kernels[kernel.name] = load(compile_image(kernel, self.record, taints), self.record)
        self._linked.clear()

    def launch(
        self,
        kernel: str,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        *arguments: Any,
        shared_bytes: int = 0,
        max_instructions: int | None = None,
    ) -> Launch:
        """Run a kernel on a grid of thread blocks; ``shared_bytes`` is its dynamic shared memory.

        ``kernel`` is its name in PTX or in the C++ source.  Pointer parameters take buffers, others numbers; structures
        and arrays by value take a `Structure`, bytes, a NumPy record or array, or a ctypes structure.  Raises
        LaunchError for an invalid launch and ExecutionError for one that fails, or once if the recording of the one
        before has failed meanwhile.
        """
        if self.launches:
            self.launches[-1].expect_recorded()
        linked = self._linked.get(kernel) or self._link(kernel)
        run = LaunchRun(
            linked,
            self.heap,
            self.textures,
            dimensions(grid, "grid"),
            dimensions(block, "block"),
            arguments,
            shared_bytes,
            self.record,
            self.max_instructions if max_instructions is None else max_instructions,
            self.stack_bytes,
            self._workspace() if linked.native.image.is_cooperative else 0,
        )
        done = run.run()
        self.launches.append(done)
        return done

    def _link(self, kernel: str) -> LinkedKernel:
        """The kernel of this name in PTX or in the C++ source, on this device, from now on.  Raises LaunchError."""
        native = self.native(self.module.kernel_name(kernel))
        variables = self.variables.buffers
        self._tell_unfilled(native)
        symbols = {name: buffer.address for name, buffer in variables.items()} | self.textures.references
        constants = [
            variables[v.unique_name]
            for v in self.module.static_variables
            if v.space == "const" and v.unique_name in symbols
        ]
        copy = self._parameter_copy(native.kernel) if PARAMETER_COPY in native.image.symbols else None
        if copy is not None:
            constants.append(copy)
            symbols[PARAMETER_COPY] = copy.address
        undefined = next((name for name in native.image.symbols if name not in symbols), None)
        if undefined is not None:
            raise LaunchError(f"kernel '{kernel}': this module does not define its external variable '{undefined}'")
        self._linked[kernel] = LinkedKernel.of(native, symbols, constants, copy)
        return self._linked[kernel]

    def _tell_unfilled(self, native: NativeKernel) -> None:
        """Warn once of constants that a kernel reads though nothing filled them."""
        read = _named(native.kernel) if native.kernel.machine_code else native.image.symbols
        names = self.variables.unfilled(read)
        if names:
            them = f"variable{'s' if len(names) > 1 else ''} {', '.join(names)}"
            warnings.warn(
                f"kernel '{native.kernel.name}' reads the __constant__ {them}, which nothing filled: all bytes are 0 "
                "(--symbol, [symbols] of a launch file or symbols= in Python fills variables)",
                UnfilledWarning,
                stacklevel=4,
            )

    def _workspace(self) -> int:
        """Address of the grid's workspace of a cooperative launch."""
        if self._grid_workspace is None:
            content = side_by_side.workspace()
            self._grid_workspace = self.memory.allocate(content.shape, content.dtype, "the grid's workspace")
        self._grid_workspace.write(side_by_side.workspace())
        return self._grid_workspace.address

    def _parameter_copy(self, kernel: Kernel) -> Buffer:
        """The copy of parameters that a kernel indexes at run time; each launch rewrites it."""
        if kernel.name not in self._parameter_copies:
            size = max(8, kernel.parameter_bytes)
            name = f"the parameters of '{kernel.name}'"
            self._parameter_copies[kernel.name] = self.memory.allocate(size, np.uint8, name)
        return self._parameter_copies[kernel.name]


def _named(kernel: Kernel) -> set[str]:
    """The variables that machine code names; an index may reach others of the same bank."""
    words = (o for i in kernel.instructions() for o in i.operands if isinstance(o, ConstantBank))
    return {word.name for word in words if word.name}
