"""The example of docs/reference/design-interface.md runs as printed."""

from __future__ import annotations

import re
from pathlib import Path

from tests.designs.kernels import at, kernel, op, pair, r
from tests.replay.paths import Recorded

from warpreg.designs import load
from warpreg.replay import replay

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "design-interface.md"


def example(folder: Path) -> Path:
    """The file of the example."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    path = folder / "narrow.py"
    path.write_text(next(block for block in blocks if "NARROW" in block), encoding="utf-8")
    return path


def test_narrow_values_have_a_level_of_their_own(tmp_path: Path) -> None:
    """The load writes 2 bytes, the move 1, the sum 3: two writes of NARROW.  The sum reads both there, the load its
    address in the register file.  Sources of the load and of the sum are read at once.
    """
    code = kernel([op("ld.global.u32", r(1), at(pair(4))), op("mov.b32", r(2), 1), op("add.s32", r(3), r(1), r(2))])
    run = Recorded().thread_block().warp(0).widths(2, 1, 3).visits(0)
    found = replay(run, code, load(example(tmp_path)), mode="interpreted")
    assert (found.reads("MRF"), found.reads("NARROW")) == (2, 2)
    assert (found.writes("MRF"), found.writes("NARROW")) == (1, 2)
    assert found.events == {"bytes": 6, "ready": 2}
