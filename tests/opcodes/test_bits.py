"""Logic, shifts and bit fields agree with definitions written bit by bit."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest
from tests.opcodes.bench import Case, check
from tests.opcodes.samples import chunked, tuples

from warpreg.ir.operands import Immediate

AMOUNTS = [0, 1, 5, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 1 << 16, 1 << 31, 0xFFFFFFFF]


def signed(pattern: int, bits: int) -> int:
    return pattern - (1 << bits) if pattern >> bits - 1 else pattern


def shift_sources(bits: int) -> list[list[list[int]]]:
    patterns = [0x8000000000000001, 0x7FFFFFFFFFFFFFFF, 0xDEADBEEFCAFE1234, 0x5555AAAA0000FFFF]
    rows = [(p >> 64 - bits, amount) for p in patterns for amount in AMOUNTS]
    return chunked(list(zip(*rows, strict=True)))


def test_shift_amounts_past_the_width_clear_or_sign_fill() -> None:
    expectations: list[tuple[Case, Any]] = []
    for bits in (16, 32, 64):
        mask = (1 << bits) - 1
        for sources in shift_sources(bits):
            expectations += [
                (Case(f"shl.b{bits}", sources), lambda a, n, m=mask, b=bits: a << n & m if n < b else 0),
                (Case(f"shr.u{bits}", sources), lambda a, n, b=bits: a >> n if n < b else 0),
                (Case(f"shr.b{bits}", sources), lambda a, n, b=bits: a >> n if n < b else 0),
                (Case(f"shr.s{bits}", sources), lambda a, n, m=mask, b=bits: signed(a, b) >> min(n, b) & m),
            ]
    check(expectations)


def test_constant_shift_amounts() -> None:
    (values,) = tuples(["32"], lots=1)
    expectations: list[tuple[Case, Any]] = []
    for amount in (0, 3, 31, 32, 40):
        sources: list[Sequence[int] | Immediate] = [*values, Immediate(amount)]
        expectations.append((Case("shl.b32", sources), lambda a, n: a << n & 0xFFFFFFFF))
        expectations.append((Case("shr.s32", sources), lambda a, n: signed(a, 32) >> min(n, 32) & 0xFFFFFFFF))
    check(expectations)


def test_logic_on_bits_and_predicates() -> None:
    bits, flags = [0xF0F0, 0xFFFF, 0, 0x1234] * 8, [0, 1, 0, 1] * 8
    check(
        [
            (Case("and.b16", [bits, bits[::-1]]), lambda a, b: a & b),
            (Case("or.b32", [bits, bits[::-1]]), lambda a, b: a | b),
            (Case("xor.b64", [bits, bits[::-1]]), lambda a, b: a ^ b),
            (Case("not.b16", [bits]), lambda a: a ^ 0xFFFF),
            (Case("cnot.b32", [bits]), lambda a: int(a == 0)),
            (Case("and.pred", [flags, [0, 0, 1, 1] * 8]), lambda a, b: a & b),
            (Case("xor.pred", [flags, [0, 0, 1, 1] * 8]), lambda a, b: a ^ b),
            (Case("not.pred", [flags]), lambda a: 1 - a),
        ]
    )


def highest(pattern: int, bits: int, is_signed: bool, from_top: bool) -> int:
    if is_signed and pattern >> bits - 1:
        pattern ^= (1 << bits) - 1
    if not pattern:
        return 0xFFFFFFFF
    place = pattern.bit_length() - 1
    return bits - 1 - place if from_top else place


def test_counting_and_finding_bits() -> None:
    expectations: list[tuple[Case, Any]] = []
    for bits in (32, 64):
        for sources in tuples([str(bits)], lots=3):
            expectations += [
                (Case(f"popc.b{bits}", sources), lambda a: a.bit_count()),
                (Case(f"clz.b{bits}", sources), lambda a, b=bits: b - a.bit_length()),
                (Case(f"brev.b{bits}", sources), lambda a, b=bits: int(f"{a:0{b}b}"[::-1], 2)),
                (Case(f"bfind.u{bits}", sources), lambda a, b=bits: highest(a, b, False, False)),
                (Case(f"bfind.s{bits}", sources), lambda a, b=bits: highest(a, b, True, False)),
                (Case(f"bfind.shiftamt.s{bits}", sources), lambda a, b=bits: highest(a, b, True, True)),
            ]
    check(expectations)


def field_sources(bits: int, values: int) -> list[list[list[int]]]:
    """Values with positions and lengths around the width."""
    places = [0, 1, 7, bits // 2, bits - 1, bits, bits + 3, 255, 256, 300]
    patterns = tuples([str(bits)] * values, lots=7)
    rows = []
    for index in range(200):
        lot, lane = patterns[index // 32], index % 32
        rows.append((*(column[lane] for column in lot), places[index % 10], places[index // 10 % 10]))
    return chunked(list(zip(*rows, strict=True)))


def extracted(a: int, position: int, length: int, bits: int, is_signed: bool) -> int:
    """Bit by bit, after the PTX manual's definition of ``bfe``."""
    position, length = position & 255, length & 255
    filler = a >> min(position + length - 1, bits - 1) & 1 if is_signed and length else 0
    inside = [i < length and position + i < bits for i in range(bits)]
    return sum((a >> position + i & 1 if inside[i] else filler) << i for i in range(bits))


