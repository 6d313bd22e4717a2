"""No shared value is stale: stores of the own SM, of other SMs, fences and atomics (thesis of 2021, §5.5.2).

Thread block 0 runs the first block of a kernel on SM 0, thread block 1 the second one on SM 1.
"""

from __future__ import annotations

from typing import Any

import pytest
from tests.timing.assembly import code
from tests.timing.launches import FULL, Launched, WarpPath
from tests.timing.reference.instruction import Access
from tests.timing.reference.machine import Sm
from tests.timing.test_larf import LARF, A, B, few_words, found, run, words
from tests.timing.vocabulary import Timed

from warpreg.designs.interface.state import named_leaves
from warpreg.designs.parts.load_sharing import hooks, results
from warpreg.designs.parts.load_sharing.shadow import ADDRESS, KIND, ORDERED, OWN, PC, WARP

__all__ = ["few_words"]

READS_TWICE = """
    ld.global.u32 R1, [R4.64]
    mov.b32 R2, R1
    {}
    ld.global.u32 R3, [R4.64]
    add.s32 R6, R1, R3
"""
ONE = words(A, 0, 1)
FLAG = words(B, 0, 1)


def two(reader: str, writer: str, reads: tuple[Access, ...], writes: tuple[Access, ...]) -> Launched:
    """A reader on one SM, a writer on the other."""
    return Launched(code(reader, writer), ((WarpPath(((0, FULL),), reads),), (WarpPath(((1, FULL),), writes),)))


def twice(between: str = "", writer: str = "st.global.u32 [R4.64], R1", *more: Access) -> Launched:
    """The reader loads the words at A, does something, and loads them again at 23 or later; the writer stores one of
    them in cycle 1, after the first load, and then perhaps more.
    """
    reader = "\n".join(line for line in READS_TWICE.format(between).splitlines() if line.strip())
    reads = (words(A), *((FLAG,) if "global" in between else ()), words(A))
    return two(reader, writer, reads, (ONE, *more))


def shared(launched: Launched) -> dict[str, int]:
    """Hits and stale values on two SMs, each with room for one thread block."""
    counted = found(run(launched, Sm(slots=1), sms=2, resident=1))
    kinds = ("perfect", "forgotten", "unordered_values", "ordered_faults", "own_faults")
    return {kind: counted[kind] for kind in kinds if kind in counted}


def test_a_race_between_sms_may_return_the_old_value() -> None:
    """Nothing orders the store of the other SM before the second load: the memory model allows either value."""
    assert shared(twice()) == {"perfect": 1, "unordered_values": 1}


@pytest.mark.parametrize("between", ["bar.sync 0", "membar.cta"])
def test_what_orders_only_the_thread_block_does_not_help(between: str) -> None:
    assert shared(twice(between)) == {"perfect": 1, "unordered_values": 1}


@pytest.mark.parametrize(
    ("between", "forgotten"),
    [
        ("membar.gl", 1),
        ("fence.acq_rel.gpu", 1),
        ("atom.global.add.u32 R7, [R8.64], R9", 2),
        ("ld.volatile.global.u32 R7, [R8.64]", 2),
    ],
)
def test_after_a_fence_an_atomic_or_a_volatile_load_the_new_value_is_loaded(between: str, forgotten: int) -> None:
    """The second load issues while the last two are under way, and does not share; their return also deletes its
    entry.
    """
    assert shared(twice(between)) == {"forgotten": forgotten}


PUBLISHES = "st.global.u32 [R4.64], R1\nmembar.gl\nst.global.u32 [R8.64], R1"


def test_an_order_is_kept() -> None:
    assert shared(twice("membar.gl", PUBLISHES, FLAG)) == {"forgotten": 1}


def test_a_design_that_keeps_its_table_at_fences_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The writer publishes its store, the reader observes it, and shares the old value all the same."""
    monkeypatch.setattr(hooks, "remove_all", lambda state, sm: 0)
    timed = faulty(twice("membar.gl", PUBLISHES, FLAG), sms=2)
    assert fault(timed) == (ORDERED, 0, 3, A)


def test_a_design_that_overlooks_stores_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "remove_overlapping", lambda state, sm, lanes, size: 0)
    reader = "\n".join(line for line in READS_TWICE.format("st.global.u32 [R4.64], R2").splitlines() if line.strip())
    launched = Launched(code(reader), ((WarpPath(((0, FULL),), (words(A), words(A + 8, 0, 1), words(A))),),))
    assert fault(faulty(launched, sms=1)) == (OWN, 0, 3, A + 8)


def faulty(launched: Launched, sms: int) -> Timed:
    timed = run(launched, Sm(slots=1), sms=sms, resident=1)
    assert found(timed)["perfect"] == 1
    return timed


def fault(timed: Timed) -> tuple[Any, ...]:
    """Kind, warp, pc and address of the first fault."""
    faults = dict(named_leaves(timed.outcome.state))["faults"]
    return tuple(faults[[KIND, WARP, PC, ADDRESS]].tolist())


def test_racing_stores_of_one_sm_are_never_stale() -> None:
    """Two warps of an SM load and store the same words in turn; whatever the order, a hit has the last version."""
    text = "\n".join(
        f"ld.global.u32 R{i}, [R4.64]\nst.global.u32 [R4.64], R{i}\nld.global.u32 R{i + 1}, [R4.64]" for i in (1, 6, 8)
    )
    accesses = [words(A), words(A + 4), words(A), words(A + 4), words(A), words(A)] + 3 * [words(A + 4)]
    path = WarpPath(((0, FULL),) * 2, (*accesses, *reversed(accesses)))
    launched = Launched(code(text + "\nadd.s32 R1, R2, R7\nadd.s32 R1, R1, R9"), ((path, path, path),))
    counted = found(run(launched))
    assert counted["overwritten"] > 0
    assert not counted.keys() & {"unordered_values", "ordered_faults", "own_faults"}
    assert LARF.declaration.order == "sm"
