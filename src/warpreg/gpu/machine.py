"""A GPU as data: one TOML file per machine under ``machines/``, read into :class:`Machine`."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from warpreg.gpu import memory, sourced
from warpreg.gpu.caches import ConstantCaches, InstructionCaches, read_constant_caches, read_instruction_caches
from warpreg.gpu.memory import MemorySystem, read_memory
from warpreg.gpu.opcodes import Opcodes, read_opcodes
from warpreg.gpu.scheduling import ALL_RESULTS, DEPENDENCES, INNER, POLICIES, SCOREBOARDS, STALL, SUSPENDS, TWO_LEVEL
from warpreg.gpu.sourced import DescriptionError, Document, Origin, quantity
from warpreg.gpu.units import (
    MAX_READ_PORTS,
    SAME_AS,
    WINDOW,
    Barrier,
    CollectorSet,
    LoadStoreUnit,
    OperandPath,
    Pipe,
    read_collectors,
    read_pipes,
)
from warpreg.ir.html_table import html_table

FOLDER = Path(__file__).parent / "machines"
REGISTER_BYTES = 4
ACCESSES = ("word", "instruction")
SECTIONS = (
    "title", "chip", "sm", "schedulers", "operand_path", "collectors", "register_file", "pipes", "opcodes",
    "load_store", "barrier", "instruction_cache", "constant_cache", "shared_memory", "latency", *memory.SECTIONS,
)  # fmt: skip


class MachineError(DescriptionError):
    """An invalid machine file: names file, line, key, what was expected and what was found."""


@dataclass(frozen=True, slots=True)
class Chip:
    """Chip-level parameters."""

    sms: int = quantity("streaming multiprocessors", "SMs", 1, 1024)
    clock_mhz: float = quantity("core clock", "MHz", 1, 10_000)


@dataclass(frozen=True, slots=True)
class Sm:
    """Capacity and width of one SM."""

    warps: int = quantity("resident warps", "warps", 1, 256)
    threads: int = quantity("resident threads", "threads", 1, 8192)
    threads_per_warp: int = quantity("threads in a warp", "threads", 32, 32)
    blocks: int = quantity("resident thread blocks", "blocks", 1, 256)
    threads_per_block: int = quantity("most threads in a block", "threads", 1, 8192)
    lanes: int = quantity("SIMT lanes", "lanes", 1, 256)
    lanes_per_cluster: int = quantity("lanes that share units and a register file slice", "lanes", 1, 256)


@dataclass(frozen=True, slots=True)
class Schedulers:
    """Warp schedulers; ``active_warps`` and later fields describe the two-level scheduler, ``None`` without one."""

    count: int = quantity("warp schedulers", "schedulers", 1, 16)
    issue_width: int = quantity("instructions a scheduler issues in a cycle", "instructions", 1, 2)
    policy: str = quantity("which ready warp goes first", choices=POLICIES)
    active_warps: int | None = quantity("active set of a scheduler", "warps", 1, 256, optional=True)
    inner: str | None = quantity("which active warp goes first", choices=INNER, optional=True)
    suspend: str | None = quantity("what suspends a warp", choices=SUSPENDS, optional=True)
    stall_threshold: int | None = quantity("without issue, for suspend stall", "cycles", 1, 100_000, optional=True)
    swap_cycles: int | None = quantity("from activation to the first issue", "cycles", 0, 1000, optional=True)
    scoreboard: str | None = quantity("results that an instruction waits for", choices=SCOREBOARDS, optional=True)
    tracks_sources: bool | None = quantity(
        "whether an instruction waits for earlier ones that still read what it writes", optional=True
    )
    dependences: str | None = quantity("what orders dependent instructions", choices=DEPENDENCES, optional=True)

    @property
    def blocks_warps(self) -> bool:
        """Whether an instruction waits for all results of its warp that are outstanding, not only those it names."""
        return self.scoreboard == SCOREBOARDS[ALL_RESULTS]

    @property
    def follows_control_codes(self) -> bool:
        """Whether control codes order instructions, where the code has them."""
        return self.dependences == DEPENDENCES[-1]


@dataclass(frozen=True, slots=True)
class RegisterFile:
    """The main register file of one SM: banks, ports, and allocation rules.

    ``mapping``: the bank of register ``r`` of the warp in slot ``s`` is ``r``, ``r + s`` or ``s`` modulo the number of
    banks; with ``private_banks``, modulo the banks of a scheduler (an equal part each).
    """

    bytes: int = quantity("capacity", "bytes", 128, 1 << 24)
    banks: int = quantity("banks", "banks", 1, 256)
    private_banks: bool = quantity("whether each scheduler has banks of its own")
    mapping: str = quantity("what picks a bank", choices=("register", "register+warp", "warp"))
    steps_per_cycle: int = quantity("times a cycle that banks are read", "steps", 1, 16)
    bank_width_bits: int = quantity("bits of one bank access", "bits", 32, 4096)
    bank_read_ports: int = quantity("read ports of a bank", "ports", 0, 16)
    bank_write_ports: int = quantity("write ports of a bank", "ports", 0, 16)
    bank_shared_ports: int = quantity("ports that read or write, one a cycle", "ports", 0, 16)
    registers_per_thread: int = quantity("most registers of one thread", "registers", 1, 1024)
    allocation_unit: int = quantity("registers of a warp are rounded up to this", "registers", 1, 4096)
    warp_granularity: int = quantity("warps that fit are rounded down to this", "warps", 1, 16)
    slices: int | None = quantity("parts of a bank's word that are accessed alone", "slices", 1, 16, optional=True)
    row_addresses: int | None = quantity("rows that one access of a bank names", "rows", 1, 16, optional=True)
    access: str | None = quantity("what one access of a bank serves", choices=ACCESSES, optional=True)

    @property
    def is_single_ported(self) -> bool:
        """Whether a bank serves one access per step, read or write."""
        return self.bank_read_ports == 0 or self.bank_write_ports == 0

    @property
    def serves_instructions(self) -> bool:
        """Whether an access of a bank serves all words of an instruction that it has, instead of one."""
        return self.access == ACCESSES[-1]

    @property
    def registers(self) -> int:
        """32-bit registers of the SM."""
        return self.bytes // REGISTER_BYTES


@dataclass(frozen=True, slots=True)
class SharedMemory:
    """Scratchpad memory of one SM."""

    bytes: int = quantity("capacity", "bytes", 0, 1 << 22)
    allocation_unit: int = quantity("bytes of a block are rounded up to this", "bytes", 1, 1 << 16)
    banks: int = quantity("banks of one 32-bit word a cycle", "banks", 1, 64)
    pairs_parts: bool | None = quantity(
        "whether two parts of the warp pass together that do not conflict, in accesses of 8 and 16 bytes", optional=True
    )


@dataclass(frozen=True, slots=True)
class Latency:
    """Memory latency in cycles, by where the data is; arithmetic latencies are in the pipes."""

    shared: int = quantity("shared memory", "cycles", 1, 100_000)
    constant: int = quantity("constant memory, in its cache", "cycles", 1, 100_000)
    texture: int = quantity("texture", "cycles", 1, 100_000)
    dram: int = quantity("global memory that misses every cache", "cycles", 1, 100_000)


@dataclass(frozen=True)
class Machine:
    """One GPU."""

    name: str
    title: str
    chip: Chip
    sm: Sm
    schedulers: Schedulers
    operand_path: OperandPath
    collectors: Mapping[str, CollectorSet]
    """Empty with an ideal operand path."""
    register_file: RegisterFile
    pipes: Mapping[str, Pipe]
    """Function units by name."""
    worker: Mapping[str, str]
    """Each kind of pipe with the pipe that executes its instructions."""
    load_store: LoadStoreUnit
    shared_memory: SharedMemory
    latency: Latency
    memory: MemorySystem
    origins: Mapping[str, Origin] = field(compare=False, repr=False)
    """The source of each number by dotted key."""
    digest: str
    """Identifies the content."""
    barrier: Barrier | None = None
    """The barrier unit of an SM; None: barriers cost nothing."""
    instruction_cache: InstructionCaches | None = None
    """None: instructions are there at once."""
    constant_cache: ConstantCaches | None = None
    """None: constants are there at once."""
    opcodes: Opcodes = field(default_factory=dict)
    """Opcodes that differ from their pipe."""

    def __repr__(self) -> str:
        return f"<Machine {self.name}: {self.title}>"

    def _repr_html_(self) -> str:
        """Every number with its source, for notebooks."""
        rows = [(key, _at(self, key), str(origin)) for key, origin in self.origins.items()]
        return html_table(f"{self.name}: {self.title}", ("parameter", "value", "source"), rows)

    @property
    def control_cycles(self) -> int:
        """Latency of control instructions, 0 if none is stated."""
        return self.pipes[self.worker["ctrl"]].latency or 0

    @property
    def warp_registers(self) -> int:
        """Warp-registers (32 lanes x 32 bits) that the register file of one SM holds."""
        return self.register_file.registers // self.sm.threads_per_warp

    def cycles(self, pipe: str) -> int:
        """Cycles from dispatch of an instruction of that pipe until its result can be used; 0 for memory pipes."""
        latency = self.pipes[self.worker[pipe]].latency
        return 0 if latency is None else latency + self.operand_path.dispatch_cycles


def _at(machine: Machine, key: str) -> object:
    """The value with a dotted key of the file; None for one that this machine does not use."""
    first, *rest = key.split(".")
    if first == "pipes" and rest[-1] == SAME_AS:
        return machine.worker[rest[0]]
    found: Any = getattr(machine.memory if hasattr(machine.memory, first) else machine, first)
    for name in rest:
        found = found.get(name) if isinstance(found, Mapping) else getattr(found, name, None)
    return found


def names() -> tuple[str, ...]:
    """Names of the machines that come with the package."""
    return sourced.names(FOLDER)


def load(name_or_path: str | Path) -> Machine:
    """Read a machine by name, or from a path that ends in ``.toml``.

    Raises ``UnknownNameError`` for an unknown name and ``MachineError`` for an invalid file.
    """
    path = sourced.find("machine", FOLDER, name_or_path)
    return _read(path, path.read_bytes() if path.is_file() else b"")


@functools.lru_cache(maxsize=32)
def _read(path: Path, content: bytes) -> Machine:
    """Parse a file; ``content`` is part of the cache key, so an edited file is read again."""
    document = Document(path, MachineError, FOLDER, alone=SAME_AS)
    document.only(SECTIONS)
    operand_path = document.section("operand_path", OperandPath)
    pipes, worker = read_pipes(document)
    machine = Machine(
        name=document.path.stem,
        title=document.text("title"),
        chip=document.section("chip", Chip),
        sm=document.section("sm", Sm),
        schedulers=document.section("schedulers", Schedulers),
        operand_path=operand_path,
        collectors=read_collectors(document, operand_path, pipes, worker),
        register_file=document.section("register_file", RegisterFile),
        pipes=pipes,
        worker=worker,
        load_store=document.section("load_store", LoadStoreUnit),
        shared_memory=document.section("shared_memory", SharedMemory),
        latency=document.section("latency", Latency),
        memory=read_memory(document),
        origins=document.origins,
        digest=document.digest,
        barrier=document.section("barrier", Barrier) if document.keys("barrier") else None,
        opcodes=read_opcodes(document),
        constant_cache=read_constant_caches(document),
        instruction_cache=read_instruction_caches(document),
    )
    _check_consistency(document, machine)
    return machine


def _check_consistency(document: Document, machine: Machine) -> None:
    sm, file, schedulers = machine.sm, machine.register_file, machine.schedulers
    if sm.threads != sm.warps * sm.threads_per_warp:
        expected = f"{sm.warps} warps x {sm.threads_per_warp} = {sm.warps * sm.threads_per_warp}"
        raise document.refusal("sm.threads", expected, str(sm.threads))
    if sm.threads_per_block > sm.threads:
        raise document.refusal("sm.threads_per_block", f"at most {sm.threads}", str(sm.threads_per_block))
    if sm.lanes % sm.lanes_per_cluster:
        raise document.refusal("sm.lanes_per_cluster", f"a divisor of {sm.lanes}", str(sm.lanes_per_cluster))
    if file.bytes * 8 % (file.banks * file.bank_width_bits):
        expected = f"a whole number of {file.bank_width_bits}-bit words in each of {file.banks} banks"
        raise document.refusal("register_file.bytes", expected, str(file.bytes))
    if file.slices is not None and file.bank_width_bits % (8 * file.slices):
        expected = f"a divisor of {file.bank_width_bits // 8} bytes, the width of a bank"
        raise document.refusal("register_file.slices", expected, str(file.slices))
    if not file.bank_shared_ports and not (file.bank_read_ports and file.bank_write_ports):
        raise document.refusal("register_file.bank_shared_ports", "a port to read and a port to write", "none")
    if file.private_banks and file.banks % schedulers.count:
        raise document.refusal("register_file.banks", f"a multiple of {schedulers.count} schedulers", str(file.banks))
    _check_two_level(document, schedulers, sm)
    if machine.operand_path.kind == WINDOW:
        _check_window(document, machine)
    _check_sub_cores(document, machine)
    network, cache = machine.memory.network, machine.memory.l2
    if network is not None and cache is not None and network.slice_routers is not None:
        nodes = machine.chip.sms + cache.slices
        if max(network.slice_routers) >= nodes:
            expected = f"routers below {nodes}, the SMs and slices"
            raise document.refusal("network.slice_routers", expected, str(max(network.slice_routers)))


def _check_sub_cores(document: Document, machine: Machine) -> None:
    """What only sub-cores with a read window have."""
    schedulers = machine.schedulers
    if machine.instruction_cache is not None and schedulers.issue_width != 1:
        raise document.refusal("schedulers.issue_width", "1 with instruction caches", str(schedulers.issue_width))
    if schedulers.tracks_sources and machine.operand_path.kind != WINDOW:
        raise document.refusal("schedulers.tracks_sources", "false without a read window", "true")
    if schedulers.tracks_sources and schedulers.blocks_warps:
        raise document.refusal("schedulers.tracks_sources", f"false with scoreboard {schedulers.scoreboard}", "true")
    if machine.constant_cache is not None and machine.operand_path.kind != WINDOW:
        raise document.refusal("operand_path.kind", "window with constant caches", machine.operand_path.kind)


def _check_window(document: Document, machine: Machine) -> None:
    file, schedulers = machine.register_file, machine.schedulers
    if not file.private_banks:
        raise document.refusal("register_file.private_banks", "banks of each scheduler with a read window", "false")
    if file.is_single_ported or file.bank_read_ports > MAX_READ_PORTS:
        expected = f"1 to {MAX_READ_PORTS} with a read window"
        raise document.refusal("register_file.bank_read_ports", expected, str(file.bank_read_ports))
    if schedulers.issue_width != 1:
        raise document.refusal("schedulers.issue_width", "1 with a read window", str(schedulers.issue_width))
    if file.steps_per_cycle != 1:
        raise document.refusal("register_file.steps_per_cycle", "1 with a read window", str(file.steps_per_cycle))
    if file.serves_instructions:
        raise document.refusal("register_file.access", "word with a read window", "instruction")


def _check_two_level(document: Document, schedulers: Schedulers, sm: Sm) -> None:
    is_two_level = schedulers.policy == TWO_LEVEL
    for name in ("active_warps", "inner", "suspend", "swap_cycles"):
        value = getattr(schedulers, name)
        if is_two_level != (value is not None):
            raise document.refusal(f"schedulers.{name}", f"an entry with policy {TWO_LEVEL}, and only then", f"{value}")
    if (schedulers.suspend == SUSPENDS[STALL]) != (schedulers.stall_threshold is not None):
        found = f"{schedulers.stall_threshold}"
        raise document.refusal("schedulers.stall_threshold", "cycles with suspend stall, and only then", found)
    if schedulers.active_warps is not None and schedulers.active_warps * schedulers.count > sm.warps:
        expected = f"at most {sm.warps // schedulers.count}"
        raise document.refusal("schedulers.active_warps", expected, str(schedulers.active_warps))
