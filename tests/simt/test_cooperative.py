"""Thread blocks that wait for the whole grid, as in CUDA's cooperative groups: by a count in the workspace."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference.interpreter import Reference
from tests.trace.address_decoder import AddressDecoder

from warpreg.codegen import CompileOptions
from warpreg.simt import DeadlockError, Device, LaunchError, Record
from warpreg.simt.launch import side_by_side
from warpreg.timing.errors import TimingError
from warpreg.timing.launch.simulate import simulate
from warpreg.trace.path import visits

HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n"
WAIT = """.func wait_for_grid()
{
    .reg .u32 %low, %high, %t, %n, %y, %z, %mine, %old, %now, %first;
    .reg .u64 %place, %wide;
    .reg .pred %p;
    bar.sync 0;
    mov.u32 %t, %tid.x;
    setp.ne.u32 %p, %t, 0;
    @%p bra TOGETHER;
    mov.u32 %high, %envreg1;
    mov.u32 %low, %envreg2;
    cvt.u64.u32 %place, %high;
    shl.b64 %place, %place, 32;
    cvt.u64.u32 %wide, %low;
    or.b64 %place, %place, %wide;
    mov.u32 %n, %nctaid.x;
    mov.u32 %y, %nctaid.y;
    mul.lo.u32 %n, %n, %y;
    mov.u32 %first, %ctaid.x;
    mov.u32 %z, %ctaid.y;
    or.b32 %first, %first, %z;
    setp.eq.u32 %p, %first, 0;
    sub.u32 %mine, 0x80000001, %n;
    selp.u32 %mine, %mine, 1, %p;
    atom.add.release.gpu.u32 %old, [%place+4], %mine;
AGAIN:
    ld.acquire.gpu.u32 %now, [%place+4];
    xor.b32 %now, %now, %old;
    setp.ge.s32 %p, %now, 0;
    @%p bra AGAIN;
TOGETHER:
    bar.sync 0;
    ret;
}
"""
SUMS = f"""{HEAD}{WAIT}
.entry k(.param .u64 out)
{{
    .reg .u32 %t, %b, %n, %w, %g, %v, %round, %size, %next;
    .reg .u64 %a, %o, %m;
    .reg .pred %p;
    ld.param.u64 %o, [out];
    mov.u32 %t, %tid.x;
    mov.u32 %w, %ntid.x;
    mov.u32 %b, %ctaid.y;
    mov.u32 %n, %nctaid.x;
    mov.u32 %g, %ctaid.x;
    mad.lo.u32 %b, %b, %n, %g;
    mad.lo.u32 %g, %b, %w, %t;
    mov.u32 %size, %nctaid.y;
    mul.lo.u32 %size, %size, %n;
    mul.lo.u32 %size, %size, %w;
    mul.wide.u32 %m, %g, 4;
    add.u64 %a, %o, %m;
    st.global.u32 [%a], %g;
    mov.u32 %round, 0;
ROUND:
    call wait_for_grid, ();
    add.u32 %next, %g, 1;
    rem.u32 %next, %next, %size;
    mul.wide.u32 %m, %next, 4;
    add.u64 %m, %o, %m;
    ld.volatile.global.u32 %v, [%m];
    call wait_for_grid, ();
    add.u32 %v, %v, 1;
    st.global.u32 [%a], %v;
    add.u32 %round, %round, 1;
    setp.lt.u32 %p, %round, 3;
    @%p bra ROUND;
    ret;
}}
"""
"""Three times, every thread takes over its right neighbour's number and adds one: a wrong order of blocks shows."""


def expected(threads: int) -> list[int]:
    return [(i + 3) % threads + 3 for i in range(threads)]


@pytest.mark.parametrize(("grid", "block"), [(1, 32), (5, 40), ((3, 2), 64), (20, 96)])
@pytest.mark.parametrize("options", [None, CompileOptions(), CompileOptions(level="ptx")], ids=str)
def test_a_grid_waits_for_all_its_blocks(grid: int | tuple[int, int], block: int, options: CompileOptions) -> None:
    threads = int(np.prod(grid)) * block
    device = Device(SUMS, options=options)
    for _ in range(2):
        out = device.zeros(threads, np.uint32)
        device.launch("k", grid, block, out)
        assert out.download().tolist() == expected(threads)


def test_the_reference_agrees() -> None:
    reference = Reference(SUMS)
    out = reference.buffer(bytes(4 * 3 * 40))
    reference.launch("k", 3, 40, [out])
    assert np.frombuffer(out.data, np.uint32).tolist() == expected(3 * 40)


