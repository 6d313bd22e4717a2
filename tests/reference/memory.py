"""Byte-addressed memory as named regions; an access outside all of them, or misaligned, is an error."""

from __future__ import annotations

from dataclasses import dataclass, field

SHARED_WINDOW = 0x0100_0000
LOCAL_WINDOW = 0x0200_0000
FIRST_GLOBAL = 0x1000_0000


class ReferenceFault(Exception):
    """The program did something that has no meaning."""


@dataclass
class Region:
    base: int
    data: bytearray

    def holds(self, address: int, size: int) -> bool:
        return self.base <= address and address + size <= self.base + len(self.data)


@dataclass
class Space:
    """One address space: regions that do not overlap."""

    name: str
    regions: list[Region] = field(default_factory=list)

    def _locate(self, address: int, size: int) -> tuple[bytearray, int]:
        if address % size:
            raise ReferenceFault(f"misaligned access of {size} bytes at {self.name} {address:#x}")
        for region in self.regions:
            if region.holds(address, size):
                return region.data, address - region.base
        raise ReferenceFault(f"access of {size} bytes outside all buffers at {self.name} {address:#x}")

    def load(self, address: int, size: int) -> int:
        data, at = self._locate(address, size)
        return int.from_bytes(data[at : at + size], "little")

    def store(self, address: int, size: int, value: int) -> None:
        data, at = self._locate(address, size)
        data[at : at + size] = value.to_bytes(size, "little")

    def write(self, address: int, content: bytes) -> None:
        for offset, byte in enumerate(content):
            self.store(address + offset, 1, byte)

    def check_alignment(self, address: int, size: int) -> None:
        if address % size:
            raise ReferenceFault(f"misaligned vector of {size} bytes at {self.name} {address:#x}")
