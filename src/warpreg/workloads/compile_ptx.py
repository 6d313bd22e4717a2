"""Regenerate the checked-in PTX of the workloads: ``python -m warpreg.workloads.compile_ptx``, with the ``cuda`` extra.

With ``--check`` nothing is written; the exit status is 1 if a file differs from the output of the installed compiler.
The header of a PTX file names its compiler; another release may write different PTX.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from warpreg import workloads
from warpreg.ir.errors import WarpregError
from warpreg.ptx.cuda.compile import compile_file
from warpreg.ptx.cuda.options import DEFAULT_ARCHITECTURE
from warpreg.workloads.workload import Workload


def regenerated(workload: Workload) -> str:
    """The content of the PTX file of ``workload``, newly compiled."""
    return compile_file(workload.cuda_path).ptx


def stale(check_only: bool) -> list[Path]:
    """PTX files that differ from the compiler's current output; rewritten unless ``check_only``."""
    differing = []
    for name in workloads.names():
        workload = workloads.find(name)
        ptx = regenerated(workload)
        path = workload.ptx_path
        if path.is_file() and path.read_text(encoding="utf-8") == ptx:
            continue
        differing.append(path)
        if not check_only:
            path.write_text(ptx, encoding="utf-8", newline="\n")
    return differing


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m warpreg.workloads.compile_ptx", description=__doc__)
    parser.add_argument("--check", action="store_true", help="only compare, write nothing")
    check_only = parser.parse_args(arguments).check
    try:
        differing = stale(check_only)
    except WarpregError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    verb = "differs from" if check_only else "written by"
    for path in differing:
        print(f"{path} {verb} nvrtc for {DEFAULT_ARCHITECTURE}")
    if not differing:
        print("every PTX file equals the compiler's output")
    return 1 if check_only and differing else 0


if __name__ == "__main__":
    raise SystemExit(main())
