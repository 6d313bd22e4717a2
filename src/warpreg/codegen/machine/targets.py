"""Targets: registers of a thread that are reserved, and constraints on the others.

NVIDIA documents no register calling convention; these rows follow the output of `ptxas` and `nvdisasm` 13 for every
kernel.  The first instruction loads the stack pointer into R1, and R1 never holds another value.  The count that
`ptxas -v` reports, which the driver allocates, is two more than the highest register number used plus one (R255 is the
zero register and R254 is never used; the hardware uses the two to track divergent threads on sm_70 and later).  If
registers are available, 94 of 100 instructions that read two registers read an even and an odd one, and 1 of 200 that
read three registers read all three from one bank; a 64-bit address counts as its first register.  The uniform datapath
of sm_75 and later has a further 63 registers per warp, which are not part of a thread's demand.  A kernel that calls
printf, assert, malloc or free takes at least 24, whatever its own code needs.

On sm_75 an access of global memory can take its address as ``[R.64+UR]`` or ``[UR]``.  On sm_80 the uniform operand of
these instructions is a descriptor, and no address adds a uniform register.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from warpreg.codegen.machine.latency_model import DEFAULT, DEFAULT_LATENCY, Cycles
from warpreg.ir.errors import UnknownNameError


@dataclass(frozen=True, slots=True)
class Target:
    """A GPU target, as far as the compiler knows one."""

    name: str
    reserved: tuple[int, ...] = ()
    """Registers that hold no values."""
    beyond: int = 0
    """What is added to the highest register number used plus one to give the demand."""
    uniform_registers: int = 0
    """Size of the uniform register file, 0 without one."""
    calling: int = 0
    """The least demand of a kernel that calls a service such as ``vprintf``."""
    unhurried: int = 32
    """Live words up to which the scheduler optimizes for speed only: the SM can still hold all its warps."""
    banks: int = 0
    """Banks of the register file, 0 to ignore them.  Registers that are read together are spread over them as long as
    occupancy does not drop.
    """
    unrolls: bool = False
    """Loops are unrolled as `ptxas` does."""
    uniform_addresses: bool = False
    """Addresses of global memory can add a uniform pair."""
    predicates: int = 0
    """Live predicates up to which the scheduler does not consider them, 0 to never consider them."""
    cycles: Cycles = field(default=DEFAULT, compare=False)
    """The latency model."""


PLAIN = Target("plain")
"""No reserved registers, as in the papers' descriptions of their machines."""

PREDICATES = 6
"""One less than the machine has, because the predicates of a block are not always free where one is needed."""

TARGETS = {
    target.name: target
    for target in (
        PLAIN,
        Target(
            "sm_75",
            reserved=(1,),
            beyond=2,
            uniform_registers=63,
            calling=24,
            unhurried=61,
            banks=2,
            unrolls=True,
            predicates=PREDICATES,
            uniform_addresses=True,
            cycles=Cycles(DEFAULT_LATENCY, {"memory": 2, "special": 8, "double": 16}),
        ),
        Target(
            "sm_80",
            reserved=(1,),
            beyond=2,
            uniform_registers=63,
            calling=24,
            unhurried=29,
            banks=2,
            unrolls=True,
            predicates=PREDICATES,
            cycles=Cycles(DEFAULT_LATENCY, {"memory": 2, "special": 8, "double": 4}),
        ),
    )
}
"""The targets by name.

An SM has 65536 registers for 1024 threads on sm_75 and 2048 on sm_80: 64 and 32 per thread, of which three are
reserved.  An issue port is 16 lanes wide, so a memory instruction occupies it for two cycles; special functions have 4
lanes; f64 has 2 lanes per SM on sm_75 and 8 per scheduler on sm_80 (NVIDIA's white papers for Turing and A100).
"""


def target(name: str) -> Target:
    """A target by name.  Raises UnknownNameError."""
    if name not in TARGETS:
        raise UnknownNameError("target", name, TARGETS)
    return TARGETS[name]
