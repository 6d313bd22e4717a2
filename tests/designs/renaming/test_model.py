"""The reference model on the examples of the thesis, by hand."""

from __future__ import annotations

from tests.designs.renaming.model import Model, Result, Source


def low(size: int) -> frozenset[int]:
    return frozenset(range(size))


def high(size: int) -> frozenset[int]:
    return frozenset(range(4 - size, 4))


def test_figure_2_5_at_run_time() -> None:
    """Pairs (R1, R3) and (R2, R4).  R1 and R3 are too wide for one physical register, R2 and R4 fit (§2.4.1).

    An instruction that reads R2 and R4 takes one access, one that reads R1 and R3 two.
    """
    corf = Model(physical=8, coalesces=True, buddy={1: 3, 3: 1, 2: 4, 4: 2})
    for register, size in ((1, 2), (2, 2), (3, 3), (4, 1)):
        corf.run(0, [], [Result(register, size)])
    assert corf.place[0, 2][0] == corf.place[0, 4][0]
    assert corf.place[0, 1][0] != corf.place[0, 3][0]
    assert corf.run(0, [Source(2), Source(4)], []) == [[2, 4]]
    assert corf.run(0, [Source(1), Source(3)], []) == [[1], [3]]
    assert corf.run(0, [Source(1), Source(2)], []) == [[1], [2]]


def test_figure_2_12() -> None:
    """Three physical registers.  R1 (2 bytes, no side) takes the first place; R2 and R4 are right, R3 and R5 left.

    R2 finds its side of P0 taken by R1 and goes to P1, R4 to P2; R3 goes to the left of P0, R5 to that of P1.  All
    three reads of two registers are coalesced; CORF cannot coalesce R3 and R4, because each is in another pair
    (§2.5.3).
    """
    code = [
        ([], Result(1, 2)),
        ([], Result(2, 2)),
        ([], Result(4, 1)),
        ([], Result(3, 2)),
        ([Source(2), Source(3)], Result(5, 1)),
        ([Source(4), Source(5)], None),
        ([Source(3), Source(4)], None),
    ]
    side = {2: "right", 4: "right", 3: "left", 5: "left"}
    dual = Model(physical=3, coalesces=True, dual=True, side=side)  # type: ignore[arg-type]
    reads = [dual.run(0, sources, [result] if result else []) for sources, result in code]
    assert dual.place == {
        (0, 1): (0, low(2)),
        (0, 2): (1, low(2)),
        (0, 4): (2, low(1)),
        (0, 3): (0, high(2)),
        (0, 5): (1, high(1)),
    }
    assert reads[4:] == [[[2, 3]], [[4, 5]], [[3, 4]]]
    corf = Model(physical=3, coalesces=True, buddy={2: 3, 3: 2, 4: 5, 5: 4})
    assert [corf.run(0, sources, [result] if result else []) for sources, result in code][4:] == [
        [[2, 3]],
        [[4, 5]],
        [[3], [4]],
    ]


def test_figure_2_10() -> None:
    """R1 and R4 have one byte, R2 and R3 three.  One physical register holds R1 and R3, the other R2 and R4; banks with
    two addresses also coalesce (R1, R2) and (R3, R4), not (R1, R4) or (R2, R3) (§2.5.2).
    """
    code = [Result(3, 3), Result(1, 1), Result(2, 3), Result(4, 1)]
    banks = Model(physical=2, coalesces=True, dual=True, side={1: "left", 4: "left", 2: "right", 3: "right"})
    rows = Model(physical=2, coalesces=True)
    for model in (banks, rows):
        for result in code:
            model.run(0, [], [result])
        assert model.place == {(0, 1): (0, high(1)), (0, 3): (0, low(3)), (0, 4): (1, high(1)), (0, 2): (1, low(3))}
    pairs = [(1, 3), (2, 4), (1, 2), (3, 4), (1, 4), (2, 3)]
    assert [len(banks.run(0, [Source(a), Source(b)], [])) for a, b in pairs] == [1, 1, 1, 1, 2, 2]
    assert [len(rows.run(0, [Source(a), Source(b)], [])) for a, b in pairs] == [1, 1, 2, 2, 2, 2]


def test_a_value_that_grows_moves_and_one_that_shrinks_stays() -> None:
    """§2.6.  R1 and R2 share P0.  R1 grows to 4 bytes and moves to P1; if other lanes keep their bytes these are read
    first.  Back at one byte it stays in P1 and frees three slices, which R3 takes.
    """
    model = Model(physical=4)
    for register, size in ((1, 1), (2, 2)):
        model.run(0, [], [Result(register, size)])
    assert model.in_use() == 1
    model.run(0, [], [Result(1, 4, partial=True)])
    assert model.place[0, 1] == (1, low(4))
    model.run(0, [], [Result(1, 1)])
    assert model.place[0, 1] == (1, low(1))
    model.run(0, [], [Result(3, 3)])
    assert model.place[0, 3] == (1, high(3))
    assert +model.counts == {"writes": 5, "grown": 1, "carried": 1, "shrunk": 1, "allocated": 4}
