"""What a target takes of a thread's registers besides the values of its code.

NVIDIA documents no register calling convention; these rows are what `ptxas` and `nvdisasm` 13 show of every kernel:
the code's first instruction loads the stack pointer into R1, no value ever takes R1, and the count that `ptxas -v`
reports, which the driver allocates, is two more than the highest register that the code names plus one (R255 is the
zero register and R254 is never named; the two belong to the hardware's bookkeeping of divergent threads on sm_70 and
later).  In that code 94 of 100 instructions that read two registers read an even and an odd one where registers are to
spare, and 1 of 200 of those that read three read all three from one bank; a 64-bit address counts as its first
register.  The uniform datapath of sm_75 and later has 63 registers a warp besides, which no thread is charged for.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from warpreg.codegen.machine.latency_model import DEFAULT, DEFAULT_LATENCY, Cycles
from warpreg.ir.errors import UnknownNameError


@dataclass(frozen=True, slots=True)
class Target:
    """``reserved`` are registers that no value may take; ``beyond`` is what the demand counts on top of the highest
    register used plus one; ``uniform_registers`` is the size of the uniform register file, 0 without one.

    ``unhurried`` is how many words the scheduler may keep live for the sake of speed: as many as leave an SM full of
    warps.  ``banks`` are those of the register file, 0 not to care: what is read together is spread over them as long
    as registers cost no warp.  ``cycles`` is its idea of the machine's time.
    """

    name: str
    reserved: tuple[int, ...] = ()
    beyond: int = 0
    uniform_registers: int = 0
    unhurried: int = 32
    banks: int = 0
    cycles: Cycles = field(default=DEFAULT, compare=False)


PLAIN = Target("plain")
"""Values alone, as the papers' machines are described."""

TARGETS = {
    target.name: target
    for target in (
        PLAIN,
        Target(
            "sm_75",
            reserved=(1,),
            beyond=2,
            uniform_registers=63,
            unhurried=61,
            banks=2,
            cycles=Cycles(DEFAULT_LATENCY, {"memory": 2, "special": 8, "double": 16}),
        ),
        Target(
            "sm_80",
            reserved=(1,),
            beyond=2,
            uniform_registers=63,
            unhurried=29,
            banks=2,
            cycles=Cycles(DEFAULT_LATENCY, {"memory": 2, "special": 8, "double": 4}),
        ),
    )
}
"""The targets by name.

An SM has 65536 registers for 1024 threads on sm_75 and 2048 on sm_80, 64 and 32 a thread, of which three are reserved.
An issue port is 16 lanes wide, so a memory instruction takes two cycles to its queue; special functions have 4 lanes;
f64 has 2 lanes an SM on sm_75 and 8 a scheduler on sm_80 (NVIDIA's architecture white papers for Turing and A100).
"""


def target(name: str) -> Target:
    """A target by name.  Raises UnknownNameError."""
    if name not in TARGETS:
        raise UnknownNameError("target", name, TARGETS)
    return TARGETS[name]
