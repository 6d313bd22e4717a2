"""Instructions of machine code that a block carries out itself: control flow, memory, and what a warp keeps apart from
its registers.  All others compute (`warpreg.simt.lanes.lane_instructions`).
"""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING

from warpreg.ir import opcodes
from warpreg.ir.address_space import HIGH_SHARED_WINDOW, LOCAL_WINDOW, SHARED_WINDOW, WINDOW_BYTES
from warpreg.ir.instruction import Instruction, registers_of
from warpreg.ir.memory_access import bank_type, memory_form
from warpreg.ir.operands import ConstantBank, Immediate, Operand, Register, Sink, Vector
from warpreg.ir.types import B32, B64, PRED, U32, Type
from warpreg.sass.isa.opcodes import is_sass
from warpreg.simt.block.native_records import (
    RESULT_BYTES,
    RESULT_ENTRIES,
    Fault,
    Reduction,
    Slot,
    Warp,
    record_of,
    set_slot,
)
from warpreg.simt.kernel import machine_barriers, uniform_instructions
from warpreg.simt.kernel.group_ends import convergence_barrier
from warpreg.simt.kernel.machine_operands import Target, sources, targets, value, write
from warpreg.simt.kernel.polling import polls
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import I32, I64, MASK, Value, apart, lanes_of
from warpreg.simt.memory.bulk_copy import Transfer
from warpreg.simt.memory.constant_words import BankAccess, words_of_pair
from warpreg.simt.memory.machine_access import MachineAccess, Rows, addresses
from warpreg.simt.memory.memory_instructions import MemoryAccess
from warpreg.simt.tensor.matrix_instructions import MachineMatrices
from warpreg.simt.texture.machine_fetch import MachineTexture
from warpreg.simt.texture.machine_surface import MachineSurface

if TYPE_CHECKING:
    from warpreg.simt.kernel.block_compiler import Body


def handles(instruction: Instruction) -> bool:
    """Whether `emit` carries it out: machine code that does more than compute."""
    return is_sass(instruction) and instruction.traits.has_effect


def emit(body: Body, instruction: Instruction, pc: int) -> None:
    """Carry out one instruction.  Raises UnsupportedError for a form that is not known."""
    traits = instruction.traits
    if traits.is_idle:
        return
    if traits.accesses_elements:
        _memory(body, instruction, pc)
    elif traits.loads_bank:
        _constant(body, instruction, pc)
    elif instruction.opcode in EMITTERS:
        EMITTERS[instruction.opcode](body, instruction, pc)
    elif traits.is_texture:
        _texture(body, instruction, pc)
    else:
        _branch(body, instruction, pc)


def _parted(written: list[Target]) -> tuple[list[Target], list[Target]]:
    """The predicates, and the other registers."""
    return [t for t in written if t[0].is_predicate], [t for t in written if not t[0].is_predicate]


def _memory(body: Body, instruction: Instruction, pc: int) -> None:
    form = memory_form(instruction)
    assert form is not None
    predicates, registers = _parted(targets(body, instruction, pc))
    for done in predicates:  # of ATOM: whether it could be done at this address, as it always can
        write(body, done, [body.code.const(MASK, 1)], body.guard(instruction, pc))
    target = registers[0] if registers else None
    if polls(instruction, body.compiler.is_cooperative):
        set_slot(body.launch, Slot.YIELD, body.code.const(I64, 1))
    high = body.compiler.kernel.machine_code >= "sm_90"
    access = MachineAccess(body.values, body.compiler.sites, instruction, pc, target[1] if target else (), high)
    lanes, guard = body.lanes_of_guard(instruction, pc), body.guard(instruction, pc)
    with body.values.under(guard):
        results = access.perform(sources(body, instruction, pc), lanes)
    if target and results:
        write(body, target, results, guard, form.type.is_signed)


