"""Content digest of a kernel."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from warpreg.ir.kernel import Kernel

DIGITS = 12
"""Hexadecimal digits of a digest in a result."""


def kernel_digest(kernels: Iterable[Kernel]) -> str:
    """A digest of compiled kernels, in the order given: parameters, blocks, instructions, registers and memory."""
    digest = hashlib.sha256()
    for kernel in kernels:
        for line in _lines(kernel):
            digest.update(line.encode() + b"\n")
    return digest.hexdigest()[:DIGITS]


def _lines(kernel: Kernel) -> Iterable[str]:
    registers = f"{kernel.register_count} {kernel.uniform_count} {kernel.predicate_count}"
    yield f"{kernel.name} {registers} {kernel.shared_bytes} {kernel.local_bytes}"
    for parameter in kernel.parameters:
        yield f"{parameter.type} {parameter.offset}"
    for block in kernel.blocks:
        yield f"{block.index} -> {block.successors}"
        yield from map(str, block.instructions)
