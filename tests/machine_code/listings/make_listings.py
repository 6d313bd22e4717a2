"""Make the PTX, cubins and listings beside this file: ``python tests/machine_code/listings/make_listings.py``.

It needs the ``cuda`` extra; the tests that read the files do not.  ``scaled.dump.sass`` is what
``cuobjdump -sass -elf`` of CUDA 13.5, which is no part of the extra, prints of a fat binary of ``scaled.cu``.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from warpreg.machine_code.assembler import ARCHITECTURES
from warpreg.machine_code.tools import assembled, disassembled, find_tool, output_of
from warpreg.ptx.cuda.compile import compile_file
from warpreg.ptx.cuda.options import CudaOptions

FOLDER = Path(__file__).parent


def main() -> None:
    text = compile_file(FOLDER / "kernels.cu").ptx
    (FOLDER / "kernels.ptx").write_text(text, encoding="utf-8")
    for architecture in ARCHITECTURES:
        cubin = assembled(text, architecture)
        (FOLDER / f"kernels.{architecture}.cubin").write_bytes(cubin)
        (FOLDER / f"kernels.{architecture}.sass").write_text(disassembled(cubin), encoding="utf-8")
    text = compile_file(FOLDER / "bulk.cu", CudaOptions(arch="sm_90")).ptx
    cubin = assembled(text, "sm_90")
    (FOLDER / "bulk.ptx").write_text(text, encoding="utf-8")
    (FOLDER / "bulk.sm_90.cubin").write_bytes(cubin)
    (FOLDER / "bulk.sm_90.sass").write_text(disassembled(cubin), encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scaled.cubin"
        path.write_bytes(assembled(compile_file(FOLDER / "scaled.cu").ptx, "sm_80"))
        whole = output_of([str(find_tool("nvdisasm")), str(path)])
    (FOLDER / "scaled.sm_80.sass").write_text(whole, encoding="utf-8")


if __name__ == "__main__":
    main()
