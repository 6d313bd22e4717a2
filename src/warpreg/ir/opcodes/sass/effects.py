"""Memory and control of machine code: what they do, for the executor and for listings of opcodes."""

from __future__ import annotations

from warpreg.ir.opcodes.form import Latency, Unit
from warpreg.ir.opcodes.sass.rows import access, effect, end
from warpreg.ir.opcodes.trait import Flow, Trait

WIDTH = "[.(U8|S8|U16|S16|64|128|32)]"
SCOPE = "[.STRONG][.WEAK][.CONSTANT][.PRIVATE][.(CTA|SM|GPU|SYS)]"
EVICTION, PREFETCH = "[.(EF|EL|LU|EU|NA)]", "[.(LTC64B|LTC128B|LTC256B)]"
GLOBAL = f"[.E]{EVICTION}{PREFETCH}{EVICTION}[.U]{WIDTH}{SCOPE}{PREFETCH}{EVICTION}"
OPERATION = "(ADD|MIN|MAX|AND|OR|XOR|EXCH|INC|DEC|SAFEADD)"
NUMBERS = "[.(S32|U32|64|S64|U64)][.F32.FTZ.RN][.F32.RN][.F64.RN][.F16x2.RN]"
MEM = Unit.MEM

READS, WRITES, IDLE, JUMP = Trait.READS, Trait.WRITES, Trait.IDLE, Trait.JUMP
REDUCES = READS | WRITES | Trait.ATOMIC
UPDATES = REDUCES | Trait.RETURNS_OLD
FAR, SHARED, STORE = Latency.GLOBAL, Latency.SHARED, Latency.STORE

OPCODES = (
    access(f"LDG{GLOBAL}", "load from global memory", "global", FAR, READS),
    access(f"LD{GLOBAL}", "load from a generic address", "generic", FAR, READS),
    access(f"LDL{WIDTH}[.LU]", "load from local memory", "local", FAR, READS),
    access(f"LDS[.U]{WIDTH}", "load from shared memory", "shared", SHARED, READS),
    effect(f"LDC{WIDTH}", "load from a constant bank", MEM, Latency.CONSTANT, Trait.BANK),
    effect(f"ULDC{WIDTH}", "load from a constant bank", Unit.ALU, traits=Trait.BANK),
    access(f"STG{GLOBAL}", "store to global memory", "global", STORE, WRITES),
    access(f"ST{GLOBAL}", "store to a generic address", "generic", STORE, WRITES),
    access(f"STL{WIDTH}", "store to local memory", "local", STORE, WRITES),
    access(f"STS{WIDTH}", "store to shared memory", "shared", STORE, WRITES),
    access(f"ATOMG[.E].{OPERATION}{NUMBERS}{SCOPE}", "atomic operation on global memory", "global", FAR, UPDATES),
    access(f"ATOMG[.E].CAS[.64]{SCOPE}", "compare and swap in global memory", "global", FAR, UPDATES),
    access(f"ATOM[.E].{OPERATION}{NUMBERS}{SCOPE}", "atomic operation on a generic address", "generic", FAR, UPDATES),
    access(f"ATOM[.E].CAS[.64]{SCOPE}", "compare and swap", "generic", FAR, UPDATES),
    access(f"ATOMS.{OPERATION}{NUMBERS}", "atomic operation on shared memory", "shared", SHARED, UPDATES),
    access("ATOMS.POPC.INC.32", "count of active lanes added to shared memory", "shared", SHARED, UPDATES),
    access("ATOMS.(CAS|CAST.SPIN)[.64]", "compare and swap in shared memory", "shared", SHARED, UPDATES),
    access(f"RED[.E].{OPERATION}{NUMBERS}{SCOPE}", "reduction in global memory", "global", STORE, REDUCES),
    access(f"REDG[.E].{OPERATION}{NUMBERS}{SCOPE}", "reduction in global memory", "global", STORE, REDUCES),
    effect("MEMBAR[.(SC|ALL)][.(CTA|GPU|SYS|VC)]", "fence", MEM, STORE, Trait.FENCE | IDLE),
    end(
        "BRA[.(DIV|CONV|U)][.ANY]",
        "branch; where the warp is parted (DIV) or whole (CONV); of all lanes if any may (ANY)",
        Flow.BRANCH,
        JUMP,
    ),
    end("BRX", "branch to an address in a register", Flow.INDIRECT, JUMP | Trait.INDIRECT),
    end("CALL.REL.NOINC", "call a subroutine", Flow.BRANCH, JUMP | Trait.CALL),
    end("RET.REL.NODEC", "return to an address in a register", Flow.INDIRECT, JUMP),
    end("EXIT", "end the lanes", Flow.EXIT),
    effect("BSSY[.RECONVERGENT]", "set a convergence barrier to the active lanes"),
    end("BSYNC[.RECONVERGENT]", "wait for the lanes of a convergence barrier", Flow.CONVERGE),
    end("BREAK", "leave a convergence barrier", Flow.BREAK),
    end("WARPSYNC[.(ALL|EXCLUSIVE)]", "wait for the lanes of a mask", Flow.SYNC),
    end("WARPSYNC.COLLECTIVE", "wait for the lanes of a mask, then continue elsewhere", Flow.SYNC),
    effect("ENDCOLLECTIVE", "end of code for a collective operation", traits=IDLE),
    end("BAR.(SYNC|ARV)[.DEFER_BLOCKING]", "wait for, or arrive at, a barrier of the thread block", Flow.BARRIER),
    end("BAR.RED.(POPC|AND|OR)[.DEFER_BLOCKING]", "wait, and reduce a predicate over the thread block", Flow.BARRIER),
    effect("B2R.RESULT", "the result of a reduction at a barrier"),
    effect("DEPBAR.LE", "wait for a dependence counter", traits=IDLE | Trait.COUNTER),
    end("YIELD", "let other lanes run", Flow.YIELD),
    effect("NOP", "nothing", traits=IDLE),
)

IN_TRACES = (
    end("CAL", "call a subroutine", Flow.BRANCH, JUMP | Trait.CALL),
    end("JCAL", "call a subroutine", Flow.BRANCH, JUMP | Trait.CALL),
    end("JMX", "branch to an address in a register", Flow.INDIRECT, JUMP | Trait.INDIRECT),
    end("BRXU", "branch to an address in a uniform register", Flow.INDIRECT, JUMP | Trait.INDIRECT),
    end("JMXU", "branch to an address in a uniform register", Flow.INDIRECT, JUMP | Trait.INDIRECT),
)
"""Branches that occur in traces of hardware, and that nothing here executes."""
