"""No stale machine code: an edit changes all entry points that depend on the edited text, and no others.

Keys and answers come from separate processes, which import an edited copy of the sources.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KEYS = """
import json
from warpreg import gpu
from warpreg.designs import load
from warpreg.designs.interface.state import reset_rows
from piecewise_numba.dependencies import Fingerprint
from warpreg.counting import split_warps
from warpreg.replay import hook_calls, path_core, schedule_core
from warpreg.sass.parse import scan
from warpreg.sass.rebuild import walk
from warpreg.timing.core.port import HOOKS, replacements
from warpreg.timing.feed import split_warps as feed
from warpreg.timing.launch import compile as timing
from warpreg.timing.launch.variants import called_hooks, given_of
from warpreg.timing.memory import between_launches, traffic
from warpreg.trace import edge_walk, lanes

def hooked(design):
    return hook_calls.bindings({name: hook for name, hook in load(design).hooks.items() if name in hook_calls.HOOKS})

def core(hooks):
    called = {HOOKS[name]: hook for name, hook in called_hooks(hooks).items()}
    return {timing.core: timing.run, **replacements(given_of(gpu.load("gtx480"), hooks)), **called}

entries = {
    "lanes": (lanes.count_lanes, {}), "scan": (scan.scan, {}), "observe": (walk.observe, {}),
    "contract": (walk.contract, {}), "edges": (walk.copy_edges, {}), "path": (path_core.walk, {}),
    "path rfc": (path_core.walk, hooked("rfc")), "schedule rc": (schedule_core.walk, hooked("rc")),
    "split": (split_warps.split, {}), "feed": (feed.split, {}), "traffic": (traffic.drive, {}),
    "copies": (between_launches.copy_from_host, {}),
    "on edges": (edge_walk.expand, {}), "core": (timing.with_designs, core({})),
    "core rfc": (timing.with_designs, core(load("rfc").hooks)),
}
keys = {}
for name, (entry, replaced) in entries.items():
    fingerprint = Fingerprint(replaced)
    fingerprint.function(entry)
    keys[name] = fingerprint.digest
print(json.dumps(keys))
"""
PATHS = {"lanes", "scan", "observe", "contract", "path", "path rfc", "split", "feed", "on edges"}
HOOKED = {"path rfc", "schedule rc", "core rfc"}


class Sources:
    """A copy of the package that is edited and imported."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__", "workloads"))

    def edit(self, file: str, before: str, after: str) -> None:
        path = self.folder / "src" / "warpreg" / file
        text = path.read_text(encoding="utf-8")
        assert text.count(before) == 1
        path.write_text(text.replace(before, after), encoding="utf-8")

    def prints(self, script: str) -> str:
        """What a process with these sources prints; compiled code is kept in a cache of this folder."""
        paths = os.pathsep.join((str(self.folder / "src"), str(ROOT)))
        environment = {**os.environ, "PYTHONPATH": paths, "WARPREG_CACHE": str(self.folder / "cache")}
        command = [sys.executable, "-c", script]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    def keys(self) -> Mapping[str, str]:
        found: dict[str, str] = json.loads(self.prints(KEYS))
        return found


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """The keys of the sources as they are."""
    return Sources(tmp_path_factory.mktemp("before")).keys()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "old", "new", "changed"),
    [
        ("trace/path.py", "VISIT_MASK = 1\n    WARP = 2", "WARP = 1\n    VISIT_MASK = 2", PATHS),
        ("trace/schedule.py", "START = 1\n    END = 2", "END = 1\n    START = 2", {"schedule rc"}),
        ("sass/parse/state.py", "    WARP = 4\n", "    WARP = 6\n", {"scan"}),
        ("trace/addresses.py", "PAYLOAD_BITS = ", "PAYLOAD_BITS = -1 + ", {"scan"}),
        (
            "counting/status.py",
            "BAD_BLOCK, BAD_WARP",
            "BAD_WARP, BAD_BLOCK",
            {"path", "path rfc", "schedule rc", "split"},
        ),
        ("designs/interface/plan.py", "READ, WRITE = 0, 1", "READ, WRITE = 1, 0", {*HOOKED}),
        ("timing/feed/decode.py", "BAD_BLOCK, BAD_WARP", "BAD_WARP, BAD_BLOCK", {"feed"}),
        ("timing/core/intrinsics.py", "builder.ctpop(", "builder.cttz(", {"core", "core rfc", "traffic"}),
        ("trace/lanes.py", '"""SIMD efficiency', '"""Efficiency', set()),
        ("sass/rebuild/walk.py", "NEAR = 16\n", "NEAR = 16\nFAR = 17\n", set()),
        ("timing/memory/traffic.py", "STAGGER = 613", "STAGGER = 617", {"traffic"}),
    ],
    ids=lambda value: value if isinstance(value, str) and value.endswith(".py") else "",
)
def test_an_edit_changes_the_keys_of_what_depends_on_it(
    tmp_path: Path, before: Mapping[str, str], file: str, old: str, new: str, changed: set[str]
) -> None:
    sources = Sources(tmp_path)
    sources.edit(file, old, new)
    after = sources.keys()
    assert {name for name, key in after.items() if key != before[name]} == changed


