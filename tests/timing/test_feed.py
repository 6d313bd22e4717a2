"""Output of the feed: by hand for small paths, and against a naive decoder for recorded workloads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.designs.kernels import at, kernel, op, p, pair, r, when
from tests.replay.paths import Recorded
from tests.timing.test_coalesce import naive_conflicts, naive_lines
from tests.trace.address_decoder import AddressDecoder

from warpreg import ptx, simt, workloads
from warpreg.codegen import CompileOptions
from warpreg.ir.address_space import LOCAL_WINDOW, SHARED_WINDOW
from warpreg.ir.kernel import Kernel
from warpreg.timing.core import access_record as record
from warpreg.timing.errors import TimingError
from warpreg.timing.feed.feed import ThreadBlocks, feed
from warpreg.timing.feed.memory_sites import memory_sites
from warpreg.trace import Trace
from warpreg.trace.path import visits

ALL = 0xFFFFFFFF


class Run:
    """A run written by hand: a path, chunks of address words, and the threads of a block."""

    def __init__(self, path: Recorded, *addresses: list[int], threads: int = 64) -> None:
        self.header: dict[str, Any] = {"block": (threads, 1, 1)}
        self._path, self._addresses = path, addresses

    def path_chunks(self) -> Iterator[NDArray[np.uint32]]:
        return self._path.path_chunks()

    def address_chunks(self) -> Iterator[NDArray[np.uint32]]:
        return (np.array([w % (1 << 32) for w in words], np.uint32) for words in self._addresses)


LOAD = kernel([op("ld.global.u32", r(0), at(pair(2)))], [op("add.s32", r(0), r(0), 1)])


def per_warp(blocks: Iterator[ThreadBlocks]) -> dict[tuple[int, int], tuple[list[int], list[int]]]:
    """(visits, access words) by thread block and warp."""
    found = {}
    for batch in blocks:
        for row in range(batch.count * batch.warps):
            place = batch.first + row // batch.warps, row % batch.warps
            v, a = batch.visit_start[row : row + 2], batch.access_start[row : row + 2]
            found[place] = batch.visits[v[0] : v[1]].tolist(), batch.accesses[a[0] : a[1]].tolist()
    return found


def affine(base: int, stride: int) -> list[int]:
    return [1, base, 0, stride]


def test_visits_and_records_go_to_their_warps() -> None:
    path = (
        Recorded().thread_block(0).warp(0).visits(0, mask=ALL).warp(1).visits(0, mask=15).warp(0).visits(1, mask=None)
    )
    path.thread_block(1).warp(1).visits(1, mask=1)
    found = per_warp(feed(Run(path, affine(4096, 4), [0 | 128 << 3]), LOAD))
    assert found[0, 0] == ([ALL, 1 << 32 | ALL], [ALL | 1 << 40, 4096, 4, 4096 | 15])
    assert found[0, 1] == ([15], [15 | 1 << 40, 4224, 4, 4224 | 1])
    assert found[1, 0] == ([], [])
    assert found[1, 1] == ([1 << 32 | 1], [])


def test_the_state_of_an_instruction_is_shared_by_all_warps_and_thread_blocks() -> None:
    path = Recorded().thread_block(0).warp(0).visits(0).cut().thread_block(1).warp(0).visits(0)
    found = per_warp(feed(Run(path, affine(4096, 0), [8 << 3], threads=32), LOAD))
    assert found[1, 0][1][1:3] == [4104, 0]


def test_conflicts_of_shared_memory_stand_in_place_of_lines() -> None:
    code = kernel([op("ld.shared.u32", r(0), at(r(2)))])
    path = Recorded().thread_block().warp(0).visits(0)
    for bank_bytes, degree in ((4, 2), (8, 1)):
        (found,) = per_warp(feed(Run(path, affine(0, 8), threads=32), code, bank_bytes=bank_bytes)).values()
        assert found[1] == [ALL | record.SHARED << 32 | degree << 40, 0, 8]


@pytest.mark.parametrize(
    ("address", "space", "lines"),
    [
        (SHARED_WINDOW, record.SHARED, []),
        (LOCAL_WINDOW + 8, record.LOCAL, [record.LOCAL_BASE + 2 * 128 | 15]),
        (0x10000000, record.GLOBAL, [0x10000000 | 1]),
    ],
)
def test_a_generic_address_lies_in_the_window_that_it_points_to(address: int, space: int, lines: list[int]) -> None:
    code = kernel([op("ld.u32", r(0), at(pair(2)))])
    (found,) = per_warp(
        feed(Run(Recorded().thread_block().warp(0).visits(0), affine(address, 0), threads=32), code)
    ).values()
    assert found[1] == [ALL | space << 32 | 1 << 40, address, 0, *lines]


@pytest.mark.parametrize("opcode", ["ld.global.u32", "ld.local.u32", "ld.shared.u32"])
def test_lanes_that_are_not_affine_stand_behind_the_lines(opcode: str) -> None:
    """Three lanes at 0, 4096 and 8, recorded in full; shared memory has conflict degrees only."""
    code = kernel([op(opcode, r(0), at(r(2)))])
    path = Recorded().thread_block().warp(0).visits(0, mask=7).warp(0).visits(0, mask=7)
    run = Run(path, [3 | 1 << 3, 0, 4096, 8, *affine(0, 4)], threads=32)
    plain, lanes = (next(iter(per_warp(feed(run, code, lanes=lanes)).values()))[1] for lanes in (False, True))
    end = record.HEADER_WORDS + (plain[0] >> record.TRANSACTIONS_SHIFT)
    if opcode == "ld.shared.u32":
        assert lanes == plain
    else:
        assert lanes == [*plain[:end], 0, 4096, 8, *plain[end:]]


def test_a_guarded_instruction_without_lanes_has_a_record_without_transactions() -> None:
    code = kernel([when(p(0), op("ld.global.u32", r(0), at(pair(2))))])
    run = Run(Recorded().thread_block().warp(0).visits(0), [4, 0], threads=32)
    (found,) = per_warp(feed(run, code)).values()
    assert found[1] == [0, 0, 0]


def test_a_run_without_addresses_is_refused() -> None:
    with pytest.raises(TimingError, match=r"kernel hand: the run has no recorded addresses.*addresses=True"):
        list(feed(Run(Recorded().thread_block().warp(0).visits(0)), LOAD))


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (Run(Recorded().thread_block().warp(0).visits(7)), "path word 3 of a chunk visits block 7, the kernel has 2"),
        (Run(Recorded().thread_block().warp(2)), "path word 2 of a chunk names warp 2, a thread block has 2"),
        (Run(Recorded().words(3)), "cut off"),
        (Run(Recorded().thread_block().warp(0).visits(0, 0), affine(0, 4)), "addresses end before the path"),
        (Run(Recorded().thread_block().warp(0).visits(1), affine(0, 4)), "more addresses were recorded than"),
        (Run(Recorded().thread_block().warp(0).visits(0), [1, 0]), "cut off"),
    ],
)
def test_what_is_not_of_this_kernel_is_refused(run: Run, message: str) -> None:
    with pytest.raises(TimingError, match=message):
        list(feed(run, LOAD))


def test_a_thread_block_larger_than_a_batch() -> None:
    path = Recorded().thread_block(0).warp(0).visits(0).visits(*[1] * 300_000).thread_block(1).warp(1).visits(1)
    found = per_warp(feed(Run(path, affine(0, 4)), LOAD))
    assert len(found[0, 0][0]) == 300_001
    assert found[1, 1] == ([1 << 32 | ALL], [])


def test_thread_blocks_from_the_end_on_are_not_read() -> None:
    # The third thread block is of no kernel, and its addresses are missing.
    path = Recorded().thread_block(0).warp(0).visits(0).thread_block(1).warp(0).visits(0)
    run = Run(path.thread_block(2).warp(0).visits(9), affine(4096, 4), [0])
    assert list(per_warp(feed(run, LOAD, end=2))) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert list(per_warp(feed(run, LOAD, end=1))) == [(0, 0), (0, 1)]


def test_what_warps_do_in_several_turns_is_put_together_in_order() -> None:
    path = Recorded().thread_block(0).warp(1).visits(0).warp(0).visits(1, 0).warp(1).visits(1, 0, 1)
    found = per_warp(feed(Run(path, affine(4096, 4), [128 << 3, 128 << 3]), LOAD))
    seen = {place: (visits, records[1::4]) for place, (visits, records) in found.items()}
    assert seen == {
        (0, 0): ([1 << 32 | ALL, ALL], [4224]),
        (0, 1): ([ALL, 1 << 32 | ALL, ALL, 1 << 32 | ALL], [4096, 4352]),
    }


def naive(trace: Trace, code: Kernel) -> dict[tuple[int, int], tuple[list[int], list[tuple[int, ...]]]]:
    """Visits, and records as (mask, space, then lines or the conflict degree), decoded one by one."""
    decoder = AddressDecoder(np.concatenate([*trace.address_chunks(), np.zeros(0, np.uint32)]))
    sites = memory_sites(code)
    found: dict[tuple[int, int], tuple[list[int], list[tuple[int, ...]]]] = defaultdict(lambda: ([], []))
    for visit in visits(trace.path_chunks()):
        seen, records = found[visit.thread_block, visit.warp]
        seen.append(visit.block << 32 | visit.mask)
        for row in range(sites.first[visit.block], sites.first[visit.block + 1]):
            pc, unit, size = int(sites.pc[row]), int(sites.unit[row]), int(sites.size[row])
            mask, lanes = decoder.next(pc, visit.mask, unit, bool(sites.guarded[row]))
            addresses, space = [int(lane) for lane in lanes], int(sites.space[row])
            if space == record.SHARED:
                degree = naive_conflicts(addresses, mask, size, 4, 1 - int(sites.atomic[row]))
                records.append((mask, space, degree * int(sites.repeat[row])))
            elif space in (record.GLOBAL, record.TEXTURE):
                records.append((mask, space, *(line | s for line, s in naive_lines(addresses, mask, size))))
            else:
                words = {a // 4 for lane, a in enumerate(addresses) if mask >> lane & 1}
                records.append((mask, space, len(words)))
    return found


def parsed(words: list[int]) -> list[tuple[int, ...]]:
    """Records of `naive`'s form."""
    found: list[tuple[int, ...]] = []
    place = 0
    while place < len(words):
        mask, space, count = words[place] & ALL, words[place] >> 32 & 255, words[place] >> 40
        place += record.HEADER_WORDS
        if space in (record.SHARED, record.CONSTANT):
            found.append((mask, space, count))
        else:
            found.append((mask, space, *words[place : place + count]))
            place += count
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bfs", "histogram", "nw", "reduction", "kmeans"])
def test_a_recorded_workload_is_as_a_plain_decoder_has_it(name: str) -> None:
    problem = workloads.find(name).problem("tiny")
    text = problem.workload.ptx_path.read_text(encoding="utf-8")
    device = simt.Device(ptx.parse(text, name), CompileOptions(), simt.Record(path=True, addresses=True))
    problem.run(device)
    for launch in device.launches[:2]:
        assert launch.trace is not None
        expected = naive(launch.trace, launch.kernel)
        found = per_warp(feed(launch.trace, launch.kernel))
        assert {place: seen for place, (seen, _) in found.items() if seen} == {p: s for p, (s, _) in expected.items()}
        for place, (_, records) in expected.items():
            assert parsed(found[place][1]) == records
