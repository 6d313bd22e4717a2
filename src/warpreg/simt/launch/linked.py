"""A kernel on a device: native code, the addresses of the module's variables, and how arguments are passed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpreg.simt.kernel.native_kernel import NativeKernel
from warpreg.simt.launch.arguments import Packer
from warpreg.simt.memory.arena import Buffer


@dataclass(frozen=True)
class LinkedKernel:
    """What all launches of a kernel on a device have in common.

    ``symbols`` are the device addresses of the variables that it names, ``constants`` the (first, end) of buffers that
    ``ld.const`` may access, ``copy`` is the copy of its parameters, if it needs one; ``symbols_at`` and
    ``constants_at`` are their host addresses.
    """

    native: NativeKernel
    packer: Packer
    symbols: NDArray[np.uint64]
    constants: NDArray[np.uint64]
    symbols_at: int
    constants_at: int
    copy: Buffer | None

    @staticmethod
    def of(native: NativeKernel, symbols: dict[str, int], constants: list[Buffer], copy: Buffer | None) -> LinkedKernel:
        """``symbols`` are the device addresses of all variables."""
        named = np.array([symbols[name] for name in native.image.symbols] or [0], np.uint64)
        rows = np.array([(b.address, b.address + b.bytes) for b in constants], np.uint64).reshape(-1, 2)
        return LinkedKernel(native, Packer(native.kernel), named, rows, named.ctypes.data, rows.ctypes.data, copy)
