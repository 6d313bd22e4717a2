"""PTX fundamental types (PTX ISA, section 5.2): a kind, a width and, for packed types, a lane count."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Kind(enum.Enum):
    """The interpretation of a type's bits."""

    BITS = "b"
    UNSIGNED = "u"
    SIGNED = "s"
    FLOAT = "f"
    PREDICATE = "pred"
    OPAQUE = "opaque"


@dataclass(frozen=True, slots=True)
class Type:
    """A type by its PTX name; ``bits`` is its size, 1 for predicates."""

    name: str
    kind: Kind
    bits: int
    lanes: int = 1

    @property
    def bytes(self) -> int:
        """Size in memory, in bytes; 1 for predicates."""
        return (self.bits + 7) // 8

    @property
    def words(self) -> int:
        """Architected 32-bit registers per value; 0 for predicates, which have separate registers."""
        return 0 if self.kind is Kind.PREDICATE else (self.bits + 31) // 32

    @property
    def is_float(self) -> bool:
        return self.kind is Kind.FLOAT

    @property
    def is_signed(self) -> bool:
        return self.kind is Kind.SIGNED

    @property
    def is_integer(self) -> bool:
        return self.kind in (Kind.BITS, Kind.UNSIGNED, Kind.SIGNED)

    @property
    def is_predicate(self) -> bool:
        return self.kind is Kind.PREDICATE

    def __str__(self) -> str:
        return self.name


def _table() -> dict[str, Type]:
    types = [Type(f"{k.value}{n}", k, n) for k in (Kind.UNSIGNED, Kind.SIGNED) for n in (8, 16, 32, 64)]
    types += [Type(f"b{n}", Kind.BITS, n) for n in (8, 16, 32, 64, 128)]
    types += [Type(f"f{n}", Kind.FLOAT, n) for n in (16, 32, 64)]
    types += [Type("bf16", Kind.FLOAT, 16), Type("tf32", Kind.FLOAT, 32), Type("pred", Kind.PREDICATE, 1)]
    types += [Type("f16x2", Kind.FLOAT, 32, 2), Type("bf16x2", Kind.FLOAT, 32, 2), Type("f32x2", Kind.FLOAT, 64, 2)]
    types += [Type("u16x2", Kind.UNSIGNED, 32, 2), Type("s16x2", Kind.SIGNED, 32, 2)]
    types += [Type(n, Kind.FLOAT, 16, 2) for n in ("e4m3x2", "e5m2x2", "e2m3x2", "e3m2x2", "ue8m0x2")]
    types += [Type(n, Kind.FLOAT, 32, 4) for n in ("e4m3x4", "e5m2x4", "e2m3x4", "e3m2x4")]
    types += [Type("e2m1x4", Kind.FLOAT, 16, 4)]
    types += [Type(n, Kind.FLOAT, 8) for n in ("e4m3", "e5m2", "ue8m0", "e2m3", "e3m2", "e2m1x2")]
    types += [Type(n, Kind.OPAQUE, 64) for n in ("texref", "samplerref", "surfref")]
    return {t.name: t for t in types}


TYPES: dict[str, Type] = _table()

PRED = TYPES["pred"]
B16, B32, B64, B128 = TYPES["b16"], TYPES["b32"], TYPES["b64"], TYPES["b128"]
U32, S32, F32 = TYPES["u32"], TYPES["s32"], TYPES["f32"]
U64, S64, F64 = TYPES["u64"], TYPES["s64"], TYPES["f64"]
