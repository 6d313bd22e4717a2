"""Memory shared by Python, the driver and compiled blocks: one record per launch, warp, basic block and memory
instruction.

All native code receives the address of the launch record.  Its fields are 64-bit slots; addresses are host addresses.
"""

from __future__ import annotations

import enum

from warpreg.simt.llvm.emitter import I64, Code, Value

MAX_WARPS = 32
"""Maximum number of warps per thread block (1024 threads)."""


class Slot(enum.IntEnum):
    """Index of a field in the launch record (64 bits each)."""

    GLOBAL_BIAS = 0  # host address = device address + bias
    BUFFERS = enum.auto()  # array of (first, end) device addresses, ascending
    BUFFER_COUNT = enum.auto()
    CONSTANTS = enum.auto()  # the same for buffers that ld.const may access
    CONSTANT_COUNT = enum.auto()
    SHARED = enum.auto()
    SHARED_BYTES = enum.auto()
    LOCAL = enum.auto()  # frames of all threads of the thread block, in order
    LOCAL_BYTES = enum.auto()  # bytes of one thread
    PARAMETERS = enum.auto()
    SYMBOLS = enum.auto()  # device addresses of module variables (constant bank 4)
    SITES = enum.auto()  # one site record per memory instruction
    HELPERS = enum.auto()  # addresses of the memory operations that the kernel calls
    BLOCKS = enum.auto()  # table of basic blocks
    VISITS = enum.auto()  # uint64 per basic block
    WARP_COUNT = enum.auto()
    REGISTERS = enum.auto()  # of the first warp; the record of a warp is before its registers
    REGISTER_BYTES = enum.auto()  # from the registers of one warp to those of the next
    NTID_X = enum.auto()
    NTID_Y = enum.auto()
    NTID_Z = enum.auto()
    NCTAID_X = enum.auto()
    NCTAID_Y = enum.auto()
    NCTAID_Z = enum.auto()
    CTAID_X = enum.auto()
    CTAID_Y = enum.auto()
    CTAID_Z = enum.auto()
    THREAD_BLOCK = enum.auto()  # linear index of the running thread block
    THREAD_BLOCKS = enum.auto()
    BLOCK_LIVE = enum.auto()  # 1 if the running thread block has been set up
    ALIVE = enum.auto()  # one bit per warp that has not ended
    READY = enum.auto()  # one bit per warp that neither waits nor has ended; a running warp keeps it in a register
    PENDING = enum.auto()  # one bit per barrier at which some warp has arrived
    WARP = enum.auto()  # the running warp, with which a round continues
    EXECUTED = enum.auto()  # warp-instructions
    PAUSE_AT = enum.auto()  # value of EXECUTED at which to return to Python
    SLICE = enum.auto()  # warp-instructions per turn of a warp
    TURN_END = enum.auto()  # value of EXECUTED at which the running warp's turn ends; 0 between turns
    PATH = enum.auto()
    PATH_LIMIT = enum.auto()  # limit that leaves room for the longest record
    PATH_WARP = enum.auto()  # warp of the current path records, or -1
    ADDRESSES = enum.auto()
    ADDRESSES_LIMIT = enum.auto()
    WIDTHS = enum.auto()
    WIDTHS_LIMIT = enum.auto()
    BARRIER = enum.auto()  # number of the barrier at which a block stopped
    BARRIER_THREADS = enum.auto()  # threads that it waits for, 0 for all
    FAULT = enum.auto()  # a Fault, 0 if there is none
    FAULT_SITE = enum.auto()
    FAULT_LANE = enum.auto()
    FAULT_ADDRESS = enum.auto()
    DYNAMIC_SHARED = enum.auto()
    TEXTURES = enum.auto()  # records of textures, samplers and surfaces
    TEXTURE_BYTES = enum.auto()  # bytes of all of them
    STACK_BASE = enum.auto()  # offset of a thread's stack in its local memory
    SERVICE_BLOCK = enum.auto()  # block that requests a host service, and the lanes that do
    SERVICE_LANES = enum.auto()
    YIELD = enum.auto()  # 1 if the running warp's turn ends after the basic block
    FAILED_WAITS = enum.auto()  # consecutive failed waits for an mbarrier
    ENVREG1 = enum.auto()  # address of the grid's workspace in a cooperative launch, upper half
    ENVREG2 = enum.auto()  # its lower half
    YIELDED = enum.auto()  # 1 if a warp of the thread block has yielded in this round
    ARRIVED = 64  # warps that arrived at barriers 0 to 15: sixteen slots
    REDUCED_COUNT = 80  # lanes whose predicate held in the current bar.red, sixteen slots
    REDUCED_THREADS = 96  # lanes that took part, sixteen slots
    EXPECTED = 112  # threads that the barrier waits for, 0 for all, sixteen slots
    WAITS = 128  # one bit per warp that waits at the barrier, sixteen slots
    TARGETS = 144  # block index per lane, 32 x i32, for brx.idx
    SERVICE = 160  # up to five arguments of 32 x i64 each for a host service; its result replaces the first
    RESERVED_SHARED = 320  # offset of the reserved part of shared memory
    CONTENTS = 321  # offset of the contents of registers in a warp's register memory, which a thread block finds empty
    CONTENTS_BYTES = 322  # 0 where they are not kept
    LOOK_AT = 323  # value of EXECUTED before which a warp may enter a block without other checks
    IN_ROWS = 324  # 1 if the threads of each warp follow each other in x
    STEPS = 325  # addresses of the driver's steps (`Step`)
    COUNT = 337


