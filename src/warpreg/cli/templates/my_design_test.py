"""my-design on a kernel that is small enough to count by hand: ``pytest my_design_test.py``."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import warpreg
from warpreg.checks.counterexample import counterexample
from warpreg.designs import load
from warpreg.replay import Counts, replay

DESIGN = load(Path(__file__).with_name("my_design.py"))

KERNEL = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry small(.param .u64 out)
{
    .reg .b32 %a, %b, %c;
    .reg .b64 %out;
    ld.param.u64 %out, [out];
    mov.u32 %a, %tid.x;
    add.u32 %b, %a, %a;
    mul.lo.u32 %c, %b, %a;
    st.global.u32 [%out], %c;
    ret;
}
"""


def counts(entries: int) -> Counts:
    """Run one warp, and count its accesses.  ``warpreg explain FILE.ptx`` shows the compiled code:

    0  mov.u32 R0, %tid.x
    1  mov.b64 R2.64, c[0][0x0]           two registers, R2 and R3
    2  add.u32 R1, R0, R0
    3  mul.lo.u32 R0, R1, R0              last read of R1 and of the first R0
    4  st.global.u32 [R2.64], R0          last read of R2, R3 and R0
    5  ret
    """
    run = warpreg.compile(KERNEL)["small"][1, 32](np.zeros(32, np.uint32))
    (kernel,) = run.kernels
    return replay(run.path(kernel), kernel, DESIGN, mode="interpreted", entries=entries)


def test_registers_with_entries_of_their_own_never_leave() -> None:
    """R0 to R3 fit: 2 + 2 + 3 reads and 1 + 2 + 1 + 1 writes are all in the cache."""
    found = counts(entries=4)
    assert (found.reads("MRF"), found.writes("MRF"), found.moved("RFC", "MRF")) == (0, 0, 0)
    assert (found.reads("RFC"), found.writes("RFC")) == (7, 5)


def test_a_register_leaves_for_another_one() -> None:
    """In the one entry R2 replaces R0, R3 replaces R2, and R1 replaces R3.  pc 3 finds R1 there, and pc 4 R0; the
    others are read from the MRF: R0 twice by pc 2 and once by pc 3, R2 and R3 by pc 4.  R1 has been read for the last
    time when R0 replaces it.
    """
    found = counts(entries=1)
    assert (found.reads("MRF"), found.reads("RFC")) == (5, 2)
    assert (found.moved("RFC", "MRF"), found.events["evictions"]) == (3, 3)


def test_without_entries_it_is_the_plain_register_file() -> None:
    found = counts(entries=0)
    assert (found.reads("MRF"), found.writes("MRF"), found.reads("RFC"), found.writes("RFC")) == (7, 5, 0, 0)


def test_no_value_is_lost_on_random_kernels() -> None:
    """As ``warpreg check`` does; the message names the instruction that reads an old value."""
    search = counterexample(DESIGN, {}, kernels=5, seed=0, machine="gtx980-two-level")
    assert search.counterexample is None, search.counterexample
