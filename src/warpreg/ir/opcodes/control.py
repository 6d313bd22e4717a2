"""Control flow, barriers and calls (PTX ISA, sections 9.7.12 and 9.7.13), which the executor carries out."""

from __future__ import annotations

from warpreg.ir.opcodes.form import Opcode, Unit

OPCODES = (
    Opcode("bra[.uni]", "<- ...", unit=Unit.CTRL, effect="lanes whose guard holds go to the label"),
    Opcode("brx.idx[.uni]", "<- u32 ...", unit=Unit.CTRL, effect="each lane goes to the label its index picks"),
    Opcode("ret[.uni]", "<-", unit=Unit.CTRL, effect="the lanes leave the function; from a kernel they exit"),
    Opcode("exit", "<-", unit=Unit.CTRL, effect="the lanes end"),
    Opcode("trap", "<-", unit=Unit.CTRL, effect="the launch ends with a fault"),
    Opcode("brkpt", "<-", unit=Unit.CTRL, effect="the launch ends with a fault"),
    Opcode("call[.uni]", "<- ...", unit=Unit.CTRL, effect="inlined before execution"),
    Opcode("nanosleep.u32", "<- u32", unit=Unit.CTRL, effect="nothing"),
    Opcode("pmevent[.mask]", "<- u32", unit=Unit.CTRL, effect="nothing"),
    Opcode("griddepcontrol.(launch_dependents|wait)", "<-", lambda m, f: (), Unit.CTRL),
    Opcode("setmaxnreg.(inc|dec).sync.aligned.u32", "<- u32", lambda m, f, count: (), Unit.CTRL),
    *(
        row
        for name in ("bar", "bar.cta", "barrier", "barrier.cta")
        for row in (
            Opcode(f"{name}.sync[.aligned]", "<- u32 u32?", unit=Unit.CTRL, effect="the warp waits for the block"),
            Opcode(f"{name}.arrive[.aligned]", "<- u32 u32", unit=Unit.CTRL, effect="the warp is counted, and goes on"),
            Opcode(
                f"{name}.red.popc[.aligned].u32", "u32 <- u32 u32? pred",
                unit=Unit.CTRL, effect="the warp waits; all get the number of threads whose predicate holds",
            ),
            Opcode(
                f"{name}.red.(and|or)[.aligned].pred", "pred <- u32 u32? pred",
                unit=Unit.CTRL, effect="the warp waits; all get whether the predicate holds for all, or for any",
            ),
        )
    ),
    Opcode("bar.warp.sync", "<- u32", unit=Unit.CTRL, effect="nothing: a warp runs in lock step"),
)  # fmt: skip
