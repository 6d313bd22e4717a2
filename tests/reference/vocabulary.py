"""Every pure instruction that random programs use, by family, and the constants that make them misbehave."""

from __future__ import annotations

from itertools import product

INTEGERS = ("u16", "s16", "u32", "s32", "u64", "s64")
ROUNDINGS = ("rn", "rz", "rm", "rp")
SIGNED_RELATIONS = "eq ne lt le gt ge".split()
UNSIGNED_RELATIONS = [*SIGNED_RELATIONS, "lo", "ls", "hi", "hs"]
FLOAT_RELATIONS = [*SIGNED_RELATIONS, *"equ neu ltu leu gtu geu num nan".split()]
COMBINATIONS = ("", ".and", ".or", ".xor")


def _all(pattern: str, **choices: object) -> list[str]:
    """``_all("add.{t}", t=["u32", "s32"])``: the pattern with every combination of the choices."""
    values = [list(v) if not isinstance(v, str) else v.split() for v in choices.values()]
    return [pattern.format(**dict(zip(choices, chosen, strict=True))) for chosen in product(*values)]


def _relations() -> list[tuple[str, str]]:
    pairs = [(r, t) for t in ("s16", "s32", "s64") for r in SIGNED_RELATIONS]
    pairs += [(r, t) for t in ("u16", "u32", "u64") for r in UNSIGNED_RELATIONS]
    pairs += [(r, t) for t in ("b16", "b32", "b64") for r in ("eq", "ne")]
    return pairs + [(r, t) for t in ("f32", "ftz.f32", "f64") for r in FLOAT_RELATIONS]


def _holds(a: str, b: str) -> bool:
    """Whether every value of the integer type ``b`` is one of ``a``; PTX allows no ``.sat`` then."""
    wide, narrow = int(a[1:]), int(b[1:])
    return (a[0] == b[0] and wide >= narrow) or (a[0] == "s" and b[0] == "u" and wide > narrow)


def _conversions() -> list[str]:
    integers = ("u8", "s8", *INTEGERS)
    out = _all("cvt.{a}.{b}", a=integers, b=integers)
    out += [f"cvt.sat.{a}.{b}" for a, b in product(integers, integers) if not _holds(a, b)]
    out += _all("cvt.{r}.{a}.{b}", r=ROUNDINGS, a=("f32", "f64"), b=integers)
    out += _all("cvt.{r}.sat.f32.{b}", r=ROUNDINGS, b=("s32", "u32"))
    whole = ("rni", "rzi", "rmi", "rpi")
    out += _all("cvt.{r}.{a}.{b}", r=whole, a=integers, b=("f32", "ftz.f32", "f64"))
    out = [i.replace(".ftz.f32", ".f32").replace("i.", "i.ftz.", 1) if ".ftz" in i else i for i in out]
    out += _all("cvt.{r}{m}.f32.f32", r=whole, m=("", ".ftz", ".sat")) + _all("cvt.{r}.f64.f64", r=whole)
    out += _all("cvt.{r}{m}.f32.f64", r=ROUNDINGS, m=("", ".ftz", ".sat"))
    return [*out, "cvt.f64.f32", "cvt.ftz.f64.f32", "cvt.sat.f32.f32", "cvt.ftz.f32.f32", "cvt.ftz.sat.f32.f32"]


def _comparisons() -> dict[str, list[str]]:
    families: dict[str, list[str]] = {"setp": [], "set": []}
    for relation, name in _relations():
        flush, _, base = name.rpartition(".")
        flush = f".{flush}" if flush else ""
        for combine in COMBINATIONS:
            families["setp"].append(f"setp.{relation}{combine}{flush}.{base}")
            families["set"] += _all("set." + relation + combine + flush + ".{t}." + base, t="u32 s32 f32")
    return families