def _texture(body: Body, instruction: Instruction, pc: int) -> None:
    """A texture fetch: coordinates, level or gradients, handle, geometry."""
    given = sources(body, instruction, pc)
    points, further = (o.elements for o in instruction.sources[:2] if isinstance(o, Vector))
    words = [value(body, source, B32, instruction) for source in given[: len(points) + len(further)]]
    handle, (geometry, _) = given[-2:]
    scalar = _handle(body, handle, instruction)
    slots = opcodes.flattened(instruction.results)
    used = sum(1 << channel for channel, slot_ in enumerate(slots) if isinstance(slot_, Register))
    access = MachineTexture(body.values, body.compiler.sites, instruction, pc)
    mask, count = body.lanes_of_guard(instruction, pc), len(points)
    channels = access.fetched(used, words[:count], words[count:], scalar, str(geometry), mask)
    found = [channel for channel, slot_ in zip(channels, slots, strict=True) if isinstance(slot_, Register)]
    for target, result in zip(targets(body, instruction, pc), found, strict=True):
        write(body, target, [result], body.guard(instruction, pc))


def _handle(body: Body, handle: tuple[Operand, Rows], instruction: Instruction) -> Value:
    """A handle as a scalar (i64)."""
    if isinstance(handle[0], ConstantBank):
        return body.values.bank(handle[0], B32, instruction).zext(I64)
    return value(body, handle, B32, instruction).lane(body.first(body.values.mask)).zext(I64)


def _query(body: Body, instruction: Instruction, pc: int) -> None:
    """TXQ: extents of a texture."""
    level, handle = sources(body, instruction, pc)
    access = MachineTexture(body.values, body.compiler.sites, instruction, pc)
    mask, guard = body.lanes_of_guard(instruction, pc), body.guard(instruction, pc)
    words, scalar = value(body, level, B32, instruction), _handle(body, handle, instruction)
    channels = [n for n, o in enumerate(opcodes.flattened(instruction.results)) if isinstance(o, Register)]
    for target, channel in zip(targets(body, instruction, pc), channels, strict=True):
        write(body, target, [access.asked(channel, words, scalar, mask)], guard)


def _surface(body: Body, instruction: Instruction, pc: int) -> None:
    """SULD, SUST, SURED: an access to a surface."""
    *given, handle, _ = sources(body, instruction, pc)
    words = [value(body, source, B32, instruction) for source in given]
    points, stored = (len(o.elements) for o in instruction.sources[:2] if isinstance(o, Vector))
    count = stored or len(opcodes.flattened(instruction.results))
    access = MachineSurface(body.values, body.compiler.sites, instruction, pc)
    scalar, mask = _handle(body, handle, instruction), body.lanes_of_guard(instruction, pc)
    found = access.accessed(words[:points], words[points:], scalar, count, mask)
    kept = [
        one for one, o in zip(found, opcodes.flattened(instruction.results), strict=False) if not isinstance(o, Sink)
    ]
    for target, result in zip(targets(body, instruction, pc), kept, strict=True):
        write(body, target, [result], body.guard(instruction, pc))


def _constant(body: Body, instruction: Instruction, pc: int) -> None:
    """Load from a constant bank."""
    written = targets(body, instruction, pc)
    if not written:
        return
    type_ = bank_type(instruction.modifiers)
    (operand, rows), *_ = given = sources(body, instruction, pc)
    if not isinstance(operand, ConstantBank):
        result = value(body, given[0], type_, instruction)
    elif operand.index is None:
        scalar = _bank_scalar(body, operand, type_, instruction)
        cells = (*written[-1][1], *body.compiler.storage.read[pc])
        if not body.widths and all(cell.is_uniform for cell in cells):
            whole = ir.IntType(uniform_instructions.bits_of(written[-1][1]))
            wide = scalar.sext(whole) if type_.is_signed else scalar.zext(whole)
            uniform_instructions.write(body, written[-1][1], wide, body.guard(instruction, pc))
            return
        result = scalar.splat()
    else:
        compiler = body.compiler
        bank = BankAccess(
            body.values, compiler.sites, compiler.kernel, instruction, pc, body.lanes_of_guard(instruction, pc)
        )
        result = bank.word(operand, rows[0], type_)
    write(body, written[-1], [result], body.guard(instruction, pc), type_.is_signed)


