"""The limit of a workload: what its instructions do to memory, and what that costs at least."""

from __future__ import annotations

import numpy as np
import pytest

from warpreg import simt
from warpreg_workbench.bench import own_limit
from warpreg_workbench.bench.instruction_mix import ATOMICS, LOADS, STORES, Mix, instruction_mix
from warpreg_workbench.bench.own_limit import UnitCosts

KERNEL = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry accesses(.param .u64 first, .param .u64 second)
{
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<8>;
    .shared .align 4 .b8 tile[256];
    ld.param.u64 %rd1, [first];
    ld.param.u64 %rd2, [second];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd3, %rd1, %rd3;
    mul.wide.u32 %rd4, %r1, 8;
    add.s64 %rd4, %rd2, %rd4;
    setp.lt.u32 %p1, %r1, 4;
    setp.gt.u32 %p2, %r1, 99;
    ld.global.u32 %r2, [%rd3];
    st.global.u32 [%rd4], %r2;
    atom.global.add.u32 %r3, [%rd1+256], 1;
    @%p1 ld.global.u32 %r4, [%rd4];
    @%p2 st.global.u32 [%rd3], %r3;
    mov.u32 %r5, tile;
    shl.b32 %r6, %r1, 2;
    add.u32 %r5, %r5, %r6;
    st.shared.u32 [%r5], %r4;
    ret;
}
"""


def scattered(**lanes: dict[int, int]) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Accesses by number of lanes."""
    counts = np.zeros((3, 33), np.int64)
    for action, name in ((LOADS, "loads"), (STORES, "stores"), (ATOMICS, "atomics")):
        for count, accesses in lanes.get(name, {}).items():
            counts[action, count] = accesses
    return counts


def test_accesses_are_counted_by_what_they_do_to_memory() -> None:
    device = simt.Device(KERNEL, None, simt.Record(path=True, addresses=True))
    first, second = device.zeros(128, np.uint32), device.zeros(64, np.uint32)
    for _ in range(2):
        device.launch("accesses", 1, 32, first, second)
    mix = instruction_mix(device.launches, device.memory.end - device.memory.base)
    assert mix.rows == 2 * 2  # the first load, and the store to shared memory
    assert np.array_equal(mix.scattered, 2 * scattered(loads={4: 1}, stores={32: 1}, atomics={32: 1}))
    assert mix.read == 2 * 2  # a row
    assert mix.written == 2 * (4 + 1)  # 256 bytes of stores, and the word of the atomic
    assert mix.footprint == 64 * 7
    total = sum(launch.warp_instructions for launch in device.launches)
    assert mix.others == total - 2 * 5
    assert mix.instructions == total


def test_a_mix_costs_the_sum_of_its_parts_and_few_lanes_cost_a_row() -> None:
    costs = UnitCosts(multiply_add=1, row=2, load=16, store=32, atomic=64, read=3, write=5)
    counts = scattered(loads={32: 10, 8: 10, 1: 10}, stores={16: 1}, atomics={32: 2})
    mix = Mix(others=100, rows=7, scattered=counts, read=4, written=6, footprint=0)
    loads, stores, atomics = 10 * (16 + 4 + 2), 16, 128
    assert costs.seconds(mix) == pytest.approx((100 + 14 + loads + stores + atomics + 12 + 30) / 1e9)


@pytest.mark.parametrize("name", ["load_at_once", "load_lanes", "store_at_once", "store_lanes", "atomic"])
def test_the_loops_do_what_they_are_timed_for(name: str) -> None:
    raw = np.zeros(3 * own_limit.PAGE, np.uint8)
    page = raw[-raw.ctypes.data % own_limit.PAGE :][: own_limit.PAGE].view(np.uint32)
    offsets, values, results, words = page.reshape(4, -1)
    places = np.random.default_rng(1).permutation(words.size)
    offsets[:], values[:], words[:] = 4 * places, np.arange(words.size), np.arange(words.size)[::-1]
    before = words.copy()
    own_limit.loop(name)(page.ctypes.data, page.ctypes.data, 1)
    if name.startswith("load"):
        assert np.array_equal(results, before[places])
    elif name == "atomic":
        assert np.array_equal(words, before + 1)
    else:
        assert np.array_equal(words[places], values)


def test_streams_pass_through_the_memory() -> None:
    page, memory = np.zeros(own_limit.PAGE + 64, np.uint8), np.zeros(4 * 1024 + 128, np.uint8)
    first, start = (array.ctypes.data + -array.ctypes.data % 64 for array in (page, memory))
    page[:] = 1
    own_limit.loop("write")(first, start, 4)
    assert np.count_nonzero(memory) == 4 * 1024
