"""Record the results of ``ptxas`` for each workload: ``python -m warpreg_workbench.compiler.vendor_record``."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from warpreg import workloads
from warpreg.ir.errors import WarpregError
from warpreg.workloads.vendor import FILE, VendorKernel, write
from warpreg_workbench.compiler.vendor_compiler import assemble

TARGETS = ("sm_75", "sm_80")


def recorded(name: str) -> Iterator[VendorKernel]:
    """The kernels of one workload for each target."""
    for target in TARGETS:
        for kernel, code in assemble(workloads.find(name).ptx_path, target).items():
            yield VendorKernel(name, kernel, target, code.registers, code.uniform_registers, code.instructions)


def main() -> int:
    """The command; returns its exit status."""
    try:
        write(row for name in workloads.names() for row in recorded(name))
    except WarpregError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"wrote {FILE.name}: registers and instructions of {len(workloads.names())} workloads")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