def _bank_scalar(body: Body, operand: ConstantBank, type_: Type, instruction: Instruction) -> Value:
    """What a constant bank holds at a known place."""
    if type_ is not B64:
        return body.values.bank(operand, type_, instruction)
    low, high = (body.values.bank(word, B32, instruction) for word in words_of_pair(body.compiler.kernel, operand))
    return low.zext(I64) | (high.zext(I64) << 32)


def _branch(body: Body, instruction: Instruction, pc: int) -> None:
    """The lanes that take a branch or exit."""
    lanes, given = _chosen(body, instruction, pc), sources(body, instruction, pc)
    if "DIV" in instruction.modifiers or "CONV" in instruction.modifiers:
        (wanted, *_) = (s for s in given if isinstance(s[0], Immediate) or any(registers_of(s[0])))
        assert body.state is not None
        alive = body.state.alive
        named = value(body, wanted, U32, instruction)
        absent = (named & (alive & ~body.values.mask).splat()) != 0
        asked = absent if "DIV" in instruction.modifiers else ~absent
        lanes = lanes & asked.bitcast(I32)
    elif "ANY" in instruction.modifiers:
        lanes = (lanes != 0).select(body.values.mask, lanes)
    body.taken = lanes


def _chosen(body: Body, instruction: Instruction, pc: int) -> Value:
    """The lanes for which the guard and the predicates among the sources hold."""
    lanes = body.lanes_of_guard(instruction, pc)
    for source in sources(body, instruction, pc):
        if _is_predicate(source):
            lanes = lanes & value(body, source, PRED, instruction).bitcast(I32)
    return lanes


def _indirect(body: Body, instruction: Instruction, pc: int) -> None:
    """Store the block that each lane goes to: registers hold byte addresses in the section."""
    body.taken = body.lanes_of_guard(instruction, pc)
    given = next(s for s in sources(body, instruction, pc) if isinstance(s[0], Register))
    address = value(body, given, U32, instruction)
    kernel, block = body.compiler.kernel, body.compiler.block_of(pc)
    following = () if not instruction.guard else (block + 1,)
    known = [b for b in dict.fromkeys(kernel.blocks[block].successors) if b not in following]
    target = body.code.const(lanes_of(I32), 0)
    found = body.code.const(MASK, 0)
    for one in known:
        here = address == kernel.block_addresses[one]
        target, found = here.select(one, target), found | here
    lost = ~found.bitcast(I32) & body.taken
    with body.code.if_(lost != 0, likely=False):
        lane = body.first(lost)
        site = body.compiler.sites.site(pc, False)
        body.fault(Fault.BRANCH_INDEX, site, lane, address.lane(lane).zext(I64))
    (body.launch + Slot.TARGETS * 8).store(target, align=8)


def _record(body: Body) -> Value:
    return record_of(body.values.registers)


def _members(body: Body, barrier: int) -> Value:
    """The address of the lanes with which each lane takes part in a convergence barrier."""
    return _record(body) + (Warp.MASKS + 128 * barrier)


def _note(body: Body, barrier: int, lanes: Value, members: Value) -> None:
    """Change what some lanes (i32) take part in."""
    place = _members(body, barrier)
    kept = lanes.bitcast(MASK).select(members, apart(place.load(members.type, align=4)))
    place.store(kept, align=4)


def _begin_region(body: Body, instruction: Instruction, pc: int) -> None:
    """BSSY: the active lanes take part in a convergence barrier."""
    lanes = body.lanes_of_guard(instruction, pc)
    _note(body, convergence_barrier(instruction), lanes, lanes.splat())


def _break(body: Body, instruction: Instruction, pc: int) -> None:
    """BREAK: the lanes leave a convergence barrier."""
    body.taken = _chosen(body, instruction, pc)
    place = _members(body, convergence_barrier(instruction))
    members = place.load(lanes_of(I32), align=4)
    together = members == members.lane(body.first(body.taken)).splat()
    place.store(together.select(members & (~body.taken).splat(), members), align=4)


def _converge(body: Body, instruction: Instruction, pc: int) -> None:
    body.taken = _chosen(body, instruction, pc)


