"""Writes the synthetic kernels in Accel-Sim's trace format."""

from __future__ import annotations

from pathlib import Path

from warpreg_workbench.accelsim.kernels import Kernel
from warpreg_workbench.accelsim.stream import Stream

WARP = 32

HEADER = """\
-kernel name = {name}
-kernel id = 1
-grid dim = ({width},{height},1)
-block dim = ({threads},1,1)
-shmem = {shared_bytes}
-nregs = {registers}
-binary version = {version}
-cuda stream id = 0
-shmem base_addr = 0x00007f0000000000
-local mem base_addr = 0x00007f0001000000
-nvbit version = 1.7
-accelsim tracer version = 5
-enable lineinfo = 0

#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [mode addresses] immediate

"""


def write(folder: Path, name: str, kernel: Kernel, version: int) -> Path:
    """Write ``kernelslist.g`` and ``kernel-1.traceg`` for a binary version (61, 70 or 86); returns the list's path."""
    folder.mkdir(parents=True, exist_ok=True)
    width, height = kernel.grid
    with (folder / "kernel-1.traceg").open("w", newline="\n") as file:
        file.write(
            HEADER.format(
                name=name,
                width=width,
                height=height,
                threads=kernel.threads,
                shared_bytes=kernel.shared_bytes,
                registers=kernel.registers,
                version=version,
            )
        )
        for block in range(kernel.blocks):
            file.write(f"\n#BEGIN_TB\n\nthread block = {block % width},{block // width},0\n")
            for warp in range(-(-kernel.threads // WARP)):
                stream = Stream(version, block, warp, -(-kernel.threads // WARP))
                kernel.body(stream)
                file.write(f"\nwarp = {warp}\ninsts = {len(stream.lines)}\n")
                file.writelines(stream.lines)
            file.write("\n#END_TB\n")
    listed = folder / "kernelslist.g"
    listed.write_text("kernel-1.traceg\n", encoding="ascii")
    return listed
