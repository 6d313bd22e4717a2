"""Single and double precision: sums, products, comparisons, selections, conversions."""

from __future__ import annotations

from collections.abc import Callable

from tests.machine_code.reference import reading
from tests.machine_code.reference.integers import COMBINATIONS, Step
from tests.machine_code.reference.reading import Read, Write, signed
from tests.machine_code.reference.state import Lane
from tests.machine_code.reference.text import Instruction
from tests.reference import conversion, floats
from tests.reference.narrow import narrow
from tests.reference.number import BF16, F16, F32, F64, Exact, Format, mask

ROUNDINGS = {"RN": "rn", "RZ": "rz", "RM": "rm", "RP": "rp"}
WHOLE = {"FLOOR": "rm", "CEIL": "rp", "TRUNC": "rz", "RM": "rm", "RP": "rp", "RZ": "rz"}
ONE = 0x3F800000


def reading_of(i: Instruction) -> tuple[Format, Callable[..., Read], Callable[..., Write]]:
    """Format and access of an opcode that begins with F or D."""
    if i.opcode[0] == "D":
        return F64, reading.double, lambda one: reading.set_words(one, 2)
    return F32, reading.single, reading.set_word


def _arithmetic(i: Instruction, function: Callable[..., int]) -> Step:
    """``function`` of format, patterns and rounding, between flushing of denormals (``.FTZ``) and ``.SAT``."""
    f, access, writing = reading_of(i)
    sources, write = [access(one) for one in i.operands[1:]], writing(i.operands[0])
    mode, flushes, saturates = i.one_of(ROUNDINGS, "rn"), i.has("FTZ"), i.has("SAT")

    def step(lane: Lane) -> None:
        values = [read(lane) for read in sources]
        if flushes:
            values = [f.flush(value) for value in values]
        found = function(f, *values, mode)
        if flushes:
            found = f.flush(found)
        write(lane, floats.saturate(f, found) if saturates else found)

    return step


def add(i: Instruction) -> Step:
    return _arithmetic(i, floats.add)


def multiply(i: Instruction) -> Step:
    """``.D2``, ``.D4``, ``.D8``, ``.M2``, ``.M4``, ``.M8``: the product divided or multiplied, rounded once."""
    scales = {"D2": -1, "D4": -2, "D8": -3, "M2": 1, "M4": 2, "M8": 3}
    scale = next((scales[m] for m in i.modifiers if m in scales), 0)
    if not scale:
        return _arithmetic(i, floats.multiply)

    def scaled(f: Format, a: int, b: int, mode: str) -> int:
        if any(f.magnitude(x) >= f.infinity or f.is_zero(x) for x in (a, b)):
            return floats.multiply(f, a, b, mode)
        x, y = f.exact(a), f.exact(b)
        return f.round(Exact(x.sign ^ y.sign, x.number * y.number, x.exponent + y.exponent + scale), mode)

    return _arithmetic(i, scaled)


def fused(i: Instruction) -> Step:
    return _arithmetic(i, floats.fused)


def related(f: Format, i: Instruction) -> Callable[[int, int], bool]:
    """The relation of a comparison; ``T`` and ``F`` hold always and never."""
    name = next(m for m in i.modifiers if m.removesuffix("U") in ("LT", "LE", "GT", "GE", "EQ", "NE") or
                m in ("NUM", "NAN", "T", "F")).lower()  # fmt: skip
    if name in "tf":
        return lambda a, b: name == "t"
    flush = f.flush if i.has("FTZ") else lambda a: a
    return lambda a, b: floats.compare(f, name, flush(a), flush(b))


def compare(i: Instruction) -> Step:
    """``FSETP``, ``DSETP``."""
    if i.has("MIN", "MAX"):
        return choose(i)
    f, access, _ = reading_of(i)
    one, two = (reading.set_predicate(o) for o in i.operands[:2])
    a, b, other = access(i.operands[2]), access(i.operands[3]), reading.predicate(i.operands[4])
    relation, combine = related(f, i), next(COMBINATIONS[m] for m in i.modifiers if m in COMBINATIONS)

    def step(lane: Lane) -> None:
        holds, rest = relation(a(lane), b(lane)), other(lane)
        one(lane, combine(holds, rest))
        two(lane, combine(not holds, rest))

    return step


