"""Memory system of a GPU: sections of a machine file; docs/reference/memory.md defines each number."""

from __future__ import annotations

from dataclasses import dataclass

from warpreg.gpu.sourced import Document, quantity

LINE_BYTES = 128
SECTOR_BYTES = 32
MAX_MERGED = (1 << 15) - 1
SECTIONS = ("memory", "l1", "l2", "network", "dram")
MODELS = ("fixed", "cached", "contention")
WRITES = ("evict", "through")
SPREADS = ("consecutive", "folded", "random")


@dataclass(frozen=True, slots=True)
class Model:
    """The memory model that describes the machine."""

    model: str = quantity("model of the memory system", choices=MODELS)
    segment_bytes: int = quantity("smallest part of a line that a load fetches", "bytes", 32, LINE_BYTES)
    outstanding: int = quantity("transactions of one SM under way", "transactions", 1, 1 << 16)
    bytes_per_cycle: float | None = quantity(
        "fixed model: bytes that an SM and its memory exchange in a cycle", "bytes/cycle", 0.01, 1 << 16, optional=True
    )


@dataclass(frozen=True, slots=True)
class FirstLevel:
    """The first-level data cache of an SM."""

    bytes: int = quantity("capacity", "bytes", LINE_BYTES, 1 << 24)
    ways: int = quantity("lines of a set", "lines", 1, 4096)
    latency: int = quantity("of a load that hits", "cycles", 1, 10_000)
    miss_lines: int = quantity("lines that it can wait for", "lines", 1, 1 << 16)
    sectors_per_cycle: int = quantity("sectors that it looks up in a cycle", "sectors", 1, 4)
    write: str = quantity("what a store does to a line: removes its sectors or updates them", choices=WRITES)
    skip_global: bool = quantity("whether loads from global memory pass it by")
    banks: int | None = quantity(
        "banks, interleaved by sector: transactions of an instruction are looked up together if their banks differ",
        "banks", 1, 4, optional=True,
    )  # fmt: skip
    miss_sectors: int | None = quantity(
        "sectors that it can wait for, in place of the limit on lines", "sectors", 4, 1 << 16, optional=True
    )
    unified_bytes: int | None = quantity(
        "capacity together with shared memory: what a kernel leaves of it adds to the cache",
        "bytes", LINE_BYTES, 1 << 24, optional=True,
    )  # fmt: skip
    merged: int | None = quantity(
        "requests that may wait for one missing sector", "requests", 1, MAX_MERGED, optional=True
    )
    caches_read_only: bool | None = quantity(
        "with skip_global: whether loads through the read-only path (ld.global.nc) are cached", optional=True
    )
    skip_ordered: bool | None = quantity(
        "whether loads that must see what other SMs have written pass it by (ld.volatile, ld.relaxed.gpu)",
        optional=True,
    )


@dataclass(frozen=True, slots=True)
class SecondLevel:
    """The second-level cache: slices behind the network."""

    slices: int = quantity("slices", "slices", 1, 1024)
    bytes: int = quantity("capacity of one slice", "bytes", LINE_BYTES, 1 << 28)
    ways: int = quantity("lines of a set", "lines", 1, 4096)
    latency: int = quantity("from a request's arrival to its answer or its way to DRAM", "cycles", 1, 10_000)
    sectors_per_cycle: int = quantity("sectors that a slice looks up in a cycle", "sectors", 1, 4)
    miss_lines: int = quantity("contention model: lines that a slice can wait for", "lines", 1, 1 << 16)
    queue: int = quantity("contention model: requests that wait in front of a slice", "requests", 1, 1 << 16)
    interleave_bytes: int = quantity("consecutive bytes of one slice", "bytes", LINE_BYTES, 1 << 20)
    spread: str = quantity("how such pieces find their slice", choices=SPREADS)
    merged: int | None = quantity(
        "contention model: requests that may wait for one missing sector", "requests", 1, MAX_MERGED, optional=True
    )
    fetch_bytes: int | None = quantity(
        "aligned piece of a line that a missing sector brings from DRAM with it; by default the sector alone",
        "bytes", SECTOR_BYTES, LINE_BYTES, optional=True,
    )  # fmt: skip


PACKETS = ("sector", "line")


@dataclass(frozen=True, slots=True)
class Network:
    """The networks between SMs and slices, one for requests and one for replies."""

    kind: str = quantity("how nodes are connected", choices=("crossbar", "mesh"))
    latency: int = quantity("from port to port of a packet of one flit; of one hop in a mesh", "cycles", 1, 10_000)
    flit_bytes: int = quantity("bytes that a port moves in a cycle", "bytes", 1, 1024)
    queue: int = quantity(
        "contention model: packets that wait at a port, for each virtual channel", "packets", 1, 1 << 16
    )
    virtual_channels: int = quantity("contention model: queues at an input of a router", "channels", 1, 16)
    packet: str | None = quantity("most data of an answer in one packet", choices=PACKETS, optional=True)
    flits_per_cycle: int | None = quantity("flits of a link of a mesh in a cycle", "flits", 1, 64, optional=True)
    slice_routers: tuple[int, ...] | None = quantity(
        "routers of the slices in a mesh, row by row from 0", "routers", 0, 1023, optional=True
    )


