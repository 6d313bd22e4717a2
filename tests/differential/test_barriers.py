"""Random orders of barriers: warps that wait, only arrive, reduce or have exited leave the reference's memory, and the
same path, wherever blocks switch warps and native code stops.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest
from tests.machine_code.reference.paired import Paired
from tests.reference.interpreter import Reference
from tests.simt.programs import COMPILED, Runner, module, prepare

from warpreg.simt import Record
from warpreg.simt.kernel.block_ends import Ends
from warpreg.simt.launch import launch, launch_memory, recorder

SEEDS = range(7000, 7016)
GRID, STEPS = 2, 12


class Warps:
    """Statements for the warps of a thread block that never wait for each other in vain.

    A barrier with a count is not used again before all warps have met: one that is ahead would be counted too early.
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.alive = list(range(self.random.choice((1, 2, 3, 5, 8))))
        self.plain = seed % 2 == 0
        """Whether the kernel has one barrier at which all warps wait, so that blocks switch warps (`Ends`)."""
        self.only = self.random.randrange(16)
        self.threads = 32 * len(self.alive)
        self.counted: set[int] = set()

    def body(self) -> str:
        """Each thread collects in %r1 what others stored before a barrier; %r0 is its warp."""
        return "\n".join(
            [
                f".shared .align 4 .b32 seen[{STEPS * self.threads}];",
                "mov.u32 %r2, %tid.x; shr.u32 %r0, %r2, 5; add.u32 %r1, %r2, 1; mov.u32 %r3, seen;",
                "mad.lo.u32 %r3, %r2, 4, %r3; and.b32 %r9, %r2, 31;",
                *(line for step in range(STEPS) for line in self.step(step)),
                "st.global.u32 [%my_out], %r1;",
            ]
        )

    def step(self, step: int) -> Iterator[str]:
        """One way to meet."""
        kinds = ("all", "all", "all", "exit", "lanes") + ("some", "some", "arrive", "arrive", "reduce") * (
            not self.plain
        )
        kind = self.random.choice(kinds)
        fresh = [number for number in range(16) if number not in self.counted]
        number = self.only if self.plain else self.random.choice(fresh)
        yield from self.work(step)
        if kind in ("all", "reduce") or len(self.alive) == 1 or len(fresh) < 3:
            if kind == "reduce":
                yield f"setp.gt.u32 %p2, %r1, {self.random.getrandbits(31)}; bar.red.popc.u32 %r5, {number}, %p2;"
                yield "add.u32 %r1, %r1, %r5;"
            else:
                yield f"bar.sync {self.named(number)};"
                yield from self.read(step, self.alive, self.alive)
            self.counted.clear()
        elif kind == "exit":
            gone = self.random.choice(self.alive)
            self.alive.remove(gone)
            yield f"setp.eq.u32 %p1, %r0, {gone}; @%p1 st.global.u32 [%my_out], %r1; @%p1 exit;"
        elif kind == "lanes":
            yield f"setp.lt.u32 %p1, %r9, {self.random.randrange(4)}; @%p1 exit;"
        else:
            yield from self.part(step, number, kind == "arrive")

    def part(self, step: int, number: int, arrive: bool) -> Iterator[str]:
        """Some warps meet at a barrier with a count; others may only arrive there, or nobody may wait."""
        members = self.random.sample(self.alive, self.random.randint(2, len(self.alive)))
        comers = members[: self.random.randrange(1, len(members) + 1)] if arrive else []
        waiting = [warp for warp in members if warp not in comers]
        yield from self.among(comers, step, "C", f"bar.arrive {number}, {32 * len(members)};")
        yield from self.among(waiting, step, "W", f"barrier.sync {self.named(number)}, {32 * len(members)};")
        yield from self.read(step, waiting, members)
        self.counted.add(number)

    def among(self, warps: list[int], step: int, name: str, statement: str) -> Iterator[str]:
        """A statement for some warps."""
        mask = sum(1 << warp for warp in warps)
        yield f"mov.u32 %r4, {mask}; shr.u32 %r4, %r4, %r0; and.b32 %r4, %r4, 1;"
        yield f"setp.eq.u32 %p1, %r4, 0; @%p1 bra {name}{step}; {statement} {name}{step}:"

    def named(self, number: int) -> str:
        """A barrier as a constant or in a register."""
        return str(number) if self.plain or self.random.random() < 0.7 else f"%r{20 + number}"

    def work(self, step: int) -> Iterator[str]:
        """Rounds of a loop that differ by warp; then what others may read."""
        yield f"mul.lo.u32 %r6, %r0, {self.random.randrange(7)}; L{step}: mad.lo.u32 %r1, %r1, 1664525, %r6;"
        yield f"sub.s32 %r6, %r6, 1; setp.gt.s32 %p1, %r6, 0; @%p1 bra L{step};"
        yield f"st.shared.u32 [%r3+{4 * step * self.threads}], %r1;"

    def read(self, step: int, readers: list[int], written: list[int]) -> Iterator[str]:
        """Add what the same lane of another warp has stored."""
        for reader in readers:
            other = 128 * (self.random.choice(written) - reader) + 4 * step * self.threads
            yield f"setp.eq.u32 %p1, %r0, {reader}; @%p1 ld.shared.u32 %r7, [%r3+{other}];"
            yield "@%p1 xor.b32 %r1, %r1, %r7;"


