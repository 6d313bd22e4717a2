"""PTX bodies in, instruction listings out."""

from __future__ import annotations

from warpreg import ptx
from warpreg.codegen.lower.build import build_kernel
from warpreg.codegen.passes.base import Pass
from warpreg.codegen.verify import verify
from warpreg.ir.kernel import Kernel

REGISTERS = """
    .reg .pred %p<10>;
    .reg .b16 %rs<10>;
    .reg .b32 %r<40>;
    .reg .b64 %rd<20>;
    .reg .f32 %f<20>;
    .reg .f64 %d<10>;
"""
PARAMETERS = ".param .u64 out, .param .u32 n, .param .f32 x"


def kernel(body: str, *, parameters: str = PARAMETERS, before: str = "") -> Kernel:
    """The kernel ``k`` with that body; parameters ``out`` (bank offset 0), ``n`` (8) and ``x`` (12)."""
    header = f".version 8.0\n.target sm_75\n.address_size 64\n{before}\n"
    return build_kernel(ptx.parse(f"{header}.visible .entry k({parameters})\n{{{REGISTERS}{body}\n}}\n"), "k")


def listing(program: Kernel) -> str:
    """Instructions one a line; blocks after the first begin with their label and a colon."""
    lines = []
    for block in program.blocks:
        if block.index:
            lines.append(f"{block.label}:")
        lines += map(str, block.instructions)
    return "\n".join(lines)


def text(expected: str) -> str:
    """An expected listing written with any indentation."""
    return "\n".join(line.strip() for line in expected.strip().splitlines())


def after(step: Pass, body: str, **options: str) -> str:
    """The listing of a body after one pass; the pass keeps the kernel well formed."""
    program = kernel(body, **options)
    changed = step.run(program)
    verify(changed, program)
    return listing(changed)
