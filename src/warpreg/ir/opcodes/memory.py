"""Memory, atomics and fences (PTX ISA, sections 9.7.9 and 9.7.13), implemented by the executor.

An atomic operation's ``update`` computes the new value from the old one and its operands.
"""

from __future__ import annotations

from typing import TypeVar

from warpreg.ir.opcodes.algebra import Algebra
from warpreg.ir.opcodes.arithmetic import half
from warpreg.ir.opcodes.arithmetic.floating import EXPONENT, canonical, sign_of
from warpreg.ir.opcodes.arithmetic.integer import less
from warpreg.ir.opcodes.form import Form, Latency, Meaning, Opcode, Unit
from warpreg.ir.opcodes.trait import Trait

V = TypeVar("V")

VALUES = "(b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64)"
SPACE = "(const|global|local|param|param::entry|param::func|shared|shared::cta|shared::cluster)"
ORDER = "(weak|volatile|relaxed|acquire|release|mmio|mmio.relaxed)"
SCOPE = "(cta|cluster|gpu|sys)"
CACHE = "(ca|cg|cs|lu|cv|wb|wt)"
HINTS = r"[.(L1::\w+)][.(L2::\w+)][.(L2::\w+)][.(L2::\w+)]"
POLICY = r"[.(L1::\w+)][.(L2::\w+)].L2::cache_hint[.(L2::\w+)]"
"""Cache hints with a policy in a last operand."""
PRIORITY = "(L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged)"
LOWER = "(L2::evict_first|L2::evict_unchanged)"
POLICIES = "the policy is 0: caches do not change results"
ATOMIC_SPACE = "(global|shared|shared::cta|shared::cluster)"


def load_latency(modifiers: tuple[str, ...]) -> Latency:
    """Latency class by state space; a generic address counts as global."""
    spaces = {m.split("::")[0] for m in modifiers}
    if "shared" in spaces:
        return Latency.SHARED
    return Latency.CONSTANT if spaces & {"const", "param"} else Latency.GLOBAL


def smaller(m: Algebra[V], f: Form, old: V, b: V) -> V:
    return m.select(less(m, f, b, old), b, old)


def larger(m: Algebra[V], f: Form, old: V, b: V) -> V:
    return m.select(less(m, f, old, b), b, old)


def increment(m: Algebra[V], f: Form, old: V, limit: V) -> V:
    """Count up to the limit, then from 0."""
    return m.select(m.ult(old, limit), m.add(old, m.constant(f.bits, 1)), m.constant(f.bits, 0))


def decrement(m: Algebra[V], f: Form, old: V, limit: V) -> V:
    """Count down to 0, then from the limit."""
    zero = m.constant(f.bits, 0)
    wraps = m.or_(m.eq(old, zero), m.ult(limit, old))
    return m.select(wraps, limit, m.sub(old, m.constant(f.bits, 1)))


def swap_if_equal(m: Algebra[V], f: Form, old: V, expected: V, new: V) -> V:
    return m.select(m.eq(old, expected), new, old)


def float_sum(m: Algebra[V], f: Form, old: V, b: V) -> V:
    """The sum; in global memory, ``add.f32`` flushes subnormal operands and results to zero."""
    if not (f.has("global") and f.bits == 32):
        return canonical(m, m.fadd(old, b))
    return zeroed(m, canonical(m, m.fadd(zeroed(m, old), zeroed(m, b))))


def zeroed(m: Algebra[V], a: V) -> V:
    """Flush a subnormal f32 to the zero of its sign."""
    is_subnormal = m.eq(m.and_(a, m.constant(32, EXPONENT[32])), m.constant(32, 0))
    return m.select(is_subnormal, sign_of(m, a), a)


