"""Instructions by the lines of their PTX."""

from __future__ import annotations

from warpreg.ptx import parse, write
from warpreg.ptx.own_lines import by_own_lines

TEXT = """.version 8.0
.target sm_80
.address_size 64
.file 1 "other.cu"
.visible .entry k()
{
    .reg .b32 %a;
    .loc 1 20 5
    mov.u32 %a, %tid.x;
    {
        add.u32 %a, %a, 1;
    }
    ret;
}
"""


def test_instructions_have_the_lines_of_the_text() -> None:
    module = by_own_lines(parse(TEXT, "k.ptx"), "k.ptx")
    found = [(one.opcode, str(one.source)) for one in module.function("k").instructions()]
    assert found == [("mov", "k.ptx:9"), ("add", "k.ptx:11"), ("ret", "k.ptx:13")]


def test_what_is_written_says_so() -> None:
    written = write(by_own_lines(parse(TEXT, "k.ptx"), "k.ptx"))
    assert "other.cu" not in written
    again = parse(written, "again.ptx").function("k")
    assert [one.source.line for one in again.instructions() if one.source] == [9, 11, 13]
