"""Compile the PTX in this folder: ``python make.py clang CLANG++`` or ``python make.py nvrtc LIBNVRTC.so``.

clang 19 comes from Debian (clang-19), NVRTC 12 from the wheel nvidia-cuda-nvrtc-cu12, NVRTC 13 from the ``cuda`` extra.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SOURCE = HERE / "kernels.cu"
CLANG_TARGETS = {
    "30": "+ptx32 -O2", "35": "+ptx42 -O0", "50": "+ptx43 -O1", "60": "+ptx50 -Os", "70": "+ptx60 -O3",
    "80": "+ptx70 -O2", "90": "+ptx78 -O3 -ffast-math",
}  # fmt: skip
"""Compute capability to version of PTX, in clang's way of writing them, and options."""

NVRTC_TARGETS = {12: ("50",), 13: ("75", "100")}
"""Their neighbours (60, 90) give the same text."""


def clang(program: str) -> None:
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.split("\n")[0]
    for target, chosen in CLANG_TARGETS.items():
        ptx, *options = chosen.split()
        fixed = f"-x cuda --cuda-device-only --cuda-gpu-arch=sm_{target} -nocudainc -nocudalib -S -o -"
        features = [word for name in ("-ptx85", ptx) for word in ("-Xclang", "-target-feature", "-Xclang", name)]
        command = [*fixed.split(), *options, *features, SOURCE.name]
        done = subprocess.run([program, *command], capture_output=True, text=True, check=True, cwd=HERE)
        _write(f"clang_sm_{target}", f"{version}: clang++ {' '.join(command)}", done.stdout)


def nvrtc(library: str) -> None:
    lib = ctypes.CDLL(library)
    major, minor = ctypes.c_int(), ctypes.c_int()
    lib.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    for target in NVRTC_TARGETS[major.value]:
        program, size = ctypes.c_void_p(), ctypes.c_size_t()
        lib.nvrtcCreateProgram(ctypes.byref(program), SOURCE.read_bytes(), b"kernels.cu", 0, None, None)
        option = f"--gpu-architecture=compute_{target}"
        status = lib.nvrtcCompileProgram(program, 1, (ctypes.c_char_p * 1)(option.encode()))
        if status:
            lib.nvrtcGetProgramLogSize(program, ctypes.byref(size))
            log = ctypes.create_string_buffer(size.value)
            lib.nvrtcGetProgramLog(program, log)
            sys.exit(log.value.decode())
        lib.nvrtcGetPTXSize(program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        lib.nvrtcGetPTX(program, text)
        _write(f"nvrtc{major.value}_sm_{target}", f"NVRTC {major.value}.{minor.value}: {option}", text.value.decode())


def _write(name: str, how: str, text: str) -> None:
    """Without blank lines and the compiler's own comments."""
    lines = (re.sub(r"\s*//.*", "", line) for line in text.split("\n"))
    body = "\n".join(line for line in lines if line.strip())
    (HERE / f"{name}.ptx").write_text(f"// {SOURCE.name} by {how}\n{body}\n")


if __name__ == "__main__":
    {"clang": clang, "nvrtc": nvrtc}[sys.argv[1]](sys.argv[2])
