"""Text of the kernel after selected passes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from warpreg.codegen.options import PTX, CompileOptions
from warpreg.codegen.pipeline import Stage, build_for, passes_of, stages
from warpreg.ir.compile_observer import compiling
from warpreg.ir.errors import UnknownNameError
from warpreg.ir.kernel import Kernel
from warpreg.ir.module import Module

ALL = "all"
BUILD = "build"
"""Name of the input of the first pass."""


@dataclass(frozen=True)
class Snapshot:
    """The kernel after a pass, named in kebab case; ``is_changed``: whether the pass changed an instruction."""

    name: str
    kernel: Kernel
    is_changed: bool = True

    def text(self) -> str:
        """One instruction per line; a block begins with its label and its successors."""
        lines = []
        for block in self.kernel.blocks:
            targets = ", ".join(self.kernel.blocks[s].label for s in block.successors)
            lines.append(f"{block.label or 'entry'}:" + (f"  -> {targets}" if targets else ""))
            lines += (f"    {instruction}" for instruction in block.instructions)
        return "\n".join(lines)


def kebab(name: str) -> str:
    """``FoldConstants`` as ``fold-constants``; a name in kebab case is unchanged."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()


def pass_names() -> tuple[str, ...]:
    """Every pass of some options, in kebab case and in order, after ``build``."""
    every = (*passes_of(CompileOptions(address_bits=32, live_words=0)), *passes_of(CompileOptions(level=PTX)))
    return (BUILD, *dict.fromkeys(kebab(type(step).__name__) for step in every))


def chosen(wanted: str) -> str:
    """A pass by its class's name or in kebab case, or ``all``, in kebab case.  Raises UnknownNameError."""
    known = (ALL, *pass_names())
    name = wanted if wanted in known else kebab(wanted)
    if name not in known:
        raise UnknownNameError("pass", wanted, known)
    return name


def snapshots(
    module: Module, kernel_name: str, options: CompileOptions, wanted: str = ALL, *, verify_each: bool = False
) -> Iterator[Snapshot]:
    """The kernel after each run of the pass ``wanted``, or after every pass.  Raises UnknownNameError."""
    wanted = chosen(wanted)
    with compiling(kernel_name):
        kernel = build_for(module, kernel_name, options)
    if wanted in (ALL, BUILD):
        yield Snapshot(BUILD, kernel)
    following = stages(kernel, options, verify_each=verify_each)
    while stage := _next(following, kernel_name):
        name = kebab(stage.name)
        if wanted in (ALL, name):
            yield Snapshot(name, stage.kernel, stage.is_changed)


def _next(following: Iterator[Stage], kernel_name: str) -> Stage | None:
    """The next stage; nothing is reported as being compiled while a caller prints the last one."""
    with compiling(kernel_name):
        return next(following, None)