@dataclass(frozen=True, slots=True)
class Dram:
    """DRAM channels; times are in DRAM clocks unless stated otherwise."""

    channels: int = quantity("channels", "channels", 1, 256)
    clock_mhz: float = quantity("command clock", "MHz", 1, 20_000)
    bytes_per_clock: float = quantity("bytes that a channel's bus moves in a clock", "bytes/clock", 0.25, 4096)
    latency: int = quantity("beside the bus, banks and queues, in cycles of the SMs", "cycles", 0, 10_000)
    banks: int = quantity("banks of a channel", "banks", 1, 256)
    row_bytes: int = quantity("bytes of a row", "bytes", LINE_BYTES, 1 << 20)
    queue: int = quantity("contention model: bursts among which a controller chooses", "bursts", 1, 1 << 12)
    rcd: int = quantity("from activation to read or write", "clocks", 0, 10_000)
    rp: int = quantity("from precharge to activation", "clocks", 0, 10_000)
    ras: int = quantity("from activation to precharge", "clocks", 0, 10_000)
    rrd: int = quantity("from activation to activation of another bank", "clocks", 0, 10_000)
    cl: int = quantity("from read to its data", "clocks", 0, 10_000)
    wl: int = quantity("from write to its data", "clocks", 0, 10_000)
    wr: int = quantity("from the end of written data to precharge", "clocks", 0, 10_000)
    cdlr: int = quantity("from the end of written data to a read", "clocks", 0, 10_000)


@dataclass(frozen=True, slots=True)
class MemorySystem:
    """Sections that the model needs; None for those missing in the file."""

    memory: Model
    l1: FirstLevel | None = None
    l2: SecondLevel | None = None
    network: Network | None = None
    dram: Dram | None = None


def read_memory(document: Document) -> MemorySystem:
    """The memory system of a machine file; raises the error class of the document."""
    model = document.section("memory", Model)
    system = MemorySystem(
        memory=model,
        l1=document.section("l1", FirstLevel) if document.keys("l1") else None,
        l2=document.section("l2", SecondLevel) if document.keys("l2") else None,
        network=document.section("network", Network) if document.keys("network") else None,
        dram=document.section("dram", Dram) if document.keys("dram") else None,
    )
    if (model.model == "fixed") != (model.bytes_per_cycle is not None):
        raise document.refusal(
            "memory.bytes_per_cycle", "bytes with model fixed, and only then", f"{model.bytes_per_cycle}"
        )
    for name in ("l2", "network", "dram") if model.model != "fixed" else ():
        if getattr(system, name) is None:
            raise document.refusal(name, f"a table [{name}] with model {model.model}", "nothing")
    for name, cache in (("l1", system.l1), ("l2", system.l2)):
        if cache is not None and cache.bytes % (LINE_BYTES * cache.ways):
            expected = f"a multiple of {cache.ways} ways of {LINE_BYTES} bytes"
            raise document.refusal(f"{name}.bytes", expected, str(cache.bytes))
    _check_powers(document, system)
    _check_mesh(document, system)
    return system


def _check_mesh(document: Document, system: MemorySystem) -> None:
    network, cache = system.network, system.l2
    if network is None or cache is None:
        return
    for name in ("flits_per_cycle", "slice_routers"):
        if network.kind != "mesh" and getattr(network, name) is not None:
            raise document.refusal(f"network.{name}", "an entry of a mesh", f"one of a {network.kind}")
    named = network.slice_routers
    if named is not None and len({*named}) != cache.slices:
        expected = f"{cache.slices} different routers, one for each slice"
        raise document.refusal("network.slice_routers", expected, str(list(named)))


def _check_powers(document: Document, system: MemorySystem) -> None:
    numbers = {"memory.segment_bytes": system.memory.segment_bytes}
    if system.l1 is not None and system.l1.banks is not None:
        numbers["l1.banks"] = system.l1.banks
    if system.l2 is not None:
        numbers["l2.interleave_bytes"] = system.l2.interleave_bytes
        numbers["l2.fetch_bytes"] = system.l2.fetch_bytes or SECTOR_BYTES
    if system.dram is not None:
        numbers["dram.row_bytes"] = system.dram.row_bytes
    for key, number in numbers.items():
        if number & (number - 1):
            raise document.refusal(key, "a power of two", str(number))
    if system.l2 is not None and system.dram is not None and system.l2.slices % system.dram.channels:
        expected = f"a multiple of {system.dram.channels} channels"
        raise document.refusal("l2.slices", expected, str(system.l2.slices))
