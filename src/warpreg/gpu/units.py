"""Pipes, operand collectors and load-store unit of an SM; rules in docs/reference/timing.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from warpreg.gpu.pipes import CTRL, PIPES, UNTIMED
from warpreg.gpu.sourced import Document, quantity

WINDOW = "window"
"""The operand path without collectors."""
MAX_READ_PORTS = 3
"""Read ports of a bank, at most, with a read window."""
MIN_FIXED_LATENCY = 3
"""Cycles of a fixed latency, at least, with a read window: its reads are allocated two cycles after issue."""
SAME_AS = "same_as"
"""The one entry of a pipe that has no units of its own."""


@dataclass(frozen=True, slots=True)
class Pipe:
    """One kind of function unit; ``private``: each scheduler has its own.  ``latency`` is None for mem and tex.

    With a read window, instructions of a pipe with a ``queue`` have a variable latency: they wait in it for their
    operands and the unit, and ``lead`` cycles from issue at least; those of other pipes have a fixed one.
    """

    units: int = quantity("units, of each scheduler if private", "units", 1, 256)
    private: bool = quantity("whether each scheduler has its own")
    initiation: int = quantity("until a unit takes the next instruction", "cycles", 1, 100_000)
    latency: int | None = quantity("from dispatch to result", "cycles", 1, 100_000, optional=True)
    queue: int | None = quantity("instructions in each scheduler's queue in front of it", "instructions", 1, 32,
                                 optional=True)  # fmt: skip
    lead: int | None = quantity("from issue to dispatch, at least", "cycles", 1, 100, optional=True)


@dataclass(frozen=True, slots=True)
class _SameAs:
    same_as: str = quantity("the pipe that does its work", choices=PIPES)


@dataclass(frozen=True, slots=True)
class OperandPath:
    """Path from issue to dispatch: through collectors and banks, in a read window without collectors, or ideal
    (operands are present at once)."""

    kind: str = quantity("how operands are read", choices=("banks", WINDOW, "ideal"))
    dispatch_cycles: int = quantity("beyond a pipe's latency, from dispatch to result", "cycles", 0, 100)
    operand_ports: int = quantity("operands that a collector takes in a cycle; 0: any number", "operands", 0, 64)
    read_cycles: int | None = quantity("cycles of the read window", "cycles", 1, 8, optional=True)


@dataclass(frozen=True, slots=True)
class CollectorSet:
    """Collectors that serve some pipes; ``private``: each scheduler has this number of its own."""

    collectors: int = quantity("collectors, of each scheduler if private", "collectors", 1, 256)
    in_ports: int = quantity("instructions that enter in a step, of each scheduler if private", "ports", 1, 64)
    private: bool = quantity("whether each scheduler has its own")
    pipes: tuple[str, ...] = quantity("pipes that they serve", choices=PIPES)


@dataclass(frozen=True, slots=True)
class LoadStoreUnit:
    """The queue of memory instructions in front of the memory system."""

    entries: int = quantity("instructions in its queue", "instructions", 1, 1 << 16)
    interval: int | None = quantity("until it takes the next instruction", "cycles", 1, 64, optional=True)


@dataclass(frozen=True, slots=True)
class Barrier:
    """The barrier unit of an SM, which takes the arrivals of warps one after the other."""

    interval: int = quantity("that an arrival occupies it", "cycles", 0, 1000)
    latency: int = quantity("from the end of the last arrival until the warps may issue", "cycles", 0, 1000)


def read_pipes(document: Document) -> tuple[Mapping[str, Pipe], Mapping[str, str]]:
    """The pipes that have units, and for each pipe the one that executes its instructions (usually itself)."""
    document.only(PIPES, "pipes")
    work = {name: _worker(document, name) for name in PIPES}
    for name, worker in work.items():
        if work[worker] != worker:
            raise document.refusal(f"pipes.{name}.{SAME_AS}", "a pipe with units of its own", f"'{worker}'")
    pipes = {name: document.section(f"pipes.{name}", Pipe) for name in PIPES if work[name] == name}
    for name, pipe in pipes.items():
        if (pipe.latency is None) != (name in UNTIMED):
            expected = "none, memory says" if name in UNTIMED else "cycles"
            raise document.refusal(f"pipes.{name}.latency", expected, f"{pipe.latency}".lower())
    return pipes, work


def _worker(document: Document, name: str) -> str:
    if document.keys(f"pipes.{name}") == (SAME_AS,):
        return document.section(f"pipes.{name}", _SameAs).same_as
    return name


def read_collectors(
    document: Document, path: OperandPath, pipes: Mapping[str, Pipe], work: Mapping[str, str]
) -> Mapping[str, CollectorSet]:
    """The sets of collectors by name; exactly one serves each pipe that reads banks.  Empty with an ideal path; with a
    read window, the places of a scheduler in which instructions wait for operands.
    """
    _check_queues(document, path, pipes)
    if path.kind == WINDOW:
        document.only((), "collectors")
        return read_places(pipes)
    names = document.keys("collectors")
    if (path.kind == "banks") != bool(names):
        raise document.refusal("collectors", "sets of collectors with banks, and only then", f"{len(names)} sets")
    sets = {name: document.section(f"collectors.{name}", CollectorSet) for name in names}
    for pipe in PIPES:
        serving = [name for name, one in sets.items() if pipe in one.pipes]
        wanted = 1 if sets and pipe != PIPES[CTRL] and work[pipe] == pipe else 0
        if len(serving) != wanted:
            key = f"collectors.{serving[0]}.pipes" if serving else "collectors"
            raise document.refusal(key, f"pipe {pipe} in {wanted} of the sets", " and ".join(serving) or "none")
    return sets


def _check_queues(document: Document, path: OperandPath, pipes: Mapping[str, Pipe]) -> None:
    """Queues belong to a read window; pipes that memory answers have one, others one or time to allocate."""
    for name, pipe in pipes.items():
        if (pipe.queue is None) != (pipe.lead is None) or (pipe.queue is not None and path.kind != WINDOW):
            raise document.refusal(f"pipes.{name}.queue", "queue and lead, with a read window only", f"{pipe.queue}")
        if path.kind == WINDOW and name in UNTIMED and pipe.queue is None:
            raise document.refusal(f"pipes.{name}.queue", "instructions, with a read window", "none")
        is_fixed = path.kind == WINDOW and pipe.queue is None and name != PIPES[CTRL]
        if is_fixed and (pipe.latency or 0) < MIN_FIXED_LATENCY:
            expected = f"at least {MIN_FIXED_LATENCY} with a read window"
            raise document.refusal(f"pipes.{name}.latency", expected, f"{pipe.latency}")
    if (path.kind == WINDOW) != (path.read_cycles is not None):
        expected = "cycles with a read window, and only then"
        raise document.refusal("operand_path.read_cycles", expected, f"{path.read_cycles}")


def read_places(pipes: Mapping[str, Pipe]) -> Mapping[str, CollectorSet]:
    """With a read window: the queue of each pipe of variable latency, and one place, which nothing enters,
    for what the others allocate."""
    queues = {
        name: CollectorSet(pipe.queue, 1, True, (name,)) for name, pipe in pipes.items() if pipe.queue is not None
    }
    fixed = tuple(name for name in pipes if name not in queues and name != PIPES[CTRL])
    return {"allocate": CollectorSet(1, 0, True, fixed), **queues}
