"""Tables in front of operand fetch: ports, stages and conflicts, worked by hand with the miniature ``renamed``.

Without a table an instruction issued at 1 enters at 2; its sources lie in four banks and are read at 3.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.timing.assembly import code, one_warp
from tests.timing.both_cores import agreed
from tests.timing.documented import documented
from tests.timing.launches import FULL, Launched, WarpPath
from tests.timing.reference.machine import PIPES, Banks, CollectorSet, Sm
from tests.timing.test_designs import path_of
from tests.timing.vocabulary import Timed

from warpreg.designs import DesignError, load
from warpreg.designs.interface import Table
from warpreg.replay import replay

RENAMED = load(Path(__file__).parent / "designs" / "renamed.py")
THREE = "mad.lo.s32 R7, R0, R1, R2\nmov.b32 R5, R7"
BANKED = Sm(banks=Banks(count=4, mapping="register"))


def table(run: Timed) -> list[int]:
    """Lookups, updates, conflicts."""
    found: list[int] = run.outcome.counts.tables[0].tolist()
    return found


@pytest.mark.parametrize(
    ("banks", "ports", "stages", "served", "conflicts"),
    [
        (1, 1, 1, 3, 2 + 1),
        (1, 2, 1, 2, 1 + 1),
        (1, 4, 1, 1, 0),
        (4, 1, 1, 1, 0),
        (2, 1, 1, 2, 1 + 1),
        (1, 4, 3, 1, 0),
        (1, 1, 2, 3, 2 + 1),
        (1, 4, 0, 1, 0),
    ],
)
def test_lookups_wait_for_ports_and_take_their_stages(
    banks: int, ports: int, stages: int, served: int, conflicts: int
) -> None:
    """R0, R1 and R2 are looked up at 1, then R7 is updated; ``served`` is the cycle of the last lookup.

    With two ports or two banks the update waits with the last lookup.  The second instruction issues when R7 is there,
    when all ports are free again.
    """
    run = agreed(one_warp(THREE), BANKED, design=RENAMED, banks=banks, ports=ports, stages=stages)
    enters = max(2, served + stages)
    run.bank(1).reads("R1").at(enters + 1)
    run.warp(0).issues("mov").at(enters + 2 + 4)
    again = 1 if banks == ports == 1 or banks == 2 else 0
    assert table(run) == [3 + 1, 1 + 1, conflicts + again]


def test_with_the_ideal_operand_path_lookups_delay_the_result() -> None:
    """Served at 1, 2 and 3, entering at 4 instead of 2: the result is due at 5 + 2, not at 5."""
    run = agreed(one_warp(THREE), Sm(), design=RENAMED)
    run.warp(0).issues("mov").at(5 + 2)


def test_an_instruction_whose_lookups_are_done_passes_another_one() -> None:
    """Two schedulers issue at 1.  The first looks up R0, R1, R2 at 1, 2, 3, the second nothing: it enters at 2."""
    kernel = code("mad.lo.s32 R7, R0, R1, R2", "mov.b32 R5, 1\nmov.b32 R6, R5")
    launched = Launched(kernel, ((WarpPath(((0, FULL),)), WarpPath(((1, FULL),))),))
    sm = Sm(schedulers=2, banks=Banks(count=4, mapping="register", sets=(CollectorSet(PIPES, collectors=2),)))
    run = agreed(launched, sm, design=RENAMED)
    run.bank(0).reads("R0").at(5)
    run.warp(1).issues("mov.b32 R6").at(2 + 1 + 4)


def test_a_replay_counts_lookups_and_updates() -> None:
    launched = one_warp(THREE)
    counts = replay(path_of(launched), launched.kernel, RENAMED, mode="interpreted")
    assert counts.events == {"renaming lookups": 4, "renaming updates": 2}


def test_an_instruction_may_not_ask_more_than_there_is_room_for(tmp_path: Path) -> None:
    file = tmp_path / "many.py"
    text = Path(RENAMED.path).read_text(encoding="utf-8")
    file.write_text(
        text.replace("        w.lookup(", "        for _ in range(300):\n            w.lookup("), encoding="utf-8"
    )
    with pytest.raises(Exception, match="hooks asked for more than the core has room for"):
        agreed(one_warp("mov.b32 R1, R0"), BANKED, design=load(file, checked=False))


@pytest.mark.parametrize(("field", "value"), [("entries", 0), ("bits", 0), ("banks", 0), ("ports", 0), ("stages", -1)])
def test_a_table_has_at_least_one_of_everything(field: str, value: int) -> None:
    sizes = {"entries": 64, "bits": 14} | {field: value}
    with pytest.raises(DesignError, match=f"table renaming: {field} expects at least {value + 1}, found {value}"):
        Table("renaming", **sizes)


def test_the_example_of_the_documentation(tmp_path: Path) -> None:
    """Two lookups of bank 0 of the table: served at 1 and 2, so the instruction enters at 4 with two stages."""
    one = load(documented(tmp_path, "renaming table"))
    run = agreed(one_warp("add.s32 R1, R0, R4"), BANKED, design=one)
    assert table(run) == [2, 1, 1]
    run.bank(0).reads("R0").at(5)


def test_tables_of_a_composition_are_kept_apart(tmp_path: Path) -> None:
    """The mapping and the levels have a table each; both look up what an instruction reads: R0 and R4, then R1."""
    folder = Path(RENAMED.path).parent
    text = (folder / "renamed.py").read_text(encoding="utf-8")
    levels = text.replace('"mapping"', '"levels"').replace('"renaming"', '"tags"')
    (tmp_path / "tagged.py").write_text(levels, encoding="utf-8")
    both = load(f"{folder / 'renamed.py'}+{tmp_path / 'tagged.py'}")
    launched = one_warp("add.s32 R1, R0, R4\nmov.b32 R2, R1")
    agreed(launched, BANKED, design=both, renamed_stages=3)
    counts = replay(path_of(launched), launched.kernel, both, mode="interpreted")
    expected = {"renaming lookups": 3, "renaming updates": 2, "tags lookups": 3, "tags updates": 2}
    assert (counts.events, counts.reads("MRF"), counts.writes("MRF")) == (expected, 3, 2)


def test_two_tables_of_one_name_cannot_work_together(tmp_path: Path) -> None:
    folder = Path(RENAMED.path).parent
    text = (folder / "renamed.py").read_text(encoding="utf-8")
    (tmp_path / "tagged.py").write_text(text.replace('"mapping"', '"levels"'), encoding="utf-8")
    both = load(f"{folder / 'renamed.py'}+{tmp_path / 'tagged.py'}")
    with pytest.raises(DesignError, match=r"renamed\+tagged: two of the designs have hardware named renaming"):
        agreed(one_warp("mov.b32 R1, R0"), BANKED, design=both)


STATE = """
from typing import NamedTuple
class State(NamedTuple):
    renamed: object
def init(parameters, program):
    return State(None)
"""


def test_a_table_that_a_design_repeats_from_one_that_it_uses_is_the_same(tmp_path: Path) -> None:
    """Both look up R0 and R4 in one table with one port: served at 1 to 4, so the instruction enters at 5."""
    folder = Path(RENAMED.path).parent
    text = (folder / "renamed.py").read_text(encoding="utf-8")
    user = text.replace('slot="mapping"', 'slot="levels", uses=("renamed",)')
    (tmp_path / "user.py").write_text(user + STATE, encoding="utf-8")
    both = load(f"{folder / 'renamed.py'}+{tmp_path / 'user.py'}")
    launched = one_warp("add.s32 R1, R0, R4")
    run = agreed(launched, BANKED, design=both)
    run.bank(0).reads("R0").at(6)
    counts = replay(path_of(launched), launched.kernel, both, mode="interpreted")
    assert counts.events == {"renaming lookups": 4, "renaming updates": 2}
