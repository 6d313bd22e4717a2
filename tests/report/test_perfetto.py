"""A trace for Perfetto, read back with the messages of the `perfetto` package, against the counts of its run."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent
from tests.timing.assembly import one_warp, warps
from tests.timing.launches import Launched
from tests.timing.reference.instruction import Access
from tests.timing.reference.machine import PIPES, Banks, Pipe, Sm
from tests.timing.traced import traced

from warpreg import energy
from warpreg.evaluation.runs.event_energy import event_energy
from warpreg.report.perfetto import write_perfetto
from warpreg.timing import CAUSES
from warpreg.timing.launch.tracing import TraceOfRun

TECHNOLOGY = energy.load("gebhart-40nm")
BANKS = Banks(count=8, single_ported=False)
CODE = """ld.global.u32 R1, [R4.64]
add.s32 R2, R1, R1
mad.lo.s32 R3, R2, R1, R0
add.s32 R0, R3, R2
add.s32 R6, R0, R3
st.global.u32 [R4.64], R6
bra 0"""
ACCESS = Access(0xFFFFFFFF, "global", 0, ((0, 15),))


@dataclass
class Slice:
    """A slice with its annotations and flows."""

    name: str
    begin: int
    end: int
    notes: dict[str, Any]
    flows: list[int]
    ends_flows: list[int]


@dataclass
class Found:
    """By path of a track, its slices and the values of its counter."""

    slices: dict[str, list[Slice]] = field(default_factory=lambda: defaultdict(list))
    values: dict[str, list[tuple[int, float]]] = field(default_factory=lambda: defaultdict(list))


def read(path: Path) -> Found:
    """The file as a viewer sees it: events by time, those of equal time in order."""
    packets = Trace.FromString(path.read_bytes()).packet
    tracks = {one.track_descriptor.uuid: one.track_descriptor for one in packets if one.HasField("track_descriptor")}
    names: dict[int, str] = {}
    texts: dict[int, str] = {}
    for packet in packets:
        names.update((one.iid, one.name) for one in packet.interned_data.event_names)
        texts.update((one.iid, one.str.decode()) for one in packet.interned_data.debug_annotation_string_values)

    def place(uuid: int) -> str:
        track = tracks[uuid]
        return f"{place(track.parent_uuid)}/{track.name}" if track.parent_uuid else track.process.process_name

    found = Found()
    open_slices: dict[int, list[Slice]] = defaultdict(list)
    for packet in sorted((one for one in packets if one.HasField("track_event")), key=lambda one: one.timestamp):
        event = packet.track_event
        if event.type == TrackEvent.TYPE_SLICE_BEGIN:
            notes = {one.name: texts.get(one.string_value_iid, one.int_value) for one in event.debug_annotations}
            flows = list(event.flow_ids), list(event.terminating_flow_ids)
            made = Slice(names[event.name_iid], packet.timestamp, -1, notes, *flows)
            found.slices[place(event.track_uuid)].append(made)
            open_slices[event.track_uuid].append(made)
        elif event.type == TrackEvent.TYPE_SLICE_END:
            open_slices[event.track_uuid].pop().end = packet.timestamp
        else:
            found.values[place(event.track_uuid)].append((packet.timestamp, event.double_counter_value))
    assert not any(open_slices.values())
    return found


def written(trace: TraceOfRun, folder: Path) -> Found:
    path = folder / "trace.pftrace"
    write_perfetto(trace, event_energy(trace, TECHNOLOGY), path)
    return read(path)


def sm(banks: Banks | None = BANKS, **more: Any) -> Sm:
    return Sm(banks=banks, pipes={name: Pipe() for name in PIPES}, **more)


def launched(times: int = 4) -> Launched:
    """Four warps that run the code ``times``."""
    return warps(CODE, *[[(ACCESS, ACCESS)] * times] * 4)


def of_group(found: Found, group: str) -> list[Slice]:
    return [one for place, slices in found.slices.items() if place.startswith(f"SM 0/{group}/") for one in slices]


@pytest.mark.parametrize("design", ["mrf", "rfc", "orf-lrf", "bow-wr"])
def test_slices_and_energy_are_those_of_the_run(tmp_path: Path, design: str) -> None:
    """Issue slices are the instructions issued; accesses of bank ports are those of the register file, where a read may
    serve several operands; the power over time adds up to the energy of arrays and wires.
    """
    trace = traced(launched(), sm(schedulers=2), design)
    found, result = written(trace, tmp_path), trace.result
    assert len(of_group(found, "schedulers")) == result.warp_instructions == 4 * 4 * 7
    ports = sum(one.notes.get("operands", 1) for one in of_group(found, "banks"))
    assert ports == result.counts.mrf_accesses > 0
    spent = integral(found.values["SM 0/power"])
    assert spent == pytest.approx(energy.account(result.counts.energy_list(), TECHNOLOGY).total_pj)
    assert spent == pytest.approx(event_energy(trace, TECHNOLOGY).total(trace))


def integral(values: list[tuple[int, float]]) -> float:
    steps = pairwise(values)
    return math.fsum((after[0] - before[0]) * before[1] for before, after in steps)


def test_waits_of_warps_are_the_stall_account(tmp_path: Path) -> None:
    trace = traced(launched(), sm(schedulers=2))
    account: Counter[str] = Counter()
    for one in of_group(written(trace, tmp_path), "warps"):
        account[one.name] += one.end - one.begin
    expected = {cause: cycles for cause, cycles in trace.result.stall_account.items() if cycles and cause != "empty"}
    assert account == expected
    assert set(account) <= set(CAUSES)


def test_a_chain_in_cycles(tmp_path: Path) -> None:
    """As in the test of Konata's text: issue in 1, collector from 2 to 4, grant in 3, result and write in 8."""
    found = written(traced(one_warp("add.s32 R1, R0, 3\nadd.s32 R2, R1, 1"), sm()), tmp_path)

    def spans(place: str) -> list[tuple[int, int]]:
        return [(one.begin, one.end) for one in found.slices[f"SM 0/{place}"]]

    assert spans("schedulers/scheduler 0") == [(1, 2), (8, 9)]
    assert spans("collectors/collector 00") == [(2, 4), (9, 11)]
    assert spans("banks/bank 00 read") == [(3, 4)]
    assert spans("banks/bank 01 read") == [(10, 11)]
    assert spans("banks/bank 01 write") == [(8, 9)]
    assert spans("pipes/int 00") == [(4, 8), (11, 15)]
    assert [one.name for one in found.slices["SM 0/warps/warp 00"]] == ["issued", "alu", "issued", "drain"]
    first, second = found.slices["SM 0/schedulers/scheduler 0"]
    assert first.notes["instruction"] == "add.s32 R1, R0, 3"
    assert second.notes == {"warp": 0, "thread_block": 0, "pc": 1, "number": 1, "instruction": "add.s32 R2, R1, 1"}
    assert found.slices["SM 0/pipes/int 00"][0].flows == second.ends_flows == [1]
    assert found.values["SM 0/resident warps"][0] == (0, 0.0)
    assert found.values["SM 0/resident warps"][1] == (1, 1.0)


def test_a_window_holds_what_the_whole_trace_has_in_it(tmp_path: Path) -> None:
    whole, part = traced(launched(), sm(), "rfc"), traced(launched(), sm(), "rfc", 20, 60)
    found, window = written(whole, tmp_path), written(part, tmp_path)
    for group in ("schedulers", "banks"):
        inside = [(one.begin, one.name) for one in of_group(found, group) if 20 <= one.begin < 60]
        assert sorted((one.begin, one.name) for one in of_group(window, group)) == sorted(inside)
    cut = [(max(20, one.begin), min(60, one.end)) for one in of_group(found, "warps")]
    assert sorted((one.begin, one.end) for one in of_group(window, "warps")) == sorted((a, b) for a, b in cut if a < b)
    times = [time for time, _ in window.values["SM 0/power"]]
    assert (times[0], times[-1]) == (20, 60)


def test_the_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a", "b")]
    for file in files:
        trace = traced(launched(), sm(schedulers=2), "rfc")
        write_perfetto(trace, event_energy(trace, TECHNOLOGY), file)
    assert files[0].read_bytes() == files[1].read_bytes()
