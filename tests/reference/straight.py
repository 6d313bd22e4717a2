"""Random straight-line statements: arithmetic, conversions, comparisons, carry chains, moves between register kinds."""

from __future__ import annotations

from tests.reference import pure
from tests.reference.builder import Builder, declared_type
from tests.reference.instruction import NAMED
from tests.reference.vocabulary import (
    AMOUNTS,
    APPROXIMATE,
    CARRY_CHAINS,
    FAMILIES,
    MEASURED,
    MEASURED_VIDEO,
    PLAIN_ARITHMETIC,
    VIDEO,
)


def arithmetic(b: Builder) -> None:
    """One pure instruction, sometimes guarded."""
    families = b.families or (MEASURED if b.measured else FAMILIES)
    family = b.rng.choice(list(families))
    if b.plain and b.chance(0.08):
        text = b.rng.choice(PLAIN_ARITHMETIC[b.plain]).format(m=b.rng.choice(["", ".ftz", ".sat"]))
    else:
        text = b.rng.choice(families[family])
    _note_features(b, text)
    opcode, *modifiers = text.split(".")
    instruction = pure.lookup(opcode, tuple(modifiers))
    assert instruction is not None, text
    operands = [_operand(b, opcode, i, name) for i, name in enumerate(instruction.sources)]
    if opcode in ("div", "rem") and instruction.result[0] != "f":
        operands[1] = _divisor(b, instruction.result)
    target = _target(b, text, instruction)
    is_float = instruction.result in _ONE_NAN
    # The driver's compiler drops the guard of testp, and of the conversion that ends a set of floats.
    unguarded = b.measured and (opcode == "testp" or (opcode == "set" and is_float))
    b.emit(f"{text} {target}, {', '.join(operands)}", "" if unguarded else b.guard())
    if b.measured and is_float:
        _unify_nans(b, target, instruction.result)


_ONE_NAN = {"f32": "0f7FFFFFFF", "f64": "0d7FF8000000000000", "f16": "0x7FFF", "bf16": "0x7FFF"}


def _unify_nans(b: Builder, register: str, name: str) -> None:
    """PTX leaves the bits of a NaN open, so that they must not reach an integer register."""
    p = b.temporary("pred")
    b.emit(f"setp.nan.{name} {p}, {register}, {register}")
    b.emit(f"mov.{name if name in ('f32', 'f64') else 'b16'} {register}, {_ONE_NAN[name]}", f"@{p}")


def _target(b: Builder, text: str, instruction: pure.Pure) -> str:
    """The destination; a second one is optional in ``setp``, unless it compares pairs."""
    opcode = text.split(".")[0]
    if instruction.second and instruction.result == "pred":
        first, second = b.registers("pred", 2)
        one_only = b.measured and text.endswith("f16")  # ptxas refuses the inverse relation of these
        return f"{first}|{second}" if text.endswith("x2") or (not one_only and b.chance(0.3)) else first
    kind, bits = pure.kind_and_bits(instruction.result)
    narrow = b.measured and any(name in text for name in ("bf16", "e4m3", "e5m2"))  # ptxas takes none wider
    to = b.register(declared_type(kind, bits, b.rng) if narrow else _destination(b, opcode, kind, bits))
    return f"{to}|{b.register('pred')}" if instruction.second else to


def _note_features(b: Builder, text: str) -> None:
    if text.endswith("64"):
        b.features.add("pairs")
    if ".ftz" in text:
        b.features.add("ftz")


def _operand(b: Builder, opcode: str, position: int, name: str) -> str:
    if position in AMOUNTS.get(opcode, ()):
        return b.amount(b.measured and opcode in ("bfe", "bfi"))
    if opcode == "lop3" and position == 3:
        return str(b.rng.randrange(256))
    if name == "pred" and b.chance(0.4):
        return "!" + b.register("pred")
    immediates = opcode not in ("mov", "not") or b.chance(0.3)
    return b.source(name, immediates and opcode != "cvt" and name not in NAMED and name != "f16")


def _destination(b: Builder, opcode: str, kind: str, bits: int) -> str:
    """``cvt`` may write a register wider than its type."""
    if opcode == "cvt" and kind != "f" and bits < 32 and b.chance(0.3):
        return "b32"
    return declared_type(kind, bits, b.rng)


