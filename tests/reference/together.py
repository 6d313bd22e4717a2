"""Random statements that involve several threads: barriers with an exchange through shared memory, shuffles, votes,
early exits.
"""

from __future__ import annotations

from collections.abc import Callable

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
    count = f", {-(-b.threads // 32) * 32}" if not b.partial and not b.exited and b.chance(0.3) else ""
    barrier, (form, name) = b.rng.choice(BARRIERS), operation.split(".")
    aligned = ".aligned" if barrier.startswith("barrier") and b.chance(0.5) else ""
    b.emit(f"{barrier}.red.{form}{aligned}.{name} {to}, {b.rng.choice([0, 5])}{count}, {predicate}")
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
    choice = b.rng.randrange(4 if b.measured else 5)
    if choice == 4:
        b.emit(f"activemask.b32 {b.register('b32')}")
    elif choice == 3:
        b.emit(f"vote.sync.ballot.b32 {b.register('b32')}, {predicate}, {_members(b)}")
    else:
        b.emit(f"vote.sync.{['all', 'any', 'uni'][choice]}.pred {b.register('pred')}, {predicate}, {_members(b)}")


def collective(b: Builder, members: str = "") -> None:
    """One instruction among the lanes of ``members``, which all come here together; else the whole warp."""
    everyone = not members and not b.partial and not b.exited
    members = members or _members(b)
    value, to, p = b.register("b32"), b.register("b32"), b.register("pred")
    shared = b.temporary("b32")
    b.emit(f"and.b32 {shared}, {value}, {b.rng.choice([1, 3, 255])}")
    choice = b.rng.randrange(8)
    if b.measured and (choice == 4 or (choice == 6 and not everyone)):
        choice = 5  # redux of f32 is newer than Hopper; a shuffle from outside the members has no result
    if choice == 0:
        b.emit(f"match.any.sync.b32 {to}, {b.rng.choice([shared, value])}, {members}")
    elif choice == 1:
        b.emit(f"match.any.sync.b64 {to}, {b.register('b64')}, {members}")
    elif choice == 2:
        b.emit(f"match.all.sync.b32 {to}|{p}, {b.rng.choice([shared, '7'])}, {members}")
    elif choice == 3:
        b.emit(f"elect.sync {to}|{p}, {members}")
    elif choice == 4:
        form = b.rng.choice(["min", "max.abs", "min.NaN", "max.abs.NaN", "max"])
        b.emit(f"redux.sync.{form}.f32 {b.register('f32')}, {b.register('f32')}, {members}")
    elif choice == 5:
        forms = ["add.u32", "min.u32", "max.u32", "add.s32", "min.s32", "max.s32", "and.b32", "or.b32", "xor.b32"]
        b.emit(f"redux.sync.{b.rng.choice(forms)} {to}, {value}, {members}")
    elif choice == 6:
        mode, lane = b.rng.choice(["up", "down", "bfly", "idx"]), b.rng.choice([shared, "1", "5", value])
        clamp = 0 if mode == "up" else 31
        b.emit(f"shfl.sync.{mode}.b32 {to}|{p}, {value}, {lane}, {clamp}, {members}")
    else:
        b.emit(f"vote.sync.{b.rng.choice(['all', 'any', 'uni'])}.pred {p}, {b.register('pred')}, {members}")


def divergent_groups(b: Builder, between: Callable[[Builder], None], depth: int = 0, outer: str = "-1") -> None:
    """Instructions among the lanes that took a branch, named by a ballot before it; nested, and at times in a loop."""
    b.features.update(("vote", "divergent vote"))
    p, members, end = b.predicate(), b.temporary("b32"), b.fresh("$group")
    b.emit(f"vote.sync.ballot.b32 {members}, {p}, {outer}")
    b.emit(f"bra {end}", f"@!{p}")
    counter, again, head = b.temporary("b32"), b.temporary("pred"), b.fresh("$again")
    loops = b.chance(0.3)
    if loops:
        b.emit(f"mov.u32 {counter}, 0")
        b.label(head)
    for _ in range(b.rng.randint(1, 3)):
        collective(b, members)
        if b.chance(0.5):
            between(b)
    if depth < 2 and b.chance(0.5):
        divergent_groups(b, between, depth + 1, members)
    if loops:
        b.emit(f"add.u32 {counter}, {counter}, 1")
        b.emit(f"setp.lt.u32 {again}, {counter}, {b.rng.randint(2, 3)}")
        b.emit(f"bra {head}", f"@{again}")
    b.label(end)
    b.emit(f"bar.warp.sync {outer}")


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