def _synchronize(body: Body, instruction: Instruction, pc: int) -> None:
    """WARPSYNC: the lanes that have to wait, and those that each waits for."""
    lanes = body.lanes_of_guard(instruction, pc)
    given = [s for s in sources(body, instruction, pc) if isinstance(s[0], (Immediate, Register, ConstantBank))]
    everyone = body.code.const(lanes_of(I32), -1)
    wanted = value(body, given[0], U32, instruction) if given and "ALL" not in instruction.modifiers else everyone
    assert body.state is not None
    alive = body.state.alive
    absent = ((wanted & (alive & ~lanes).splat()) != 0).bitcast(I32) & lanes
    (body.launch + Slot.TARGETS * 8).store(wanted, align=8)
    body.taken = (absent == 0).select(0, lanes)


def _barrier(body: Body, instruction: Instruction, pc: int) -> None:
    """BAR: store number and thread count of the barrier, and the contributions to BAR.RED, in the launch record."""
    body.taken = body.lanes_of_guard(instruction, pc)
    given = sources(body, instruction, pc)
    numbers = [s for s in given if not _is_predicate(s)]
    values = [body.of_first_lane(s[0], functools.partial(value, body, s, U32, instruction)) for s in numbers]
    values = values or [body.code.const(I64, 0)]
    if len(values) == 2 and all(isinstance(operand, Register) for operand, _ in numbers):
        values = [values[0] & 15, (values[1] >> 16) & 0xFFF]  # each register has both
    arrives = "ARV" in instruction.modifiers
    threads = values[1] if len(values) > 1 else body.code.const(I64, 0)
    body.come_to_barrier(values[0] | (1 << 32) if arrives else values[0], threads)
    if "RED" in instruction.modifiers:
        kind = next((k for k in Reduction if k.name in instruction.modifiers), Reduction.POPC)
        (_record(body) + Warp.REDUCTION).store(body.code.const(I32, kind))
        predicates = [s for s in given if _is_predicate(s)]
        held = value(body, predicates[-1], PRED, instruction).bitcast(I32) & body.taken
        for slots, lanes in ((Slot.REDUCED_COUNT, held), (Slot.REDUCED_THREADS, body.taken)):
            field = body.launch + (values[0] & 15) * 8 + slots * 8
            count = body.code.intrinsic("llvm.ctpop.i32", I32, [lanes])
            field.store(field.load(I64) + count.zext(I64))


def _is_predicate(source: tuple[Operand, Rows]) -> bool:
    return any(register.is_predicate for register in registers_of(source[0]))


def _barrier_result(body: Body, instruction: Instruction, pc: int) -> None:
    """B2R.RESULT: the oldest result of BAR.RED that the lanes have not read; ptxas may put two BAR.RED before it."""
    record, guard, lanes = _record(body), body.guard(instruction, pc), body.lanes_of_guard(instruction, pc)
    read = (record + Warp.READ).load(lanes_of(I32), align=4)
    number = read.lane(body.first(lanes)) & RESULT_ENTRIES - 1
    entry = record + Warp.RESULTS + number.zext(I64) * RESULT_BYTES
    (record + Warp.READ).store(lanes.bitcast(MASK).select(read + 1, read), align=4)
    count, threads, kind = ((entry + 4 * place).load(I32) for place in range(3))
    holds = (kind == int(Reduction.AND)).select((count == threads).zext(I32), (count != 0).zext(I32)) != 0
    for target in targets(body, instruction, pc):
        is_predicate = target[0].is_predicate
        write(body, target, [holds.splat() if is_predicate else count.splat()], guard)


def _move_barrier(body: Body, instruction: Instruction, pc: int) -> None:
    """BMOV: between a convergence barrier and a register."""
    lanes, guard = body.lanes_of_guard(instruction, pc), body.guard(instruction, pc)
    barrier, (target, *_) = convergence_barrier(instruction), targets(body, instruction, pc)
    if target[0].is_convergence_barrier:
        given = next(s for s in sources(body, instruction, pc) if not isinstance(s[0], Sink))
        _note(body, barrier, lanes, value(body, given, U32, instruction))
        return
    write(body, target, [_members(body, barrier).load(lanes_of(I32), align=4)], guard)
    if "CLEAR" in instruction.modifiers:
        _note(body, barrier, lanes, body.code.const(lanes_of(I32), 0))