def _divisor(b: Builder, name: str) -> str:
    """Often not zero; quotient and remainder by zero are open in PTX, so no measured program has them."""
    kind, bits = pure.kind_and_bits(name)
    if b.chance(0.3):
        return b.rng.choice(["1", "3", "7", "10", "-1" if kind == "s" else "255"])
    if b.chance(0.5) and not b.measured:
        return b.register(f"b{bits}")
    divisor = b.temporary(f"b{bits}")
    b.emit(f"or.b{bits} {divisor}, {b.register(f'b{bits}')}, {b.rng.choice([1, 2, 64])}")
    return divisor


def video_instruction(b: Builder) -> None:
    """A video instruction on whole registers or on parts of them."""
    b.features.add("video")
    text = b.rng.choice(MEASURED_VIDEO if b.measured else VIDEO)
    opcode, *modifiers = text.split(".")
    to, *sources = b.registers("b32", 4)
    if opcode[-1] in "24":
        n = int(opcode[-1])
        width = "h" if n == 2 else "b"
        written = "".join(str(d) for d in sorted(b.rng.sample(range(n), b.rng.randint(1, n)), reverse=True))
        chosen = [width + "".join(str(b.rng.randrange(2 * n)) for _ in range(n)) for _ in range(2)]
        parts = [_part(b, width + written), *(_part(b, c) for c in chosen), ""]
    else:
        merges = opcode != "vmad" and modifiers[-1] not in ("add", "min", "max")
        parts = [_part(b, b.rng.choice(_PARTS)) for _ in range(3)] + [""]
        parts[0] = parts[0] if merges and not (b.measured and parts[0] == ".h1") else ""
        sources = sources if not merges or parts[0] else sources[:2]
    names = [register + part for register, part in zip((to, *sources), parts, strict=False)]
    if opcode == "vmad" and "po" not in modifiers and b.chance(0.3):
        at = b.rng.randrange(1, 4)
        names[at] = "-" + names[at]
    b.emit(f"{text} {', '.join(names)}", b.guard())


_PARTS = ("b0", "b1", "b2", "b3", "h0", "h1")


def _part(b: Builder, selector: str) -> str:
    return f".{selector}" if b.chance(0.5) else ""


def carry_chain(b: Builder) -> None:
    """Extended-precision arithmetic through the carry flag."""
    b.features.add("carry")
    guard = b.guard()
    for text in b.rng.choice(CARRY_CHAINS):
        name = text.rsplit(".", 1)[1]
        bits = name[1:]
        count = 3 if text.startswith("mad") else 2
        operands = [b.source(name) for _ in range(count)]
        b.emit(f"{text} {b.register(f'b{bits}')}, {', '.join(operands)}", guard)


def copy(b: Builder) -> None:
    """Copy a register."""
    name = b.rng.choice(["b32", "b32", "u32", "b64", "u64", "f32", "f64", "pred", "b16"])
    declared = "b" + name[1:] if name[0] == "u" else name
    to, source = b.registers(declared, 2)
    b.emit(f"mov.{name} {to}, {source}", b.guard())


def under_one_guard(b: Builder) -> None:
    """A register written and read under one guard, whose predicate may be written in between, guarded or not."""
    b.features.add("redefined guards")
    p, t = b.register("pred"), b.temporary("b32")
    guard = f"@{'!' if b.chance(0.4) else ''}{p}"
    b.emit(f"mov.b32 {t}, {b.register('b32')}")
    b.emit(f"add.s32 {t}, {b.register('b32')}, {b.register('b32')}", guard)
    if b.chance(0.6):
        q = b.register("pred")
        change = b.rng.choice(
            [f"setp.lt.s32 {p}, {t}, {b.register('b32')}", f"xor.pred {p}, {p}, {q}", f"mov.pred {p}, {q}"]
        )
        b.emit(change, b.rng.choice(["", guard, f"@{q}", f"@!{q}"]))
    b.emit(f"xor.b32 {b.register('b32')}, {t}, {b.register('b32')}", guard)


def covered(b: Builder) -> None:
    """A register that two instructions under opposite guards write, and that is then read."""
    p, t = b.register("pred"), b.temporary("b32")
    for guard in (f"@{p}", f"@!{p}"):
        b.emit(f"sub.s32 {t}, {b.register('b32')}, {b.register('b32')}", guard)
    b.emit(f"add.s32 {b.register('b32')}, {t}, {b.register('b32')}", b.guard())


def constant(b: Builder) -> None:
    """Set a register to a constant; what follows often computes on constants alone."""
    declared = b.rng.choice(["b16", "b32", "b32", "b64", "f32", "f64"])
    bits = int(declared[1:])
    name = b.rng.choice([declared, f"b{bits}", declared if declared[0] == "f" else f"u{bits}"])
    b.emit(f"mov.{name} {b.register(declared)}, {b.immediate(name[0], bits)}", b.guard())


