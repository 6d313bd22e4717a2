"""What is shown of a text: registers, rows with their lines, designs, and errors by line and column."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any

import pytest
from tests.ptx.cuda.compilers import needs_nvrtc
from tests.report.explorer.samples import SUBJECT, TEXT

from warpreg.codegen import translate
from warpreg.ptx import parse
from warpreg.report.explorer import table
from warpreg.report.explorer.compiled import compiled
from warpreg.report.explorer.subject import CODES, CUDA, Edit, Subject

SOURCE = """__global__ void k(int *x)
{
    int i = threadIdx.x;
    x[i] = i * i;
}
"""
FILE = Subject("k.cu", CUDA, SOURCE, SUBJECT.choice, codes=CODES)


def show(text: str, subject: Subject = SUBJECT, shown: str = "warpreg", **changed: Any) -> dict[str, Any]:
    """What is shown of a text; it is JSON."""
    edit = Edit(text, subject.choice, subject.codes, shown, {})
    found: dict[str, Any] = json.loads(json.dumps(compiled(dataclasses.replace(edit, **changed), subject)))
    return found


def lines_of(view: dict[str, Any]) -> list[int]:
    return [int(line) for line in re.findall(r'data-line="(\d+)"', view["table"])]


def test_ptx_has_the_lines_of_its_text() -> None:
    """Lines 8 to 13 are the instructions; the parameter is folded into its use, so line 8 has none of its own."""
    (kernel,) = show(TEXT)["kernels"]
    (view,) = kernel["views"]
    assert (kernel["shown"], view["title"]) == ("k", "warpreg")
    assert sorted(set(lines_of(view))) == [8, 9, 10, 11, 12, 13]
    assert view["facts"]["Registers"] == 4


def test_options_reach_the_compiler() -> None:
    """An address of 32 bits takes one register less."""
    narrow = dataclasses.replace(SUBJECT.choice, address_bits=32)
    (kernel,) = show(TEXT, choice=narrow)["kernels"]
    assert kernel["views"][0]["facts"]["Registers"] == 3


def test_designs_decide_beside_the_code_or_have_their_own() -> None:
    (kernel,) = show(TEXT, designs={"orf-lrf": {"entries": "1"}, "rfc": {}})["kernels"]
    (view,) = kernel["views"]
    assert "R0 to" in view["table"]
    assert '<th scope="col" class="design">rfc</th>' in view["table"]
    (kernel,) = show(TEXT, designs={"orf-lrf": {"entries": "none"}})["kernels"]
    (problem,) = kernel["views"][0]["problems"]
    assert problem["message"].startswith("orf-lrf: orf-lrf: parameter entries expects int")


def test_errors_of_ptx_have_line_and_column() -> None:
    found = show(TEXT.replace("xor.b32 %b, %b, %a", "xor.b32 %b, %bb, %a"))
    (problem,) = found["problems"]
    assert (problem["line"], problem["column"], found["kernels"]) == (11, 17, [])
    assert problem["message"] == "undeclared register '%bb'; did you mean '%b'?"


def test_a_kernel_that_is_not_there_is_an_error() -> None:
    (problem,) = show(TEXT, dataclasses.replace(SUBJECT, kernels=("other",)))["problems"]
    assert "no kernel in k.ptx named 'other'" in problem["message"]


@needs_nvrtc
@pytest.mark.slow
def test_all_compilers_name_lines_of_the_source() -> None:
    (kernel,) = show(SOURCE, FILE)["kernels"]
    assert [view["title"] for view in kernel["views"]] == [*CODES]
    for view in kernel["views"]:
        assert {3, 4} <= set(lines_of(view)) <= {1, 3, 4, 5}
        assert view["facts"]["Registers"] > 0


@needs_nvrtc
def test_errors_of_cuda_have_line_and_column() -> None:
    (undefined, missing) = show(SOURCE.replace("= i * i;", "= j * i"), FILE)["problems"]
    assert undefined == {"message": 'identifier "j" is undefined', "line": 4, "column": 12}
    assert (missing["message"], missing["line"]) == ('expected a ";"', 5)


@needs_nvrtc
def test_a_header_that_is_not_there_is_named() -> None:
    (problem,) = show(f'#include "/etc/passwd"\n{SOURCE}', FILE)["problems"]
    assert problem["message"].startswith("no header '/etc/passwd': the headers of CUDA")
    assert (problem["line"], "root" in problem["message"]) == (1, False)


def test_a_value_is_read_so_often_and_lives_so_long() -> None:
    """The thread's number is read by the product and by the exclusive or, which is the last; a store writes none."""
    kernel = translate(parse(TEXT, "k.ptx"), "k")
    found, order = table.reads(kernel), [one.opcode for one in kernel.instructions()]
    number, product, last = order.index("mov"), order.index("mul"), order.index("xor")
    assert found[number] == f"2 / {last - number}"
    assert found[product] == f"1 / {last - product}"
    assert order.index("st") not in found


def test_a_long_listing_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MAX_ROWS", 2)
    (kernel,) = show(TEXT)["kernels"]
    shown = kernel["views"][0]["table"]
    assert shown.count("data-pc") == 2
    assert "more instructions" in shown


def test_kernels_that_are_left_out_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warpreg.report.explorer.compiled.MAX_KERNELS", 1)
    header, _, entry = TEXT.partition(".visible")
    found = show(f"{header}.visible{entry}.visible{entry.replace('k(', 'l(')}")
    assert ([one["name"] for one in found["kernels"]], found["left_out"]) == (["k"], 1)
    assert show(TEXT)["left_out"] == 0
