"""The compiler against ptxas: parsing the vendor's output, ratios, and one workload end to end."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from warpreg import codegen, ptx, workloads
from warpreg.cli import main
from warpreg.ir.kernel import Kernel
from warpreg.ir.module import Module
from warpreg.machine_code.tools import VendorToolError, VendorToolMissingError, find_tool
from warpreg_workbench.compiler import bench
from warpreg_workbench.compiler.bench import (
    CompilerComparison,
    OurCode,
    compare_workload,
    percentile_90,
    ratio,
    summary,
    verified,
)
from warpreg_workbench.compiler.loop_copies import LoopCopies
from warpreg_workbench.compiler.vendor_compiler import (
    MachineCode,
    assemble,
    reported_registers,
    rolled_loops,
    sections,
    uniform_registers,
    without_padding,
)

REPORT = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'second' for 'sm_75'
ptxas info    : Function properties for second
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 7 registers, used 0 barriers, 388 bytes cmem[0]
ptxas info    : Compiling entry function 'first' for 'sm_75'
ptxas info    : Function properties for first
    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 28 registers, used 1 barriers, 404 bytes cmem[0]
"""

LISTING = """\
\t.target\tsm_80
//--------------------- .text.padded             --------------------------
\t.section\t.text.padded,"ax",@progbits
\t.sectioninfo\t@"SHI_REGISTERS=20"
        .size           padded,(.L_x_2 - padded)
padded:
.text.padded:
        /*0000*/                   ULDC.64 UR4, c[0x0][0x118] ;
        /*0010*/                   UIADD3 UR8, UR5, UR4, URZ ;
        /*0020*/              @!P0 EXIT ;
        /*0030*/             @!UP1 UMOV UR8, 0x1 ;
.L_x_0:
        /*0040*/                   NOP ;
        /*0050*/               @P1 BRA `(.L_x_0) ;
        /*0060*/                   STG.E [R4.64], R9.reuse ;
        /*0070*/                   EXIT ;
.L_x_1:
        /*0080*/                   BRA `(.L_x_1);
        /*0090*/                   NOP;
        /*00a0*/                   NOP;
.L_x_2:
\t.section\t.nv.constant0.padded,"a",@progbits
\t.section\t.text.bare,"ax",@progbits
.text.bare:
        /*0000*/                   MOV R0, RZ ;
        /*0010*/                   EXIT ;
"""


def has_tools() -> bool:
    try:
        find_tool("ptxas")
        find_tool("nvdisasm")
    except VendorToolMissingError:
        return False
    return True


needs_tools = pytest.mark.skipif(not has_tools(), reason="needs ptxas and nvdisasm, the cuda extra")