RESULT_BYTES, RESULT_ENTRIES = 16, 8
"""Results of BAR.RED that a warp keeps until B2R reads them, the oldest first."""


ALL_WAIT = 33
"""Bit of `Slot.BARRIER` for the only barrier of a kernel, at which all warps wait: who waits is who has not ended and
is not ready."""


class Warp(enum.IntEnum):
    """Byte offset of a field in a warp's record (32 bits each unless stated)."""

    BLOCK = 0
    MASK = 4
    RECONVERGENCE = 8  # block at which lanes reconverge
    ALIVE = 12  # lanes that have not exited
    TOP = 16  # 64 bits: address of the top of the stack
    LAST_MASK = 24
    FIRST_MASK = 32
    BARRIER_MASK = 36
    BARRIER_BLOCK = 48  # 64 bits: the record of the block that ended at the barrier
    GATHERED = 56  # machine code: lanes that wait for the others of their warp at a barrier of the thread block
    BLOCKED = 60  # machine code: one bit per convergence barrier at which lanes wait, and `WARP_SYNC`
    STACK = 64
    MASKS = STACK + 256 * 16  # machine code: by convergence barrier and lane, the lanes that take part with this one
    WAITING = MASKS + 16 * 128  # by convergence barrier the lanes that wait there, then those in WARPSYNC
    PLACES = WAITING + 128  # the block at whose end each lane waits
    WANTED = PLACES + 128  # the lanes for which each lane waits in WARPSYNC
    NUMBER = WANTED + 128  # 64 bits: barrier of the thread block at which the lanes in GATHERED wait, as Slot.BARRIER
    THREADS = NUMBER + 8  # 64 bits: likewise, as Slot.BARRIER_THREADS
    REDUCTION = THREADS + 8  # what the current BAR.RED computes (`Reduction`)
    REDUCED = REDUCTION + 4  # number of results of BAR.RED so far
    RESULTS = REDUCTION + 8  # the last 8: threads whose predicate held, all threads, `Reduction`, unused
    READ = RESULTS + RESULT_BYTES * RESULT_ENTRIES  # by lane, the number of results that it has read
    PLACE = READ + 128  # by convergence barrier, the block at whose end its lanes wait, NO_BLOCK if it is not the same


WARP_SYNC = 16
"""The place of WARPSYNC after the 16 convergence barriers."""


class Reduction(enum.IntEnum):
    """What BAR.RED computes over the threads of a block."""

    POPC = 0
    AND = 1
    OR = 2


STACK_ENTRY_BYTES = 16  # reconvergence block, block, mask, unused

