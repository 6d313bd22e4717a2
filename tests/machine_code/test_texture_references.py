"""Texture references of cubins and listings without PTX: their records name them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import warpreg
from warpreg.ir.errors import WarpregError
from warpreg.machine_code import files
from warpreg.machine_code.assembler import ARCHITECTURES
from warpreg.machine_code.tools import assembled, disassembled, find_tool, output_of
from warpreg.simt import Device

SOURCE = """.version 7.8
.target {architecture}
.address_size 64
.global .texref picture;
.global .surfref board;
.visible .entry k(.param .u64 out)
{{
    .reg .b64 %rd<3>; .reg .f32 %f<7>; .reg .b32 %r<3>;
    ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; cvt.rn.f32.u32 %f5, %r1; mov.f32 %f6, 0f3F800000;
    tex.2d.v4.f32.f32 {{%f1, %f2, %f3, %f4}}, [picture, {{%f5, %f6}}];
    shl.b32 %r1, %r1, 2; suld.b.1d.b32.zero {{%r2}}, [board, {{%r1}}]; cvt.rn.f32.u32 %f2, %r2; add.f32 %f1, %f1, %f2;
    cvt.u64.u32 %rd2, %r1; add.u64 %rd2, %rd1, %rd2; st.global.f32 [%rd2], %f1;
    ret;
}}
"""


def left(path: Path) -> list[float]:
    """The sum of row 1 of the picture and the board, by thread."""
    device = Device(files.read(path))
    device.bind("picture", device.texture(np.arange(64, dtype=np.float32).reshape(2, 32), "2d"))
    device.bind("board", device.surface(np.arange(32, dtype=np.uint32) * 1000, "1d"))
    out = device.zeros(32, np.float32)
    device.launch("k", 1, 32, out)
    return [float(one) for one in out.download()]


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", ["k.cubin", "k.sass"])
def test_records_name_the_references(name: str, architecture: str, tmp_path: Path) -> None:
    """Thread t sees 32 + t and 1000 t."""
    pytest.importorskip("nvidia")
    path, binary = tmp_path / name, tmp_path / "k.bin"
    binary.write_bytes(assembled(SOURCE.format(architecture=architecture), architecture))
    path.write_bytes(binary.read_bytes())
    if name == "k.sass":
        path.write_text(output_of([str(find_tool("nvdisasm")), str(binary)]))
    assert left(path) == [32 + t + 1000 * t for t in range(32)]


def test_code_alone_does_not_name_them(tmp_path: Path) -> None:
    """The handle of the texture stands behind the parameter of 8 bytes."""
    pytest.importorskip("nvidia")
    path = tmp_path / "k.sass"
    path.write_text(disassembled(assembled(SOURCE.format(architecture="sm_80"), "sm_80")))
    kernel = warpreg.compile(path)["k"][1, 32]
    with pytest.raises(WarpregError, match=r"nothing is known to be at c\[0\]\[0x16\w\]; variables and textures need"):
        kernel(np.zeros(32, np.float32))
