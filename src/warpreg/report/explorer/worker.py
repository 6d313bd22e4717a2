"""The process that compiles one text: ``python -m warpreg.report.explorer.worker``.

It reads a request, pickled, from its input, writes the answer as JSON, and ends.  The operating system limits its
processor time, memory and files, and those of the compilers that it calls.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import resource
import sys
from typing import Any

from warpreg.ir.errors import WarpregError
from warpreg.ptx.cuda import nvrtc
from warpreg.ptx.cuda.compile import AS_IT_IS, flags
from warpreg.report.explorer.compiled import compiled

CPU_S = 60
MEMORY_BYTES = 4 << 30
"""Address space: NVRTC, LLVM and Python map one GB before they compile."""
FILE_BYTES = 64 << 20
LIMITS = {
    resource.RLIMIT_CPU: CPU_S,
    resource.RLIMIT_AS: MEMORY_BYTES,
    resource.RLIMIT_FSIZE: FILE_BYTES,
    resource.RLIMIT_CORE: 0,
}
OUT_OF_MEMORY = f"the compilers need more than {MEMORY_BYTES >> 30} GB of memory"


def main() -> None:
    """Answer one request."""
    output = os.dup(1)
    os.dup2(2, 1)  # what a library prints is not part of the answer
    for kind, limit in LIMITS.items():
        with contextlib.suppress(ValueError, OSError):  # macOS has no limit of address space
            resource.setrlimit(kind, (limit, limit))
    with contextlib.suppress(WarpregError):  # without the extra there is nothing to prepare
        nvrtc.compile_text("", "prepare.cu", flags(AS_IT_IS))
    request = sys.stdin.buffer.read()
    if request:
        with os.fdopen(output, "wb") as stream:
            stream.write(json.dumps(_answer(request)).encode())


def _answer(request: bytes) -> dict[str, Any]:
    subject, edit = pickle.loads(request)
    try:
        return compiled(edit, subject)
    except MemoryError:
        return _failed(OUT_OF_MEMORY)
    except Exception as error:
        return _failed(f"{type(error).__name__}: {error}")


def _failed(message: str) -> dict[str, Any]:
    return {"problems": [{"message": message, "line": 0, "column": 0}], "kernels": []}


if __name__ == "__main__":
    main()