UPDATES = (
    ("add.(u32|s32|u64|s64)", lambda m, f, old, b: m.add(old, b)),
    ("add.(f32|f64)", float_sum),
    ("add[.noftz].(f16|f16x2|bf16|bf16x2)", half.each(half.add)),
    ("min[.noftz].(f16|f16x2|bf16|bf16x2)", half.each(half.extremum_of("min"))),
    ("max[.noftz].(f16|f16x2|bf16|bf16x2)", half.each(half.extremum_of("max"))),
    ("min.(u32|s32|u64|s64)", smaller),
    ("max.(u32|s32|u64|s64)", larger),
    ("inc.u32", increment),
    ("dec.u32", decrement),
    ("and.(b32|b64)", lambda m, f, old, b: m.and_(old, b)),
    ("or.(b32|b64)", lambda m, f, old, b: m.or_(old, b)),
    ("xor.(b32|b64)", lambda m, f, old, b: m.xor(old, b)),
)
ATOMIC = f"atom[.(relaxed|acquire|release|acq_rel)][.{SCOPE}][.{ATOMIC_SPACE}]"
REDUCTION = f"red[.(relaxed|release)][.{SCOPE}][.{ATOMIC_SPACE}]"
COMPARED = "(b16|b32|b64|b128)"
RETURNING = (*UPDATES, ("exch.(b32|b64|b128)", lambda m, f, old, b: b))
RETURNS = "the old value is returned and replaced, lane after lane"

LOADS, STORES = Trait.READS | Trait.ELEMENTS, Trait.WRITES | Trait.ELEMENTS
REDUCES = LOADS | STORES | Trait.ATOMIC
UPDATES_MEMORY = REDUCES | Trait.RETURNS_OLD
HINTS_CACHE = Trait.IDLE | Trait.PINNED
ORDERS = Trait.FENCE | Trait.IDLE


VECTORS = (
    ("add", "(v2|v4)", "f32", float_sum),
    *(
        (f"{name}.noftz", width, f"({kind}|b{kind})", half.each(meaning))
        for name, meaning in (("add", half.add), ("min", half.extremum_of("min")), ("max", half.extremum_of("max")))
        for width, kind in (("(v2|v4|v8)", "f16"), ("(v2|v4)", "f16x2"))
    ),
)
"""Operations on vectors: each element is a separate atomic operation."""


def hinted(update: str) -> str:
    """The operation and type with a cache hint, whose policy is the last operand."""
    operation, type_ = update.rsplit(".", 1)
    return f"{operation}.L2::cache_hint.{type_}"


def _atomic(syntax: str, types: str, update: Meaning) -> Opcode:
    return Opcode(syntax, types, None, Unit.MEM, load_latency, RETURNS, update=update, traits=UPDATES_MEMORY)


def _reduction(syntax: str, types: str, update: Meaning) -> Opcode:
    return Opcode(syntax, types, None, Unit.MEM, Latency.STORE, RETURNS, update=update, traits=REDUCES)


def _hint(syntax: str, types: str) -> Opcode:
    """A hint to caches, which do not change results."""
    return Opcode(syntax, types, unit=Unit.MEM, latency=Latency.STORE, effect="nothing", traits=HINTS_CACHE)


def _fence(syntax: str, effect: str = "orders memory; one lane after another already does") -> Opcode:
    return Opcode(syntax, "<-", unit=Unit.CTRL, effect=effect, traits=ORDERS)


