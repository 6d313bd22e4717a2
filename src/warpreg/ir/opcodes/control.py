"""Control flow, barriers and calls (PTX ISA, sections 9.7.12 and 9.7.13), and host services; the executor implements
all of them."""

from __future__ import annotations

from warpreg.ir.opcodes.form import Opcode, Unit

OPCODES = (
    Opcode("bra[.uni]", "<- ...", unit=Unit.CTRL, effect="lanes whose guard holds go to the label"),
    Opcode("brx.idx[.uni]", "<- u32 ...", unit=Unit.CTRL, effect="each lane goes to the label its index picks"),
    Opcode("ret[.uni]", "<-", unit=Unit.CTRL, effect="the lanes leave the function; from a kernel they exit"),
    Opcode("exit", "<-", unit=Unit.CTRL, effect="the lanes end"),
    Opcode("trap", "<-", unit=Unit.CTRL, effect="the launch ends with a fault"),
    Opcode("brkpt", "<-", unit=Unit.CTRL, effect="the launch ends with a fault"),
    Opcode("call[.uni]", "<- ...", unit=Unit.CTRL, effect="carried out before execution: inlined, or a branch"),
    Opcode("vprintf.u32", "u32 <- u64 u64", unit=Unit.CTRL, effect="the host prints; gives the number of arguments"),
    Opcode("malloc.u64", "u64 <- u64", unit=Unit.CTRL, effect="the host gives heap memory, or 0"),
    Opcode("free.u64", "<- u64", unit=Unit.CTRL, effect="the host takes heap memory back"),
    Opcode("assertfail", "<- u64 u64 u32 u64 u64", unit=Unit.CTRL, effect="the launch ends with a fault"),
    Opcode("badcall.u64", "<- u64", unit=Unit.CTRL, effect="the launch ends with a fault"),
    Opcode("nanosleep.u32", "<- u32", unit=Unit.CTRL, effect="nothing"),
    Opcode("pmevent[.mask]", "<- u32", unit=Unit.CTRL, effect="nothing"),
    Opcode("griddepcontrol.(launch_dependents|wait)", "<-", lambda m, f: (), Unit.CTRL),
    Opcode("setmaxnreg.(inc|dec).sync.aligned.u32", "<- u32", lambda m, f, count: (), Unit.CTRL),
    *(
        row
        for name, aligned in (("bar", ""), ("bar.cta", ""), ("barrier", "[.aligned]"), ("barrier.cta", "[.aligned]"))
        for row in (
            Opcode(f"{name}.sync{aligned}", "<- u32 u32?", unit=Unit.CTRL, effect="the warp waits for the block"),
            Opcode(f"{name}.arrive{aligned}", "<- u32 u32", unit=Unit.CTRL, effect="the warp is counted, and goes on"),
            Opcode(
                f"{name}.red.popc{aligned}.u32", "u32 <- u32 u32? pred",
                unit=Unit.CTRL, effect="the warp waits; all get the number of threads whose predicate holds",
            ),
            Opcode(
                f"{name}.red.(and|or){aligned}.pred", "pred <- u32 u32? pred",
                unit=Unit.CTRL, effect="the warp waits; all get whether the predicate holds for all, or for any",
            ),
        )
    ),
    Opcode(
        "barrier.cluster.arrive[.(release|relaxed)][.aligned]", "<-",
        unit=Unit.CTRL, effect="nothing: a cluster is one block, whose warps meet where they wait",
    ),
    Opcode(
        "barrier.cluster.wait[.acquire][.aligned]", "<-", unit=Unit.CTRL, effect="the warp waits for the block",
    ),
    Opcode("bar.warp.sync", "<- u32", unit=Unit.CTRL, effect="nothing: a warp runs in lock step"),
)  # fmt: skip
