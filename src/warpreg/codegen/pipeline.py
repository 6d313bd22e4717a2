"""The compiler as a list of passes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from piecewise_numba.collector_pause import collector_paused
from warpreg.codegen.lower.build import build_kernel
from warpreg.codegen.options import ALLOCATED_PTX, MACHINE, PTX, CompileOptions
from warpreg.codegen.passes.base import Pass
from warpreg.codegen.passes.combine_steps import CombineSteps
from warpreg.codegen.passes.common_subexpressions import ShareValues
from warpreg.codegen.passes.copy_propagation import PropagateCopies
from warpreg.codegen.passes.dead_code import EliminateDeadCode
from warpreg.codegen.passes.divide import ExpandDivision
from warpreg.codegen.passes.divide_by_constant import DivideByConstants
from warpreg.codegen.passes.fold_addresses import FoldAddresses
from warpreg.codegen.passes.fold_constant_loads import FoldConstantLoads
from warpreg.codegen.passes.fold_constants import FoldConstants
from warpreg.codegen.passes.fold_parameters import FoldParameters
from warpreg.codegen.passes.fold_selections import FoldSelections
from warpreg.codegen.passes.form_iadd3 import FormSums
from warpreg.codegen.passes.form_lop3 import FormLogic
from warpreg.codegen.passes.fuse_multiply_add import FuseMultiplyAdd
from warpreg.codegen.passes.fuse_tests import FuseTests
from warpreg.codegen.passes.legalize import LegalizeOperands
from warpreg.codegen.passes.loop_invariants import HoistInvariants
from warpreg.codegen.passes.merge_predicates import MergePredicates
from warpreg.codegen.passes.narrow_addresses import NarrowAddresses
from warpreg.codegen.passes.number_registers import NumberRegisters
from warpreg.codegen.passes.shorten import RematerializeValues, SinkValues
from warpreg.codegen.passes.split_webs import SplitValues
from warpreg.codegen.passes.uniform_addresses import FormUniformAddresses
from warpreg.codegen.passes.widen_loads import WidenLoads
from warpreg.codegen.regalloc.allocator import AllocateRegisters
from warpreg.codegen.schedule.list_scheduler import ScheduleInstructions
from warpreg.codegen.unroll import UnrollLoops
from warpreg.codegen.verify import verify
from warpreg.ir.compile_observer import compile_step, compiling
from warpreg.ir.kernel import Kernel
from warpreg.ir.module import Module

VERIFY_EACH = "WARPREG_VERIFY_EACH"
"""The environment variable that has every pass verified."""


SCHEDULING = 2
"""Registers of a given limit that scheduling leaves to register allocation."""


def passes_of(options: CompileOptions) -> tuple[Pass, ...]:
    """The passes in order; the kernel can be executed before and after each."""
    narrow = (FoldParameters(), NarrowAddresses()) if options.address_bits == 32 else ()
    if options.level == PTX:
        return (*narrow, NumberRegisters())
    if options.level == ALLOCATED_PTX:
        return (SplitValues(), *narrow, *_allocated(options))
    return (
        SplitValues(),
        FoldParameters(),
        FoldConstantLoads(),
        WidenLoads(),
        FoldConstants(),
        *((FoldSelections(), MergePredicates()) if options.target.predicates else ()),
        PropagateCopies(),
        *((NarrowAddresses(), PropagateCopies()) if options.address_bits == 32 else ()),
        *((CombineSteps(),) if options.target.unrolls else ()),
        DivideByConstants(),
        ShareValues(),
        FoldAddresses(),
        FuseMultiplyAdd(contract=options.fuse_multiply_add),
        *((ExpandDivision(),) if options.expand_division else ()),
        FuseTests(),
        FormLogic(),
        FormSums(),
        HoistInvariants(options.max_registers),
        *((FormUniformAddresses(),) if options.target.uniform_addresses and options.address_bits == 64 else ()),
        LegalizeOperands(),
        EliminateDeadCode(),
        *_shortened(options),
        *_allocated(options),
    )


def _shortened(options: CompileOptions) -> tuple[Pass, ...]:
    """What shortens live ranges across blocks where the options limit the live words; scheduling, which follows, only
    reorders within blocks."""
    target = options.target
    limits = [] if options.live_words is None else [options.live_words]
    if options.max_registers is not None:
        limits.append(options.max_registers - target.beyond - SCHEDULING)
    if not limits:
        return ()
    words, has_uniform = min(limits), target.uniform_registers > 0
    sink = (SinkValues(words, has_uniform),) if options.sink else ()
    recompute = (RematerializeValues(words, has_uniform),) if options.rematerialize else ()
    return (*sink, *recompute)


def _allocated(options: CompileOptions) -> tuple[Pass, ...]:
    """Scheduling, if the options say so, and register allocation."""
    cycles = options.cycles or options.target.cycles
    target = options.target
    schedule = ScheduleInstructions(options.max_registers, target.unhurried, cycles, predicates=target.predicates)
    allocate = AllocateRegisters(
        options.max_registers, target=options.target, banks=options.banks, rotate=options.rotate
    )
    return (schedule, allocate) if options.schedule else (allocate,)


def translate(
    module: Module, kernel_name: str, options: CompileOptions | None = None, *, verify_each: bool = False
) -> Kernel:
    """The kernel ``kernel_name`` of ``module`` in architected registers: `build_kernel` and `compile` in one, or the
    work of another assembler, or that of the module if it is machine code.
    """
    options = options or CompileOptions()
    with collector_paused(), compiling(kernel_name):
        assembler = module.code or options.assembler
        if assembler:
            return assembler.kernel(module, kernel_name)
        return compile(build_for(module, kernel_name, options), options, verify_each=verify_each)


def build_for(module: Module, kernel_name: str, options: CompileOptions) -> Kernel:
    """Input of `translate`: the kernel with virtual registers, with short branches predicated if the options say so,
    and loops unrolled if the target's compiler does so."""
    kernel = build_kernel(module, kernel_name, predicate=options.predicate and options.level == MACHINE)
    return unrolling(options).run(kernel) if options.target.unrolls and options.level == MACHINE else kernel


