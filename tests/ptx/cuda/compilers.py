"""What of NVIDIA's compilers is installed."""

from __future__ import annotations

import pytest

from warpreg.ptx.cuda import nvrtc
from warpreg.ptx.cuda.errors import CompilerMissingError
from warpreg.ptx.cuda.headers import toolkit_folders
from warpreg.ptx.cuda.nvcc import find_nvcc


def _has_nvrtc() -> bool:
    try:
        nvrtc.nvrtc_version()
    except CompilerMissingError:
        return False
    return True


def _has(header: str) -> bool:
    return any((folder / header).is_file() for folder in toolkit_folders())


needs_nvrtc = pytest.mark.skipif(not _has_nvrtc(), reason="the cuda extra is not installed")
needs_nvcc = pytest.mark.skipif(not _has_nvrtc() or find_nvcc() is None, reason="no nvcc, or no host compiler for it")
needs_cccl = pytest.mark.skipif(not _has("nv/target"), reason="the wheel nvidia-cuda-cccl is not installed")