STACK_ENTRIES = 256
"""Depth of a warp's reconvergence stack; deeper nesting of divergent regions is a fault."""

WARP_BYTES = Warp.WAITING + 768
"""Bytes of a warp's record, a multiple of 64."""


class BlockField(enum.IntEnum):
    """Byte offset of a field in a basic block's record."""

    FUNCTION = 0  # 64 bits; the rest 32
    KIND = 8
    TARGET = 12
    FALL_THROUGH = 16
    RECONVERGENCE = 20
    INSTRUCTIONS = 24
    RESUME = 32  # 64 bits: function that receives the result of a bar.red or host service, or 0


BLOCK_BYTES = 40


class BlockKind(enum.IntEnum):
    """How a basic block ends."""

    GOTO = 0
    BRANCH = 1
    EXIT = 2
    GUARDED_EXIT = 3
    BARRIER = 4
    INDIRECT = 5
    SERVICE = 6
    CONVERGE = 7  # the rest in machine code only: BSYNC
    BREAK = 8
    SYNC = 9  # WARPSYNC
    RESUME = 10  # a barrier's mask was written from a register
    YIELD = 11


class Step(enum.IntEnum):
    """The parts of the driver to which blocks jump."""

    ARRIVE = 0  # enter a block, after all checks
    DIVERGE = 1
    EXIT = 2
    BARRIER = 3
    STOP = 4  # host services and indirect branches
    NEXT = 5  # go on with the next warp
    ENDED = 6  # all lanes have exited
    CONVERGE = 7  # machine code only: wait at a convergence barrier
    CHANGED = 8  # fewer lanes take part in a convergence barrier
    SYNC = 9  # wait in WARPSYNC
    REST = 10  # let other lanes run


class SiteField(enum.IntEnum):
    """Byte offset of a field in a memory instruction's record (64 bits each)."""

    FIRST = 0  # device address of the buffer last used
    SPAN = 8  # bytes after FIRST at which an access may begin
    BASE = 16  # last recorded address
    STRIDE = 24  # last recorded stride
    MASK = 32  # last recorded mask
    GUARDED = 40  # all ones if the instruction has a guard, so that its mask must be recorded, else 0
    LAST = 48  # lane 0's last address in global memory, from which the next ones are guessed
    GROUP_BASE = 56  # last address register of a group of accesses (`address_groups`), in the site of the first
    GROUP_STRIDE = 64  # its stride + 1; 0: all sites of the group have their own base and stride


SITE_BYTES = 72

FRESH_BASE, FRESH_STRIDE, FRESH_MASK = 1 << 62, 1 << 40, 1 << 40
"""Base and stride that no access has: the next record of the site will not depend on an earlier one."""


class Stop(enum.IntEnum):
    """Reason for which the driver returned."""

    FINISHED = 0
    PAUSED = 1
    FAULT = 2
    BUFFER_FULL = 3
    DEADLOCK = 4
    SERVICE = 5
    YIELDED = 6


class Fault(enum.IntEnum):
    """Faults in a block or memory operation."""

    NONE = 0
    OUT_OF_BOUNDS = 1
    MISALIGNED = 2
    TRAP = 3
    STACK_OVERFLOW = 4
    DIVIDED = 5  # not all lanes execute a warp-wide instruction
    UNKNOWN_HANDLE = 6
    WRONG_RESOURCE = 7
    WRONG_KIND = 8
    OUTSIDE_SURFACE = 9
    BRANCH_INDEX = 10
    UNANSWERED = 11  # wait for an mbarrier that nothing completes
    STRANDED = 13  # lanes wait for others of their warp that never come
    TAINTED = 12  # read of an operand from a location that need not hold it


NO_BLOCK = 0xFFFFFFFF


def slot(code: Code, launch: Value, field: int) -> Value:
    """Read a field of the launch record."""
    return (launch + field * 8).load(I64)


def set_slot(launch: Value, field: int, value: Value) -> None:
    (launch + field * 8).store(value)


def record_of(registers: Value) -> Value:
    """The address of the record of the warp that has these registers."""
    return registers - WARP_BYTES