def inserted(a: int, b: int, position: int, length: int, bits: int) -> int:
    position, length = position & 255, length & 255
    for i in range(length):
        if position + i < bits:
            b = b & ~(1 << position + i) | (a >> i & 1) << position + i
    return b


@pytest.mark.parametrize("bits", [32, 64])
def test_bit_fields(bits: int) -> None:
    expectations: list[tuple[Case, Any]] = []
    for sources in field_sources(bits, 1):
        expectations += [
            (Case(f"bfe.u{bits}", sources), lambda a, p, n: extracted(a, p, n, bits, False)),
            (Case(f"bfe.s{bits}", sources), lambda a, p, n: extracted(a, p, n, bits, True)),
        ]
    for sources in field_sources(bits, 2):
        expectations.append((Case(f"bfi.b{bits}", sources), lambda a, b, p, n: inserted(a, b, p, n, bits)))
    check(expectations)


def test_bit_masks() -> None:
    sources = chunked(list(zip(*[(p, n) for p in (0, 1, 31, 32, 40) for n in (0, 1, 5, 31, 32, 63)], strict=True)))
    modes = {
        "clamp": lambda p, n: ((1 << n) - 1) << p & 0xFFFFFFFF,
        "wrap": lambda p, n: ((1 << n % 32) - 1) << p % 32 & 0xFFFFFFFF,
    }
    check([(Case(f"bmsk.{name}.b32", s), expected) for s in sources for name, expected in modes.items()])


def chosen_bytes(a: int, b: int, selectors: list[int]) -> int:
    source = (b << 32 | a).to_bytes(8, "little")
    chosen = [source[s & 7] if not s & 8 else 255 * (source[s & 7] >> 7) for s in selectors]
    return int.from_bytes(bytes(chosen), "little")


def nibbles(c: int) -> list[int]:
    return [c >> at & 15 for at in (0, 4, 8, 12)]


def test_byte_permutation() -> None:
    modes = {
        "f4e": lambda n: [n, n + 1, n + 2, n + 3],
        "b4e": lambda n: [n, (n - 1) % 8, (n - 2) % 8, (n - 3) % 8],
        "rc8": lambda n: [n] * 4,
        "ecl": lambda n: [max(n, i) for i in range(4)],
        "ecr": lambda n: [min(n, i) for i in range(4)],
        "rc16": lambda n: [0, 1, 0, 1] if n % 2 == 0 else [2, 3, 2, 3],
    }
    expectations: list[tuple[Case, Any]] = []
    for sources in tuples(["32", "32", "32"], lots=4):
        expectations.append((Case("prmt.b32", sources), lambda a, b, c: chosen_bytes(a, b, nibbles(c))))
        for mode, selectors in modes.items():
            case = Case(f"prmt.b32.{mode}", sources)
            expectations.append((case, lambda a, b, c, f=selectors: chosen_bytes(a, b, f(c & 3))))
    (pair,) = tuples(["32", "32"], lots=1)
    for selector in (0x3210, 0x7531, 0x0123, 0xBA98):
        case = Case("prmt.b32", [*pair, Immediate(selector)])
        expectations.append((case, lambda a, b, c: chosen_bytes(a, b, nibbles(c))))
    check(expectations)


def test_funnel_shift() -> None:
    def expected(direction: str, clamped: bool, a: int, b: int, n: int) -> int:
        both, count = b << 32 | a, min(n, 32) if clamped else n & 31
        return (both << count >> 32 if direction == "l" else both >> count) & 0xFFFFFFFF

    expectations: list[tuple[Case, Any]] = []
    for sources in chunked([[0x12345678] * 17, [0x9ABCDEF0] * 17, AMOUNTS]):
        for direction in "lr":
            expectations.append((Case(f"shf.{direction}.clamp.b32", sources), partial(expected, direction, True)))
            expectations.append((Case(f"shf.{direction}.wrap.b32", sources), partial(expected, direction, False)))
    check(expectations)


def test_lop3_looks_up_each_bit() -> None:
    a, b, c = 0xF0F0F0F0, 0xCCCCCCCC, 0xAAAAAAAA
    check(
        [
            (
                Case("lop3.b32", [[a] * 32, [b] * 32, [c] * 32, Immediate(table)]),
                lambda a, b, c, table: table * 0x01010101,
            )
            for table in (0, 0xFF, 0x80, 0x96, 0xE8, 0x1B)
        ]
    )