def test_the_recording_has_one_block_after_the_other_with_addresses_of_their_own() -> None:
    """Every thread stores four times to its own place, whatever the order in which blocks ran."""
    device = Device(SUMS, record=Record(path=True, addresses=True))
    out = device.zeros(4 * 32, np.uint32)
    launch = device.launch("k", 4, 32, out)
    assert launch.trace is not None
    walked = list(visits(launch.trace.path_chunks()))
    assert [v.thread_block for v in walked] == sorted(v.thread_block for v in walked)
    kernel, firsts = launch.kernel, launch.kernel.first_pcs()
    instructions = list(kernel.instructions())
    decoder = AddressDecoder(np.concatenate(list(launch.trace.address_chunks())))
    stored: dict[int, list[int]] = {}
    for visit in walked:
        for pc in range(firsts[visit.block], firsts[visit.block + 1]):
            instruction = instructions[pc]
            if instruction.opcode not in ("ld", "st", "atom") or "param" in instruction.modifiers:
                continue
            mask, addresses = decoder.next(pc, visit.mask, 4, instruction.guard is not None)
            if instruction.opcode == "st" and mask:
                stored.setdefault(visit.thread_block, []).append(int(addresses[0]) - out.address)
    assert stored == {block: [128 * block] * 4 for block in range(4)}


def test_a_grid_that_one_block_leaves_is_a_deadlock() -> None:
    text = SUMS.replace("ROUND:", "ROUND: setp.eq.u32 %p, %b, 1; @%p ret;")
    device = Device(text)
    with pytest.raises(DeadlockError, match=r"^kernel 'k': deadlock: 3 of 4 thread blocks wait for the grid"):
        device.launch("k", 4, 32, device.zeros(128, np.uint32))


def test_a_grid_that_does_not_fit_is_refused() -> None:
    device = Device(SUMS)
    most = side_by_side.MAX_BLOCKS
    with pytest.raises(LaunchError, match=f"at most {most} fit side by side, not {most + 1}"):
        device.launch("k", most + 1, 1, device.zeros(most + 1, np.uint32))


@pytest.mark.slow
def test_a_grid_is_timed_on_a_machine_that_holds_it() -> None:
    device = Device(SUMS, record=Record(path=True, addresses=True))
    fits, beyond = (device.launch("k", grid, 64, device.zeros(64 * grid, np.uint32)) for grid in (4, 129))
    assert simulate([fits], "gebhart-rfc").cycles > 0
    with pytest.raises(TimingError, match="machine 'gebhart-rfc' holds 128 at once, not 129"):
        simulate([beyond], "gebhart-rfc")


TILE = f"""{HEAD}
.entry k(.param .u64 out)
{{
    .reg .u32 %t, %w, %bit, %v, %start;
    .reg .u64 %a, %o, %place;
    .reg .pred %p, %q;
    .shared .align 4 .u32 own[3];
    ld.param.u64 %o, [out];
    mov.u32 %t, %tid.x;
    mov.u32 %start, %reserved_smem_offset_1;
    cvt.u64.u32 %place, %start;
    cvta.shared.u64 %place, %place;
    shr.u32 %w, %t, 5;
    and.b32 %v, %t, 31;
    setp.ne.u32 %p, %v, 0;
    @%p bra ARRIVED;
    mov.u32 %bit, 1;
    shl.b32 %bit, %bit, %w;
    atom.or.acq_rel.cta.b32 %v, [%place+4], %bit;
WAIT:
    ld.acquire.cta.u32 %v, [%place+4];
    setp.ne.u32 %q, %v, 15;
    @%q bra WAIT;
ARRIVED:
    bar.warp.sync -1;
    ld.u32 %v, [%place+4];
    mul.wide.u32 %a, %t, 4;
    add.u64 %a, %o, %a;
    st.u32 [own+8], 77;
    st.global.u32 [%a], %v;
    ret;
}}
"""
"""Four warps that wait for each other through a word of reserved shared memory, as tiles of several warps do."""


@pytest.mark.parametrize("options", [None, CompileOptions()], ids=str)
def test_warps_that_poll_let_the_others_go_on(options: CompileOptions) -> None:
    device = Device(TILE, options=options)
    out = device.zeros(128, np.uint32)
    launch = device.launch("k", 1, 128, out)
    assert out.download().tolist() == [15] * 128
    assert launch.warp_instructions < 200
    assert launch.shared_bytes == 16 + 1024


def test_the_reference_lets_them_too() -> None:
    reference = Reference(TILE)
    out = reference.buffer(bytes(512))
    reference.launch("k", 1, 128, [out])
    assert np.frombuffer(out.data, np.uint32).tolist() == [15] * 128