def choose(i: Instruction) -> Step:
    """``DSETP.MIN`` and ``.MAX``: whether the extreme of a and b is a, and whether both are NaN."""
    f, access, _ = reading_of(i)
    one, two = (reading.set_predicate(o) for o in i.operands[:2])
    a, b, other = access(i.operands[2]), access(i.operands[3]), reading.predicate(i.operands[4])
    combine, sign = next(COMBINATIONS[m] for m in i.modifiers if m in COMBINATIONS), 1 if i.has("MAX") else -1

    def step(lane: Lane) -> None:
        x, y, rest = a(lane), b(lane), other(lane)
        is_first = not f.is_nan(x) and (f.is_nan(y) or sign * floats.order(f, x) >= sign * floats.order(f, y))
        one(lane, combine(is_first, rest))
        two(lane, combine(f.is_nan(x) and f.is_nan(y), rest))

    return step


def compare_to_word(i: Instruction) -> Step:
    """``FSET``: all ones, or with ``.BF`` one."""
    write, a, b = reading.set_word(i.operands[0]), reading.single(i.operands[1]), reading.single(i.operands[2])
    other, true = reading.predicate(i.operands[3]), ONE if i.has("BF") else mask(32)
    relation, combine = related(F32, i), next(COMBINATIONS[m] for m in i.modifiers if m in COMBINATIONS)
    return lambda lane: write(lane, true if combine(relation(a(lane), b(lane)), other(lane)) else 0)


def extreme(i: Instruction) -> Step:
    """``FMNMX``: the least where the predicate holds; a NaN only if both are, or with ``.NAN``."""
    write, a, b = reading.set_word(i.operands[0]), reading.single(i.operands[1]), reading.single(i.operands[2])
    test, flush = reading.predicate(i.operands[3]), F32.flush if i.has("FTZ") else lambda x: x
    xors = i.has("XORSIGN")

    def step(lane: Lane) -> None:
        x, y = flush(a(lane)), flush(b(lane))
        sign = (x ^ y) & F32.sign_bit if xors else 0
        if xors:
            x, y = F32.magnitude(x), F32.magnitude(y)
        found = (floats.least if test(lane) else floats.greatest)(F32, x, y, i.has("NAN"))
        write(lane, found | sign if xors and not F32.is_nan(found) else found)

    return step


def select(i: Instruction) -> Step:
    """``FSEL``: bits of one of two."""
    write, a, b = reading.set_word(i.operands[0]), reading.single(i.operands[1]), reading.single(i.operands[2])
    test, flush = reading.predicate(i.operands[3]), F32.flush if i.has("FTZ") else lambda x: x
    return lambda lane: write(lane, flush(a(lane) if test(lane) else b(lane)))


SAFE = 100


def check_division(i: Instruction) -> Step:
    """``FCHK``: whether a quotient needs the subroutine.  NVIDIA does not say when; any caution is right."""
    note, a, b = reading.set_predicate(i.operands[0]), reading.single(i.operands[1]), reading.single(i.operands[2])

    def step(lane: Lane) -> None:
        x, y = (reader(lane) >> 23 & 255 for reader in (a, b))
        note(lane, not (abs(x - 127) < SAFE and abs(y - 127) < SAFE and abs(x - y) < SAFE))

    return step


FORMATS = {"F16": F16, "F32": F32, "F64": F64, "BF16": BF16}


def _narrow(i: Instruction) -> str:
    """The name of an integer type among the modifiers."""
    return next((m for m in i.modifiers if m[:1] in "US" and m[1:].isdigit()), "S32")


