"""The words of constant bank 0 that a launch writes below the parameters of machine code.

The offsets are those that ptxas's code for sm_80 and sm_90 reads for ``%ntid``, ``%nctaid``, generic addresses of
shared and local memory, the initial stack pointer (the end of the thread's local memory, from which frames grow down),
and the descriptor of global memory, which is 0 here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warpreg.ir.address_space import LOCAL_WINDOW, SHARED_WINDOW
from warpreg.ir.kernel import Kernel
from warpreg.simt.memory.constant_words import literal_offset

NTID, NCTAID = 0x00, 0x0C
SHARED_BASE, LOCAL_BASE = 0x18, 0x20
STACK_POINTER = 0x28


def write_launch_words(
    kernel: Kernel,
    bank: NDArray[np.uint8],
    block: tuple[int, int, int],
    grid: tuple[int, int, int],
    local_bytes: int,
) -> None:
    """Write them, and bank 2 of the kernel, to ``bank``; ``local_bytes`` is the local memory of a thread."""
    words = bank.view(np.uint32)
    words[NTID // 4 : NTID // 4 + 3] = block
    words[NCTAID // 4 : NCTAID // 4 + 3] = grid
    words[SHARED_BASE // 4 : SHARED_BASE // 4 + 2] = SHARED_WINDOW, 0
    words[LOCAL_BASE // 4 : LOCAL_BASE // 4 + 2] = LOCAL_WINDOW, 0
    words[STACK_POINTER // 4] = local_bytes
    first = literal_offset(kernel)
    bank[first : first + len(kernel.literals)] = np.frombuffer(kernel.literals, np.uint8)
