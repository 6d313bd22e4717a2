"""Code on edges costs what it costs where the executor runs it: cycles, issues and counts are the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.sass.text import line, write_trace

from warpreg import simt
from warpreg.codegen import CompileOptions
from warpreg.designs import Design, load
from warpreg.evaluation.runs.run import find_workload
from warpreg.evaluation.runs.traces import recorded_run
from warpreg.replay import distinct_warps, replay, together
from warpreg.simt.kernel.native_kernel import NativeKernel
from warpreg.timing import simulate
from warpreg.trace.path import RecordedPath

EXITS = Path(__file__).parents[2] / "examples" / "loop_exits.py"


class Rewriting(simt.Device):
    """Runs each kernel as a design rewrites it."""

    def __init__(self, workload: str, design: Design | None) -> None:
        super().__init__(
            find_workload(workload).module(), CompileOptions(), simt.Record(path=True, addresses=True, widths=True)
        )
        self._design = design
        self._known: set[str] = set()

    def native(self, name: str) -> NativeKernel:
        """The kernel, rewritten at first use."""
        if name not in self._known and self._design is not None:
            self._known.add(name)
            self.install(self._design.rewrite(super().native(name).kernel, self._design.configure()))
        return super().native(name)


def launches(workload: str, design: Design | None) -> tuple[simt.Launch, ...]:
    problem, device = find_workload(workload).problem("tiny", 0), Rewriting(workload, design)
    problem.check(problem.run(device))
    return tuple(device.launches)


@pytest.mark.slow
@pytest.mark.parametrize("workload", ["spmv", "bfs"])
def test_a_recorded_run_is_timed_as_the_run_of_the_rewritten_kernel(workload: str) -> None:
    design = load(EXITS, checked=False)
    (plain, *_), (rewritten, *_) = launches(workload, None), launches(workload, design)
    found, wanted = simulate([plain], "gtx480", designs=[design]), simulate([rewritten], "gtx480")
    assert found.cycles == wanted.cycles
    assert found.stall_account == wanted.stall_account
    assert found.warp_instructions == wanted.warp_instructions
    assert found.counts.events["exits"] == found.counts.added_warp_instructions
    assert found.ipc_of_kernel == plain.warp_instructions / found.cycles


def test_a_hardware_trace_takes_code_on_edges(tmp_path: Path) -> None:
    """Two warps run a loop three and two times; each passes one mark when it leaves."""
    once, last = ([line(0x10, "R1 <- IADD3 R1"), line(0x20, "BRA", mask=mask)] for mask in (0xFFFFFFFF, 0))
    warps = [[line(0x00, "R1 <- MOV"), *once * n, *last, line(0x30, "EXIT")] for n in (2, 1)]
    (launch,) = recorded_run(str(write_trace(tmp_path, [warps]))).launches
    design = load(EXITS)
    assert launch.trace is not None
    counts = replay(launch.trace, launch.kernel, design, mode="interpreted")
    timed = simulate([launch], "v100", designs=[design], sms=1, mode="interpreted")
    assert timed.counts.events == counts.events == {"exits": 2}
    assert timed.warp_instructions == launch.warp_instructions + 2 == (2 + 2 * 3 + 1) + (2 + 2 * 2 + 1)


def test_a_replay_visits_the_code_on_edges() -> None:
    """Each of the 32 warps leaves its loop once: its lanes meet in the code on the only exit."""
    design = load(EXITS)
    (plain, *_) = launches("spmv", None)
    assert plain.trace is not None
    paths: list[RecordedPath] = [plain.trace, distinct_warps([plain.trace], len(plain.kernel.blocks), "interpreted")]
    for path in paths:
        counts = replay(path, plain.kernel, design, mode="interpreted")
        assert counts.events["exits"] == 32
        assert counts.warp_instructions == plain.warp_instructions + 32
        assert (dict(counts.added_instructions), counts.added_warp_instructions) == ({plain.kernel.name: 1}, 32)
        assert together(counts, counts).as_dict()["added_warp_instructions"] == 64