def to_integer(i: Instruction) -> Step:
    """``F2I``: limited to the type; a NaN gives zero with ``.NTZ``, else the highest bit alone."""
    source = FORMATS[next((m for m in i.modifiers if m in FORMATS), "F32")]
    name, mode = _narrow(i), i.one_of(WHOLE, "rn")
    bits, is_signed = int(name[1:]), name[0] == "S"
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)
    read = _number(i, source)
    write = reading.set_words(i.operands[0], 2) if bits == 64 else reading.set_word(i.operands[0])
    flush = source.flush if i.has("FTZ") else lambda a: a
    nan = 0 if i.has("NTZ") else 1 << bits - 1

    def step(lane: Lane) -> None:
        a = flush(read(lane))
        if source.is_nan(a):
            found = signed(nan, bits) if is_signed else nan
        elif source.is_infinite(a):
            found = low if source.sign(a) else high
        else:
            found = min(max(_whole(source, a, mode), low), high)
        write(lane, found)

    return step


def _whole(f: Format, a: int, mode: str) -> int:
    """A finite number rounded to an integer."""
    sign, number, exponent, _ = f.exact(a)
    if exponent >= 0:
        return (-1) ** sign * (number << exponent)
    kept, rest = divmod(number, 1 << -exponent)
    half = 1 << -exponent - 1
    up = {"rn": rest > half or (rest == half and kept & 1), "rz": False, "rm": rest and sign, "rp": rest and not sign}
    return (-1) ** sign * (kept + bool(up[mode]))


def _number(i: Instruction, f: Format) -> Read:
    """The pattern of the source; of one half of a word for formats of 16 bits."""
    one = i.operands[1]
    if f is F64:
        return reading.double(one)
    if f is F32:
        return reading.single(one)
    word = reading.bits32(one)
    at = 16 if any("H1" in part for part in one.parts) else 0
    sign, clear = (f.sign_bit if one.negated else 0), (~f.sign_bit if one.absolute else -1)
    return lambda lane: (word(lane) >> at & mask(16) & clear) ^ sign


def from_integer(i: Instruction) -> Step:
    """``I2F``, ``I2FP``."""
    to = FORMATS[next((m for m in i.modifiers if m in FORMATS), "F32")]
    name, mode = _narrow(i), i.one_of(ROUNDINGS, "rn")
    bits, is_signed = int(name[1:]), name[0] == "S"
    one = i.operands[1]
    at = next((8 * int(p[1]) if p[0] == "B" else 16 * int(p[1]) for p in one.parts if p[0] in "BH"), 0)
    read = reading.long(one) if bits == 64 else reading.integer(one)
    write = reading.set_words(i.operands[0], 2) if to is F64 else reading.set_word(i.operands[0])

    def step(lane: Lane) -> None:
        value = read(lane) >> at & mask(bits)
        value = signed(value, bits) if is_signed else value
        write(lane, to.round(Exact(int(value < 0), abs(value), 0), mode))

    return step


def resize(i: Instruction) -> Step:
    """``F2F.TO.FROM``."""
    names = [m for m in i.modifiers if m in FORMATS]
    to, source = FORMATS[names[0]], FORMATS[names[-1]]
    read, mode = _number(i, source), i.one_of(ROUNDINGS, "rn")
    write = reading.set_words(i.operands[0], 2) if to is F64 else reading.set_word(i.operands[0])
    if any(m in WHOLE and m not in ROUNDINGS for m in i.modifiers):
        raise i.unknown()

    def step(lane: Lane) -> None:
        a = read(lane)
        if i.has("FTZ") and source is F32:
            a = source.flush(a)
        found = floats.resized(source, to, a, mode)
        if i.has("FTZ") and to is F32:
            found = to.flush(found)
        write(lane, floats.saturate(to, found) if i.has("SAT") else found)

    return step


