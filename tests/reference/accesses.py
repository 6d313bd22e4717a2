"""Random memory statements: every space, width and vector; private and contended atomics."""

from __future__ import annotations

from collections.abc import Callable

from tests.reference.builder import Builder, declared_type
from tests.reference.instruction import kind_and_bits

ROW_BYTES = 64
"""Bytes at the start of a thread's row of the output, and of its local array, that it reads and writes at random."""
SHARED_BYTES = 32
"""Bytes of shared memory that each thread owns."""
SHARED_SITES = 8
"""Contended places in shared memory, 16 bytes each, before the parts that threads own."""
INPUT_BYTES = 4096
CONSTANT_BYTES = 128
SITE_BYTES = 32
"""Bytes of the atomics buffer that belong to one contended atomic instruction."""

_ELEMENTS = {
    1: [("u8", "b16"), ("s8", "b16"), ("u8", "b32"), ("s8", "b32"), ("b8", "b16")],
    2: [("u16", "b16"), ("s16", "b16"), ("u16", "b32"), ("s16", "b32"), ("b16", "b16")],
    4: [("u32", "b32"), ("s32", "b32"), ("b32", "b32"), ("f32", "f32"), ("f32", "f32"), ("s32", "b64"), ("u32", "b64")],
    8: [("u64", "b64"), ("s64", "b64"), ("b64", "b64"), ("f64", "f64"), ("f64", "f64")],
}


def _shape(b: Builder) -> tuple[str, str, int, int]:
    """An element's type, its register type, and how many make the access, at most 16 bytes."""
    size = b.rng.choice([1, 2, 4, 4, 4, 8, 8])
    name, declared = b.rng.choice(_ELEMENTS[size])
    count = b.rng.choice([1, 1, 2, 4])
    while count * size > 16:
        count //= 2
    if declared in ("b64", "f64") and size == 4:
        count = min(count, 2)
    if count > 1:
        b.features.add("vectors")
    if size == 8:
        b.features.add("pairs")
    return name, declared, size, count


def _index(b: Builder, limit: int, width: int) -> str:
    """A register with a random multiple of ``width`` bytes below ``limit``, both powers of two."""
    offset = b.temporary("b32")
    b.emit(f"and.b32 {offset}, {b.register('b32')}, {limit - width}")
    return offset


def _wide_address(b: Builder, base: str, offset: str) -> str:
    address = b.temporary("b64")
    if b.chance(0.5):
        b.emit(f"cvt.u64.u32 {address}, {offset}")
        b.emit(f"add.s64 {address}, {base}, {address}")
    else:
        b.emit(f"mad.wide.u32 {address}, {offset}, 1, {base}")
    return address


def _operands(b: Builder, declared: str, count: int) -> tuple[str, str]:
    """The vector modifier and the register list."""
    if count == 1:
        return "", b.register(declared)
    return f".v{count}", "{" + ", ".join(b.registers(declared, count)) + "}"


