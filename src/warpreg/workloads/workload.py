"""The definition of a workload: kernels, seeded inputs, host code, and a reference for the outputs.

Built-in workloads and a user's file have the same form: a module with one `Workload` named ``WORKLOAD``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from warpreg.ir.errors import UnknownNameError, WarpregError
from warpreg.ir.module import Module, SourceKernels
from warpreg.machine_code import files
from warpreg.ptx import parse
from warpreg.ptx.cuda.compile import AS_IT_IS, compile_file
from warpreg.ptx.cuda.options import CudaOptions

if TYPE_CHECKING:
    from warpreg.simt.texture.arrays import Address, Filter, Kind, Read

Array = NDArray[Any]
Arrays = Mapping[str, Array]
Size = Mapping[str, int]
Extent = int | tuple[int, ...]


class Buffer(Protocol):
    """An array in the device's global memory, passed to `Device.launch` for a pointer parameter."""

    @property
    def address(self) -> int:
        """The device address of its first element, for arrays of pointers and structures that hold pointers."""

    def download(self) -> Array:
        """A copy of the contents, in the shape and dtype of the array that was uploaded."""

    def write(self, array: Array, /) -> None:
        """Replace the contents by ``array``, of the same shape and dtype."""


class Surface(Protocol):
    """A surface object, passed to `Device.launch` for a ``cudaSurfaceObject_t`` parameter."""

    def download(self) -> Array:
        """A copy of the contents, in the shape and dtype of the array that it was made of."""


class Device(Protocol):
    """The interface of the device that runs a workload's kernels."""

    def upload(self, array: Array, /) -> Buffer:
        """A new buffer with a copy of ``array``."""

    def zeros(self, shape: Extent, dtype: DTypeLike) -> Buffer:
        """A new buffer filled with zero bytes."""

    def assign(self, name: str, array: Array, /) -> None:
        """Copy the bytes of ``array`` to the start of the module's ``__device__`` or ``__constant__`` variable."""

    def fill_all(self, values: Mapping[str, object]) -> None:
        """Set such variables by name, all bytes of each: to numbers, arrays, structures, or buffers for pointers."""

    def content(self, name: str) -> Array:
        """A copy of such a variable in its PTX type, as bytes if it has none."""

    def texture(
        self,
        source: Any,
        /,
        kind: Kind = "2d",
        *,
        address: Address | Sequence[Address] = "clamp",
        filter: Filter = "point",
        normalized: bool = False,
        read: Read = "element",
    ) -> object:
        """A texture object over a copy of an array, or over a buffer (later writes are visible).

        It is passed to ``launch`` for a ``cudaTextureObject_t`` parameter.  Axes are (layer, z, y, x) as far as the
        kind has them; an additional axis has 1, 2 or 4 channels; a sequence of arrays makes a mipmap.  ``address`` is
        one mode, or one per dimension, x first.
        """

    def surface(self, source: Any, /, kind: Kind = "2d") -> Surface:
        """A surface object over a copy of an array, or over a buffer; axes as those of a texture."""

    def launch(self, kernel: str, grid: Extent, block: Extent, *args: object, shared_bytes: int = 0) -> object:
        """Run ``kernel`` to completion: ``grid`` blocks of ``block`` threads (x, or x and y, or x, y and z).

        ``args`` are buffers for pointers, textures and surfaces, and Python or NumPy numbers for scalars;
        ``shared_bytes`` is the size of the dynamic shared memory of a block.
        """


class CheckError(WarpregError):
    """An output that differs from the reference."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The allowed difference of an output from the reference; exact by default.

    An element passes if ``|found - expected| <= absolute + relative * |expected|``; NaN passes for NaN only.
    An output passes if at most ``fraction`` of its elements fail.
    """

    relative: float = 0.0
    absolute: float = 0.0
    fraction: float = 0.0

    def failures(self, output: Array, expected: Array) -> Array:
        """Flat indices of the elements of ``output`` that are too far from ``expected`` (same shape)."""
        if self.relative == 0.0 and self.absolute == 0.0:
            failed = output != expected
        else:
            with np.errstate(invalid="ignore"):  # inf - inf
                distance = np.abs(output.astype(np.float64) - expected)
            failed = ~((output == expected) | (distance <= self.absolute + self.relative * np.abs(expected)))
        if np.issubdtype(output.dtype, np.inexact):
            failed &= ~(np.isnan(output) & np.isnan(expected))
        return np.flatnonzero(failed)

    def __str__(self) -> str:
        bounds = [f"relative {self.relative:g}"] if self.relative else []
        bounds += [f"absolute {self.absolute:g}"] if self.absolute else []
        bounds = bounds or ["exact"]
        return ", ".join(bounds + ([f"in all but {self.fraction:.3g} of the elements"] if self.fraction else []))