OPCODES = (
    Opcode(
        f"ld[.{ORDER}][.{SCOPE}][.{SPACE}][.{CACHE}][.nc]{HINTS}[.(v2|v4|v8)].{VALUES}", "T*n <- address",
        unit=Unit.MEM, latency=load_latency, effect="reads memory; narrow values are extended to the register",
        reads_only=True, traits=LOADS,
    ),
    Opcode(
        f"ld[.{ORDER}][.{SCOPE}][.{SPACE}][.{CACHE}][.nc]{POLICY}[.(v2|v4|v8)].{VALUES}", "T*n <- address b64",
        unit=Unit.MEM, latency=load_latency, effect="reads memory; narrow values are extended to the register",
        reads_only=True, traits=LOADS,
    ),
    Opcode(
        f"ldu[.global][.(v2|v4)].{VALUES}", "T*n <- address",
        unit=Unit.MEM, latency=load_latency, effect="reads memory that the kernel does not write",
        reads_only=True, traits=LOADS,
    ),
    Opcode(
        f"st[.{ORDER}][.{SCOPE}][.{SPACE}][.{CACHE}]{HINTS}[.(v2|v4|v8)].{VALUES}", "<- address T*n",
        unit=Unit.MEM, latency=Latency.STORE, effect="writes memory; where lanes collide the highest lane wins",
        traits=STORES,
    ),
    Opcode(
        f"st[.{ORDER}][.{SCOPE}][.{SPACE}][.{CACHE}]{POLICY}[.(v2|v4|v8)].{VALUES}", "<- address T*n b64",
        unit=Unit.MEM, latency=Latency.STORE, effect="writes memory; where lanes collide the highest lane wins",
        traits=STORES,
    ),
    *(
        _atomic(f"{ATOMIC}.{update}", "T <- address T", meaning)
        for update, meaning in RETURNING
    ),
    *(
        _atomic(f"{ATOMIC}.{hinted(update)}", "T <- address T b64", meaning)
        for update, meaning in RETURNING
    ),
    _atomic(f"{ATOMIC}.cas.{COMPARED}", "T <- address T T", swap_if_equal),
    _atomic(f"{ATOMIC}.cas.L2::cache_hint.{COMPARED}", "T <- address T T b64", swap_if_equal),
    *(
        _reduction(f"{REDUCTION}.{update}", "<- address T", meaning)
        for update, meaning in UPDATES
    ),
    *(
        _reduction(f"{REDUCTION}.{hinted(update)}", "<- address T b64", meaning)
        for update, meaning in UPDATES
    ),
    *(
        row(f"{head}.{operation}.{width}.{kind}", types, meaning)
        for operation, width, kind, meaning in VECTORS
        for row, head, types in (
            (_atomic, ATOMIC, "T*n <- address T*n"), (_reduction, REDUCTION, "<- address T*n")
        )
    ),
    *(
        row(f"{head}.{operation}.L2::cache_hint.{width}.{kind}", types, meaning)
        for operation, width, kind, meaning in VECTORS
        for row, head, types in (
            (_atomic, ATOMIC, "T*n <- address T*n b64"), (_reduction, REDUCTION, "<- address T*n b64")
        )
    ),
    _hint("applypriority[.global].L2::evict_normal", "<- address u32"),
    _hint("prefetch[.(global|local)].(L1|L2)", "<- address"),
    _hint("prefetch.global.(L2::evict_last|L2::evict_normal)", "<- address"),
    _hint("prefetch[.(const|param)].tensormap", "<- address"),
    Opcode(f"createpolicy.fractional.{PRIORITY}[.{LOWER}].b64", "T <- f32?", effect=POLICIES),
    Opcode(f"createpolicy.range[.global].{PRIORITY}[.{LOWER}].b64", "T <- address u32 u32", effect=POLICIES),
    Opcode("createpolicy.cvt.L2.b64", "T <- b64", effect=POLICIES),
    _hint("prefetchu.L1", "<- address"),
    _hint("discard[.global].L2", "<- address u32"),
    _fence("fence.proxy.(alias|async|async.global|async.shared::cta|async.shared::cluster)"),
    _fence(f"fence.proxy.tensormap::generic.release.{SCOPE}"),
    _fence("fence.(acquire.sync_restrict::shared::cluster|release.sync_restrict::shared::cta).cluster"),
    _fence("fence.mbarrier_init.release.cluster", "nothing"),
    _fence("membar.proxy.alias", "nothing"),
    _fence("membar.(cta|gl|sys)"),
    _fence(f"fence[.(sc|acq_rel|acquire|release)].{SCOPE}"),
)  # fmt: skip
