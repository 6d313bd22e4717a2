"""Source lines beside the instructions that they have become."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

from warpreg.codegen import CompileOptions, translate
from warpreg.evaluation.runs.placement import Placement
from warpreg.ptx import parse
from warpreg.report.listing import listing
from warpreg.report.source_page import excerpt, source_page
from warpreg.report.source_view import Cost, Explanation, SourceLine, mean_width, source_lines, source_texts

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


def explained(folder: Path, costs: dict[int, Cost]) -> Explanation:
    (folder / "k.cu").write_text(SOURCE, encoding="utf-8")
    notes = {0: Placement(("a & b",), ("R0 to ORF 1",), False, "")}
    return Explanation(
        listing(KERNEL), notes, source_lines(KERNEL, folder), costs, {1: 2}, source_texts(KERNEL, folder)
    )


def test_each_line_has_its_instructions_and_costs(tmp_path: Path) -> None:
    """Line 2 has become two instructions that are not neighbours; its cost is the sum of both."""
    costs = {pc: Cost(1, 10.0**pc, (0, pc, 0, 1), {"alu": pc, "memory": 1}) for pc in range(KERNEL.instruction_count)}
    found = explained(tmp_path, costs)
    by_number = {line.number: line for line in found.lines}
    second = by_number[2]
    assert second.text == "  a < b; // <script>"
    assert [list(KERNEL.instructions())[pc].opcode for pc in second.pcs] == ["mov", "xor"]
    assert second.pcs[1] > second.pcs[0] + 1
    assert found.energy_pj(second) == sum(10.0**pc for pc in second.pcs)
    assert found.waits(second) == sum(second.pcs) + 2
    assert found.stalls(second.pcs) == {"alu": sum(second.pcs), "memory": 2}
    assert found.widths(second.pcs) == [0, sum(second.pcs), 0, 2]
    assert found.executed(second) == 2
    assert sorted(pc for line in found.lines for pc in line.pcs) == list(range(KERNEL.instruction_count))


def test_a_source_that_is_not_there_leaves_numbers(tmp_path: Path) -> None:
    lines = source_lines(KERNEL, tmp_path)
    assert {line.number for line in lines} >= {2, 3}
    assert {line.text for line in lines if line.number} == {""}


def test_neighbouring_pcs_are_a_span() -> None:
    assert SourceLine("k.cu", 1, "", (0, 1, 2, 5, 7, 8)).spans == "0-2, 5, 7-8"


def test_the_mean_width_is_in_bytes() -> None:
    """Three values of one byte and one of four."""
    assert mean_width((3, 0, 0, 1)) == (3 + 4) / 4
    assert mean_width((0, 0, 0, 0)) is None
    assert mean_width((3, 0, 0, 0, 1), least=0) == 4 / 4


def test_an_excerpt_has_lines_around_and_leaves_out_long_gaps() -> None:
    """Two lines before and after those with instructions, short gaps, and None in place of a long one."""
    assert list(excerpt([5, 8], 9)) == [3, 4, 5, 6, 7, 8, 9]
    assert list(excerpt([1, 30], 40)) == [1, None, 30, 31, 32]
    assert list(excerpt([3, 9], 0)) == [3, 9]


def test_the_page_has_every_instruction_and_escapes_names(tmp_path: Path) -> None:
    page = source_page("<b>", [explained(tmp_path, {})], {"Design": "<i>"})
    assert "<title>&lt;b&gt; · Warpreg</title>" in page
    assert "a &lt; b; // &lt;script&gt;" in page
    assert "<dd>&lt;i&gt;</dd>" in page
    assert page.count("<script>") == 1
    assert "a &amp; b" in page
    rows = re.findall(r'data-line="([^"]*)"', page)
    assert len(rows) == KERNEL.instruction_count + len(source_lines(KERNEL, tmp_path))
    assert ">nJ<" not in page


def test_the_page_has_lines_without_instructions(tmp_path: Path) -> None:
    page = source_page("k", [explained(tmp_path, {})])
    assert '<th class="number" scope="row">1</th><td class="code" colspan="2" style="--in: 0">void k() {</td>' in page


def test_a_missing_source_is_a_page_of_numbers(tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    found = Explanation(listing(KERNEL), {}, source_lines(KERNEL, folder), {}, {}, source_texts(KERNEL, folder))
    assert source_page("k", [found]).count('data-line="k.cu:2"') == 3  # a line and its two instructions


def test_the_page_shows_placements_conflicts_widths_and_causes(tmp_path: Path) -> None:
    costs = {pc: Cost(1, 2000.0, (3, 0, 0, 1), {"memory": 30, "alu": 10}) for pc in range(KERNEL.instruction_count)}
    page = source_page("k", [explained(tmp_path, costs)])
    assert '<span class="place" style="--level: var(--series-0)">R0 to ORF 1</span>' in page
    assert page.count("<span class=badge>2</span>") == 1
    assert 'title="75% 1 byte, 25% 4 bytes"' in page
    assert 'title="memory 30, alu 10"' in page
    assert page.count("2.00</td>") >= KERNEL.instruction_count


def test_the_page_runs_only_its_own_script(tmp_path: Path) -> None:
    page = source_page("k", [explained(tmp_path, {})])
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; script-src 'sha256-{digest}'" in page
