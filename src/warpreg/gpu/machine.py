"""A GPU as data: one TOML file per machine under ``machines/``, read into :class:`Machine`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from warpreg.gpu import sourced
from warpreg.gpu.sourced import DescriptionError, Document, Origin, quantity

FOLDER = Path(__file__).parent / "machines"
REGISTER_BYTES = 4


class MachineError(DescriptionError):
    """A machine file that is wrong: names file, line, key, what was expected and what was found."""


@dataclass(frozen=True, slots=True)
class Chip:
    """The chip around the SMs."""

    sms: int = quantity("streaming multiprocessors", "SMs", 1, 1024)
    clock_mhz: float = quantity("core clock", "MHz", 1, 10_000)


@dataclass(frozen=True, slots=True)
class Sm:
    """What one SM holds and how wide it is."""

    warps: int = quantity("resident warps", "warps", 1, 256)
    threads: int = quantity("resident threads", "threads", 1, 8192)
    threads_per_warp: int = quantity("threads in a warp", "threads", 32, 32)
    blocks: int = quantity("resident thread blocks", "blocks", 1, 256)
    threads_per_block: int = quantity("most threads in a block", "threads", 1, 8192)
    lanes: int = quantity("SIMT lanes", "lanes", 1, 256)
    lanes_per_cluster: int = quantity("lanes that share units and a register file slice", "lanes", 1, 256)


@dataclass(frozen=True, slots=True)
class Schedulers:
    """Who issues; ``active_warps`` is the size of the active set of a two-level scheduler, ``None`` without one."""

    count: int = quantity("warp schedulers", "schedulers", 1, 16)
    issue_width: int = quantity("instructions a scheduler issues in a cycle", "instructions", 1, 4)
    policy: str = quantity("which ready warp goes first", choices=("greedy", "gto", "lrr", "two-level"))
    active_warps: int | None = quantity("active set of the two-level scheduler", "warps", 1, 256, optional=True)


@dataclass(frozen=True, slots=True)
class RegisterFile:
    """The main register file of one SM, and how the driver hands it out."""

    bytes: int = quantity("capacity", "bytes", 128, 1 << 24)
    banks: int = quantity("banks", "banks", 1, 256)
    bank_width_bits: int = quantity("bits of one bank access", "bits", 32, 4096)
    bank_read_ports: int = quantity("read ports of a bank", "ports", 0, 16)
    bank_write_ports: int = quantity("write ports of a bank", "ports", 0, 16)
    bank_shared_ports: int = quantity("ports that read or write, one a cycle", "ports", 0, 16)
    registers_per_thread: int = quantity("most registers of one thread", "registers", 1, 1024)
    allocation_unit: int = quantity("registers of a warp are rounded up to this", "registers", 1, 4096)
    warp_granularity: int = quantity("warps that fit are rounded down to this", "warps", 1, 16)

    @property
    def registers(self) -> int:
        """32-bit registers of the SM."""
        return self.bytes // REGISTER_BYTES


@dataclass(frozen=True, slots=True)
class SharedMemory:
    """Scratchpad memory of one SM."""

    bytes: int = quantity("capacity", "bytes", 0, 1 << 22)
    allocation_unit: int = quantity("bytes of a block are rounded up to this", "bytes", 1, 1 << 16)


@dataclass(frozen=True, slots=True)
class Latency:
    """Cycles from issue to result, by class of operation; ``None`` where the machine's documents do not say."""

    alu: int = quantity("full-throughput integer and f32", "cycles", 1, 100_000)
    sfu: int = quantity("special functions", "cycles", 1, 100_000)
    shared: int = quantity("shared memory", "cycles", 1, 100_000)
    texture: int = quantity("texture", "cycles", 1, 100_000)
    dram: int = quantity("global memory that misses every cache", "cycles", 1, 100_000)
    double: int | None = quantity("f64 arithmetic", "cycles", 1, 100_000, optional=True)


@dataclass(frozen=True)
class Machine:
    """One GPU.  ``origins`` gives the source of each number by dotted key; ``digest`` identifies the content."""

    name: str
    title: str
    chip: Chip
    sm: Sm
    schedulers: Schedulers
    register_file: RegisterFile
    shared_memory: SharedMemory
    latency: Latency
    origins: Mapping[str, Origin] = field(compare=False, repr=False)
    digest: str

    @property
    def warp_registers(self) -> int:
        """Warp-registers (32 lanes x 32 bits) that the register file of one SM holds."""
        return self.register_file.registers // self.sm.threads_per_warp


def names() -> tuple[str, ...]:
    """Names of the machines that come with the package."""
    return sourced.names(FOLDER)


def load(name_or_path: str | Path) -> Machine:
    """Read a machine by name, or from a path that ends in ``.toml``.

    Raises ``UnknownNameError`` for a name that no machine bears and ``MachineError`` for a wrong file.
    """
    document = Document(sourced.find("machine", FOLDER, name_or_path), MachineError)
    document.only(("title", "chip", "sm", "schedulers", "register_file", "shared_memory", "latency"))
    machine = Machine(
        name=document.path.stem,
        title=document.text("title"),
        chip=document.section("chip", Chip),
        sm=document.section("sm", Sm),
        schedulers=document.section("schedulers", Schedulers),
        register_file=document.section("register_file", RegisterFile),
        shared_memory=document.section("shared_memory", SharedMemory),
        latency=document.section("latency", Latency),
        origins=document.origins,
        digest=document.digest,
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
    if not file.bank_shared_ports and not (file.bank_read_ports and file.bank_write_ports):
        raise document.refusal("register_file.bank_shared_ports", "a port to read and a port to write", "none")
    if (schedulers.policy == "two-level") != (schedulers.active_warps is not None):
        expected = "a number of warps with policy two-level, and only then"
        raise document.refusal("schedulers.active_warps", expected, f"{schedulers.active_warps}")
    if schedulers.active_warps is not None and schedulers.active_warps > sm.warps:
        raise document.refusal("schedulers.active_warps", f"at most {sm.warps}", str(schedulers.active_warps))