def compared(
    registers: int, instructions: int, is_verified: bool, theirs: tuple[int, int], kernel: str = "kernel"
) -> CompilerComparison:
    """Registers and instructions, ours and theirs; two of ours are reserved.  Both have half the instructions without
    unrolling, and equally many copies of one of two loops."""
    ours = OurCode(registers, registers - 2, 0, 1, instructions)
    machine = MachineCode(theirs[0], 0, theirs[1])
    rolled, alone = MachineCode(registers, 0, theirs[1] // 2), dataclasses.replace(ours, instructions=instructions // 2)
    loops = (LoopCopies("A", 7, 7), LoopCopies("B", 1, 3), LoopCopies("C", 1, 1))
    return CompilerComparison("work", kernel, "sm_80", is_verified, ours, machine, alone, rolled, loops)


def test_registers_are_read_for_each_entry_in_the_order_of_the_report() -> None:
    assert reported_registers(REPORT) == {"second": 7, "first": 28}


def test_a_disassembly_is_read_by_section_with_guards_dropped() -> None:
    found = sections(LISTING)
    assert list(found) == ["padded", "bare"]
    assert [line.opcode for line in found["bare"]] == ["MOV", "EXIT"]
    assert [line.opcode for line in found["padded"]] == (
        "ULDC.64 UIADD3 EXIT UMOV NOP BRA STG.E EXIT BRA NOP NOP".split()
    )
    assert found["padded"][4].labels == (".L_x_0",)
    assert found["padded"][1].operands == "UR8, UR5, UR4, URZ"


def test_instructions_have_the_line_of_the_ptx() -> None:
    """A line counts until the next one or the next section; lines of the header's pragma are subtracted."""
    listing = """
.section .text.k,
        //## File "kernel.cu", line 3 inlined at somewhere
        //## File ".nv_debug_ptx_txt", line 14
        /*0000*/ FADD R1, R1, R2 ;
        /*0010*/ FADD R1, R1, R2 ;
        //## File ".nv_debug_ptx_txt", line 9
        /*0020*/ EXIT ;
.section .text.other,
        /*0000*/ EXIT ;
"""
    assert [line.number for line in sections(listing)["k"]] == [14, 14, 9]
    assert [line.number for line in sections(listing, 2)["k"]] == [12, 12, 7]
    assert sections(listing, 2)["other"][0].number == 0


def test_only_what_stands_after_the_end_is_padding() -> None:
    found = sections(LISTING)
    assert len(without_padding(found["padded"])) == 8
    assert len(without_padding(found["bare"])) == 2


def test_a_loop_over_other_instructions_at_the_end_is_no_padding() -> None:
    code = sections(".section .text.spin,\n.L:\n/*0000*/ NOP ;\n/*0010*/ BRA `(.L);\n/*0020*/ NOP;")["spin"]
    assert [line.opcode for line in without_padding(code)] == ["NOP", "BRA"]


def test_uniform_registers_count_both_halves_of_a_64_bit_result_and_not_the_zero_register() -> None:
    assert uniform_registers(sections(LISTING)["padded"]) == 3
    pair = sections(".section .text.pair,\n/*0000*/ ULDC.64 UR10, c[0x0][0x118] ;\n/*0010*/ LDG R2, [R4.64+UR2] ;")
    assert uniform_registers(pair["pair"]) == 3


def test_a_ratio_is_never_below_one() -> None:
    assert ratio(10, 20) == ratio(20, 10) == 2
    assert ratio(7, 7) == 1
    assert ratio(0, 4) == 4


def test_the_percentile_lies_between_the_two_nearest_ranks() -> None:
    assert percentile_90([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) == pytest.approx(9.1)


def test_the_summary_takes_all_kernels_on_all_targets() -> None:
    one = [compared(10, 30, True, theirs) for theirs in ((20, 30), (5, 15))]
    other = [compared(8, 10, theirs == (8, 40), theirs, "other") for theirs in ((8, 40), (32, 20))]
    found = summary([*one, *other])
    # registers: 2, 2, 1, 4; instructions: 1, 2, 4, 2
    assert found["registers_ratio_geomean"] == pytest.approx(2)
    assert found["registers_ratio_p90"] == pytest.approx(2 + 0.7 * 2)
    assert found["instructions_ratio_geomean"] == pytest.approx(2)
    assert found["instructions_ratio_p90"] == pytest.approx(2 + 0.7 * 2)
    # rolled: as many registers as ours; instructions 15/15, 15/7, 5/20, 5/10
    assert found["rolled_registers_ratio_geomean"] == 1
    assert found["rolled_instructions_ratio_geomean"] == pytest.approx((15 / 7 * 4 * 2) ** 0.25)
    # copies: of three loops of each kernel, two are alike, one of them unrolled; one is unrolled there only
    assert found["copies_equal_share"] == pytest.approx(2 / 3)
    assert found["copies_equal_share_unrolled"] == 1 / 2
    assert found["verified_kernels"] == 1


def load_module(name: str) -> Module:
    return ptx.parse(workloads.find(name).ptx_path.read_text(encoding="utf-8"))


def compiled_kernel(module: Module, name: str) -> Kernel:
    return codegen.compile(codegen.build_kernel(module, name))


def without_stores(kernel: Kernel) -> Kernel:
    blocks = tuple(
        dataclasses.replace(b, instructions=tuple(i for i in b.instructions if i.opcode != "st")) for b in kernel.blocks
    )
    return dataclasses.replace(kernel, blocks=blocks, analyses={})


def test_a_kernel_is_verified_on_its_own() -> None:
    module = load_module("bfs")
    problem = workloads.find("bfs").problem("tiny")
    expand, update = (compiled_kernel(module, name) for name in ("bfs_expand", "bfs_update"))
    assert verified(module, problem, [expand, update]) == {"bfs_expand", "bfs_update"}
    assert verified(module, problem, [without_stores(expand), update]) == {"bfs_update"}


def test_without_the_extra_one_message_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert main(["bench", "compiler", "--json"]) == 1
    captured = capsys.readouterr()
    assert "'ptxas' is not installed" in captured.err
    assert "pip install 'warpreg[cuda]'" in captured.err
    assert captured.out == ""


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "ptxas_version", lambda: "13.0")
    monkeypatch.setattr(
        bench, "compare_workload", lambda workload, bits: [compared(10, 30, True, (20, 60), workload.name)]
    )


@pytest.mark.usefixtures("pretended")
def test_the_figures_have_their_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "compiler", "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    figures = "registers_ratio_geomean registers_ratio_p90 instructions_ratio_geomean instructions_ratio_p90".split()
    rolled = [f"rolled_{name}" for name in figures]
    copies = ["copies_equal_share", "copies_equal_share_unrolled"]
    assert list(found) == [*figures, *rolled, *copies, "verified_kernels", "address_bits", "compilers", "kernels"]
    assert found["verified_kernels"] == len(found["kernels"]) == len(workloads.names())
    assert found["kernels"][0] == {
        "workload": "work",
        "kernel": workloads.names()[0],
        "target": "sm_80",
        "verified": True,
        "ours": {"registers": 10, "used": 8, "uniform_registers": 0, "predicates": 1, "instructions": 30},
        "ptxas": {"registers": 20, "uniform_registers": 0, "instructions": 60, "subroutine_instructions": 0},
        "ours_rolled": {"registers": 10, "used": 8, "uniform_registers": 0, "predicates": 1, "instructions": 15},
        "ptxas_rolled": {"registers": 10, "uniform_registers": 0, "instructions": 30, "subroutine_instructions": 0},
        "loops": [
            {"header": "A", "ours": 7, "theirs": 7},
            {"header": "B", "ours": 1, "theirs": 3},
            {"header": "C", "ours": 1, "theirs": 1},
        ],
        "ratio": {"registers": 2, "instructions": 2, "rolled_registers": 1, "rolled_instructions": 2},
        "mechanism": {"registers": "", "instructions": ""},
    }


@pytest.mark.usefixtures("pretended")
def test_the_table_names_both_compilers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "compiler"]) == 0
    assert "ptxas 13.0" in capsys.readouterr().out