@dataclass(frozen=True)
class Workload:
    """One benchmark: what its kernels compute, on which inputs, and how the result is checked."""

    name: str
    title: str
    description: str
    source: Path
    """The CUDA file; the PTX that is run is beside it with the suffix ``.ptx``."""
    sizes: Mapping[str, Size]
    """Every size by name, each with the same parameters."""
    inputs: Callable[[Size, np.random.Generator], Arrays]
    """Makes the host arrays from a size and a seeded generator."""
    run: Callable[[Device, Size, Arrays], Arrays]
    """Uploads them, launches the kernels and returns the outputs."""
    reference: Callable[[Size, Arrays], Arrays]
    """Computes the same outputs without the kernels."""
    tolerance: Tolerance | Mapping[str, Tolerance] = Tolerance()
    """Applies to all outputs, or is a mapping by output name."""
    suite: str = "own"
    """The benchmark suite that the algorithm comes from."""
    tags: tuple[str, ...] = ()
    """``integer`` or ``float``, ``compute`` or ``memory``, and the features it uses, the dominant one first."""
    papers: tuple[str, ...] = ()
    """Those that measured it."""
    originals: tuple[str, ...] = ()
    """The original programs in ``originals.csv``, as ``suite/app``."""
    differences: str = ""
    """Where and why the kernels here differ from the originals."""
    cuda: CudaOptions = AS_IT_IS
    """Options of its CUDA C++."""
    templates: tuple[str, ...] = ()
    """Kernel templates to instantiate."""

    @property
    def cuda_path(self) -> Path:
        """The CUDA C++ source."""
        return self.source.with_suffix(".cu")

    @property
    def ptx_path(self) -> Path:
        """The PTX that NVRTC generated from the source."""
        return self.source.with_suffix(".ptx")

    def module(self, cuda: CudaOptions | None = None) -> Module:
        """The parsed PTX, or the code of a file of machine code; a source without PTX beside it is compiled, and so is
        one whose options are given, by the workload or by ``cuda``.

        Raises `PtxError`, `CudaCompileError`, and `CompilerMissingError` without the ``cuda`` extra.
        """
        chosen = cuda.over(self.cuda) if cuda else self.cuda
        if self.source.suffix in files.SUFFIXES:
            if chosen.is_given:
                raise WarpregError(f"{self.source}: include, define and arch are for CUDA C++, which this is not")
            return files.read(self.source)
        if self.ptx_path.is_file() and not chosen.is_given and not self.templates:
            return parse(self.ptx_path.read_text(encoding="utf-8"), self.ptx_path.name)
        if self.source.suffix == ".ptx":
            raise WarpregError(f"{self.ptx_path}: include, define and arch are for CUDA C++; PTX is compiled already")
        compiled = compile_file(self.cuda_path, chosen, self.templates)
        module = parse(compiled.ptx, self.ptx_path.name)
        return dataclasses.replace(module, source=SourceKernels(compiled.instances, compiled.templates))

    def ptx_text(self) -> str:
        """The PTX without options of the user.  Raises WarpregError for machine code."""
        if self.source.suffix in files.SUFFIXES:
            raise WarpregError(f"{self.source}: machine code has no PTX")
        if self.ptx_path.is_file():
            return self.ptx_path.read_text(encoding="utf-8")
        return compile_file(self.cuda_path, self.cuda, self.templates).ptx

    def tolerance_of(self, output: str) -> Tolerance:
        """The tolerance of an output; an output missing in a mapping of tolerances is exact."""
        return self.tolerance if isinstance(self.tolerance, Tolerance) else self.tolerance.get(output, Tolerance())

    def problem(self, size: str = "tiny", seed: int = 0) -> Problem:
        """One instance to run; raises `UnknownNameError` for a size that the workload does not have."""
        if size not in self.sizes:
            raise UnknownNameError(f"size of workload '{self.name}'", size, self.sizes)
        return Problem(self, size, self.sizes[size], seed)


@dataclass(frozen=True)
class Problem:
    """A workload at one size with one seed: run it on a device, then check the outputs.

    The same seed gives the same inputs. Inputs and expected outputs are computed on first use and cached.
    """

    workload: Workload
    size_name: str
    size: Size
    seed: int

    @cached_property
    def inputs(self) -> Arrays:
        """The host arrays that the kernels start from."""
        return self.workload.inputs(self.size, np.random.default_rng(self.seed))

    @cached_property
    def expected(self) -> Arrays:
        """The outputs that the reference computes."""
        return self.workload.reference(self.size, self.inputs)

    def run(self, device: Device) -> Arrays:
        """The outputs of the kernels, run on ``device``, which must have loaded the workload's PTX."""
        return self.workload.run(device, self.size, self.inputs)

    def check(self, outputs: Arrays) -> None:
        """Compare ``outputs`` with the reference; raises `CheckError` that names the first wrong element."""
        for name, expected in self.expected.items():
            if name not in outputs:
                raise CheckError(f"{self}: output '{name}' is missing; there are: {', '.join(sorted(outputs))}")
            self._check_output(name, outputs[name], expected)

    def _check_output(self, name: str, output: Array, expected: Array) -> None:
        if (output.shape, output.dtype) != (expected.shape, expected.dtype):
            raise CheckError(
                f"{self}: output '{name}' is {output.dtype}{list(output.shape)},"
                f" expected {expected.dtype}{list(expected.shape)}"
            )
        tolerance = self.workload.tolerance_of(name)
        failures = tolerance.failures(output, expected)
        if failures.size <= tolerance.fraction * expected.size:
            return
        index = tuple(int(i) for i in np.unravel_index(failures[0], expected.shape))
        raise CheckError(
            f"{self}: output '{name}'{list(index)} is {output[index]}, expected {expected[index]}"
            f" (tolerance: {tolerance}); {failures.size} of {expected.size} elements differ"
        )

    def __str__(self) -> str:
        return f"{self.workload.name} ({self.size_name}, seed {self.seed})"


def blocks(items: int, per_block: int) -> int:
    """The number of blocks of ``per_block`` that cover ``items``."""
    return -(-items // per_block)
