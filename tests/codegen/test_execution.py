"""Every pass preserves the results of a kernel: memory is equal bit for bit."""

from __future__ import annotations

import pytest
from tests.differential.comparing import run_on_device
from tests.reference.generator import KERNEL, generate
from tests.reference.run import Outcome

from warpreg import codegen, ptx
from warpreg.codegen import CompileOptions
from warpreg.codegen.verify import verify
from warpreg.ir.kernel import Kernel
from warpreg.simt import Device

EXACT = CompileOptions(fuse_multiply_add=False)
"""Contracted products and sums round once instead of twice, so they are left out where bits are compared."""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_memory_is_the_same_before_and_after_every_pass(seed: int) -> None:
    case = generate(seed)
    module = ptx.parse(case.text)

    def outcome(program: Kernel) -> Outcome:
        device = Device(module, None)
        device.install(program)
        return run_on_device(case, device)

    program = codegen.build_kernel(module, KERNEL)
    expected = outcome(program)
    for step in codegen.passes_of(EXACT):
        changed = step.run(program)
        verify(changed, program)
        if changed is not program:
            assert outcome(changed) == expected, step
        program = changed


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        CompileOptions(schedule=False, fuse_multiply_add=False),
        CompileOptions(max_registers=32, fuse_multiply_add=False),
        CompileOptions(max_registers=16, fuse_multiply_add=False),
    ],
    ids=["unscheduled", "32 registers", "16 registers"],
)
@pytest.mark.parametrize("seed", range(2, 4))
def test_memory_is_the_same_under_every_option(seed: int, options: CompileOptions) -> None:
    case = generate(seed)
    module = ptx.parse(case.text)
    assert run_on_device(case, Device(module, options)) == run_on_device(case, Device(module, None))
