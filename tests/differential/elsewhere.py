"""Opcodes that other tests cover or that no result shows, each with the test or the reason."""

from __future__ import annotations

import re

from warpreg.ir.opcodes import Opcode

NO_RESULT = {
    "griddepcontrol": "orders grids, of which one runs at a time",
    "setmaxnreg": "moves registers between warps, which no result shows",
    "createpolicy": "makes a cache policy, which is a number without a meaning here",
    "trap": "ends the launch with a fault",
    "brkpt": "ends the launch with a fault",
}
TESTED_IN = {
    **dict.fromkeys(("mma", "wmma", "ldmatrix", "stmatrix", "movmatrix"), "tests/tensor"),
    **dict.fromkeys(("cp", "mbarrier"), "tests/tensor/test_asynchronous.py"),
    **dict.fromkeys(("tex", "tld4", "txq", "istypep"), "tests/simt/test_textures.py"),
    **dict.fromkeys(("suld", "sust", "sured", "suq"), "tests/simt/test_textures.py"),
    **dict.fromkeys(("vprintf", "assertfail", "malloc", "free", "badcall"), "tests/simt/test_cuda_calls.py"),
    "add3": "tests/opcodes/test_machine.py",
}
"""Opcodes with references of their own, and those that only the compiler writes."""
ROWS_TESTED_IN = {
    r"barrier\.cluster": "tests/codegen/lower/test_clusters.py",
    r"^isspacep\.\(param": "tests/codegen/lower/test_parameter_addresses.py",
    r"^(st|red)\.async|^fence\.proxy|^membar\.proxy": "tests/tensor/test_asynchronous.py",
    r"^(atom|red).*(v2\|v4|\.b128\.)": "tests/tensor/test_vector_atomics.py",
}
"""The same by what is found in a row's syntax."""


def is_elsewhere(row: Opcode) -> bool:
    """Whether the differential tests leave the row out."""
    return row.name in NO_RESULT or row.name in TESTED_IN or any(re.search(p, row.syntax) for p in ROWS_TESTED_IN)
