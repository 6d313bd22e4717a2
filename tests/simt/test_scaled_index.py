"""Accesses of the form ``base + index * size``, whose lanes are compared by their indices of 32 bits."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.codegen.texts import kernel
from tests.simt.programs import COMPILED, VIRTUAL, Runner, prepare

from warpreg.analysis.accesses import accesses
from warpreg.codegen import CompileOptions
from warpreg.simt import MemoryFault
from warpreg.simt.block import register_storage
from warpreg.simt.block.sites import Sites
from warpreg.simt.kernel.block_compiler import BlockCompiler
from warpreg.simt.kernel.block_ends import Ends
from warpreg.simt.kernel.compile_image import ends_of
from warpreg.simt.llvm import text as ir
from warpreg.simt.memory import coalesced_path


@pytest.mark.parametrize("options", [VIRTUAL, COMPILED], ids=["virtual", "compiled"])
@pytest.mark.parametrize("kind", ["u32", "s32"])
def test_indices_that_pass_the_end_of_their_range_are_no_row(kind: str, options: CompileOptions | None) -> None:
    """Thread 0 has the index 48 below the end, and the array begins there.  Warp 0 stores a row.  Warp 1 begins in the
    array too, but the index of its lane 16 has wrapped: that lane's address is 16 GB below.
    """
    first = (1 << 32 if kind == "u32" else 1 << 31) - 48
    body = f"add.u32 %r1, %t, {first}; mad.wide.{kind} %rd1, %r1, 4, %x; st.global.u32 [%rd1], %t;"
    device, arguments = prepare(body, {"x": np.zeros(64, np.uint32)}, options=options)
    first_element = arguments["x"].address
    with pytest.raises(MemoryFault, match=r"thread \(48,0,0\)") as caught:
        device.launch("k", 1, 64, (first_element - 4 * first) % (1 << 64))
    assert caught.value.address == (first_element + 4 * 48 - (1 << 34)) % (1 << 64)
    assert arguments["x"].download().tolist() == [*range(32), *[0] * 32]


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ("mov.u32 %r1, %t;", list(range(32))),
        ("mov.u32 %r1, 3;", [0, 0, 0, 31]),
        ("sub.s32 %r1, 31, %t;", list(range(31, -1, -1))),
        ("sub.s32 %r1, %t, 2; max.s32 %r1, %r1, 0;", [2, *range(3, 32)]),
        ("mul.lo.u32 %r1, %t, 2;", [n // 2 if n % 2 == 0 else 0 for n in range(63)]),
    ],
    ids=["row", "one address", "backwards", "almost a row", "every second"],
)
def test_any_indices_give_their_elements(run: Runner, index: str, expected: list[int]) -> None:
    """Of several lanes with one address, the highest one's value remains."""
    out = np.zeros(64, np.uint32)
    found = run(f"{index} mad.wide.s32 %rd1, %r1, 4, %out; st.global.u32 [%rd1], %t;", out=out)
    assert found["out"].tolist() == expected + [0] * (64 - len(expected))


def test_arrays_with_one_index_share_its_shape() -> None:
    """One comparison of 32-bit indices for both arrays, none of 64-bit addresses."""
    program = kernel(
        """
        mov.u32 %r1, %tid.x;
        ld.param.u64 %rd1, [out]; mad.wide.u32 %rd2, %r1, 4, %rd1;
        ld.param.u64 %rd3, [in]; mad.wide.u32 %rd4, %r1, 4, %rd3;
        ld.global.f32 %f1, [%rd4]; st.global.f32 [%rd2], %f1; ret;
        """,
        parameters=".param .u64 in, .param .u64 out",
    )
    accesses(program)
    module = ir.Module("k")
    sites = Sites(False, coalesced_path.worthwhile(program, ()))
    ends = Ends(ends_of(program), False, (), False)
    BlockCompiler(module, program, register_storage.assign(program), {}, sites, ends).compile(program.blocks[0], 0)
    assert len(re.findall(r"icmp \w+ <32 x i32>", str(module))) == 1
    assert not re.findall(r"icmp \w+ <32 x i64>", str(module))
