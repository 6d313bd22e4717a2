"""Source lines beside the instructions that they have become."""

from __future__ import annotations

import re
from pathlib import Path

from warpreg.codegen import CompileOptions, translate
from warpreg.ptx import parse
from warpreg.report.listing import listing
from warpreg.report.source_page import source_page
from warpreg.report.source_view import Cost, Explained, SourceLine, source_lines

TEXT = """
.version 8.0
.target sm_80
.address_size 64
.file 1 "k.cu"
.visible .entry k(.param .u64 out)
{
    .reg .b32 %a, %b;
    .reg .b64 %out;
    ld.param.u64 %out, [out];
    .loc 1 2 5
    mov.u32 %a, %tid.x;
    .loc 1 3 5
    mul.lo.u32 %b, %a, %a;
    .loc 1 2 5
    xor.b32 %b, %b, %a;
    .loc 1 3 5
    st.global.u32 [%out], %b;
    ret;
}
"""
SOURCE = "void k() {\n  a < b; // <script>\n  c\n}\n"
KERNEL = translate(parse(TEXT), "k", CompileOptions(schedule=False))


def explained(folder: Path, costs: dict[int, Cost]) -> Explained:
    (folder / "k.cu").write_text(SOURCE, encoding="utf-8")
    return Explained(listing(KERNEL), {0: "a & b"}, source_lines(KERNEL, folder), costs)


def test_each_line_has_its_instructions_and_costs(tmp_path: Path) -> None:
    """Line 2 has become two instructions that are not neighbours; its cost is the sum of both."""
    costs = {pc: Cost(1, 10.0**pc, pc) for pc in range(KERNEL.instruction_count)}
    found = explained(tmp_path, costs)
    by_number = {line.number: line for line in found.lines}
    second = by_number[2]
    assert second.text == "  a < b; // <script>"
    assert [list(KERNEL.instructions())[pc].opcode for pc in second.pcs] == ["mov", "xor"]
    assert second.pcs[1] > second.pcs[0] + 1
    assert found.energy_pj(second) == sum(10.0**pc for pc in second.pcs)
    assert found.waits(second) == sum(second.pcs)
    assert found.executed(second) == 2
    assert sorted(pc for line in found.lines for pc in line.pcs) == list(range(KERNEL.instruction_count))


def test_a_source_that_is_not_there_leaves_numbers(tmp_path: Path) -> None:
    lines = source_lines(KERNEL, tmp_path)
    assert {line.number for line in lines} >= {2, 3}
    assert {line.text for line in lines if line.number} == {""}


def test_neighbouring_pcs_are_a_span() -> None:
    assert SourceLine("k.cu", 1, "", (0, 1, 2, 5, 7, 8)).spans == "0-2, 5, 7-8"


def test_the_page_has_every_instruction_and_escapes_names(tmp_path: Path) -> None:
    page = source_page("<b>", [explained(tmp_path, {})])
    assert "<title>&lt;b&gt;</title>" in page
    assert "a &lt; b; // &lt;script&gt;" in page
    assert page.count("<script>") == 1
    assert "a &amp; b" in page
    rows = re.findall(r'data-line="([^"]*)"', page)
    assert len(rows) == KERNEL.instruction_count + len(source_lines(KERNEL, tmp_path))
    assert "nJ" not in re.findall(r"<th>(.*?)</th>", page)
