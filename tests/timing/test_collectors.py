"""Collectors that warp slots own, worked by hand with the miniature ``bypassing``: forwarding, eviction, turns.

Four banks by register; a collector takes one operand a cycle.  An instruction issued at ``t`` enters at ``t + 1`` and
asks its banks from ``t + 2`` on.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.timing.assembly import one_warp, warps
from tests.timing.both_cores import agreed
from tests.timing.documented import documented
from tests.timing.random_runs import Case, cases
from tests.timing.reference.machine import PIPES, Banks, Pipe, Sm
from tests.timing.test_designs import path_of

from warpreg.designs import DesignError, load
from warpreg.designs.interface import Collectors
from warpreg.replay import replay

FOLDER = Path(__file__).parent / "designs"
BYPASSING, HALVES = load(FOLDER / "bypassing.py"), load(FOLDER / "halves.py")
BANKED = Sm(slots=4, banks=Banks(count=4, mapping="register", operand_ports=1))
MOVES = "mov.b32 R1, 1\nmov.b32 R2, 1\nmov.b32 R3, 1"


@pytest.mark.parametrize(("entries", "second", "third"), [(4, 9, 15), (2, 9, 16)])
def test_words_that_a_collector_keeps_need_no_bank(entries: int, second: int, third: int) -> None:
    """R0 and R4 are read at 3 and 4, and R1 comes at 5 + 4.

    With four entries both sources of the second are kept: it enters at 10, goes at 11, and R2 comes at 15.  With two R1
    displaces R0, which is read at 11: it goes at 12, and R2 comes at 16.
    """
    text = "add.s32 R1, R0, R4\nadd.s32 R2, R1, R0\nmov.b32 R5, R2"
    run = agreed(one_warp(text), BANKED, design=BYPASSING, entries=entries)
    run.warp(0).issues().at(1, second, third)
    run.bank(0).reads("R0").at(*([3] if entries == 4 else [3, 11]))
    run.bank(1).reads("R1").at()


def test_what_leaves_a_collector_takes_its_bank() -> None:
    """R1, R2 and R3 come at 7, 8 and 9; with two entries R3 displaces R1, which is queued then and written at 10.

    R6 displaces R2; R3 and R6 leave when the warp ends.
    """
    run = agreed(one_warp(f"{MOVES}\nmov.b32 R6, R3"), BANKED, design=BYPASSING, entries=2)
    run.bank(1).extras("R1").at(10)
    assert run.outcome.counts.moves[1, 0] == 4
    counts = replay(path_of(run.launched), run.launched.kernel, BYPASSING, mode="interpreted", entries=2)
    assert counts.moves.tolist() == run.outcome.counts.moves.tolist()
    assert counts.accesses.reshape(-1).tolist() == run.outcome.counts.accesses.tolist()


@pytest.mark.parametrize(("instructions", "issues"), [(1, (1, 3, 5)), (2, (1, 2, 3))])
def test_a_collector_holds_so_many_instructions_of_its_warp(instructions: int, issues: tuple[int, ...]) -> None:
    """One that issues at ``t`` goes at ``t + 2`` and makes room in that cycle; a second one enters then."""
    run = agreed(one_warp(MOVES), BANKED, design=BYPASSING, instructions=instructions)
    run.warp(0).issues().at(*issues)


def test_a_bank_reads_for_the_instruction_that_issued_first(tmp_path: Path) -> None:
    """All sources are in bank 0.  Warp 0 issues at 1 and 2, warp 1 at 3 and 4; the second of a warp enters its
    collector when the first goes.

    The first of warp 0 reads at 3, 4, 5 and goes at 6, that of warp 1 has been waiting since 5 and reads R0 at 6.  Then
    the second of warp 0, which has entered at 6, comes before it at 7, as it was issued before.  So the first of warp 1
    reads on at 8 and 9 and goes at 10, and its second reads at 11.
    """
    file = tmp_path / "two_deep.py"
    file.write_text(
        "from warpreg.designs.interface import *\n"
        'DESIGN = Declaration(slot="levels", source="a test")\n'
        "def collectors(parameters, machine):\n    return Collectors(instructions=2)\n",
        encoding="utf-8",
    )
    launched = warps("mad.lo.s32 R1, R0, R4, R8\nmov.b32 R2, R12", [()], [()])
    run = agreed(launched, replace(BANKED, policy="gto"), design=load(file))
    run.warp(0).issues().at(1, 2)
    run.warp(1).issues().at(3, 4)
    run.bank(0).reads("R12").at(7, 11)
    run.bank(0).reads("R4").at(4, 8)
    run.bank(0).reads("R8").at(5, 9)


@pytest.mark.parametrize(("reading", "second"), [(1, 6), (2, 6)])
def test_instructions_that_read_at_a_time_share_the_port(reading: int, second: int) -> None:
    """The first one reads R0, R1, R2 at 3, 4, 5 and goes at 6.  The second one, issued at 2, wants R3.

    If one reads at a time it enters at 6 and reads at 7.  If two do it enters at 3, but the port is free at 6 only.
    """
    text = "mad.lo.s32 R5, R0, R1, R2\nmov.b32 R6, R3"
    run = agreed(one_warp(text), BANKED, design=BYPASSING, instructions=2, reading=reading, entries=8)
    run.bank(3).reads("R3").at(7 if reading == 1 else second)


def test_a_full_collector_holds_up_its_own_warp_only() -> None:
    """Warp 0 reads R0, R4 and R8 from bank 0 at 3, 4 and 5 and goes at 6, when it issues again.

    Warp 1 issues at 2 though warp 0 is older.  Its reads follow at 6, 7 and 8, and it goes at 9.  Each waits for
    operands until its last one is there, and then a cycle for its unit.
    """
    launched = warps("mad.lo.s32 R1, R0, R4, R8\nmov.b32 R2, 1", [()], [()])
    run = agreed(launched, replace(BANKED, policy="oldest"), design=BYPASSING, instructions=1, entries=8)
    run.warp(0).issues().at(1, 6)
    run.warp(1).issues().at(2, 9)
    assert run.stalls.counts["operands"] == (5 - 2) + (8 - 3)
    assert run.stalls.counts["unit"] == 2


@pytest.mark.parametrize(("in_turn", "dispatched"), [(False, [3, 7, 11, 15]), (True, [3, 11, 7, 15])])
def test_collectors_dispatch_in_turn(in_turn: bool, dispatched: list[int]) -> None:
    """The unit takes one in 4 cycles.  Warp 0 issues twice, at 1 and 2, then warp 1 at 3 and 4.

    At 7 the second of warp 0 is the oldest, but it is the turn of warp 1 (thesis section 3.4.1).
    """
    pipes = {name: Pipe(initiation=4 if name == "int" else 1) for name in PIPES}
    sm = replace(BANKED, policy="gto", pipes=pipes)
    text = "mov.b32 R1, 1\nmov.b32 R2, 1"
    run = agreed(warps(text, [()], [()]), sm, design=BYPASSING, in_turn=in_turn)
    assert [run.outcome.logs[0].dispatched[sequence] for sequence in range(4)] == dispatched


def test_the_example_of_the_documentation(tmp_path: Path) -> None:
    """R1 comes at 8 and is kept: the second enters at 9 and goes at 10, and R2 displaces R1 at 14."""
    one = load(documented(tmp_path, "A bypassing collector of one entry"))
    run = agreed(one_warp("mov.b32 R1, R0\nmov.b32 R2, R1\nmov.b32 R3, R2"), BANKED, design=one)
    run.warp(0).issues().at(1, 8, 14)
    run.bank(1).reads("R1").at()
    run.bank(1).extras("R1").at(15)


def test_with_the_ideal_operand_path_collectors_have_no_effect() -> None:
    agreed(one_warp(MOVES), Sm(), design=BYPASSING, instructions=1).warp(0).issues().at(1, 2, 3)


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(cases, st.integers(1, 4), st.integers(1, 3), st.booleans(), st.booleans())
def test_words_of_owned_collectors_share_accesses(
    case: Case, rows: int, reading: int, port: bool, across: bool
) -> None:
    """Both cores agree where banks have slices and warps own collectors."""
    agreed(
        case.launched,
        case.sm,
        case.latency,
        case.interval,
        case.sms,
        case.resident,
        load(f"{HALVES.path}+{FOLDER / 'owned.py'}"),
        halves_rows=rows,
        halves_port=port,
        halves_across=across,
        owned_reading=reading,
    )


def test_a_collector_smaller_than_the_operands_of_an_instruction() -> None:
    with pytest.raises(DesignError) as error:
        agreed(one_warp("mov.b32 R1, R0\nmad.lo.s32 R5, R0, R1, R2"), BANKED, design=BYPASSING, entries=2)
    assert str(error.value) == (
        "bypassing: collectors: entries expects at least 3, the registers that instruction 1 reads, found 2"
    )


def test_more_collectors_than_a_word_has_bits() -> None:
    """40 warps with 3 collectors each, of which a bank serves one word a cycle.

    The first instructions issue at 1 to 40 (one scheduler, oldest first), and the second one of a warp directly after
    its first: both read R0, warp by warp, from cycle 3 on.
    """
    slots = 40
    launched = warps("mov.b32 R1, R0\nmov.b32 R2, R0\nmov.b32 R3, R0", *[[()]] * slots)
    sm = replace(BANKED, slots=slots, policy="gto")
    run = agreed(launched, sm, design=BYPASSING, instructions=3, reading=3, entries=8)
    assert len(run.bank(0).reads("R0").cycles) >= slots
    assert len(run.outcome.issues) == 3 * slots


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"entries": 0}, "collectors: entries expects at least 1, found 0"),
        ({"instructions": 2, "reading": 3}, "collectors: reading expects at most 2 instructions, found 3"),
        ({"instructions": 64, "reading": 64}, "collectors: reading expects at most 63, found 64"),
        ({"dispatch": "random"}, "collectors: dispatch expects one of oldest, round-robin, found 'random'"),
        ({"per_warp": False}, "collectors: per_warp expects True: a machine's own sets need no collectors function"),
    ],
)
def test_collectors_that_cannot_be(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(DesignError) as error:
        Collectors(**wrong)  # type: ignore[arg-type]
    assert str(error.value) == message
