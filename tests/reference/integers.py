"""Integer and bit-field instructions on Python integers (PTX ISA, "Integer Arithmetic" and "Logic and Shift").

Operands are bit patterns of their type's width; the caller masks results.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.reference.number import mask, signed


def value(kind: str, bits: int, pattern: int) -> int:
    """The number that a pattern of kind ``s`` (signed) or ``u`` / ``b`` stands for."""
    return signed(pattern, bits) if kind == "s" else pattern & mask(bits)


def clamp(kind: str, bits: int, number: int) -> int:
    """The nearest number that the type holds."""
    low, high = (-(1 << (bits - 1)), mask(bits - 1)) if kind == "s" else (0, mask(bits))
    return max(low, min(high, number))


def quotient(kind: str, bits: int, a: int, b: int) -> int:
    """Truncated towards zero.  Division by zero is unspecified in PTX: here all ones."""
    x, y = value(kind, bits, a), value(kind, bits, b)
    if y == 0:
        return mask(bits)
    magnitude = abs(x) // abs(y)
    return -magnitude if (x < 0) != (y < 0) else magnitude


def remainder(kind: str, bits: int, a: int, b: int) -> int:
    """The sign follows the dividend.  By zero: the dividend."""
    x, y = value(kind, bits, a), value(kind, bits, b)
    if y == 0:
        return a
    magnitude = abs(x) % abs(y)
    return -magnitude if x < 0 else magnitude


def shift_left(bits: int, a: int, amount: int) -> int:
    return 0 if amount >= bits else a << amount


def shift_right(kind: str, bits: int, a: int, amount: int) -> int:
    return value(kind, bits, a) >> min(amount, bits)


def funnel(direction: str, clamped: bool, low: int, high: int, amount: int) -> int:
    """``shf``: 32 bits out of ``high:low``, shifted left or right by ``amount``, wrapped to 31 or clamped to 32."""
    n = min(amount, 32) if clamped else amount & 31
    both = (high << 32) | low
    return (both << n) >> 32 if direction == "l" else both >> n


def population(a: int) -> int:
    return bin(a).count("1")


def leading_zeros(bits: int, a: int) -> int:
    return bits - a.bit_length()


def reverse(bits: int, a: int) -> int:
    return int(format(a, f"0{bits}b")[::-1], 2)


def find(kind: str, bits: int, shift_amount: bool, a: int) -> int:
    """``bfind``: the position of the most significant bit that is not a sign bit, or all ones if there is none."""
    if kind == "s" and a >> (bits - 1):
        a = ~a & mask(bits)
    if a == 0:
        return mask(32)
    position = a.bit_length() - 1
    return bits - 1 - position if shift_amount else position


def extract(kind: str, bits: int, a: int, start: int, length: int) -> int:
    """``bfe``: bits past the top repeat the field's sign, which is the last bit of the field inside the register."""
    start, length = start & 255, length & 255
    if kind == "s" and length:
        sign = (a >> min(start + length - 1, bits - 1)) & 1
    else:
        sign = 0
    out = 0
    for i in range(bits):
        bit = (a >> (start + i)) & 1 if i < length and start + i < bits else sign
        out |= bit << i
    return out


def insert(bits: int, a: int, b: int, start: int, length: int) -> int:
    """``bfi``: the low ``length`` bits of ``a`` placed into ``b`` at ``start``."""
    start, length = start & 255, length & 255
    out = b
    for i in range(length):
        if start + i < bits:
            out = (out & ~(1 << (start + i))) | (((a >> i) & 1) << (start + i))
    return out


_PRMT_MODES: dict[str, Callable[[int], tuple[int, ...]]] = {
    "f4e": lambda n: (n, n + 1, n + 2, n + 3),
    "b4e": lambda n: (n, (n - 1) & 7, (n - 2) & 7, (n - 3) & 7),
    "rc8": lambda n: (n, n, n, n),
    "ecl": lambda n: tuple(max(i, n) for i in range(4)),
    "ecr": lambda n: tuple(min(i, n) for i in range(4)),
    "rc16": lambda n: (0, 1, 0, 1) if n & 1 == 0 else (2, 3, 2, 3),
}


def permute(mode: str, a: int, b: int, control: int) -> int:
    """``prmt``: four bytes chosen from ``b:a``; in the default mode bit 3 of a selector replicates the byte's sign."""
    source = [((b << 32 | a) >> (8 * i)) & 255 for i in range(8)]
    if mode:
        chosen = [source[i] for i in _PRMT_MODES[mode](control & 3)]
    else:
        chosen = []
        for i in range(4):
            selector = (control >> (4 * i)) & 15
            byte = source[selector & 7]
            chosen.append((255 if byte & 128 else 0) if selector & 8 else byte)
    return sum(byte << (8 * i) for i, byte in enumerate(chosen))


def logic3(table: int, a: int, b: int, c: int) -> int:
    """``lop3``: bit i of the result is bit ``abc`` of the table."""
    out = 0
    for i in range(32):
        index = ((a >> i) & 1) << 2 | ((b >> i) & 1) << 1 | ((c >> i) & 1)
        out |= ((table >> index) & 1) << i
    return out
