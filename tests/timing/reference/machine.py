"""Parameters of one SM as plain numbers, in the terms of docs/reference/timing.md."""

from __future__ import annotations

from dataclasses import dataclass, field

PIPES = ("int", "fp", "sfu", "dp", "tensor", "mem", "tex", "ctrl", "uniform")


@dataclass(frozen=True)
class Pipe:
    """One kind of function unit; ``per_scheduler`` says that each scheduler has ``units`` of its own.

    With a read window: the places of each scheduler's ``queue`` (0: fixed latency), ``lead`` cycles from issue.
    """

    units: int = 1
    latency: int = 4
    initiation: int = 1
    per_scheduler: bool = True
    queue: int = 0
    lead: int = 0


@dataclass(frozen=True)
class CollectorSet:
    """Collectors that serve some pipes; ``per_scheduler`` says that each scheduler has ``collectors`` of its own."""

    pipes: tuple[str, ...]
    collectors: int = 2
    in_ports: int = 1
    per_scheduler: bool = False


@dataclass(frozen=True)
class Banks:
    """An operand path with banks.  ``per_scheduler``: the banks are divided evenly among the schedulers.

    ``mapping``: what picks a bank, ``register``, ``register+warp`` (the slot is added) or ``warp``.
    ``whole_instructions``: an access serves all words of an instruction that the bank has.
    """

    count: int = 4
    single_ported: bool = True
    steps: int = 1
    operand_ports: int = 0
    mapping: str = "register+warp"
    per_scheduler: bool = False
    sets: tuple[CollectorSet, ...] = (CollectorSet(PIPES),)
    slices: int = 1
    row_addresses: int = 1
    whole_instructions: bool = False

    def of(self, register: int, slot: int, schedulers: int) -> int:
        """The bank of a register of the warp in ``slot``."""
        number = {"register": register, "register+warp": register + slot, "warp": slot}[self.mapping]
        if not self.per_scheduler:
            return number % self.count
        share = self.count // schedulers
        return number % share + slot % schedulers * share

    def set_of(self, pipe: str) -> CollectorSet:
        """The collectors that serve a pipe."""
        return next(found for found in self.sets if pipe in found.pipes)


@dataclass(frozen=True)
class Window:
    """A read window in place of collectors: its cycles, and the read ports of a bank."""

    cycles: int = 3
    ports: int = 1


@dataclass(frozen=True)
class Barrier:
    """Cycles that an arrival takes, and from the last one on until warps may issue."""

    interval: int = 0
    latency: int = 0


@dataclass(frozen=True)
class Fetch:
    """Instruction caches: instructions of a line; (sets, ways) of a scheduler's cache and of that of the SM; cycles
    until a line comes from the latter, and until that one has it; lines that a stream runs ahead; instructions in the
    buffer of a warp; cycles from a taken branch to the next instruction.
    """

    line: int = 2
    l0: tuple[int, int] = (1, 4)
    l1: tuple[int, int] = (2, 4)
    l1_latency: int = 5
    l2_latency: int = 20
    ahead: int = 2
    buffer: int = 2
    jump: int = 0


@dataclass(frozen=True)
class Constants:
    """Constant caches: bytes of a line, (sets, ways) of the two caches of a scheduler and of that of the SM, latencies
    as of instruction caches, and cycles for which a miss keeps the scheduler.
    """

    line: int = 8
    l0: tuple[int, int] = (1, 2)
    l1: tuple[int, int] = (2, 2)
    l1_latency: int = 7
    l2_latency: int = 20
    patience: int = 4


@dataclass(frozen=True)
class Opcode:
    """What an opcode has instead of what its pipe says."""

    pipe: str | None = None
    latency: int | None = None
    initiation: int | None = None


@dataclass(frozen=True)
class TwoLevel:
    """``inner`` is ``greedy``, ``lrr`` or ``gto``; ``suspend`` is ``static``, ``pending`` or ``stall``."""

    active_warps: int = 2
    inner: str = "greedy"
    suspend: str = "static"
    stall_threshold: int = 8
    swap_cycles: int = 0


@dataclass(frozen=True)
class Sm:
    """One SM; ``banks`` is None for the ideal operand path, ``two_level`` is None for a scheduler of one level.

    ``window`` takes the place of collectors; ``send_interval``: cycles until the load-store unit takes the next
    instruction; ``follows_control``: control codes order instructions if all have one.
    ``waits_for_all``: an instruction waits for all results of its warp.  ``worker`` says which pipe does the work of
    one that has no units of its own.
    """

    slots: int = 4
    schedulers: int = 1
    issue_width: int = 1
    policy: str = "lrr"
    two_level: TwoLevel | None = None
    banks: Banks | None = None
    pipes: dict[str, Pipe] = field(default_factory=lambda: {name: Pipe() for name in PIPES})
    worker: dict[str, str] = field(default_factory=dict)
    dispatch_cycles: int = 0
    queue: int = 4
    shared_latency: int = 10
    constant_latency: int = 6
    texture_latency: int = 20
    waits_for_all: bool = False
    window: Window | None = None
    send_interval: int = 0
    follows_control: bool = False
    barrier: Barrier = Barrier()
    fetch: Fetch | None = None
    opcodes: dict[str, Opcode] = field(default_factory=dict)
    constants: Constants | None = None
    tracks_sources: bool = False

    def slots_of(self, scheduler: int) -> range:
        """The slots of a scheduler, ascending."""
        return range(scheduler, self.slots, self.schedulers)
