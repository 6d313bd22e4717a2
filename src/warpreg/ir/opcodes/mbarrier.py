"""``mbarrier`` objects (PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier").

PTX does not define the 64 bits of an object.  Here they are those that the code of ``ptxas`` for sm_90 makes
(``mbarrier.init``) and takes apart (``pending_count``, waits for a parity), from the lowest: one unused, 20 bits of
arrivals expected in each later phase, 22 bits of pending bytes (two's complement), 20 bits of pending arrivals of this
phase, and the parity of the phase.  Arrivals are held as minus their number, modulo 2**20; which of the 22 bits the
hardware uses for bytes is not known.  A phase is complete when no arrivals and no bytes are pending.  The state that
``mbarrier.arrive`` returns is the previous object.
"""

from __future__ import annotations

from typing import TypeVar

from warpreg.ir.opcodes.algebra import Algebra
from warpreg.ir.opcodes.form import Form, Latency, Opcode, Unit
from warpreg.ir.opcodes.trait import Trait

V = TypeVar("V")

COUNT_BITS, EXPECTED_SHIFT, PENDING_SHIFT = 20, 1, 43
BYTES_SHIFT, BYTES_BITS = 21, 22
PHASE_SHIFT = 63
DROPPED_SHIFT = 32
"""First bit of dropped arrivals in an update; those are not expected in later phases either."""


def _field(m: Algebra[V], a: V, shift: int, bits: int) -> V:
    return m.and_(m.lshr(a, m.constant(64, shift)), m.constant(64, (1 << bits) - 1))


def _composed(m: Algebra[V], pending: V, expected: V, bytes_: V, phase: V) -> V:
    """An object; ``pending`` and ``expected`` are minus the numbers of arrivals."""
    parts = (
        (pending, PENDING_SHIFT, COUNT_BITS),
        (expected, EXPECTED_SHIFT, COUNT_BITS),
        (bytes_, BYTES_SHIFT, BYTES_BITS),
    )
    whole = m.shl(phase, m.constant(64, PHASE_SHIFT))
    for value, shift, bits in parts:
        kept = m.and_(value, m.constant(64, (1 << bits) - 1))
        whole = m.or_(whole, m.shl(kept, m.constant(64, shift)))
    return whole


def initial(m: Algebra[V], count: V) -> V:
    """An object in phase 0 with ``count`` pending arrivals."""
    zero = m.constant(64, 0)
    negative = m.sub(zero, m.zext(count, 64))
    return _composed(m, negative, negative, zero, zero)


def updated(m: Algebra[V], old: V, arrivals: V, bytes_: V) -> V:
    """The object after arrivals (dropped ones from `DROPPED_SHIFT` on) and a change of pending bytes."""
    here, dropped = _field(m, arrivals, 0, COUNT_BITS), _field(m, arrivals, DROPPED_SHIFT, COUNT_BITS)
    mask = m.constant(64, (1 << COUNT_BITS) - 1)
    pending = m.and_(m.add(_field(m, old, PENDING_SHIFT, COUNT_BITS), here), mask)
    expected = m.and_(m.add(_field(m, old, EXPECTED_SHIFT, COUNT_BITS), dropped), mask)
    awaited = m.and_(m.add(_field(m, old, BYTES_SHIFT, BYTES_BITS), bytes_), m.constant(64, (1 << BYTES_BITS) - 1))
    phase, zero = m.lshr(old, m.constant(64, PHASE_SHIFT)), m.constant(64, 0)
    complete = m.and_(m.eq(pending, zero), m.eq(awaited, zero))
    same = _composed(m, pending, expected, awaited, phase)
    following = _composed(m, expected, expected, zero, m.xor(phase, m.constant(64, 1)))
    return m.select(complete, following, same)


def pending_count(m: Algebra[V], f: Form, state: V) -> V:
    """The number of pending arrivals."""
    count = m.sub(m.constant(64, 0), _field(m, state, PENDING_SHIFT, COUNT_BITS))
    return m.trunc(m.and_(count, m.constant(64, (1 << COUNT_BITS) - 1)), 32)


CTA, SHARED = "[.(shared|shared::cta)]", "[.(shared|shared::cta|shared::cluster)]"
RELAXED = "relaxed.cta|relaxed.cluster"
RELEASE, ACQUIRE = f"[.(release.cta|release.cluster|{RELAXED})]", f"[.(acquire.cta|acquire.cluster|{RELAXED})]"
CHANGES, WAITS = "changes an mbarrier", "tells whether a phase of an mbarrier is complete"


def _row(syntax: str, types: str, effect: str, traits: Trait = Trait.NONE) -> Opcode:
    traits |= Trait.ASYNCHRONOUS | Trait.PINNED
    return Opcode(f"mbarrier.{syntax}.b64", types, unit=Unit.MEM, latency=Latency.SHARED, effect=effect, traits=traits)


OPCODES = (
    _row(f"init{CTA}", "<- address u32", CHANGES),
    _row(f"inval{CTA}", "<- address", CHANGES),
    _row(f"(expect_tx|complete_tx)[.({RELAXED})]{SHARED}", "<- address u32", CHANGES),
    *(
        row
        for arrive in ("arrive", "arrive_drop")
        for row in (
            _row(f"{arrive}{RELEASE}{SHARED}", "b64 <- address u32?", CHANGES),
            _row(f"{arrive}.expect_tx{RELEASE}{SHARED}", "b64 <- address u32", CHANGES),
            _row(f"{arrive}.noComplete[.release.cta]{CTA}", "b64 <- address u32", CHANGES),
        )
    ),
    _row(f"test_wait{ACQUIRE}{CTA}", "pred <- address b64", WAITS, Trait.PHASE),
    _row(f"test_wait.parity{ACQUIRE}{CTA}", "pred <- address u32", WAITS, Trait.PHASE),
    _row(f"try_wait{ACQUIRE}{CTA}", "pred <- address b64 u32?", WAITS, Trait.PHASE),
    _row(f"try_wait.parity{ACQUIRE}{CTA}", "pred <- address u32 u32?", WAITS, Trait.PHASE),
    Opcode("mbarrier.pending_count.b64", "u32 <- b64", pending_count, constants=False),
)
