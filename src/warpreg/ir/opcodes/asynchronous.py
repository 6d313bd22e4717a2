"""Asynchronous copies, waits for them (PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy"), and
fences for them.

A copy completes with its instruction, which PTX allows.  Waits for groups of copies are then no-ops; the bytes that an
mbarrier expects are counted as they are copied.
"""

from __future__ import annotations

from warpreg.ir.opcodes.form import Form, Latency, Opcode, Unit
from warpreg.ir.opcodes.memory import HINTS_CACHE, ORDERS, REDUCES, STORES
from warpreg.ir.opcodes.trait import Trait

LEVELS = r"[.(L2::64B|L2::128B|L2::256B)]"
SHARED = "(shared|shared::cta)"
COPIES = "copies bytes, at once"
COMBINES = "combines bytes of shared memory with those of the destination, element after element"
VALUES = "(b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64)"
TRANSACTION = "mbarrier::complete_tx::bytes"


def _nothing(m: object, f: Form, *sources: object) -> tuple[()]:
    return ()


def _store(syntax: str, types: str, effect: str, traits: Trait) -> Opcode:
    return Opcode(syntax, types, unit=Unit.MEM, latency=Latency.STORE, effect=effect, traits=traits)


def _done(syntax: str, types: str, traits: Trait) -> Opcode:
    """A row without an effect."""
    return Opcode(syntax, types, _nothing, Unit.CTRL, traits=traits | Trait.PINNED)


MOVES = Trait.READS | Trait.WRITES | Trait.ASYNCHRONOUS


SMALL_COPIES = tuple(
    _store(
        f"cp.async.{cache}.{SHARED}.global{hint}{LEVELS}",
        f"<- address address u32{operand}{policy}",
        COPIES,
        MOVES | Trait.COPY,
    )
    for cache in ("ca", "cg")
    for hint, policy in (("", ""), (".L2::cache_hint", " b64"))
    for operand in ("", " u32", " pred")
)
"""Two rows of one syntax differ by the type of the last operand: a size, or a predicate that ignores the source."""

BULK_COPIES = tuple(
    _store(f"cp.async.bulk.{syntax}", f"<- address address u32{operands}", COPIES, MOVES)
    for syntax, operands in (
        (f"(shared::cluster|shared::cta).global.{TRANSACTION}", " address"),
        (f"(shared::cluster|shared::cta).global.{TRANSACTION}.L2::cache_hint", " address b64"),
        (f"shared::cluster.global.{TRANSACTION}.multicast::cluster", " address u16"),
        (f"shared::cluster.global.{TRANSACTION}.multicast::cluster.L2::cache_hint", " address u16 b64"),
        (f"shared::cluster.shared::cta.{TRANSACTION}", " address"),
        ("global.shared::cta.bulk_group", ""),
        ("global.shared::cta.bulk_group.L2::cache_hint", " b64"),
    )
)

BULK_OPERATIONS = (
    "(and|or|xor).(b32|b64)",
    "add.(u32|s32|u64|f32|f64)",
    "add.noftz.(f16|bf16)",
    "(min|max).(u32|s32|u64|s64|f16|bf16)",
    "(inc|dec).u32",
)
BULK_REDUCTIONS = tuple(
    _store(f"cp.reduce.async.bulk.{place}{hint}.{operation}", f"<- address address u32{operands}", COMBINES, MOVES)
    for operation in BULK_OPERATIONS
    for place, hint, operands in (
        (f"shared::cluster.shared::cta.{TRANSACTION}", "", " address"),
        ("global.shared::cta.bulk_group", "", ""),
        ("global.shared::cta.bulk_group", ".L2::cache_hint", " b64"),
    )
)

REMOTE = (
    _store(
        f"st.async[.weak].shared::cluster.{TRANSACTION}[.(v2|v4)].(b32|b64|u32|u64|s32|s64|f32|f64)",
        "<- address T*n address",
        "writes shared memory and counts the bytes at an mbarrier",
        STORES,
    ),
    *(
        _store(
            f"red.async.relaxed.cluster.shared::cluster.{TRANSACTION}.{operation}",
            "<- address T address",
            "combines a value with shared memory and counts the bytes at an mbarrier",
            REDUCES,
        )
        for operation in ("(inc|dec).u32", "(min|max|add).(u32|s32)", "add.u64", "(and|or|xor).b32")
    ),
    _store(f"st.async[.mmio].release.(gpu|sys)[.global].{VALUES}", "<- address T", "writes memory, at once", STORES),
    *(
        _store(
            f"red.async[.mmio].release.(gpu|sys)[.global].{operation}",
            "<- address T",
            "combines a value with memory, at once",
            REDUCES,
        )
        for operation in ("(inc|dec).u32", "(min|max|add).(u32|s32)", "add.(u64|s64)", "(and|or|xor).b32")
    ),
)

COMMITS, AWAITS = Trait.COMMITS_COPIES, Trait.AWAITS_COPIES

GROUPS = (
    _done("cp.async.commit_group", "<-", COMMITS),
    _done("cp.async.wait_all", "<-", COMMITS | AWAITS),
    _done("cp.async.wait_group", "<- u32", AWAITS),
    _done("cp.async.bulk.commit_group", "<-", Trait.NONE),
    _done("cp.async.bulk.wait_group[.read]", "<- u32", Trait.NONE),
    _done("cp.async.bulk.prefetch.L2.global", "<- address u32", HINTS_CACHE),
    _done("cp.async.bulk.prefetch.L2.global.L2::cache_hint", "<- address u32 b64", HINTS_CACHE),
    _store(
        f"cp.async.mbarrier.arrive[.noinc][.{SHARED}].b64",
        "<- address",
        "arrives at an mbarrier for copies done",
        Trait.ASYNCHRONOUS | Trait.PINNED,
    ),
)
"""Groups of bulk copies are not among those of small ones."""

FENCES = (
    Opcode("fence.proxy.tensormap::generic.acquire.(cta|cluster|gpu|sys)", "<- address u32", unit=Unit.CTRL,
           effect="orders memory", traits=ORDERS),
    Opcode("membar.proxy.(async|async.global|async.shared::cta|async.shared::cluster)", "<-", unit=Unit.CTRL,
           effect="orders memory", traits=ORDERS),
    Opcode("fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster", "<-", unit=Unit.CTRL,
           effect="orders memory", traits=ORDERS),
    Opcode("fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster", "<-", unit=Unit.CTRL,
           effect="orders memory", traits=ORDERS),
)  # fmt: skip

OPCODES = (
    *SMALL_COPIES,
    *BULK_COPIES,
    *BULK_REDUCTIONS,
    *REMOTE,
    *GROUPS,
    *FENCES,
)
