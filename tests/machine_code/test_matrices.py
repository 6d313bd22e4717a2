"""Matrix instructions of machine code: each shape that ``ptxas`` makes gives the bits of PTX."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.tensor.forms import HALF, OTHERS, REST, given, kernel, on_device, product

from warpreg.codegen import CompileOptions
from warpreg.machine_code.assembler import ARCHITECTURES, MachineCode

OF_SM_90 = re.compile(r"(m16n8k(4|8|16)\S*\.f64)")
LEFT_OUT = re.compile(r"e4m3|e5m2|f32\.f16\.f16\.f16$|f16\.f16\.f16\.f32$|m8n8k4\S*f16")
"""Forms of other architectures, forms that are no valid PTX, and the one of sm_70, which becomes many instructions."""


def forms_of(architecture: str) -> list[str]:
    forms = [form for form in HALF + OTHERS + REST if not LEFT_OUT.search(form)]
    return [form for form in forms if architecture == "sm_90" or not OF_SM_90.search(form)]


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_each_shape_gives_the_bits_of_ptx(architecture: str) -> None:
    pytest.importorskip("nvidia")
    for form in forms_of(architecture):
        text = kernel([form]).replace(".target sm_90a", f".target {architecture}")
        words, columns = given([form], 5), product(form).fragment("d").registers
        machine = CompileOptions(assembler=MachineCode.of(architecture))
        found, expected = (on_device(text, words, columns, options) for options in (machine, CompileOptions()))
        np.testing.assert_array_equal(found, expected, err_msg=form)
