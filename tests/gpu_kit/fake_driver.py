"""A stand-in for NVIDIA's driver library: memory works, kernels do nothing, events are half a millisecond apart."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

ILLEGAL_ADDRESS = 700


class FakeDriver:
    """Functions by name, as `ctypes.CDLL` gives them; ``failing`` is a function that always returns an error."""

    def __init__(self, failing: str = "") -> None:
        self.failing = failing
        self.memory: dict[int, bytearray] = {}
        self.next = 0x7F0000000000
        self.calls: dict[str, int] = {}

    def __getitem__(self, name: str) -> Callable[..., int]:
        self.calls[name] = self.calls.get(name, 0) + 1
        if name == self.failing:
            return lambda *arguments: ILLEGAL_ADDRESS
        return getattr(self, name, lambda *arguments: 0)

    def cuMemAlloc_v2(self, address: Any, size: Any) -> int:  # noqa: N802 the driver's name
        address._obj.value = self.next
        self.memory[self.next] = bytearray(size.value)
        self.next += size.value + 4096
        return 0

    def cuDeviceGetAttribute(self, value: Any, which: int, device: Any) -> int:  # noqa: N802
        value._obj.value = {75: 9, 76: 0, 16: 132}.get(which, 1)
        return 0

    def cuDriverGetVersion(self, version: Any) -> int:  # noqa: N802
        version._obj.value = 13000
        return 0

    def cuMemcpyHtoD_v2(self, to: Any, content: bytes, size: Any) -> int:  # noqa: N802
        memory, at = self._found(to.value)
        memory[at : at + size.value] = bytes(content)[: size.value]
        return 0

    def cuMemcpyDtoH_v2(self, to: Any, address: Any, size: Any) -> int:  # noqa: N802
        memory, at = self._found(address.value)
        ctypes.memmove(to, bytes(memory[at : at + size.value]), size.value)
        return 0

    def cuMemcpyDtoD_v2(self, to: Any, address: Any, size: Any) -> int:  # noqa: N802
        (memory, at), (target, first) = self._found(address.value), self._found(to.value)
        target[first : first + size.value] = memory[at : at + size.value]
        return 0

    def cuEventElapsedTime(self, value: Any, before: Any, after: Any) -> int:  # noqa: N802
        value._obj.value = 0.5
        return 0

    def _found(self, address: int) -> tuple[bytearray, int]:
        for first, memory in self.memory.items():
            if first <= address < first + len(memory):
                return memory, address - first
        raise AssertionError(f"{address:#x} was never allocated")