def _place(b: Builder, name: str, width: int) -> tuple[str, str]:
    """The space modifier and address operand of an access of ``width`` bytes: read-only (``name`` in) or the thread's
    own.
    """
    if name == "input":
        form = b.rng.choice(
            [".global", ".global.nc", "", ".volatile.global", ".global.cg", ".relaxed.gpu.global", "u.global"]
        )
        section = b.rng.randrange(4) * (INPUT_BYTES // 4)
        address = _wide_address(b, "%in", _index(b, INPUT_BYTES // 4, width))
        b.features.add("generic addresses" if not form else "global")
        return form, f"[{address}+{section}]"
    if name == "constant":
        b.features.add("constants")
        if b.chance(0.3):
            return ".const", f"[table+{b.rng.randrange(CONSTANT_BYTES // width) * width}]"
        base = b.temporary("b64")
        half = b.rng.choice([0, CONSTANT_BYTES // 2])
        b.emit(f"mov.u64 {base}, table{f'+{half}' if half else ''}")
        index = _index(b, CONSTANT_BYTES // 2, width)
        if b.chance(0.3):
            b.emit(f"cvta.const.u64 {base}, {base}")
            return "", f"[{_wide_address(b, base, index)}]"
        return ".const", f"[{_wide_address(b, base, index)}]"
    if name == "variable":
        base = b.temporary("b64")
        b.emit(f"mov.u64 {base}, numbers")
        return ".global", f"[{_wide_address(b, base, _index(b, 64, width))}]"
    if name == "row":
        return b.rng.choice([".global", ""]), f"[{_wide_address(b, '%out', _index(b, ROW_BYTES, width))}]"
    if name == "local":
        return _local(b, width)
    return _shared(b, width)


def _local(b: Builder, width: int) -> tuple[str, str]:
    b.features.add("local")
    if b.chance(0.25):
        return ".local", f"[stack+{b.rng.randrange(ROW_BYTES // width) * width}]"
    base = b.temporary("b64")
    b.emit(f"mov.u64 {base}, stack")
    if b.chance(0.3):
        b.features.add("generic addresses")
        b.emit(f"cvta.local.u64 {base}, {base}")
        return "", f"[{_wide_address(b, base, _index(b, ROW_BYTES, width))}]"
    return ".local", f"[{_wide_address(b, base, _index(b, ROW_BYTES, width))}]"


def _shared(b: Builder, width: int) -> tuple[str, str]:
    """A place in the thread's own part of shared memory; ``%own`` is its offset."""
    b.features.add("shared")
    offset = _index(b, SHARED_BYTES, width)
    b.emit(f"add.u32 {offset}, {offset}, %own")
    if b.chance(0.2):
        b.features.add("generic addresses")
        address = b.temporary("b64")
        b.emit(f"cvt.u64.u32 {address}, {offset}")
        b.emit(f"cvta.shared.u64 {address}, {address}")
        return "", f"[{address}]"
    return b.rng.choice([".shared", ".volatile.shared"]), f"[{offset}]"


def load(b: Builder) -> None:
    name, declared, size, count = _shape(b)
    places = ["input", "input", "constant", "variable", "row", "local", "shared"]
    form, address = _place(b, b.rng.choice(places), size * count)
    vector, registers = _operands(b, declared, count)
    b.emit(f"ld{form}{vector}.{name} {registers}, {address}", b.guard())


def store(b: Builder) -> None:
    name, declared, size, count = _shape(b)
    if size == 4 and declared == "b64":
        declared = "b32"
    form, address = _place(b, b.rng.choice(["row", "row", "local", "local", "shared"]), size * count)
    vector, registers = _operands(b, declared, count)
    if count == 1 and b.chance(0.15):
        registers = b.immediate(name[0], 8 * size if name[0] == "f" else max(8 * size, 16))
        registers = registers if size > 1 else str(b.rng.randrange(128))
    b.emit(f"st{form}{vector}.{name} {address}, {registers}", b.guard())


def overlapping(b: Builder, between: Callable[[Builder], None]) -> None:
    """Loads and stores of different widths to the same 16 bytes of the thread's own, with other work in between."""
    form, address = _place(b, b.rng.choice(["row", "local", "shared"]), 16)
    base, _, offset = address[1:-1].partition("+")
    first = int(offset or "0")
    for _ in range(b.rng.randint(3, 6)):
        name, declared, size, _ = _shape(b)
        place = f"[{base}+{first + b.rng.randrange(16 // size) * size}]"
        if b.chance(0.5):
            b.emit(f"ld{form}.{name} {b.register(declared)}, {place}", b.guard())
        elif not (size == 4 and declared == "b64"):
            b.emit(f"st{form}.{name} {place}, {b.register(declared)}", b.guard())
        if b.chance(0.4):
            between(b)


def space_test(b: Builder) -> None:
    """Ask of a generic address in which space it lies."""
    b.features.add("generic addresses")
    base = b.temporary("b64")
    place = b.rng.choice(["local", "shared", "global"])
    name = {"local": "stack", "shared": "exchange", "global": "numbers"}[place]
    b.emit(f"mov.u64 {base}, {name}")
    b.emit(f"cvta.{place}.u64 {base}, {base}")
    if place == "shared" and b.chance(0.3):
        b.emit(f"mapa.u64 {base}, {base}, 0")
        b.emit(f"getctarank.u64 {b.register('b32')}, {base}", b.guard())
    b.emit(f"isspacep.{b.rng.choice(['local', 'shared', 'global'])} {b.register('pred')}, {base}", b.guard())


def wide(b: Builder) -> None:
    """An access of 32 bytes to global memory, or 128 bits at once anywhere."""
    b.features.add("vectors")
    if not b.measured and b.chance(0.5):
        shape, registers = b.rng.choice([(".v8.b32", b.registers("b32", 8)), (".v4.b64", b.registers("b64", 4))])
        stores = b.chance(0.4)
        _, address = _place(b, "row" if stores else b.rng.choice(["row", "input"]), 32)
        listed = "{" + ", ".join(registers) + "}"
        b.emit(
            f"st.global{shape} {address}, {listed}" if stores else f"ld.global{shape} {listed}, {address}", b.guard()
        )
        return
    whole, other = b.temporary("b128"), b.temporary("b128")
    form, address = _place(b, b.rng.choice(["row", "shared", "local"]), 16)
    b.emit(f"mov.b128 {whole}, {{{', '.join(b.registers('b64', 2))}}}")
    b.emit(f"ld{form}.b128 {other}, {address}")
    if form in (".global", ".shared") and b.chance(0.6):
        operation = b.rng.choice([f"exch.b128 {other}, {address}", f"cas.b128 {other}, {address}, {other}"])
        b.emit(f"atom{form}.{operation}, {whole}")
        b.features.add("atomics")
    else:
        b.emit(f"st{form}.b128 {address}, {whole}", b.guard())
    b.emit(f"mov.b128 {{{', '.join(b.registers('b64', 2))}}}, {other}", b.guard())


def hinted(b: Builder) -> None:
    """An access with eviction priorities and a cache policy, which change nothing."""
    b.features.add("global")
    priority = b.rng.choice(["", ".L1::evict_first", ".L1::no_allocate"])
    choice = b.rng.randrange(3)
    if choice == 0:
        place = _wide_address(b, "%in", _index(b, INPUT_BYTES // 4, 8))
        prefetched = b.rng.choice(["", ".L2::128B"])
        form = f"ld.global{b.rng.choice(['', '.nc'])}{priority}.L2::cache_hint{prefetched}.v2.b32"
        policy = _policy(b)
        b.emit(f"{form} {{{', '.join(b.registers('b32', 2))}}}, [{place}], {policy}", b.guard())
        return
    place = _wide_address(b, "%out", _index(b, ROW_BYTES, 8))
    if choice == 1:
        form = f"st.global{priority}.L2::cache_hint.b64"
        policy = _policy(b)
        b.emit(f"{form} [{place}], {b.register('b64')}, {policy}", b.guard())
        return
    everything = [o for o in _private_atomics(b) if not (b.measured and o.startswith("cas"))]  # ptxas refuses these
    kinds = {operation: (operation.split(".")[0], "f" in operation, "noftz" in operation) for operation in everything}
    for kind in b.rng.sample(sorted(set(kinds.values())), 3):
        operation = b.rng.choice([o for o in everything if kinds[o] == kind])
        _atomic(b, ".global", operation, place, b.chance(0.4), policy=_policy(b))


def _policy(b: Builder) -> str:
    """A register with a cache policy; a GPU faults on other numbers."""
    policy = b.temporary("b64")
    b.emit(f"createpolicy.fractional.L2::{b.rng.choice(['evict_last', 'evict_first'])}.b64 {policy}, 1.0")
    return policy


def parameter(b: Builder) -> None:
    """Read a parameter, or part of the structure that is passed by value."""
    name, to = b.rng.choice([
        ("ld.param.u32 {}, [n]", "b32"), ("ld.param.s32 {}, [i]", "b32"), ("ld.param.u64 {}, [w]", "b64"),
        ("ld.param.f32 {}, [x]", "f32"), ("ld.param.f64 {}, [y]", "f64"), ("ld.param.u16 {}, [h]", "b16"),
        ("ld.param.u32 {}, [s+4]", "b32"), ("ld.param.f64 {}, [s+8]", "f64"), ("ld.param.u8 {}, [s+3]", "b16"),
        ("ld.param.s16 {}, [s+2]", "b32"),
    ])  # fmt: skip
    b.emit(name.format(b.register(to)), b.guard())


_INTEGER_ATOMICS = [
    "add.u32", "add.s32", "add.u64", "min.u32", "max.u32", "min.s32", "max.s32", "min.u64", "max.u64", "min.s64",
    "max.s64", "and.b32", "or.b32", "xor.b32", "and.b64", "or.b64", "xor.b64",
]  # fmt: skip
_HALF_ATOMICS = [
    f"{operation}.noftz.{name}" for operation in ("add", "min", "max") for name in ("f16", "f16x2", "bf16", "bf16x2")
]
_ORDERED_ATOMICS = ["exch.b32", "exch.b64", "cas.b32", "cas.b64", "cas.b16", "inc.u32", "dec.u32", "add.f32", "add.f64"]


def _atomic(b: Builder, space: str, operation: str, address: str, returns: bool, policy: str = "") -> None:
    """``policy`` is the register of a cache policy, if the operation has one."""
    kind, bits = kind_and_bits(operation.rsplit(".", 1)[1])
    declared = declared_type(kind, bits, b.rng)
    operands = [b.register(declared), *([policy] if policy else [])]
    if operation.startswith("cas"):
        operands.insert(0, b.source(f"{kind}{bits}"))
    returns = returns or operation[:3] in ("exc", "cas")
    form = b.rng.choice(["", ".relaxed.gpu", ".release.cta"]) if space else ""
    if policy:
        head, _, last = operation.rpartition(".")
        operation = f"{head}.L2::cache_hint.{last}"
    if returns:
        result = b.register(declared)
        b.emit(f"atom{form}{space}.{operation} {result}, [{address}], {', '.join(operands)}", b.guard())
    else:
        b.emit(f"red{form}{space}.{operation} [{address}], {', '.join(operands)}", b.guard())
    b.features.add("atomics")


def private_atomic(b: Builder) -> None:
    """An atomic on memory that only this thread touches: any operation, its result used."""
    operation = b.rng.choice(_private_atomics(b))
    width = kind_and_bits(operation.rsplit(".", 1)[1])[1] // 8
    form, address = _place(b, b.rng.choice(["row", "shared"]), width)
    _atomic(b, form.replace(".volatile", ""), operation, address[1:-1], b.chance(0.6))


def _private_atomics(b: Builder) -> list[str]:
    """Hopper has no atomic minimum of one half; the bits of an f64 NaN are open."""
    everything = _INTEGER_ATOMICS + _ORDERED_ATOMICS + _HALF_ATOMICS
    return [o for o in everything if not b.measured or (o != "add.f64" and o[:5] not in ("min.n", "max.n"))]


def contended_atomic(b: Builder) -> None:
    """An atomic that threads of all blocks contend for.

    The result is used, and operations that do not commute appear, only where one instruction runs once a thread, so
    that its order is that of the threads.  A GPU has no such order.
    """
    once = b.place.loops == 0 and b.place.structured and not b.place.function and not b.measured
    operation = b.rng.choice(_INTEGER_ATOMICS + _ORDERED_ATOMICS if once else _INTEGER_ATOMICS)
    width = int(operation[-2:]) // 8
    address = _wide_address(b, "%atoms", _index(b, SITE_BYTES, width))
    site = SITE_BYTES * len(b.sites)
    b.sites.append(operation)
    _atomic(b, ".global", operation, f"{address}+{site}", once and b.chance(0.6))


def shared_contended_atomic(b: Builder) -> None:
    """The same on shared memory: commutative, its result unused."""
    operation = b.rng.choice([o for o in _INTEGER_ATOMICS if o.endswith("32")])
    offset = _index(b, 16, 4)
    b.emit(f"add.u32 {offset}, {offset}, %first")
    b.emit(f"red.shared.{operation} [{offset}+{16 * (b.shared_sites - SHARED_SITES)}], {b.register('b32')}", b.guard())
    b.shared_sites += 1
    b.features.update(("atomics", "shared"))
