"""Addresses that add a uniform pair: ``[R.64+UR]`` and ``[UR]`` on sm_75."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.codegen.random_code import LOGIC, PRODUCTS, SUMS, memory_of
from tests.codegen.random_code import text as random_text
from tests.codegen.texts import after, kernel, text

from warpreg import ptx
from warpreg.codegen import CompileOptions, build_kernel, target, translate
from warpreg.codegen.passes.copy_propagation import PropagateCopies
from warpreg.codegen.passes.dead_code import EliminateDeadCode
from warpreg.codegen.passes.fold_constants import FoldConstants
from warpreg.codegen.passes.fold_parameters import FoldParameters
from warpreg.codegen.passes.split_webs import SplitValues
from warpreg.codegen.passes.uniform_addresses import FormUniformAddresses
from warpreg.codegen.regalloc.allocator import AllocateRegisters
from warpreg.codegen.verify import verify
from warpreg.ir.kernel import Kernel

SM_75, SM_80 = target("sm_75"), target("sm_80")
PARAMETERS = ".param .u64 a, .param .u64 b, .param .u32 n"
TWO_ARRAYS = """
    mov.u32 %r1, %tid.x;
    cvt.u64.u32 %rd1, %r1;
    add.s64 %rd2, %rd1, c0;
    add.s64 %rd3, %rd1, c8;
    ld.global.u8 %r2, [%rd2+3];
    st.global.u8 [%rd3], %r2;
    ret;
"""


def folded(program: Kernel) -> Kernel:
    """With parameters as operands of the instructions that read them."""
    for step in (SplitValues(), FoldParameters(), FoldConstants(), PropagateCopies(), EliminateDeadCode()):
        program = step.run(program)
    return program


def with_parameters(body: str) -> str:
    """The body with ``c0`` and ``c8`` in registers that hold the two addresses."""
    loads = "ld.param.u64 %rd8, [a]; ld.param.u64 %rd9, [b];"
    return loads + body.replace("c0", "%rd8").replace("c8", "%rd9")


def test_one_index_serves_two_arrays() -> None:
    program = folded(kernel(with_parameters(TWO_ARRAYS), parameters=PARAMETERS))
    formed = FormUniformAddresses().run(program)
    verify(formed, program)
    accesses = [str(i) for i in formed.instructions() if "global" in i.modifiers]
    assert accesses == ["ld.global.u8 %r2, [%rd1+%u$0+3]", "st.global.u8 [%rd1+%u$1], %r2"]
    moves = {str(i) for i in formed.instructions() if i.opcode == "mov" and i.modifiers == ("b64",)}
    assert moves == {"mov.b64 %u$0, c[0][0x0]", "mov.b64 %u$1, c[0][0x8]"}


def test_the_bases_are_in_uniform_pairs_and_take_no_register() -> None:
    """The thread's index is the low word of the one pair, the loaded byte takes R2: with R1 three registers."""
    body = ptx.parse(
        f".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k({PARAMETERS})\n"
        f"{{.reg .b32 %r<9>; .reg .b64 %rd<10>;{with_parameters(TWO_ARRAYS)}}}\n"
    )
    turing, ampere = (translate(body, "k", CompileOptions(target=t)) for t in (SM_75, SM_80))
    listed = "\n".join(map(str, turing.instructions()))
    assert "[R2.64+UR0+3]" in listed or "[R2.64+UR2+3]" in listed
    assert turing.uniform_count == 4
    assert ampere.uniform_count == 0
    assert turing.register_count < ampere.register_count


def test_an_address_of_a_parameter_takes_no_register() -> None:
    body = "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; st.global.u32 [%rd1+8], %r1; ret;"
    program = folded(kernel(body))
    assert str(list(FormUniformAddresses().run(program).instructions())[-2]) == "st.global.u32 [%u$0+8], %r1"


def test_sums_that_are_also_values_stay() -> None:
    body = with_parameters(TWO_ARRAYS).replace("ret;", "st.global.u64 [%rd3+8], %rd2; ret;")
    program = folded(kernel(body, parameters=PARAMETERS))
    accesses = [str(i) for i in FormUniformAddresses().run(program).instructions() if "global" in i.modifiers]
    assert accesses[0] == "ld.global.u8 %r2, [%rd2+3]"


def test_an_index_that_changes_in_between_stays_apart() -> None:
    body = """
        mov.u32 %r1, %tid.x; cvt.u64.u32 %rd1, %r1; ld.param.u64 %rd9, [out]; add.s64 %rd2, %rd9, %rd1;
        add.s64 %rd1, %rd1, 8; st.global.u32 [%rd2], %r1; st.global.u64 [%rd2+8], %rd1; ret;
    """
    program = kernel(body)
    for step in (FoldParameters(), FoldConstants(), PropagateCopies()):
        program = step.run(program)
    assert FormUniformAddresses().run(program) is program


def test_other_spaces_keep_their_addresses() -> None:
    body = "mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; st.shared.u32 [%r2], %r1; ret;"
    assert after(FormUniformAddresses(), body) == text(
        "mov.u32 %r1, %tid.x\nshl.b32 %r2, %r1, 2\nst.shared.u32 [%r2], %r1\nret"
    )


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 10_000))
def test_memory_is_the_same_before_and_after(seed: int) -> None:
    module = ptx.parse(random_text(seed, SUMS + LOGIC + PRODUCTS))
    before = folded(build_kernel(module, "k"))
    formed = FormUniformAddresses().run(before)
    verify(formed, before)
    assert any("+%u$" in str(i) for i in formed.instructions())
    expected = memory_of(module, before, seed)
    assert memory_of(module, formed, seed) == expected
    assert memory_of(module, AllocateRegisters(target=SM_75).run(formed), seed) == expected
