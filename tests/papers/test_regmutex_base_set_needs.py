"""Needs beyond the base set, by hand for a small kernel."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from warpreg import ptx
from warpreg.codegen import CompileOptions
from warpreg.simt import Device, Record
from warpreg_papers.regmutex import base_set_needs
from warpreg_papers.regmutex.base_set_needs import AIMED, SHORTENED, WITHOUT, need, options
from warpreg_papers.regmutex.kernels import TABLE

PTX = """.version 8.0
.target sm_75
.address_size 64
.entry k()
{
    .reg .b32 %r<9>;
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    add.s32 %r3, %r2, %r1;
    st.shared.u32 [%r2], %r3;
    ret;
}
"""


def test_instructions_count_as_often_as_warps_execute_them() -> None:
    """The five instructions need 1, 2, 2, 2 and 0 registers, and two warps execute each: 14 of 10, 1.4 in the mean.

    Three of five need more than one register.
    """
    device = Device(ptx.parse(PTX), CompileOptions(), Record(path=True))
    launch = device.launch("k", 1, 64, shared_bytes=256)
    found = need(launch.kernel, [launch], base=1)
    assert (found.registers, found.local_bytes, found.instructions) == (2, 0, 10)
    assert (found.above, found.mean) == (pytest.approx(3 / 5), pytest.approx(1.4))


def test_the_third_code_aims_at_the_printed_base_set() -> None:
    """TPACF's base set has 20 registers (Table 4.1)."""
    choices = options(TABLE["tpacf"])
    assert (choices[WITHOUT].sink, choices[WITHOUT].rematerialize) == (False, False)
    assert [choices[code].live_words for code in (SHORTENED, AIMED)] == [None, 20]


@pytest.mark.slow
def test_aimed_at_the_base_set_the_main_loop_of_tpacf_stays_within_it() -> None:
    """Without, six registers hold values for the code behind its loop (20 in the base set, 26 in all)."""
    done = CliRunner().invoke(base_set_needs.main, ["tpacf"])
    assert done.exit_code == 0
    rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in done.output.splitlines()[2:]]
    assert [row[2:6] for row in rows][::2] == [[WITHOUT, "26", "0", "87.9%"], [AIMED, "20", "0", "0.0%"]]