def round_to_whole(i: Instruction) -> Step:
    """``FRND``: an integer in the same format, with the sign of the source."""
    f = FORMATS[next((m for m in i.modifiers if m in FORMATS), "F32")]
    read, mode = _number(i, f), i.one_of(WHOLE, "rn")
    write = reading.set_words(i.operands[0], 2) if f is F64 else reading.set_word(i.operands[0])

    def step(lane: Lane) -> None:
        a = f.flush(read(lane)) if i.has("FTZ") else read(lane)
        if f.is_nan(a):
            found = f.nan
        elif f.is_infinite(a):
            found = a
        else:
            found = f.round(Exact(f.sign(a), abs(_whole(f, a, mode)), 0), mode)
        write(lane, floats.saturate(f, found) if i.has("SAT") else found)

    return step


def pack(i: Instruction) -> Step:
    """``F2FP``: numbers narrowed, the first to the upper part; bytes, and a number of 19 bits, as ``cvt`` of PTX."""
    small = next((m.lower() for m in i.modifiers if m in ("E4M3", "E5M2")), "")
    if small and i.has("UNPACK_B"):
        return _bytes_to_halves(i, small)
    if small:
        return _to_bytes(i, small)
    return _to_tensor(i) if i.has("TF32") else _pack_halves(i)


def _pack_halves(i: Instruction) -> Step:
    to = BF16 if i.has("BF16") else F16
    if not i.has("F32"):
        raise i.unknown()
    *sources, last = (reading.bits32(o) if i.has("MERGE_C") and o is i.operands[-1] else reading.single(o)
                      for o in i.operands[1:3])  # fmt: skip
    write, mode = reading.set_word(i.operands[0]), i.one_of(ROUNDINGS, "rn")

    def half(value: int) -> int:
        found = floats.resized(F32, to, value, mode)
        if i.has("RELU") and to.sign(found) and not to.is_nan(found):
            found = 0
        if i.has("SATFINITE") and to.is_infinite(found):
            found -= 1
        return found

    (first,) = sources
    if i.has("MERGE_C"):
        return lambda lane: write(lane, last(lane) & ~mask(16) | half(first(lane)))
    return lambda lane: write(lane, half(first(lane)) << 16 | half(last(lane)))


def _to_bytes(i: Instruction, small: str) -> Step:
    """Two numbers, or a pair of halves, in the lower half; the lower half of the last operand above them."""
    relu = ("relu",) if i.has("RELU") else ()
    write, rest = reading.set_word(i.operands[0]), reading.bits32(i.operands[-1])
    kind = "f32" if i.has("F32") else "f16x2"
    found = narrow(("rn", "satfinite", *relu, f"{small}x2", kind))
    assert found
    sources = [reading.single(o) if kind == "f32" else reading.bits32(o) for o in i.operands[1:-1]]
    return lambda lane: write(lane, (rest(lane) & mask(16)) << 16 | found.function(*(one(lane) for one in sources)))


def _bytes_to_halves(i: Instruction, small: str) -> Step:
    relu = ("relu",) if i.has("RELU") else ()
    found = narrow(("rn", *relu, "f16x2", f"{small}x2"))
    assert found
    write, source, at = reading.set_word(i.operands[0]), reading.bits32(i.operands[1]), _half(i)
    return lambda lane: write(lane, found.function(source(lane) >> at & mask(16)))


def _half(i: Instruction) -> int:
    """The first bit of the half that an operand names."""
    return 16 if "H1" in i.operands[1].parts else 0


def _to_tensor(i: Instruction) -> Step:
    relu = ("relu",) if i.has("RELU") else ()
    found = conversion.build(("tf32", "f32"), ("rz" if i.has("RZ") else "rn", *relu))
    write, source = reading.set_word(i.operands[0]), reading.single(i.operands[1])
    return lambda lane: write(lane, found.function(source(lane)))


STEPS: dict[str, Callable[[Instruction], Step]] = {
    "FADD": add, "DADD": add, "FMUL": multiply, "DMUL": multiply, "FFMA": fused, "DFMA": fused, "FSETP": compare,
    "DSETP": compare, "FSET": compare_to_word, "FMNMX": extreme, "FSEL": select, "FCHK": check_division,
    "F2I": to_integer, "I2F": from_integer, "I2FP": from_integer, "F2F": resize, "FRND": round_to_whole,
    "F2FP": pack,
}  # fmt: skip
