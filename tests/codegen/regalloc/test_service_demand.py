"""Kernels that call a service of the host demand the minimum of NVIDIA's calling convention (`ptxas -v` 13.5: 24)."""

from __future__ import annotations

from tests.codegen.texts import kernel

from warpreg import codegen
from warpreg.codegen.options import CompileOptions

MALLOC = """
    { .param .b64 a; .param .b64 r; st.param.b64 [a], 16; call.uni (r), malloc, (a); ld.param.b64 %rd2, [r]; }
"""


def demand(body: str, target: str) -> int:
    """The registers per thread of a body that stores one word."""
    declared = ".extern .func (.param .b64 r) malloc(.param .b64 a);"
    program = kernel(f"ld.param.u64 %rd1, [out]; {body} st.global.u64 [%rd1], %rd2; ret;", before=declared)
    return codegen.compile(program, CompileOptions(target=codegen.target(target))).register_demand


def test_a_call_of_a_service_demands_24_registers() -> None:
    assert demand(MALLOC, "sm_75") == demand(MALLOC, "sm_80") == 24


def test_the_plain_target_and_other_kernels_do_not() -> None:
    assert demand(MALLOC, "plain") < 24
    assert demand("mov.u64 %rd2, 5;", "sm_80") < 24