@pytest.mark.slow
@needs_tools
def test_one_workload_from_end_to_end() -> None:
    found = compare_workload(workloads.find("vector-add"))
    assert [(one.kernel, one.target, one.verified) for one in found] == [
        ("vector_add", "sm_75", True),
        ("vector_add", "sm_80", True),
    ]
    for one in found:
        assert 1 <= one.theirs.registers <= 32
        assert 10 <= one.theirs.instructions <= 40
        assert one.ours.registers == one.ours.used + 2


def test_the_module_is_told_to_unroll_nothing_behind_its_header() -> None:
    text = ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n"
    assert rolled_loops(text).splitlines()[2:4] == [".address_size 64", '.pragma "nounroll";']
    assert rolled_loops(".version 2.0\n.target sm_20, debug\n").splitlines()[2] == '.pragma "nounroll";'


LOOP = """.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 a, .param .u32 n)
{
    .reg .b64 %rd<4>;
    .reg .b32 %r<4>;
    .reg .pred %p<2>;
    ld.param.u64 %rd1, [a];
    ld.param.u32 %r1, [n];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r3, 0;
L:  ld.global.u32 %r2, [%rd2];
    add.s32 %r3, %r3, %r2;
    add.s64 %rd2, %rd2, 4;
    sub.s32 %r1, %r1, 1;
    setp.ne.s32 %p1, %r1, 0;
    @%p1 bra L;
    st.global.u32 [%rd2], %r3;
    ret;
}
"""


@pytest.mark.slow
@needs_tools
def test_a_loop_that_ptxas_unrolls_has_one_load_where_it_may_not(tmp_path: Path) -> None:
    path = tmp_path / "loop.ptx"
    path.write_text(LOOP, encoding="utf-8")
    loads = [
        sum(line.opcode.startswith("LDG") for line in assemble(path, "sm_80", unroll=unroll)["k"].code)
        for unroll in (True, False)
    ]
    assert loads[0] > loads[1] == 1


@needs_tools
def test_what_ptxas_says_of_a_faulty_file_is_passed_on(tmp_path: Path) -> None:
    path = tmp_path / "faulty.ptx"
    path.write_text(".version 8.0\n.target sm_75\n.address_size 64\nnonsense\n", encoding="utf-8")
    with pytest.raises(VendorToolError, match=r"faulty\.ptx, line 4"):
        assemble(path, "sm_75")
