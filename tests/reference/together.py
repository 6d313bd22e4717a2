"""Random statements in which threads meet: barriers with an exchange through shared memory, shuffles, votes, early
exit.
"""

from __future__ import annotations

from tests.reference.accesses import SHARED_BYTES
from tests.reference.builder import Builder

BARRIERS = ("bar", "barrier", "bar.cta", "barrier.cta")


def _barrier(b: Builder) -> None:
    forms = ["bar.sync 0", "bar.sync 0", "barrier.sync 0", "barrier.sync.aligned 1", "bar.sync 3"]
    forms += ["bar.cta.sync 1", "barrier.cta.sync 2"]
    if not b.exited:
        forms.append(f"bar.sync 2, {-(-b.threads // 32) * 32}")
    b.emit(b.rng.choice(forms))
    b.features.add("barriers")


def exchange(b: Builder) -> None:
    """Each thread writes its own part of shared memory, meets the others, and reads the part of another."""
    b.features.update(("shared", "barriers"))
    other, kind = b.temporary("b32"), b.rng.randrange(3)
    b.emit(f"st.shared.v2.u32 [%own], {{{', '.join(b.registers('b32', 2))}}}")
    b.emit(f"st.shared.f64 [%own+8], {b.register('f64')}")
    _barrier(b)
    if kind == 0:
        b.emit(f"add.u32 {other}, %me, {b.rng.choice([1, 2, 31, 32, 33])}")
    elif kind == 1:
        b.emit(f"sub.u32 {other}, {b.threads - 1}, %me")
    else:
        b.emit(f"mov.b32 {other}, {b.register('b32')}")
    b.emit(f"rem.u32 {other}, {other}, {b.threads}")
    b.emit(f"mul.lo.u32 {other}, {other}, {SHARED_BYTES}")
    b.emit(f"add.u32 {other}, {other}, %first")
    b.emit(f"ld.shared.u32 {b.register('b32')}, [{other}+{b.rng.choice([0, 4])}]")
    b.emit(f"ld.shared.f64 {b.register('f64')}, [{other}+8]", b.guard())
    _barrier(b)


def producer(b: Builder) -> None:
    """Warps of even number write and arrive without waiting; the others wait, then read what the warp before wrote."""
    if b.exited or b.threads <= 32:
        exchange(b)
        return
    b.features.update(("shared", "barriers", "arrival"))
    warp, odd, place = b.temporary("b32"), b.temporary("pred"), b.temporary("b32")
    wait, end, number = b.fresh("$wait"), b.fresh("$end"), b.rng.choice([4, 15])
    count = -(-b.threads // 32) * 32
    b.emit(f"shr.u32 {warp}, %me, 5")
    b.emit(f"and.b32 {warp}, {warp}, 1")
    b.emit(f"setp.ne.u32 {odd}, {warp}, 0")
    b.emit(f"bra {wait}", f"@{odd}")
    b.emit(f"st.shared.b64 [%own+16], {b.register('b64')}")
    b.emit(f"{b.rng.choice(BARRIERS)}.arrive {number}, {count}")
    b.emit(f"bra.uni {end}")
    b.label(wait)
    b.emit(f"bar.sync {number}, {count}")
    b.emit(f"sub.u32 {place}, %own, {32 * SHARED_BYTES}")
    b.emit(f"ld.shared.b64 {b.register('b64')}, [{place}+16]")
    b.label(end)
    b.emit("bar.sync 0")


def barrier_reduction(b: Builder) -> None:
    operation = b.rng.choice(["popc.u32", "and.pred", "or.pred"])
    to = b.register("b32" if operation == "popc.u32" else "pred")
    predicate = ("!" if b.chance(0.3) else "") + b.register("pred")
    b.emit(f"{b.rng.choice(BARRIERS)}.red.{operation} {to}, 0, {predicate}")
    b.features.add("barriers")


def shuffle(b: Builder) -> None:
    """``shfl.sync`` at a place where the whole warp meets; in a partial warp the clamp keeps to its lanes."""
    if b.exited:
        vote(b)
        return
    b.features.add("shuffle")
    mode = b.rng.choice(["up", "down", "bfly", "idx"])
    declared = b.rng.choice(["b32", "f32"])
    to, value = b.registers(declared, 2)
    lane = b.register("b32") if b.chance(0.4) else str(b.rng.choice([0, 1, 2, 3, 8, 16, 31, 32, 33]))
    if mode == "up":
        clamp = str(b.rng.choice([0, 0, 0x1800, 0x1C00, 5]))
    elif b.partial:
        clamp = "%last"
    else:
        clamp = b.rng.choice(["31", "0x181F", "0x1C1F", "0x1E03", "7", b.register("b32")])
    to = f"{to}|{b.register('pred')}" if b.chance(0.4) else to
    b.emit(f"shfl.sync.{mode}.b32 {to}, {value}, {lane}, {clamp}, {_members(b)}")


def _members(b: Builder) -> str:
    return b.rng.choice(["-1", "0xFFFFFFFF", "%members"])


def vote(b: Builder) -> None:
    b.features.add("vote")
    predicate = ("!" if b.chance(0.3) else "") + b.register("pred")
    choice = b.rng.randrange(5)
    if choice == 4:
        b.emit(f"activemask.b32 {b.register('b32')}")
    elif choice == 3:
        b.emit(f"vote.sync.ballot.b32 {b.register('b32')}, {predicate}, {_members(b)}")
    else:
        b.emit(f"vote.sync.{['all', 'any', 'uni'][choice]}.pred {b.register('pred')}, {predicate}, {_members(b)}")


def divergent_vote(b: Builder) -> None:
    """A vote among the lanes that took a branch, named by a ballot before it."""
    b.features.update(("vote", "divergent vote"))
    p, members, end = b.predicate(), b.temporary("b32"), b.fresh("$vote")
    b.emit(f"vote.sync.ballot.b32 {members}, {p}, -1")
    b.emit(f"bra {end}", f"@!{p}")
    b.emit(
        f"vote.sync.{b.rng.choice(['all', 'any', 'uni'])}.pred {b.register('pred')}, {b.register('pred')}, {members}"
    )
    b.emit(f"vote.sync.ballot.b32 {b.register('b32')}, {b.register('pred')}, {members}")
    b.label(end)
    b.emit("bar.warp.sync -1")


def early_exit(b: Builder) -> None:
    """Some threads leave for good, after writing a few registers to their row."""
    b.features.add("early exit")
    p, low = b.temporary("pred"), b.temporary("b32")
    b.emit(f"and.b32 {low}, {b.register('b32')}, {b.rng.choice([3, 7, 15])}")
    b.emit(f"setp.eq.u32 {p}, {low}, {b.rng.randrange(4)}")
    b.exited = True
    leave = b.rng.choice(["exit", "ret"]) if not b.place.function else "exit"
    if b.chance(0.3):
        b.emit(leave, f"@{p}")
        return
    stay = b.fresh("$stay")
    b.emit(f"bra {stay}", f"@!{p}")
    b.emit(f"st.global.v2.u32 [%out+{8 * b.rng.randrange(8)}], {{{', '.join(b.registers('b32', 2))}}}")
    b.emit(leave)
    b.label(stay)
