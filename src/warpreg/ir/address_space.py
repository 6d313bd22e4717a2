"""Map of the state spaces in generic 64-bit addresses; global and constant memory follow from `GLOBAL_BASE` on.

All addresses fit 32 bits, so that kernels with narrow addresses use the same map.  Address 0 and its surroundings
belong to no space."""

from __future__ import annotations

SHARED_WINDOW = 0x0100_0000
"""Generic address of the first byte of the block's shared memory."""

HIGH_SHARED_WINDOW = 0xFFFF << 32
"""The same in machine code for sm_90, which forms generic addresses of shared memory from an upper half (SR_SWINHI) and
the offset."""

LOCAL_WINDOW = 0x0200_0000
"""Generic address of the first byte of the thread's local memory."""

WINDOW_BYTES = 0x0100_0000
"""Size of either window."""

TEXTURE_WINDOW = 0x0300_0000
"""The handle of the first texture, sampler or surface; not a memory address."""

GLOBAL_BASE = 0x1000_0000
"""Device address of the first buffer."""

FUNCTION_BASE = 0x0010_0000
"""Address of the first function; not a memory address."""

FUNCTION_STRIDE = 16
"""Distance of the addresses of two functions."""