def pack(b: Builder) -> None:
    """``mov`` that packs or unpacks a wide register, or moves bits between integer and float registers."""
    b.features.add("pairs")
    choice = b.rng.randrange(8)
    wide, low, high = b.register("b64"), *b.registers("b32", 2)
    if choice == 0:
        b.emit(f"mov.b64 {wide}, {{{low}, {high}}}", b.guard())
    elif choice == 1:
        low = "_" if b.chance(0.2) else low
        b.emit(f"mov.b64 {{{low}, {high}}}, {wide}", b.guard())
    elif choice == 2:
        b.emit(f"mov.b64 {{{', '.join(b.registers('b16', 4))}}}, {wide}")
    elif choice == 3:
        b.emit(f"mov.b64 {wide}, {{{', '.join(b.registers('b16', 4))}}}")
    elif choice == 4:
        b.emit(f"mov.b32 {low}, {{{', '.join(b.registers('b16', 2))}}}", b.guard())
    elif choice == 5:
        b.emit(f"mov.b32 {{{', '.join(b.registers('b16', 2))}}}, {low}")
    elif choice == 6:
        pair = [low, b.register("f32")]
        b.rng.shuffle(pair)
        b.emit(f"mov.b32 {pair[0]}, {pair[1]}", b.guard())
    else:
        pair = [wide, b.register("f64")]
        b.rng.shuffle(pair)
        b.emit(f"mov.b64 {pair[0]}, {pair[1]}", b.guard())


def idle(b: Builder) -> None:
    """An instruction that changes nothing."""
    texts = [
        "membar.cta",
        "membar.gl",
        "fence.acq_rel.gpu",
        "fence.sc.cta",
        "nanosleep.u32 5",
        "prefetch.global.L2 [%in]",
        "prefetchu.L1 [%in]",
        "pmevent 3",
        "pmevent.mask 5",
        "prefetch.L1 [%in]",
        "applypriority.global.L2::evict_normal [%in], 128",
        "prefetch.global.L2::evict_last [%in]",
        "prefetch.tensormap [%in]",
        "fence.acquire.sync_restrict::shared::cluster.cluster",
        "fence.proxy.alias",
        "fence.proxy.tensormap::generic.release.cta",
        "fence.mbarrier_init.release.cluster",
        "membar.proxy.alias",
        "griddepcontrol.wait",
        "discard.global.L2 [scratch], 128",
    ]
    b.emit(b.rng.choice(texts), b.guard())


def special(b: Builder) -> None:
    """Read a special register."""
    names = "%tid.x %tid.y %ntid.x %ntid.y %ctaid.x %nctaid.x %laneid %lanemask_lt %lanemask_ge %lanemask_eq".split()
    names += "%tid.z %ctaid.y %nctaid.y %lanemask_le %lanemask_gt %ntid.z".split()
    names += "%clusterid.y %nclusterid.x %cluster_ctarank %cluster_nctaid.x".split()
    if not b.measured:
        names += "%warpid %nwarpid %nsmid %dynamic_smem_size %envreg3".split()
    b.emit(f"mov.u32 {b.register('b32')}, {b.rng.choice(names)}", b.guard())


def approximate(b: Builder) -> None:
    """An approximate instruction, its result stored in a slot of its own and used for nothing else."""
    text = b.rng.choice(APPROXIMATE)
    opcode, bits = text.split(".")[0], int(text[-2:])
    b.features.add("approximate")
    guard = b.guard()
    result = b.temporary(f"f{bits}")
    operands = [b.source(f"f{bits}", False)]
    if opcode in ("sin", "cos"):
        b.emit(f"max.f32 {result}, {operands[0]}, 0fC0C00000")
        b.emit(f"min.f32 {result}, {result}, 0f40C00000")
        operands = [result]
    if opcode == "div":
        divisor = b.temporary("b32")
        b.emit(f"mov.b32 {divisor}, {b.register('f32')}")
        b.emit(f"and.b32 {divisor}, {divisor}, 0xBFFFFFFF")
        b.emit(f"or.b32 {divisor}, {divisor}, 0x20000000")
        second = b.temporary("f32")
        b.emit(f"mov.b32 {second}, {divisor}")
        operands.append(second)
    kind = opcode + ("64" if bits == 64 else "")
    b.emit(f"{text} {result}, {', '.join(operands)}", guard if guard else "")
    b.emit(f"st.global.f{bits} [%apx+{8 * len(b.slots)}], {result}", guard)
    b.slots.append(kind)