FAMILIES: dict[str, list[str]] = {
    "add": [*_all("{o}.{t}", o="add sub", t=INTEGERS), "add.sat.s32", "sub.sat.s32"],
    "mul": _all("mul.{p}.{t}", p="lo hi", t=INTEGERS) + _all("mul.wide.{t}", t="u16 s16 u32 s32"),
    "mad": _all("mad.{p}.{t}", p="lo hi", t=INTEGERS) + _all("mad.wide.{t}", t="u16 s16 u32 s32") + ["mad.hi.sat.s32"],
    "mul24": [*_all("{o}.{p}.{t}", o="mul24 mad24", p="lo hi", t="u32 s32"), "mad24.hi.sat.s32"],
    "sad": _all("sad.{t}", t=INTEGERS) + _all("dp4a.{a}.{b}", a="u32 s32", b="u32 s32"),
    "div": _all("{o}.{t}", o="div rem", t=INTEGERS),
    "extreme": _all("{o}.{t}", o="min max", t=INTEGERS),
    "sign": _all("{o}.{t}", o="neg abs", t="s16 s32 s64"),
    "logic": _all("{o}.{t}", o="and or xor", t="pred b16 b32 b64")
    + _all("not.{t}", t="pred b16 b32 b64")
    + _all("cnot.{t}", t="b16 b32 b64"),
    "shift": _all("shl.{t}", t="b16 b32 b64") + _all("shr.{t}", t=(*INTEGERS, "b16", "b32", "b64")),
    "funnel": _all("shf.{d}.{m}.b32", d="l r", m="wrap clamp"),
    "field": _all("bfe.{t}", t="u32 s32 u64 s64") + _all("bfi.{t}", t="b32 b64"),
    "find": _all("bfind{m}.{t}", m=("", ".shiftamt"), t="u32 s32 u64 s64"),
    "count": _all("{o}.{t}", o="popc clz brev", t="b32 b64"),
    "permute": _all("prmt.b32{m}", m=("", "", "", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16")),
    "lop3": ["lop3.b32"],
    "bits": _all("dp2a.{h}.{a}.{b}", h="lo hi", a="u32 s32", b="u32 s32")
    + _all("szext.{m}.{t}", m="clamp wrap", t="u32 s32")
    + ["fns.b32"],
    "bmsk": _all("bmsk.{m}.b32", m="clamp wrap"),
    "testp": _all("testp.{p}.{t}", p="finite infinite number notanumber normal subnormal", t="f32 f64"),
    "select": _all("selp.{t}", t=(*INTEGERS, "b16", "b32", "b64", "f32", "f64")),
    "slct": [*_all("slct.{t}.{c}", t=("b32", "u64", "s16", "f32", "f64"), c="s32 f32"), "slct.ftz.u32.f32"],
    "cvt": _conversions(),
    **_comparisons(),
    "mov": _all("mov.{t}", t="pred u16 b16 s32 u32 b32 b64 u64 f32 f64"),
    "fadd": _all("{o}.{r}{m}.f32", o="add sub mul", r=ROUNDINGS, m=("", ".ftz", ".sat", ".ftz.sat"))
    + _all("{o}.{r}.f64", o="add sub mul", r=ROUNDINGS),
    "fma": _all("fma.{r}{m}.f32", r=ROUNDINGS, m=("", ".ftz", ".sat", ".ftz.sat"))
    + _all("{o}.{r}.f64", o="fma mad", r=ROUNDINGS)
    + _all("mad.{r}{m}.f32", r=ROUNDINGS, m=("", ".ftz.sat")),
    "fextreme": _all("{o}{m}.f32", o="min max", m=("", ".ftz", ".NaN", ".xorsign.abs", ".ftz.NaN.xorsign.abs"))
    + _all("{o}.f64", o="min max"),
    "fsign": _all("{o}{m}.f32", o="neg abs", m=("", ".ftz"))
    + _all("{o}.f64", o="neg abs")
    + _all("copysign.{t}", t="f32 f64"),
    "fdiv": _all("{o}.{r}{m}.f32", o="div rcp sqrt", r=ROUNDINGS, m=("", ".ftz"))
    + _all("{o}.{r}.f64", o="div rcp sqrt", r=ROUNDINGS),
}
"""Instructions by family; a program draws a family first, so that large families do not crowd out small ones."""

HALF = [
    *_all("{o}{m}.f16", o="add sub mul fma.rn", m=("", ".ftz", ".sat", ".ftz.sat")),
    *_all("{o}{m}.f16", o="min max", m=("", ".ftz", ".NaN", ".xorsign.abs", ".ftz.NaN.xorsign.abs")),
    *_all("{o}.f16", o="neg abs"),
    *_all("set.{r}{m}.{t}.f16", r=FLOAT_RELATIONS, m=("", ".ftz"), t="f16 u16 s32"),
    *_all("setp.{r}{c}.f16", r=FLOAT_RELATIONS, c=COMBINATIONS),
    *_all("set.lt.f16.{t}", t="s16 u32 s64 f32 f64"),
    *_all("cvt.{r}{m}.f16.{t}", r=ROUNDINGS, m=("", ".sat"), t=("u8", "s8", *INTEGERS, "f32", "f64")),
    *_all("cvt.{r}.{t}.f16", r="rni rzi rmi rpi", t=("u8", "s8", *INTEGERS, "f16")),
    *_all("cvt.{t}.f16", t="f16 f32 f64 sat.f32 ftz.f32"),
]
"""Half precision, which random programs do not use."""

PLAIN_ARITHMETIC = {"add": ["add{m}.f32", "sub{m}.f32", "add.f64", "sub.f64"], "mul": ["mul{m}.f32", "mul.f64"]}
"""Forms without a rounding mode. PTX lets a compiler fuse such a multiply and add, so a program uses one group
only.
"""

APPROXIMATE = [
    "rcp.approx.f32", "rcp.approx.ftz.f32", "rsqrt.approx.f32", "rsqrt.approx.ftz.f32", "sqrt.approx.f32",
    "sqrt.approx.ftz.f32", "ex2.approx.f32", "ex2.approx.ftz.f32", "lg2.approx.f32", "lg2.approx.ftz.f32",
    "sin.approx.f32",
    "sin.approx.ftz.f32", "cos.approx.f32", "cos.approx.ftz.f32", "div.approx.f32", "div.approx.ftz.f32",
    "div.full.f32",
    "div.full.ftz.f32", "rcp.approx.ftz.f64", "rsqrt.approx.f64", "rsqrt.approx.ftz.f64", "tanh.approx.f32",
]  # fmt: skip

CARRY_CHAINS = [
    ("add.cc.u32", "addc.cc.u32", "addc.u32"), ("sub.cc.u32", "subc.cc.u32", "subc.u32"), ("add.cc.s32", "addc.s32"),
    ("add.cc.u64", "addc.u64"), ("sub.cc.s64", "subc.cc.u64", "subc.s64"),
    ("mad.lo.cc.u32", "madc.hi.cc.u32", "addc.u32"), ("mad.lo.cc.s32", "madc.hi.s32"), ("mad.hi.cc.u32", "madc.lo.u32"),
    ("mad.lo.cc.u64", "madc.hi.u64"), ("add.cc.u32", "madc.lo.cc.u32", "madc.hi.u32"),
]  # fmt: skip

INTEGER_EDGES = [0, 1, -1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 0x7FFF, -0x8000, 0xFFFF]
WIDE_EDGES = {
    16: INTEGER_EDGES,
    32: [*INTEGER_EDGES, 0x7FFFFFFF, -0x80000000, 0x10000, 0xFFFFFFFF],
    64: [*INTEGER_EDGES, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x100000000, (1 << 63) - 1, -(1 << 63)],
}
FLOAT_EDGES = {
    16: [
        0x0000, 0x8000, 0x0001, 0x83FF, 0x0400, 0x8401, 0x3C00, 0xBC00, 0x3BFF, 0x4248, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00,
        0x7E00, 0xFE01, 0x7C01, 0x6400, 0x6401, 0x3800, 0x3E00, 0x4100, 0x1001, 0x5800,
    ],
    32: [
        0x00000000, 0x80000000, 0x00000001, 0x807FFFFF, 0x00800000, 0x80800001, 0x3F800000, 0xBF800000, 0x3F7FFFFF,
        0x40490FDB, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC12345, 0x7F812345, 0x4F000000,
        0xCF000000, 0x5F000000, 0x3F000000, 0xBF000000, 0x3FC00000, 0x40200000, 0x4B000001, 0x33800000,
    ],
    64: [
        0x0000000000000000, 0x8000000000000000, 0x0000000000000001, 0x800FFFFFFFFFFFFF, 0x0010000000000000,
        0x3FF0000000000000, 0xBFF0000000000000, 0x3FEFFFFFFFFFFFFF, 0x400921FB54442D18, 0x7FEFFFFFFFFFFFFF,
        0xFFEFFFFFFFFFFFFF, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0xFFF8000000012345,
        0x7FF0000000012345, 0x41E0000000000000, 0xC1E0000000000000, 0x43E0000000000000, 0x3FE0000000000000,
        0xBFE0000000000000, 0x3FF8000000000000, 0x380FFFFFF0000000, 0x36A0000000000000, 0x47EFFFFFF0000000,
    ],
}  # fmt: skip
"""Zeros, denormals, one and its neighbours, ties, limits of the integer ranges, infinities, quiet and signalling
NaNs.
"""
