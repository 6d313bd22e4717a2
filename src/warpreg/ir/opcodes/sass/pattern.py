"""Operand patterns: the slots of an instruction in the order of a listing, and which of them it may omit.

A pattern is written ``results <- sources``.  Each slot is a type of the IR (``s32``, ``f64``, ``pred``; ``b128`` for
four registers), or ``address``, ``bank`` (a word of a constant bank), ``label``, ``special``, ``predicates`` (all of a
warp's), ``word`` (text without a value).  A slot with ``=PT``, ``=!PT`` or ``=RZ`` may be omitted, and is then true,
false or 0: a predicate is omitted where no predicate stands in the listing, another slot where one does or the listing
ends.  Patterns that depend on modifiers are functions (`PATTERNS`).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from warpreg.ir.opcodes.sass.patterns import PATTERNS, PLACES
from warpreg.ir.operands import Immediate
from warpreg.ir.types import B32, PRED, TYPES, U64, Type

DEFAULTS = {"PT": Immediate(1), "!PT": Immediate(0), "RZ": Immediate(0)}
WORDS = frozenset({"address", "bank", "label", "special", "word", "predicates"})


@dataclass(frozen=True, slots=True)
class OperandSlot:
    """``kind``: a type, or one of `WORDS`.  ``default``: its value where a listing omits it, None if it never does."""

    kind: Type | str
    default: Immediate | None = None

    @property
    def types(self) -> tuple[Type, ...]:
        """Its types when flattened: seven predicates for ``predicates``."""
        if isinstance(self.kind, Type):
            return (self.kind,)
        return (PRED,) * 7 if self.kind == "predicates" else (U64 if self.kind in ("address", "label") else B32,)

    @property
    def is_predicate(self) -> bool:
        return isinstance(self.kind, Type) and self.kind.is_predicate


@dataclass(frozen=True, slots=True)
class OperandPattern:
    """The slots of results and sources."""

    results: tuple[OperandSlot, ...]
    sources: tuple[OperandSlot, ...]

    @property
    def types(self) -> tuple[tuple[Type, ...], tuple[Type, ...]]:
        """The type of each flattened slot: 64 bits for addresses and labels, words otherwise where none is named."""
        results, sources = (tuple(t for s in slots for t in s.types) for slots in (self.results, self.sources))
        return results, sources


@functools.lru_cache(maxsize=4096)
def operand_pattern(opcode: str, modifiers: tuple[str, ...]) -> OperandPattern | None:
    """The pattern of an opcode with these modifiers; None if the opcode has none."""
    found = PATTERNS.get(opcode)
    if found is None:
        return None
    try:
        results, sources = (found if isinstance(found, str) else found(modifiers)).split("<-")
    except (ValueError, IndexError):  # modifiers that no row has
        return None
    return OperandPattern(_slots(results), _slots(sources))


def encoded_place(opcode: str, position: int) -> int:
    """Which operand of an instruction's encoding the source at a position is, from 0; its position where that is not
    known to differ."""
    places = PLACES.get(opcode, ())
    return places[position] if position < len(places) else position


def _slots(text: str) -> tuple[OperandSlot, ...]:
    return tuple(_slot(*word.partition("=")[::2]) for word in text.split())


def _slot(kind: str, default: str) -> OperandSlot:
    return OperandSlot(kind if kind in WORDS else TYPES[kind], DEFAULTS[default] if default else None)
