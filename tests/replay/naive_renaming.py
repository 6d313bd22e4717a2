"""What the designs that rename should count along a schedule, by the model of `tests.designs.renaming.model`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from tests.designs.renaming.model import Model, Result, Side, Source
from tests.replay import naive
from tests.replay.naive import Step
from tests.replay.naive_cache import operands
from tests.replay.paths import Recorded

from warpreg.designs import Design, Program, program_table
from warpreg.designs.parts.affinity.alignment import LEFT, RIGHT
from warpreg.ir.kernel import Kernel
from warpreg.trace import Schedule

SIDES: Mapping[int, Side] = {LEFT: "left", RIGHT: "right"}
PAIRED = ("buddies_placed", "buddies_packed", "pairs_placed", "pairs_packed")
NAMES = {
    "multiple": "multiple_sources",
    "allocated": "placed",
    **{name: name for name in (*PAIRED, "coalesced", "grown", "carried", "released")},
}
"""The model's counts, and the events of the designs."""


class NaiveRenaming:
    """One model per SM; ``later`` are results of long-latency instructions by (slot, pc)."""

    def __init__(self, program: Program, schedule: Schedule, options: Mapping[str, Any]) -> None:
        self.program, self.warps = program, schedule.slots.warps
        self.models = [Model(**options) for _ in range(schedule.slots.sms)]
        self.later: dict[tuple[int, int], list[Result]] = {}

    def issue(self, slot: int, step: Step, widths: list[int]) -> None:
        model, warp = self.models[slot // self.warps], slot % self.warps
        for register in self.dying(step.pc) if model.frees else []:
            model.kill((warp, register))
        sources = operands(self.program.source_start, step.reads, step.pc)
        model.read(warp, [source.register for source in sources])
        for source in sources:
            model.end_of_source(warp, Source(source.register, bool(self.program.last_read[source.row])))
        written = operands(self.program.result_start, step.writes, step.pc)
        is_full = step.mask == 0xFFFFFFFF
        results = [self.result(one.row, width, is_full) for one, width in zip(written, widths, strict=True)]
        if self.program.long_latency[step.pc]:
            self.later[slot, step.pc] = results
        else:
            self.write(slot, results)

    def result(self, row: int, width: int, is_full: bool) -> Result:
        program = self.program
        is_partial = bool(program.result_partial[row]) and (bool(program.hints.guarded[row]) or not is_full)
        is_dead = bool(program.hints.dead[row])
        return Result(int(program.result[row]), width, is_partial, is_dead)

    def write(self, slot: int, results: list[Result]) -> None:
        for result in results:
            self.models[slot // self.warps].write((slot % self.warps, result.register), result)

    def dying(self, pc: int) -> list[int]:
        """The registers that die where a block begins."""
        block = self.program.hints.entered[pc] - 1
        words = self.program.hints.released[block] if block >= 0 else []
        return [32 * at + bit for at, word in enumerate(words) for bit in range(32) if int(word) >> bit & 1]


def renaming_counts(design: Design, values: Any, code: Kernel, path: Recorded, schedule: Schedule) -> Counter[str]:
    """Of a kernel in which the design inserts nothing; zeros left out."""
    program = design.compile(program_table(code), values, code)
    naively = NaiveRenaming(program, schedule, model_options(design.name, values, program))
    recorded = iter([int(one) for chunk in path.width_chunks() for one in chunk])
    widths: dict[naive.Warp, list[list[int]]] = {}
    for step in naive.steps(code, path):
        widths.setdefault(step.warp, []).append([next(recorded) for _ in step.writes])
    for event in naive.events(code, path, schedule):
        if event.step is not None:
            naively.issue(event.slot, event.step, widths[event.step.warp].pop(0))
        elif event.kind == "arrive":
            naively.write(event.slot, naively.later.pop((event.slot, event.pc)))
        elif event.kind == "end":
            naively.models[event.slot // schedule.slots.warps].end(event.slot % schedule.slots.warps)
    assert not any(model.place for model in naively.models)
    counts = sum((model.counts for model in naively.models), Counter[str]())
    return +Counter({"MRF reads": counts["reads"] + counts["carried"], "MRF writes": counts["writes"]}) + Counter(
        {new: counts[old] for old, new in NAMES.items()}
    )


def model_options(name: str, values: Any, program: Program) -> dict[str, Any]:
    """The options of the model for a design."""
    options: dict[str, Any] = {
        "physical": values.physical,
        "banks": values.banks,
        "packs": name != "virtualization",
        "frees": getattr(values, "virtualization", True),
        "adjacent": getattr(values, "adjacent", True),
        "coalesces": getattr(values, "coalesce", name in ("corf", "corf-pp")),
    }
    if getattr(values, "search", "sm") == "warp":
        options["own"] = program.register_count
    by_register = dict(zip(program.result.tolist(), range(program.result.size), strict=False))
    if name == "corf":
        buddy = {register: int(program.hints.buddy[row]) for register, row in by_register.items()}
        options |= {"buddy": {one: other for one, other in buddy.items() if other >= 0}, "reserves": values.reserve}
    if name == "corf-pp":
        sides = {register: int(program.hints.side[row]) for register, row in by_register.items()}
        side = {register: SIDES[one] for register, one in sides.items() if one in SIDES}
        options |= {"dual": True, "warp_banks": values.warp_banks, "side": side}
    return options
