"""Compiled scanner of a trace's text: bytes to steps and address records.

A *step* is one line: the words of `warpreg.trace.path` with the number of a static instruction in place of a block.
Address records are those of `warpreg.trace.addresses` without masks, because the step has the mask, and without RAMP.
A static instruction is identified by a hash of the words that are equal in all its executions, so the scanner does not
interpret registers and opcodes.  Malformed lines and the first line of each instruction are left to the parser of
lines.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg.ir.address_space import LOCAL_WINDOW, SHARED_WINDOW, WINDOW_BYTES
from warpreg.sass.parse.state import NO_MASK, At, Phase, Sites, Window
from warpreg.trace.addresses import OFFSETS_BITS, PAYLOAD_BITS, PAYLOAD_SHIFT, Kind, Offsets
from warpreg.trace.path import PathWord

AFFINE_STEP, AFFINE = int(Kind.AFFINE_STEP), int(Kind.AFFINE)
OFFSETS, EACH = int(Kind.OFFSETS), int(Kind.EACH)
BYTES, HALVES = int(Offsets.BYTES), int(Offsets.HALVES)
VISIT, VISIT_MASK, WARP = int(PathWord.VISIT), int(PathWord.VISIT_MASK), int(PathWord.WARP)
LANES = 32
MAX_RECORD_WORDS = 65
MAX_STEP_WORDS = 2


IN_SHARED, IN_LOCAL, GENERIC = int(Window.SHARED), int(Window.LOCAL), int(Window.GENERIC)
TEXT, LINE, AT_STEPS, AT_ADDRESSES, KEY, MASK, COPY, COPY_RECORD, SOURCE_LINES = range(At.EXECUTED - 1)
TRAILING, EXECUTED, PHASE, WARPS, SEEN, WARP_NOW, ANNOUNCED, LEFT, LOCAL_TOP = range(At.TRAILING, At.COUNT)
IN_BLOCK, IN_WARP, IN_INSTRUCTIONS = int(Phase.BLOCK), int(Phase.WARP), int(Phase.INSTRUCTIONS)
WARP_IS, INSTRUCTIONS_ARE = (np.frombuffer(text, np.uint8) for text in (b"warp = ", b"insts = "))
MATRIX_GROUP, MARKER = (np.frombuffer(text, np.uint8) for text in (b"GMMA", b"REPLAY_"))
END, FULL, NEW, OTHER, BAD = range(5)
MARKED = np.uint64(0)
FIRST_HASH, PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
SPACE, NEWLINE, ZERO, NINE, LETTER_A, LETTER_F, LETTER_X, MINUS = (np.uint8(ord(c)) for c in " \n09afx-")
LETTER_G, LETTER_R, LETTER_U = (np.uint8(ord(c)) for c in "GRU")


def _hashed(text: Any, at: int, key: Any) -> Any:
    """Skip a word and the space after it; returns the key extended by the word."""
    while text[at] > SPACE:
        key = (key ^ np.uint64(text[at])) * PRIME
        at += 1
    key = (key ^ np.uint64(SPACE)) * PRIME
    while text[at] == SPACE:
        at += 1
    return at, key


def _hexadecimal(text: Any, at: int) -> Any:
    """A number with or without 0x, its end, and the number of digits; no digits if it is malformed."""
    if text[at] == ZERO and text[at + 1] == LETTER_X:
        at += 2
    value = np.uint64(0)
    digits = 0
    while True:
        c = text[at]
        if ZERO <= c <= NINE:
            digit = np.uint64(c - ZERO)
        elif LETTER_A <= c <= LETTER_F:
            digit = np.uint64(c - LETTER_A) + np.uint64(10)
        else:
            break
        value = (value << np.uint64(4)) | digit
        digits += 1
        at += 1
    if text[at] > SPACE:
        digits = 0
    while text[at] == SPACE:
        at += 1
    return at, value, digits


def _decimal(text: Any, at: int) -> Any:
    """A signed number, its end, and the number of digits; no digits if it is malformed."""
    negative = text[at] == MINUS
    if negative:
        at += 1
    value = np.int64(0)
    digits = 0
    while ZERO <= text[at] <= NINE:
        value = value * 10 + np.int64(text[at] - ZERO)
        digits += 1
        at += 1
    if text[at] > SPACE:
        digits = 0
    while text[at] == SPACE:
        at += 1
    return at, -value if negative else value, digits


def _rebased(address: Any, window: int, bases: Any) -> Any:
    """Replace an address in a window of shared or local memory by an offset, or by the generic address that our
    executor uses.
    """
    if window != IN_LOCAL and bases[0] and address - bases[0] < np.uint64(WINDOW_BYTES):
        return address - bases[0] + np.uint64(SHARED_WINDOW if window == GENERIC else 0)
    if window != IN_SHARED and bases[1] and address - bases[1] < np.uint64(WINDOW_BYTES):
        return address - bases[1] + np.uint64(LOCAL_WINDOW if window == GENERIC else 0)
    return address


def _fits(number: Any, bits: int) -> Any:
    return -(1 << (bits - 1)) <= number < 1 << (bits - 1)


def _record(lanes: Any, values: Any, count: int, site: int, sites: Any, words: Any, at: int) -> Any:
    """Append the record of ``count`` active lanes; returns its end."""
    base, stride = sites.base[site], sites.stride[site]
    sites.base_before[site], sites.stride_before[site] = base, stride
    if count == 0:
        words[at] = AFFINE_STEP
        return at + 1
    if count > 1:
        stride = np.int64(values[1] - values[0])
        distance = lanes[1] - lanes[0]
        affine = stride % distance == 0 and _fits(stride // distance, 32)
        stride //= distance
    else:
        affine = True
    first = values[0] - np.uint64(lanes[0]) * np.uint64(stride)
    for i in range(count):
        affine = affine and values[i] == first + np.uint64(lanes[i]) * np.uint64(stride)
    if affine:
        change = np.int64(first - base)
        sites.base[site] = first
        if stride == sites.stride[site] and _fits(change, PAYLOAD_BITS):
            words[at] = np.uint32(change << PAYLOAD_SHIFT | AFFINE_STEP)
            return at + 1
        sites.stride[site] = stride
        words[at] = AFFINE
        words[at + 1] = np.uint32(first)
        words[at + 2] = np.uint32(first >> np.uint64(32))
        words[at + 3] = np.uint32(stride)
        return at + 4
    return _irregular(values, count, site, sites, words, at)


def _irregular(values: Any, count: int, site: int, sites: Any, words: Any, at: int) -> Any:
    """Offsets of ``count`` active lanes, several, if they fit, else their addresses."""
    lowest, highest, unit = values[0], values[0], np.uint64(sites.unit[site])
    for i in range(1, count):
        lowest, highest = min(lowest, values[i]), max(highest, values[i])
    aligned = True
    for i in range(count):
        aligned = aligned and (values[i] - lowest) % unit == 0
    change = np.int64(lowest - sites.base[site])
    form = BYTES if (highest - lowest) // unit < 1 << 8 else HALVES
    if aligned and (highest - lowest) // unit < 1 << 16 and _fits(change, PAYLOAD_BITS - OFFSETS_BITS):
        sites.base[site] = lowest
        words[at] = np.uint32((change << OFFSETS_BITS | form) << PAYLOAD_SHIFT | OFFSETS)
        return _offsets(values, count, lowest, unit, form, words, at + 1)
    sites.base[site] = values[0]
    short = highest >> np.uint64(32) == 0
    words[at] = np.uint32(EACH | (1 << PAYLOAD_SHIFT if short else 0))
    at += 1
    for i in range(count):
        words[at] = np.uint32(values[i])
        at += 1
        if not short:
            words[at] = np.uint32(values[i] >> np.uint64(32))
            at += 1
    return at


def _offsets(values: Any, count: int, lowest: Any, unit: Any, form: int, words: Any, at: int) -> Any:
    """Append the offsets from the lowest address; returns their end."""
    bits = 8 if form == BYTES else 16
    for first in range(0, count, 32 // bits):
        word = np.uint64(0)
        for i in range(first, min(count, first + 32 // bits)):
            word |= (values[i] - lowest) // unit << np.uint64(bits * (i - first))
        words[at] = np.uint32(word)
        at += 1
    return at


def _addresses(text: Any, at: int, lanes: Any, values: Any, count: int) -> Any:
    """Read mode and addresses into ``values``; returns their end and whether they are well-formed."""
    mode = text[at] - ZERO
    sound = mode <= 2 and text[at + 1] == SPACE
    at += 2
    if not sound:
        return at, False
    if mode == 0:
        for i in range(count):
            at, values[i], digits = _hexadecimal(text, at)
            sound = sound and 0 < digits <= 16
        return at, sound
    at, base, digits = _hexadecimal(text, at)
    sound = 0 < digits <= 16
    values[0] = base
    if mode == 1:
        at, stride, digits = _decimal(text, at)
        sound = sound and 0 < digits <= 10
        for i in range(count):
            values[i] = base + np.uint64(lanes[i] - lanes[0]) * np.uint64(stride)
        return at, sound
    for i in range(1, count):
        at, change, digits = _decimal(text, at)
        sound = sound and 0 < digits <= 19
        values[i] = values[i - 1] + np.uint64(change)
    return at, sound


def _operands(text: Any, at: int, key: Any) -> Any:
    """Skip a count and that many registers."""
    count = np.int64(text[at]) - np.int64(ZERO)
    sound = 0 <= count <= 9 and text[at + 1] == SPACE
    at, key = _hashed(text, at, key)
    if sound:
        for _ in range(count):
            at, key = _hashed(text, at, key)
    return at, key, sound


def _find(keys: Any, numbers: Any, key: Any) -> Any:
    """The static instruction of a key, -1 if there is none."""
    slot = np.int64(key & np.uint64(keys.size - 1))
    while numbers[slot] >= 0 and keys[slot] != key:
        slot = (slot + 1) & (keys.size - 1)
    return numbers[slot]


def _begins(text: Any, at: int, word: Any) -> bool:
    i = 0
    while i < word.size and text[at + i] == word[i]:
        i += 1
    return bool(i == word.size)


def _instruction(text: Any, at: int, state: Any, lanes: Any, values: Any) -> Any:
    """Read a line: its end, its key, mask, number of active lanes with an address, and whether it is well-formed.

    Behind the width of a uniform instruction, and behind the sources of a product of matrices by a group of warps,
    nothing is read.  Marks of a replayed region have a key of 0.
    """
    key = FIRST_HASH
    if state[SOURCE_LINES]:
        at, key = _hashed(text, at, key)
    at, key = _hashed(text, at, key)
    at, mask, digits = _hexadecimal(text, at)
    at, key, counted = _operands(text, at, key)
    is_opaque = text[at] == LETTER_U or (text[at + 1] == LETTER_G and _begins(text, at + 1, MATRIX_GROUP))
    is_marker = text[at] == LETTER_R and _begins(text, at, MARKER)
    at, key = _hashed(text, at, key)
    at, key, counted_too = _operands(text, at, key)
    sound = 0 < digits <= 8 and counted and counted_too and ZERO <= text[at] <= NINE
    accesses = text[at] != ZERO
    at, key = _hashed(text, at, key)
    count = 0
    if sound and accesses and not is_opaque:
        for lane in range(LANES):
            if mask >> np.uint64(lane) & np.uint64(1):
                lanes[count] = lane
                count += 1
        at, sound = _addresses(text, at, lanes, values, count)
    if not is_opaque:
        at, key = _hashed(text, at, key)
        sound = sound and (text[at] <= SPACE or state[TRAILING] != 0)
    while text[at] != NEWLINE:
        at += 1
    return at + 1, MARKED if is_marker else key, np.int64(mask), count, sound


def _announced(text: Any, at: int, word: Any) -> Any:
    """Start of the line after ``word = number``, and the number; -1 if the line does not have this form."""
    if not _begins(text, at, word):
        return at, -1
    at, number, digits = _decimal(text, at + word.size)
    return at + 1, number if text[at] == NEWLINE and 0 < digits <= 18 else -1


def _structure(text: Any, state: Any, steps: Any) -> bool:
    """Process a line that announces a warp or its instructions, if it is valid here."""
    at, number = _announced(text, state[TEXT], WARP_IS)
    if 0 <= number < state[WARPS] and state[LEFT] == 0 and state[PHASE] in (IN_BLOCK, IN_INSTRUCTIONS):
        if state[SEEN] >> number & 1:
            return False
        begin_warp(state, steps, number)
    else:
        at, number = _announced(text, state[TEXT], INSTRUCTIONS_ARE)
        if number < 0 or state[PHASE] != IN_WARP:
            return False
        state[LEFT] = state[ANNOUNCED] = number
        state[PHASE] = IN_INSTRUCTIONS
    state[TEXT] = at
    state[LINE] += 1
    return True


def begin_warp(state: NDArray[np.int64], steps: NDArray[np.uint32], warp: int) -> None:
    """Append the words that select the warp of the following instructions."""
    state[SEEN] |= np.int64(1) << warp
    state[WARP_NOW], state[PHASE], state[MASK], state[COPY] = warp, IN_WARP, NO_MASK, -1
    steps[state[AT_STEPS]] = warp << 2 | WARP
    state[AT_STEPS] += 1


def _step(state: Any, steps: Any, site: int, mask: int) -> None:
    at = state[AT_STEPS]
    if mask == state[MASK]:
        steps[at] = site << 2 | VISIT
        state[AT_STEPS] = at + 1
    else:
        steps[at] = site << 2 | VISIT_MASK
        steps[at + 1] = np.uint32(mask)
        state[AT_STEPS] = at + 2
        state[MASK] = mask


def scan(
    text: NDArray[np.uint8],
    end: int,
    state: NDArray[np.int64],
    bases: NDArray[np.uint64],
    keys: NDArray[np.uint64],
    numbers: NDArray[np.int32],
    sites: Sites,
    steps: NDArray[np.uint32],
    addresses: NDArray[np.uint32],
    lanes: NDArray[np.int64],
    values: NDArray[np.uint64],
) -> int:
    """Read the lines of ``text[:end]``, which ends with a line; returns why it stopped, a `Stop`.

    ``keys`` is a hash table of 2**n slots, ``numbers`` the static instruction in each slot, -1 if free.  ``bases`` are
    those of the windows of shared and local memory, 0 if unknown.  ``lanes`` and ``values`` have LANES elements.
    """
    while state[TEXT] < end:
        if state[AT_STEPS] + MAX_STEP_WORDS > steps.size or state[AT_ADDRESSES] + MAX_RECORD_WORDS > addresses.size:
            return FULL
        first = text[state[TEXT]]
        if first == NEWLINE:
            state[TEXT] += 1
            state[LINE] += 1
            continue
        if state[LEFT] == 0 or not (ZERO <= first <= NINE or LETTER_A <= first <= LETTER_F):
            if _structure(text, state, steps):
                continue
            return OTHER
        at, key, mask, count, sound = _instruction(text, state[TEXT], state, lanes, values)
        if not sound:
            return BAD
        if key == MARKED:
            state[TEXT], state[LINE], state[LEFT] = at, state[LINE] + 1, state[LEFT] - 1
            continue
        site = _find(keys, numbers, key)
        if site < 0:
            state[KEY] = np.int64(key)
            return NEW
        again = sites.copies[site] and state[COPY] == site
        state[COPY] = site if sites.copies[site] and not again else -1
        if again:
            state[AT_ADDRESSES] = state[COPY_RECORD]
            sites.base[site], sites.stride[site] = sites.base_before[site], sites.stride_before[site]
        else:
            _step(state, steps, site, mask)
            state[EXECUTED] += 1
        if sites.unit[site]:
            if sites.window[site]:
                for i in range(count):
                    values[i] = _rebased(values[i], sites.window[site], bases)
                    if sites.window[site] == IN_LOCAL and values[i] < np.uint64(WINDOW_BYTES):
                        state[LOCAL_TOP] = max(state[LOCAL_TOP], np.int64(values[i]) + sites.unit[site])
            state[COPY_RECORD] = state[AT_ADDRESSES]
            state[AT_ADDRESSES] = _record(lanes, values, count, site, sites, addresses, state[AT_ADDRESSES])
        state[LEFT] -= 1
        state[LINE] += 1
        state[TEXT] = at
    return END