def text_of(seed: int) -> tuple[str, int]:
    """The body of a kernel and its threads; %r20 to %r35 are the numbers of barriers."""
    warps = Warps(seed)
    return "\n".join(f"mov.u32 %r{20 + n}, {n};" for n in range(16)) + warps.body(), warps.threads


@pytest.mark.parametrize("seed", SEEDS)
def test_memory_and_path_are_those_of_the_reference(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    body, threads = text_of(seed)
    out = np.zeros(GRID * threads, np.uint32)
    reference = Reference(module(body, {"out": out}))
    expected = reference.buffer(out.tobytes())
    reference.launch("k", GRID, threads, [expected])
    kernel = Runner(COMPILED)(body, grid=GRID, block=threads, out=out).launch.kernel
    paths = []
    for switches, pieces in ((True, False), (True, True), (False, True)):
        with monkeypatch.context() as patch:
            if not switches:
                patch.setattr(Ends, "all_wait", False)
            if pieces:
                patch.setattr(recorder, "BUFFER_BYTES", 64)
                for bound in ("FIRST_PAUSE", "MIN_PAUSE", "GREATEST_PAUSE"):
                    patch.setattr(launch, bound, 7)
            device, arguments = prepare(body, {"out": out}, record=Record(path=True))
            device.install(kernel)
            trace = device.launch("k", GRID, threads, arguments["out"]).trace
            assert trace is not None
            paths.append(b"".join(chunk.tobytes() for chunk in trace.path_chunks()))
            assert arguments["out"].download().tobytes() == bytes(expected.data)
    assert paths[0] == paths[1] == paths[2]
    for turn in (1, 10):
        monkeypatch.setattr(launch_memory, "SLICE", turn)
        found = Runner(COMPILED)(body, grid=GRID, block=threads, out=out)["out"]
        assert found.tobytes() == bytes(expected.data)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [9019, *SEEDS[:3]])
def test_machine_code_leaves_the_memory_of_the_reference(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # In the first one, a warp exits after it has arrived at a barrier that others reach later.
    pytest.importorskip("nvidia")
    body, threads = text_of(seed)
    out = np.zeros(GRID * threads, np.uint32)
    text = module(body, {"out": out})
    reference = Reference(text)
    expected = reference.buffer(out.tobytes())
    reference.launch("k", GRID, threads, [expected])
    monkeypatch.setattr(recorder, "BUFFER_BYTES", 64)
    device = Paired.assembled(text, "sm_80", record=Record(path=True))
    found = device.upload(out)
    device.launch("k", GRID, threads, found)
    assert (device.compared, device.differences) == (1, [])
    assert found.download().tobytes() == bytes(expected.data)
