"""Machine instructions of compiled basic blocks."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator

import pytest
from tests.simt.assembly import assembly

from warpreg import codegen
from warpreg.ptx import parse
from warpreg.simt import Record
from warpreg.simt.kernel.compile_image import compile_image
from warpreg.simt.llvm import object_code
from warpreg_workbench.bench.probe_kernel import NAME, probe_ptx

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the assembly is that of x86-64")

MASKED_STORE = re.compile(r"^\s*vp?maskmov\w+\s.*,.*,.*\(", re.MULTILINE)
"""A masked store without AVX-512: its last operand is in memory (of a load it is the second of three)."""


@pytest.fixture(params=["znver3", "x86-64-v3", "rocketlake"])
def narrow(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A processor without AVX-512; the last one is an Intel processor limited to 256-bit vectors."""
    monkeypatch.setattr(object_code, "host", lambda: (request.param, "+avx2,+fma,-avx512f"))
    object_code.target_machine.cache_clear()
    yield
    object_code.target_machine.cache_clear()


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("record", [Record(path=True), Record(widths=True)], ids=["path", "widths"])
def test_blocks_have_no_masked_store_without_avx512(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel's branches diverge, so its blocks store registers of some lanes, by a blend."""
    found = []

    def compiled(text: str, optimize: bool = False) -> bytes:
        found.append(assembly(text, optimize))
        return b""

    monkeypatch.setattr(object_code, "object_code", compiled)
    compile_image(codegen.compile(codegen.build_kernel(parse(probe_ptx(3)), NAME)), record)
    (text,) = found
    assert "%zmm" not in text
    assert "vblendvps" in text
    assert not MASKED_STORE.findall(text)


def test_the_pattern_finds_masked_stores() -> None:
    assert MASKED_STORE.search("\tvpmaskmovd\t%ymm0, %ymm1, 32(%rsi)")
    assert MASKED_STORE.search("\tvmaskmovps\t%ymm0, %ymm1, 32(%rsi,%rax)")
    assert not MASKED_STORE.search("\tvpmaskmovd\t32(%rsi), %ymm1, %ymm0")
