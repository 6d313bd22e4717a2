"""Control flow, barriers and calls (PTX ISA, sections 9.7.12 and 9.7.13), and host services; the executor implements
all of them."""

from __future__ import annotations

from warpreg.ir.opcodes.form import Opcode, Unit
from warpreg.ir.opcodes.trait import Trait

BRANCH, EXIT, TRAP, BARRIER, IDLE = Trait.BRANCH | Trait.JUMP, Trait.EXIT, Trait.TRAP, Trait.BARRIER, Trait.IDLE
REUNITES, PINNED, SERVICE = Trait.REUNITES, Trait.PINNED, Trait.SERVICE

OPCODES = (
    Opcode("bra[.uni]", "<- ...", unit=Unit.CTRL, effect="lanes whose guard holds go to the label", traits=BRANCH),
    Opcode(
        "brx.idx[.uni]", "<- u32 ...",
        unit=Unit.CTRL, effect="each lane goes to the label its index picks", traits=BRANCH | Trait.INDIRECT,
    ),
    Opcode(
        "ret[.uni]", "<-",
        unit=Unit.CTRL, effect="the lanes leave the function; from a kernel they exit", traits=EXIT,
    ),
    Opcode("exit", "<-", unit=Unit.CTRL, effect="the lanes end", traits=EXIT),
    Opcode("trap", "<-", unit=Unit.CTRL, effect="the launch ends with a fault", traits=EXIT | TRAP),
    Opcode("brkpt", "<-", unit=Unit.CTRL, effect="the launch ends with a fault", traits=TRAP),
    Opcode(
        "call[.uni]", "<- ...",
        unit=Unit.CTRL, effect="carried out before execution: inlined, or a branch", traits=Trait.CALL | PINNED,
    ),
    Opcode(
        "vprintf.u32", "u32 <- u64 u64",
        unit=Unit.CTRL, effect="the host prints; gives the number of arguments", traits=SERVICE,
    ),
    Opcode("malloc.u64", "u64 <- u64", unit=Unit.CTRL, effect="the host gives heap memory, or 0", traits=SERVICE),
    Opcode("free.u64", "<- u64", unit=Unit.CTRL, effect="the host takes heap memory back", traits=SERVICE),
    Opcode(
        "assertfail", "<- u64 u64 u32 u64 u64",
        unit=Unit.CTRL, effect="the launch ends with a fault", traits=SERVICE,
    ),
    Opcode("badcall.u64", "<- u64", unit=Unit.CTRL, effect="the launch ends with a fault", traits=SERVICE),
    Opcode("nanosleep.u32", "<- u32", unit=Unit.CTRL, effect="nothing", traits=IDLE | PINNED),
    Opcode("pmevent[.mask]", "<- u32", unit=Unit.CTRL, effect="nothing", traits=IDLE),
    Opcode("griddepcontrol.(launch_dependents|wait)", "<-", lambda m, f: (), Unit.CTRL, traits=PINNED),
    Opcode("setmaxnreg.(inc|dec).sync.aligned.u32", "<- u32", lambda m, f, count: (), Unit.CTRL, traits=PINNED),
    *(
        row
        for name, aligned, traits in (
            ("bar", "", BARRIER),
            ("bar.cta", "", BARRIER),
            ("barrier", "[.aligned]", BARRIER | REUNITES),
            ("barrier.cta", "[.aligned]", BARRIER | REUNITES),
        )
        for row in (
            Opcode(
                f"{name}.sync{aligned}", "<- u32 u32?",
                unit=Unit.CTRL, effect="the warp waits for the block", traits=traits,
            ),
            Opcode(
                f"{name}.arrive{aligned}", "<- u32 u32",
                unit=Unit.CTRL, effect="the warp is counted, and goes on", traits=traits,
            ),
            Opcode(
                f"{name}.red.popc{aligned}.u32", "u32 <- u32 u32? pred",
                unit=Unit.CTRL, effect="the warp waits; all get the number of threads whose predicate holds",
                traits=traits,
            ),
            Opcode(
                f"{name}.red.(and|or){aligned}.pred", "pred <- u32 u32? pred",
                unit=Unit.CTRL, effect="the warp waits; all get whether the predicate holds for all, or for any",
                traits=traits,
            ),
        )
    ),
    Opcode(
        "barrier.cluster.arrive[.(release|relaxed)][.aligned]", "<-",
        unit=Unit.CTRL, effect="nothing: a cluster is one block, whose warps meet where they wait",
        traits=BARRIER | REUNITES,
    ),
    Opcode(
        "barrier.cluster.wait[.acquire][.aligned]", "<-",
        unit=Unit.CTRL, effect="the warp waits for the block", traits=BARRIER | REUNITES,
    ),
    Opcode(
        "bar.warp.sync", "<- u32",
        unit=Unit.CTRL, effect="nothing: a warp runs in lock step", traits=BARRIER | REUNITES | IDLE,
    ),
)  # fmt: skip
