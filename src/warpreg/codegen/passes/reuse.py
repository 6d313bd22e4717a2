"""Which sources an instruction keeps in the operand reuse cache (``.reuse``).

The cache has an entry for each bank (register number mod 2) and source position; the next read of that bank and
position replaces it, hit or miss (Huerta et al., MICRO 2025, section 5.3).  So a source is worth keeping if that next
read, in the block, is of the same register, with no write in between.  Only instructions of fixed latency use the
cache.  The position is that in the encoding (`encoded_place`); results name sources by their position in the operands.
"""

from __future__ import annotations

from collections.abc import Sequence

from warpreg.ir.instruction import Instruction, registers_of
from warpreg.ir.opcodes.sass.pattern import encoded_place

BANKS = 2


def reused_sources(code: Sequence[Instruction], fixed: Sequence[bool]) -> list[tuple[int, ...]]:
    """By instruction of a block, the positions of the sources to keep; ``fixed``: which have a fixed latency.  A source
    of several words is kept if each of its words is read next at its position."""
    following: dict[tuple[int, int], int | None] = {}
    reused: list[tuple[int, ...]] = []
    for one, is_fixed in zip(reversed(code), reversed(fixed), strict=True):
        written = {word for register in one.defined for word in register.words}
        following = {place: word for place, word in following.items() if word not in written}
        sources = [
            (position, [word for register in registers_of(operand) for word in register.words])
            for position, operand in enumerate(one.sources)
        ]
        kept = [
            position
            for position, words in sources
            if words
            and all(following.get((word % BANKS, encoded_place(one.opcode, position))) == word for word in words)
        ]
        reused.append(tuple(kept) if is_fixed else ())
        for position, words in sources:
            for word in words:
                following[word % BANKS, encoded_place(one.opcode, position)] = word if is_fixed else None
    return reused[::-1]


def overwritten_sources(code: Sequence[Instruction], fixed: Sequence[bool]) -> list[frozenset[int]]:
    """By instruction of a block, the positions of sources of which a word is written before the next read of its place.
    The cache must not keep them: that read would get the old value."""
    written: dict[tuple[int, int], set[int]] = {
        (bank, encoded_place(one.opcode, position)): set()
        for bank in range(BANKS)
        for one in code
        for position in range(len(one.sources))
    }
    overwritten: list[frozenset[int]] = []
    for one, is_fixed in zip(reversed(code), reversed(fixed), strict=True):
        for words in written.values():
            words.update(word for register in one.defined for word in register.words)
        places = [
            (position, word)
            for position, operand in enumerate(one.sources)
            for register in registers_of(operand)
            for word in register.words
        ]
        kept = [(position, (word % BANKS, encoded_place(one.opcode, position)), word) for position, word in places]
        overwritten.append(frozenset(position for position, place, word in kept if word in written[place]))
        if is_fixed:
            for _, place, _ in kept:
                written[place] = set()
    return overwritten[::-1]
