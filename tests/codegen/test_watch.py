"""The kernel after each pass, and the name of a pass that breaks a kernel."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from tests.codegen.texts import kernel, text

from warpreg import ptx
from warpreg.codegen import TARGETS, CompileOptions
from warpreg.codegen.passes.base import Pass, with_blocks
from warpreg.codegen.passes.shorten import RematerializeValues, SinkValues
from warpreg.codegen.pipeline import VERIFY_EACH, compile, passes_of
from warpreg.codegen.verify import VerificationError
from warpreg.codegen.watch import chosen, pass_names, snapshots
from warpreg.ir.errors import UnknownNameError
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Register
from warpreg.ir.types import B32

PTX = """.version 8.0
.target sm_75
.address_size 64
.entry k(.param .u64 out, .param .u32 n)
{
    .reg .pred %p<2>; .reg .b32 %r<5>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    setp.ge.u32 %p1, %r2, %r1;
    @%p1 ret;
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd3, %rd1, %rd2;
    add.u32 %r3, %r2, 0;
    st.global.u32 [%rd3], %r3;
    ret;
}
"""
GOLDEN = {
    "build": """
        $B0:  -> $B1
            ld.param.u64 %rd1, [c[0][0x0]]
            ld.param.u32 %r1, [c[0][0x8]]
            mov.u32 %r2, %tid.x
            setp.ge.u32 %p1, %r2, %r1
            @%p1 ret
        $B1:
            mul.wide.u32 %rd2, %r2, 4
            add.s64 %rd3, %rd1, %rd2
            add.u32 %r3, %r2, 0
            st.global.u32 [%rd3], %r3
            ret""",
    "fold-constants": """
        $B0:  -> $B1
            mov.b64 %rd1, c[0][0x0]
            mov.b32 %r1, c[0][0x8]
            mov.u32 %r2, %tid.x
            setp.ge.u32 %p1, %r2, c[0][0x8]
            @%p1 ret
        $B1:
            mul.wide.u32 %rd2, %r2, 4
            add.s64 %rd3, %rd2, c[0][0x0]
            mov.b32 %r3, %r2
            st.global.u32 [%rd3], %r3
            ret""",
    "allocate-registers": """
        $B0:  -> $B1
            mov.u32 R0, %tid.x
            setp.ge.u32 P0, R0, c[0][0x8]
            @P0 ret
        $B1:
            mov.b32 R1, 4
            mad.wide.u32 R2.64, R0, R1, c[0][0x0]
            st.global.u32 [R2.64], R0
            ret""",
}
UNCHANGED = [
    "split-values", "fold-constant-loads", "widen-loads", "divide-by-constants", "share-values", "fold-addresses",
    "expand-division", "fuse-tests", "form-logic", "form-sums", "hoist-invariants", "schedule-instructions",
]  # fmt: skip


@pytest.mark.parametrize("name", GOLDEN)
def test_the_kernel_after_a_pass(name: str) -> None:
    (shot,) = snapshots(ptx.parse(PTX), "k", CompileOptions(), name)
    assert text(shot.text()) == text(GOLDEN[name])


def test_all_passes_in_order_and_which_changed_nothing() -> None:
    shots = list(snapshots(ptx.parse(PTX), "k", CompileOptions()))
    assert [s.name for s in shots] == ["build", *(n for n in pass_names()[1:] if n in {s.name for s in shots})]
    assert [s.name for s in shots if not s.is_changed] == UNCHANGED


@pytest.mark.parametrize(
    ("options", "shortened"),
    [
        (CompileOptions(), []),
        (CompileOptions(live_words=9), [SinkValues(9), RematerializeValues(9)]),
        (CompileOptions(live_words=9, max_registers=24), [SinkValues(9), RematerializeValues(9)]),
        (CompileOptions(live_words=30, max_registers=24), [SinkValues(22), RematerializeValues(22)]),
        (CompileOptions(max_registers=24, sink=False), [RematerializeValues(22)]),
        (CompileOptions(max_registers=24, rematerialize=False), [SinkValues(22)]),
        (CompileOptions(max_registers=24, target=TARGETS["sm_80"], rematerialize=False), [SinkValues(20, True)]),
        (CompileOptions(max_registers=24, level="allocated-ptx"), []),
    ],
)
def test_live_ranges_are_shortened_where_a_limit_is_given(options: CompileOptions, shortened: Sequence[Pass]) -> None:
    """Scheduling leaves two registers to allocation, and sm_80 counts two beyond those in use."""
    found = [one for one in passes_of(options) if isinstance(one, SinkValues | RematerializeValues)]
    assert found == shortened


@pytest.mark.parametrize("name", ["HoistInvariants", "hoist-invariants"])
def test_a_pass_goes_by_its_class_or_in_kebab_case(name: str) -> None:
    assert chosen(name) == "hoist-invariants"


def test_an_unknown_pass_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownNameError, match=r"^no pass named 'HoistInvariant'; did you mean 'hoist-invariants'\?$"):
        chosen("HoistInvariant")


@dataclass(frozen=True)
class ReadNothing:
    """A wrong pass: the first instruction reads a register that nothing writes."""

    def run(self, kernel: Kernel) -> Kernel:
        first, *rest = kernel.blocks[0].instructions
        broken = replace(first, operands=(first.operands[0], Register("%none", B32)))
        return with_blocks(kernel, {0: (broken, *rest)})


def test_a_wrong_pass_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = passes_of(CompileOptions())[:4], passes_of(CompileOptions())[4:]
    monkeypatch.setattr(sys.modules[compile.__module__], "passes_of", lambda options: (*before, ReadNothing(), *after))
    program = kernel("mov.u32 %r1, %tid.x; st.shared.u32 [0], %r1; ret;")
    monkeypatch.delenv(VERIFY_EACH)
    with pytest.raises(VerificationError, match=r"^kernel 'k': "):
        compile(program)
    expected = "^kernel 'k' after ReadNothing: '%none' is read where nothing defines it$"
    with pytest.raises(VerificationError, match=expected):
        compile(program, verify_each=True)
    monkeypatch.setenv(VERIFY_EACH, "1")
    with pytest.raises(VerificationError, match=expected):
        compile(program)