def _query_space(body: Body, instruction: Instruction, pc: int) -> None:
    """QSPC: whether a generic address is in shared (S), local (L) or global memory (G); no thread block has another's
    shared memory (D)."""
    where = addresses(body.values, sources(body, instruction, pc)[0], "generic", instruction)
    shared = HIGH_SHARED_WINDOW if body.compiler.kernel.machine_code >= "sm_90" else SHARED_WINDOW
    is_shared, is_local = ((where - window % (1 << 64)) < WINDOW_BYTES for window in (shared, LOCAL_WINDOW))
    found = {"S": is_shared, "L": is_local, "G": ~(is_shared | is_local), "D": body.code.const(MASK, 0)}
    answer = found[instruction.modifiers[-1]]
    for target in targets(body, instruction, pc):
        result = answer if target[0].is_predicate else answer.zext(lanes_of(I32))
        write(body, target, [result], body.guard(instruction, pc))


def _copy(body: Body, instruction: Instruction, pc: int) -> None:
    """LDGSTS: copy from global to shared memory; zeros where the predicate fails.  It completes where it is issued."""
    to, from_, chosen = sources(body, instruction, pc)
    size = next((int(m) // 8 for m in instruction.modifiers if m in ("64", "128")), 4)
    transfer = Transfer("shared", "global", size, size, record=body.compiler.sites.record)
    words = lanes_of(I32)
    count = value(body, chosen, PRED, instruction).select(body.code.const(words, size), body.code.const(words, 0))
    access = MemoryAccess(body.values, body.compiler.sites, instruction, pc)
    ends = [addresses(body.values, end, space, instruction) for end, space in ((to, "shared"), (from_, "global"))]
    lanes = body.lanes_of_guard(instruction, pc)
    access.call_native(transfer, ir.VoidType(), [body.launch, access.new_site(), lanes, *ends, count])


def _matrices(body: Body, instruction: Instruction, pc: int) -> None:
    """LDSM and STSM: matrices of 8 x 8 halves in shared memory, one for each register."""
    where, *given = sources(body, instruction, pc)
    count = next((m for m in instruction.modifiers if m in ("2", "4")), "1")
    turned = ("trans",) if "MT88" in instruction.modifiers else ()
    opcode = "ldmatrix" if instruction.opcode == "LDSM" else "stmatrix"
    modifiers = ("sync", "aligned", "m8n8", f"x{count}", *turned, "shared", "b16")
    likewise = replace(instruction, opcode=opcode, modifiers=modifiers)
    matrices = MachineMatrices(body.values, body.compiler.sites, likewise, pc)
    rows = addresses(body.values, where, "shared", instruction)
    words = [body.values.read((cell,), 32) for _, own in given for row in own for cell in dict.fromkeys(row)]
    found = matrices.moved(rows, words, body.lanes_of_guard(instruction, pc))
    for target in targets(body, instruction, pc):
        if len({*target[1]}) == 1 and len(found) == 2:
            found = [found[0].zext(lanes_of(I64)) | (found[1].zext(lanes_of(I64)) << 32)]
        write(body, target, found, body.guard(instruction, pc))


def _trap(body: Body, instruction: Instruction, pc: int) -> None:
    body.trap(instruction, pc)


EMITTERS = {
    "BSSY": _begin_region,
    "BSYNC": _converge,
    "BREAK": _break,
    "WARPSYNC": _synchronize,
    "YIELD": _converge,
    "BAR": _barrier,
    "B2R": _barrier_result,
    "BMOV": _move_barrier,
    "BPT": _trap,
    "QSPC": _query_space,
    "TXQ": _query,
    "SULD": _surface,
    "SUST": _surface,
    "SURED": _surface,
    "LDGSTS": _copy,
    "LDSM": _matrices,
    "STSM": _matrices,
    "BRX": _indirect,
    "JMX": _indirect,
    "RET": _indirect,
    "SYNCS": machine_barriers.object_operation,
    "ARRIVES": machine_barriers.copies_arrived,
    "UBLKCP": machine_barriers.block_copy,
    "UBLKRED": machine_barriers.block_copy,
}
"""What carries out each opcode that no trait describes; branches and exits share one function."""
