"""A trace for Perfetto (https://ui.perfetto.dev), as its protobuf messages; a cycle is a nanosecond.

Each SM is a process.  Its tracks are counters, schedulers, warp slots, ports of banks, collectors, and what is under
way in each pipe.  A flow leads from the execution of an instruction to the issue of each instruction that reads its
result.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from warpreg.evaluation.runs.event_energy import EventEnergy
from warpreg.gpu.pipes import PIPES
from warpreg.ir.errors import WarpregError
from warpreg.report.trace_counters import counters
from warpreg.report.trace_instructions import NOT_SEEN, IssuedInstruction, instructions, states
from warpreg.timing.launch.tracing import TraceOfRun
from warpreg.timing.tracing.event_rows import Kind

SEQUENCE = 1
"""The one sequence of packets that a file has."""
CHUNK = 50_000
"""Packets that are serialised at a time."""
GROUPS = ("schedulers", "warps", "banks", "collectors", "pipes")
PORTS = {Kind.READ: "read", Kind.WRITE: "write", Kind.EXTRA: "write"}


def write_perfetto(trace: TraceOfRun, spent: EventEnergy, file: Path) -> None:
    """Write all tracks.  Raises WarpregError without the ``trace`` extra."""
    with file.open("wb") as out:
        writer = _Writer(out)
        issued = instructions(trace)
        _write_counters(writer, trace, spent)
        _write_instructions(writer, trace, issued)
        for sm, slot, cause, begin, end in states(trace):
            writer.add_slice(writer.track(sm, "warps", f"warp {slot:02}"), cause, begin, end)
        _write_banks(writer, trace, issued)
        writer.flush()


def messages() -> Any:
    """The protobuf messages of Perfetto.  Raises WarpregError without the ``trace`` extra."""
    try:
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2
    except ImportError as error:
        raise WarpregError("a Perfetto trace requires the 'trace' extra: pip install 'warpreg[trace]'") from error
    return perfetto_trace_pb2


class _Writer:
    """Packets of one file.  Slices of a track must be added in the order of their begin."""

    def __init__(self, out: Any) -> None:
        self._out, self._messages = out, messages()
        self._trace = self._messages.Trace()
        self._tracks: dict[tuple[Any, ...], int] = {}
        self._names: dict[str, int] = {}
        self._texts: dict[str, int] = {}
        self._uuid = 0
        self._is_first = True
        self._begin_type = self._messages.TrackEvent.TYPE_SLICE_BEGIN
        self._end_type = self._messages.TrackEvent.TYPE_SLICE_END
        self._counter_type = self._messages.TrackEvent.TYPE_COUNTER

    def track(self, sm: int, group: str, name: str) -> int:
        """The track with this name in a group of an SM."""
        key = (sm, group, name)
        if key not in self._tracks:
            self._tracks[key] = self._described(self._group(sm, group), name)
        return self._tracks[key]

    def counter(self, sm: int, name: str, unit: str, rank: int) -> int:
        """A counter of an SM."""
        uuid = self._described(self._sm(sm), name, rank)
        descriptor = self._trace.packet[-1].track_descriptor
        descriptor.counter.unit_name = unit
        return uuid

    def _group(self, sm: int, group: str) -> int:
        key = (sm, group)
        if key not in self._tracks:
            self._tracks[key] = self._described(self._sm(sm), group, 100 + GROUPS.index(group))
        return self._tracks[key]

    def _sm(self, sm: int) -> int:
        if (sm,) not in self._tracks:
            self._tracks[sm,] = uuid = self._described(0, "")
            descriptor = self._trace.packet[-1].track_descriptor
            descriptor.process.pid, descriptor.process.process_name = sm + 1, f"SM {sm}"
            descriptor.child_ordering = descriptor.EXPLICIT
            return uuid
        return self._tracks[sm,]

    def _described(self, parent: int, name: str, rank: int | None = None) -> int:
        """A new track; its children are ordered by name."""
        descriptor = self._packet().track_descriptor
        self._uuid += 1
        descriptor.uuid = self._uuid
        if parent:
            descriptor.parent_uuid, descriptor.name = parent, name
            descriptor.child_ordering = descriptor.LEXICOGRAPHIC
        if rank is not None:
            descriptor.sibling_order_rank = rank
        return self._uuid

    def add_slice(self, track: int, name: str, begin: int, end: int, text: str = "", **more: int) -> Any:
        """A slice with annotations; returns the event of its begin, for flows, until the next slice is added."""
        if len(self._trace.packet) >= CHUNK:
            self.flush()
        packet = self._event(track, begin, self._begin_type)
        event, data = packet.track_event, packet.interned_data
        event.name_iid = _interned(self._names, name, data.event_names)
        for key, value in more.items():
            event.debug_annotations.add(name=key, int_value=value)
        if text:
            iid = _interned(self._texts, text, data.debug_annotation_string_values, "str")
            event.debug_annotations.add(name="instruction", string_value_iid=iid)
        self._event(track, end, self._end_type)
        return event

    def add_value(self, track: int, cycle: int, value: float) -> None:
        """A value of a counter from a cycle on."""
        self._event(track, cycle, self._counter_type).track_event.double_counter_value = value

    def _event(self, track: int, cycle: int, kind: int) -> Any:
        packet = self._packet()
        packet.timestamp = cycle
        packet.track_event.type, packet.track_event.track_uuid = kind, track
        return packet

    def _packet(self) -> Any:
        packet = self._trace.packet.add()
        packet.trusted_packet_sequence_id = SEQUENCE
        flags = self._messages.TracePacket
        packet.sequence_flags = flags.SEQ_NEEDS_INCREMENTAL_STATE
        if self._is_first:
            packet.sequence_flags |= flags.SEQ_INCREMENTAL_STATE_CLEARED
            self._is_first = False
        return packet

    def flush(self) -> None:
        """Write the packets so far."""
        self._out.write(self._trace.SerializeToString(deterministic=True))
        self._trace.Clear()


def _interned(known: dict[str, int], text: str, entries: Any, field: str = "name") -> int:
    """The number of a text; a new one goes to the ``entries`` of the packet."""
    if text not in known:
        known[text] = len(known) + 1
        entries.add(iid=known[text], **{field: text.encode() if field == "str" else text})
    return known[text]


def _write_counters(writer: _Writer, trace: TraceOfRun, spent: EventEnergy) -> None:
    for rank, one in enumerate(counters(trace, spent)):
        track = writer.counter(one.sm, one.name, one.unit, rank)
        for cycle, value in one.values:
            writer.add_value(track, cycle, value)


def _write_instructions(writer: _Writer, trace: TraceOfRun, issued: Sequence[IssuedInstruction]) -> None:
    """Issue, collection and execution; a flow has the number of its producer and the place among its consumers."""
    flows: dict[int, list[int]] = defaultdict(list)
    number = 0
    for made in issued:
        track = writer.track(made.sm, "schedulers", f"scheduler {made.scheduler}")
        event = writer.add_slice(track, made.opcode, made.issued, made.issued + 1, made.text, **_numbers(made))
        for producer in made.producers:
            if issued[producer].dispatched != NOT_SEEN:
                number += 1
                flows[producer].append(number)
                event.terminating_flow_ids.append(number)
    for made in sorted(issued, key=lambda one: (one.entered, one.number)):
        if made.entered != NOT_SEEN:
            end = made.dispatched if made.dispatched != NOT_SEEN else trace.end
            track = writer.track(made.sm, "collectors", f"collector {made.collector:02}")
            writer.add_slice(track, made.opcode, made.entered, end, made.text, **_numbers(made))
    for made, lane in _lanes(issued, trace.end):
        end = made.result if made.result != NOT_SEEN else made.done
        track = writer.track(made.sm, "pipes", f"{PIPES[made.pipe]} {lane:02}")
        end = end if end != NOT_SEEN else trace.end
        event = writer.add_slice(track, made.opcode, made.dispatched, end, made.text, **_numbers(made))
        event.flow_ids.extend(flows[made.number])


def _numbers(made: IssuedInstruction) -> dict[str, int]:
    """What says which instruction it is."""
    return {"warp": made.slot, "thread_block": made.block, "pc": made.pc, "number": made.sequence}


def _lanes(found: Sequence[IssuedInstruction], window_end: int) -> Iterator[tuple[IssuedInstruction, int]]:
    """Instructions in execution, each with the lowest track of its pipe that is free then."""
    busy: dict[tuple[int, int], list[int]] = defaultdict(list)
    for made in sorted(found, key=lambda one: (one.dispatched, one.number)):
        if made.dispatched == NOT_SEEN:
            continue
        lanes = busy[made.sm, made.pipe]
        lane = next((index for index, until in enumerate(lanes) if until <= made.dispatched), len(lanes))
        end = max(made.result, made.done)
        lanes[lane : lane + 1] = [end if end != NOT_SEEN else window_end]
        yield made, lane


def _write_banks(writer: _Writer, trace: TraceOfRun, found: Sequence[IssuedInstruction]) -> None:
    """A slice for each access of a port; those of words that share one lie in each other."""
    known = {(one.launch, one.sm, one.sequence): one for one in found}
    chosen = trace.events[np.isin(trace.events["kind"], tuple(PORTS))]
    names = ("launch", "cycle", "sm", "kind", "slot", "unit", "sequence", "value")
    for launch, cycle, sm, kind, slot, bank, sequence, value in zip(
        *(chosen[name].tolist() for name in names), strict=True
    ):
        port, made = PORTS[Kind(kind)], known.get((launch, sm, sequence))
        track = writer.track(sm, "banks", f"bank {bank:02} {port}")
        numbers = {"warp": slot} if made is None else _numbers(made)
        operands = {"operands": value} if kind == Kind.READ else {}
        label = "extra" if kind == Kind.EXTRA else port
        writer.add_slice(track, label, cycle, cycle + 1, made.text if made else "", **numbers, **operands)
