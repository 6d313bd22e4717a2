"""Memory and control of machine code: what they do, for the executor and for listings of opcodes."""

from __future__ import annotations

from warpreg.ir.opcodes.form import Latency, Unit
from warpreg.ir.opcodes.sass.rows import effect

WIDTH = "[.(U8|S8|U16|S16|64|128|32)]"
SCOPE = "[.STRONG][.WEAK][.CONSTANT][.PRIVATE][.(CTA|SM|GPU|SYS)]"
EVICTION, PREFETCH = "[.(EF|EL|LU|EU|NA)]", "[.(LTC64B|LTC128B|LTC256B)]"
GLOBAL = f"[.E]{EVICTION}{PREFETCH}{EVICTION}[.U]{WIDTH}{SCOPE}{PREFETCH}{EVICTION}"
OPERATION = "(ADD|MIN|MAX|AND|OR|XOR|EXCH|INC|DEC|SAFEADD)"
NUMBERS = "[.(S32|U32|64|S64|U64)][.F32.FTZ.RN][.F32.RN][.F64.RN][.F16x2.RN]"
MEM = Unit.MEM

OPCODES = (
    effect(f"LDG{GLOBAL}", "load from global memory", MEM, Latency.GLOBAL),
    effect(f"LD{GLOBAL}", "load from a generic address", MEM, Latency.GLOBAL),
    effect(f"LDL{WIDTH}[.LU]", "load from local memory", MEM, Latency.GLOBAL),
    effect(f"LDS[.U]{WIDTH}", "load from shared memory", MEM, Latency.SHARED),
    effect(f"LDC{WIDTH}", "load from a constant bank", MEM, Latency.CONSTANT),
    effect(f"ULDC{WIDTH}", "load from a constant bank", Unit.ALU),
    effect(f"STG{GLOBAL}", "store to global memory", MEM, Latency.STORE),
    effect(f"ST{GLOBAL}", "store to a generic address", MEM, Latency.STORE),
    effect(f"STL{WIDTH}", "store to local memory", MEM, Latency.STORE),
    effect(f"STS{WIDTH}", "store to shared memory", MEM, Latency.STORE),
    effect(f"ATOMG[.E].{OPERATION}{NUMBERS}{SCOPE}", "atomic operation on global memory", MEM, Latency.GLOBAL),
    effect(f"ATOMG[.E].CAS[.64]{SCOPE}", "compare and swap in global memory", MEM, Latency.GLOBAL),
    effect(f"ATOM[.E].{OPERATION}{NUMBERS}{SCOPE}", "atomic operation on a generic address", MEM, Latency.GLOBAL),
    effect(f"ATOM[.E].CAS[.64]{SCOPE}", "compare and swap", MEM, Latency.GLOBAL),
    effect(f"ATOMS.{OPERATION}{NUMBERS}", "atomic operation on shared memory", MEM, Latency.SHARED),
    effect("ATOMS.POPC.INC.32", "count of active lanes added to shared memory", MEM, Latency.SHARED),
    effect("ATOMS.(CAS|CAST.SPIN)[.64]", "compare and swap in shared memory", MEM, Latency.SHARED),
    effect(f"RED[.E].{OPERATION}{NUMBERS}{SCOPE}", "reduction in global memory", MEM, Latency.STORE),
    effect(f"REDG[.E].{OPERATION}{NUMBERS}{SCOPE}", "reduction in global memory", MEM, Latency.STORE),
    effect("MEMBAR[.(SC|ALL)][.(CTA|GPU|SYS|VC)]", "fence", MEM, Latency.STORE),
    effect("BRA[.(DIV|CONV|U)]", "branch; where the warp is parted (DIV) or whole (CONV)"),
    effect("BRX", "branch to an address in a register"),
    effect("CALL.REL.NOINC", "call a subroutine"),
    effect("RET.REL.NODEC", "return to an address in a register"),
    effect("EXIT", "end the lanes"),
    effect("BSSY[.RECONVERGENT]", "set a convergence barrier to the active lanes"),
    effect("BSYNC[.RECONVERGENT]", "wait for the lanes of a convergence barrier"),
    effect("BREAK", "leave a convergence barrier"),
    effect("WARPSYNC[.(ALL|EXCLUSIVE)]", "wait for the lanes of a mask"),
    effect("WARPSYNC.COLLECTIVE", "wait for the lanes of a mask, then continue elsewhere"),
    effect("ENDCOLLECTIVE", "end of code for a collective operation"),
    effect("BAR.(SYNC|ARV)[.DEFER_BLOCKING]", "wait for, or arrive at, a barrier of the thread block"),
    effect("BAR.RED.(POPC|AND|OR)[.DEFER_BLOCKING]", "wait, and reduce a predicate over the thread block"),
    effect("B2R.RESULT", "the result of a reduction at a barrier"),
    effect("DEPBAR.LE", "wait for a dependence counter"),
    effect("YIELD", "let other lanes run"),
    effect("NOP", "nothing"),
)