def test_these_are_all_entry_points() -> None:
    """All that is compiled goes through `piecewise_numba.recipe`; numba's own decorators are used in it alone."""
    users, decorating = set(), set()
    for path in (ROOT / "src" / "warpreg").rglob("*.py"):
        text, package = path.read_text(encoding="utf-8"), path.relative_to(ROOT / "src" / "warpreg")
        if re.search(r"^from piecewise_numba\.recipe import .*\b(Recipe|compiled)\b", text, re.MULTILINE):
            users.add(str(package))
        if "njit" in text:
            decorating.add(str(package))
    assert decorating == set()
    assert users == {
        "trace/expanded_path.py", "trace/lanes.py", "trace/widths.py", "sass/rebuild/first_pass.py",
        "sass/rebuild/second_pass.py", "counting/block_visits.py", "counting/distinct_warps.py", "counting/pieces.py",
        "replay/walker.py",
        "timing/feed/digest.py", "timing/feed/feed.py", "timing/launch/compile.py", "timing/memory/between_launches.py",
        "timing/memory/traffic.py", "evaluation/runs/value_widths.py",
    }  # fmt: skip


ANSWERS = {
    "trace": """
import numpy as np
from warpreg.trace.lanes import lane_instructions
from warpreg.trace.path import PathWord as Word
path = [Word.THREAD_BLOCK, 0, Word.WARP, Word.VISIT_MASK | 1 << 2, 7, Word.VISIT | 0 << 2]
print(lane_instructions([np.array(path, np.uint32)], np.array([5, 3], np.int64)))
""",
    "sass": """
import numpy as np
from piecewise_numba.recipe import compiled
from warpreg.sass.rebuild.flow import empty_program
from warpreg.sass.rebuild.walk import new_state, observe
from warpreg.trace.path import PathWord as Word
steps = [Word.THREAD_BLOCK, 0, Word.WARP, Word.VISIT_MASK | 1 << 2, 7, Word.VISIT | 0 << 2]
program = empty_program(2)
arguments = np.array(steps, np.uint32), program, new_state(32)
compiled(observe, arguments)(*arguments)
print(*program.executed)
""",
    "replay": """
import numpy as np
from tests.designs.kernels import kernel, op, r
from tests.replay.paths import one_warp
from warpreg.replay import ReplayError, profile
try:
    profile(one_warp([5]), kernel([op("add.s32", r(1), r(0), r(0))]))
except ReplayError as error:
    print("visits" in str(error))
""",
    "timing": """
from tests.designs.kernels import kernel, op, r
from tests.replay.paths import one_warp
from warpreg.timing.errors import TimingError
from warpreg.timing.feed.feed import feed

class Run:
    header = {"block": (32, 1, 1)}
    path_chunks = one_warp([5]).path_chunks
    def address_chunks(self): return []

try:
    list(feed(Run(), kernel([op("add.s32", r(1), r(0), r(0))])))
except TimingError as error:
    print("visits" in str(error))
""",
}
EDITS = {
    "trace": ("trace/path.py", "VISIT = 0\n    VISIT_MASK = 1", "VISIT_MASK = 0\n    VISIT = 1"),
    "sass": ("trace/path.py", "VISIT = 0\n    VISIT_MASK = 1", "VISIT_MASK = 0\n    VISIT = 1"),
    "replay": ("counting/status.py", "BAD_BLOCK, BAD_WARP", "BAD_WARP, BAD_BLOCK"),
    "timing": ("timing/feed/decode.py", "BAD_BLOCK, BAD_WARP", "BAD_WARP, BAD_BLOCK"),
}
"""What is swapped.  The package answers the same: its input is written with the names of the numbers, and stale code
would still go by the old ones."""


EXPECTED = {"trace": "24", "sass": "1 1", "replay": "True", "timing": "True"}
"""Three lanes run 3 and 5 instructions; each step is executed once; the messages are of a block that there is not."""


@pytest.mark.slow
@pytest.mark.parametrize("package", ANSWERS)
def test_an_edited_constant_is_in_the_code_of_the_next_process(tmp_path: Path, package: str) -> None:
    file, old, new = EDITS[package]
    sources = Sources(tmp_path)
    first = sources.prints(ANSWERS[package])
    assert first.strip() == EXPECTED[package]
    compiled = set((tmp_path / "cache" / "cores").iterdir())
    assert sources.prints(ANSWERS[package]) == first
    assert set((tmp_path / "cache" / "cores").iterdir()) == compiled
    sources.edit(file, old, new)
    assert sources.prints(ANSWERS[package]) == first
    assert len(set((tmp_path / "cache" / "cores").iterdir())) == len(compiled) + 1