def unrolling(options: CompileOptions) -> UnrollLoops:
    """The pass that unrolls loops, with the passes around it."""
    passes = passes_of(options)
    first, last = passes.index(PropagateCopies()) + 1, passes.index(EliminateDeadCode()) + 1
    return UnrollLoops(passes[:first], passes[first:last])


def compile(kernel: Kernel, options: CompileOptions | None = None, *, verify_each: bool = False) -> Kernel:
    """The kernel in architected registers, with the same blocks; the result is verified.

    Raises AllocationError where ``max_registers`` is too small, VerificationError where a pass breaks the kernel.
    """
    virtual = kernel
    for stage in stages(kernel, options or CompileOptions(), verify_each=verify_each):
        kernel = stage.kernel
    compile_step("verify")
    verify(kernel, virtual)
    return kernel


@dataclass(frozen=True)
class Stage:
    """A pass that ran: its class's name, and the kernel before and after it."""

    name: str
    before: Kernel
    kernel: Kernel

    @property
    def is_changed(self) -> bool:
        """Whether the pass changed an instruction."""
        return self.before.blocks != self.kernel.blocks


def stages(kernel: Kernel, options: CompileOptions, *, verify_each: bool = False) -> Iterator[Stage]:
    """Run the passes one by one.

    With ``verify_each``, or where the environment sets ``WARPREG_VERIFY_EACH``, the kernel is verified before the first
    and after each pass that changes it; VerificationError names the pass.
    """
    verify_each = verify_each or bool(os.environ.get(VERIFY_EACH))
    if verify_each:
        verify(kernel, stage="build")
    for step in passes_of(options):
        compile_step(type(step).__name__)
        stage = Stage(type(step).__name__, kernel, step.run(kernel))
        if verify_each and stage.is_changed:
            verify(stage.kernel, kernel, stage=stage.name)
        yield stage
        kernel = stage.kernel
