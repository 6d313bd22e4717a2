"""The fast compiler, which uses numba's internals, for the version that `piecewise_numba.compiler` names.

A core is about a hundred small functions that are inlined into one.  numba compiles every jitted function to machine
code, and a caller once more together with all its callees; for a core, that discards more than a third of the first
compilation.  Here, inner functions are kept as LLVM bitcode (`piecewise_numba.piecewise`); `outermost` links and
optimises all of them once.  numba also infers the type of every ``+`` and every index by trying rules one by one, anew
in each function; here the results are cached while a core compiles.

numba has no interface for this.  The classes here and in `piecewise_numba.code_libraries` take part in its pipeline,
and some of its functions are replaced during a compilation (`piecewise_numba.numba_patches`).  Other versions of numba
may differ; they use plain ``njit``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import llvmlite.binding
import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import LoweringPass, PassManager, register_pass
from numba.core.registry import cpu_target
from numba.core.typed_passes import (
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.untyped_passes import FixupArgs, ReconstructSSA, TranslateByteCode

from piecewise_numba import units
from piecewise_numba.call_graph import CallGraph
from piecewise_numba.code_libraries import Lowered, Outermost, emitted_parts, release
from piecewise_numba.entry_points import EntryCode, EntryPoint, code_from
from piecewise_numba.natives import Function
from piecewise_numba.noinline import is_noinline
from piecewise_numba.numba_patches import counted_from_the_start, typed_once, with_own_entries
from piecewise_numba.options import OPTIONS
from piecewise_numba.piecewise import Piecewise
from piecewise_numba.rebuild import origin_of
from piecewise_numba.settings import is_plain, storage
from piecewise_numba.units import LABEL_LENGTH, PLACEHOLDER, relabelled

BARE_OPTIONS = {**OPTIONS, "_nrt": False, "no_cfunc_wrapper": True}
"""Options without reference counts, which took 94% of the time of a replay (hooks receive arrays and allocate none),
and without the entry point for C.
"""

NEEDED = (
    TranslateByteCode,
    FixupArgs,
    ReconstructSSA,
    NopythonTypeInference,
    PreLowerStripPhis,
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
)
"""The numba passes that plain functions need (`piecewise_numba.settings.is_plain`)."""


@register_pass(mutates_CFG=False, analysis_only=False)
class _MakeLinkable(LoweringPass):
    """Makes a function without machine code linkable: its entry point is a unique key.

    The dispatcher requires a builtin; the key is a method of a new list.  It is never called.
    """

    _name = "piecewise_make_linkable"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        key = list[Any]().append
        state.targetctx.insert_user_function(key, state.cr.fndesc)
        state.cr = state.cr._replace(cfunc=key)
        return True


class _OutermostPipeline(CompilerBase):
    piecewise: Piecewise

    def compile_extra(self, func: Any) -> Any:
        """Compile an entry point, and remember what it calls."""
        with self.piecewise.compiling(origin_of(func)) as asked:
            compiled = super().compile_extra(func)
        self.piecewise.keep_entry(asked, tuple(self.state.args), compiled)
        return _without_annotation(compiled)

    def define_pipelines(self) -> list[Any]:
        passes = _into(Outermost, self.state)
        self.state.library.piecewise = self.piecewise
        return [passes]


class _LoweredPipeline(CompilerBase):
    piecewise: Piecewise

    def compile_extra(self, func: Any) -> Any:
        """Take a function from the cache, or else compile it."""
        function, arguments = origin_of(func), tuple(self.state.args)
        found = self.piecewise.found(function, arguments)
        if found is not None:
            return self.piecewise.result(found, self.state, list[Any]().append)
        with self.piecewise.compiling(function) as asked:
            compiled = super().compile_extra(func)
        self.piecewise.keep(asked, arguments, compiled)
        return _without_annotation(compiled)

    def define_pipelines(self) -> list[Any]:
        passes = _into(Lowered, self.state)
        self.state.flags.no_compile = True
        passes.add_pass_after(_MakeLinkable, NativeLowering)
        passes.finalize()
        return [passes]


def _without_annotation(compiled: Any) -> Any:
    """A result without the source in its annotations: numba never releases it, and with it all that it calls."""
    return compiled._replace(type_annotation=None)


class _NeededPasses(PassManager):
    _ENFORCING = False
    """Disabled: no pass leaves anything that must be fixed before the next."""

    def __init__(self) -> None:
        super().__init__("needed")
        for one in NEEDED:
            self.add_pass(one, "")


def _into(library: type[JITCodeLibrary], state: Any) -> Any:
    """numba's own passes, with a library of that class."""
    state.library = library(state.targetctx.codegen(), state.func_id.func_qualname)
    state.library.enable_object_caching()
    builder: Any = DefaultPassBuilder
    passes = _NeededPasses() if state.flags.no_rewrites else builder.define_nopython_pipeline(state)
    passes.finalize()
    return passes


class FastCompilation:
    """One compilation: inner functions are lowered, or taken from the cache, and optimised where they are inlined."""

    def __init__(self, graph: CallGraph, checked: bool, outside: Collection[Function], label: str) -> None:
        self._checked = checked
        self._piecewise = Piecewise(graph, outside, label[:LABEL_LENGTH])

    def inlined(self, function: Function) -> Any:
        """The dispatcher of a function that compiled functions call."""
        njit: Any = numba.njit
        flags = {
            "no_rewrites": is_plain(function.__module__),
            "forceinline": not is_noinline(function),
            "boundscheck": self._checked,
        }
        pipeline = self._pipeline(_LoweredPipeline)
        dispatcher = njit(no_cpython_wrapper=True, pipeline_class=pipeline, **flags, **BARE_OPTIONS)(function)
        self._piecewise.add(origin_of(function), dispatcher)
        return dispatcher

    def outermost(self, function: Function, signature: tuple[Any, ...], told: Collection[Any]) -> EntryPoint:
        """Compile a function and all its callees to machine code, or find it where only units apart have changed."""
        with typed_once(), nullcontext() if self._checked else counted_from_the_start(), self._piecewise.keeping():
            self._piecewise.know_records(signature)
            made = self._found(function, signature) or self._made(function, signature)
            self._piecewise.tell(told)
            return made

    def _found(self, function: Function, signature: tuple[Any, ...]) -> EntryPoint | None:
        key = self._key(function, signature)
        stored = storage().read(units.KIND, key) if key is not None else None
        if stored is None:
            return None
        linker = self._piecewise.linker
        code = code_from(relabelled(stored, PLACEHOLDER, linker.label))
        calls = self._piecewise.calls_of_entry(origin_of(function), signature)
        parts = emitted_parts(linker, calls or (), cpu_target.target_context.codegen())
        return EntryPoint.loaded(code._replace(apart=[part.code for part in parts]))

    def _made(self, function: Function, signature: tuple[Any, ...]) -> EntryPoint:
        njit: Any = numba.njit
        pipeline = self._pipeline(_OutermostPipeline)
        settings = {"no_rewrites": True, "pipeline_class": pipeline, "boundscheck": self._checked}
        with with_own_entries():
            made = njit(signature, **settings, **BARE_OPTIONS)(function)
        (result,) = made.overloads.values()
        library, symbol = result.library, result.fndesc.llvm_cpython_wrapper_name
        if library.has_dynamic_globals:
            return EntryPoint(library.get_pointer_to_function(symbol), None, library)
        code = EntryCode(symbol, library._get_compiled_object(), [part.code for part in library.apart])
        key = self._key(function, signature)
        if key is not None:
            bare = code._replace(apart=[]).as_bytes()
            storage().write(units.KIND, key, relabelled(bare, self._piecewise.linker.label, PLACEHOLDER))
        release(library, *(part.library for part in library.apart))
        return EntryPoint.loaded(code)

    def _key(self, function: Function, signature: tuple[Any, ...]) -> str | None:
        """The key of the unit of the entry point where others stand apart from it."""
        if not self._piecewise.linker.has_parts:
            return None
        calls = self._piecewise.calls_of_entry(origin_of(function), signature)
        return None if calls is None else self._piecewise.key_of_entry(origin_of(function), signature, calls)

    def _pipeline(self, kind: type[CompilerBase]) -> type[CompilerBase]:
        return type(kind.__name__, (kind,), {"piecewise": self._piecewise})


class FastCompiler:
    """The `piecewise_numba.compiler.Compiler` for the supported version of numba."""

    def begin(self, graph: CallGraph, checked: bool, outside: Collection[Function], label: str) -> FastCompilation:
        return FastCompilation(graph, checked, outside, label)

    @contextmanager
    def selecting(self) -> Iterator[None]:
        """Emit fewer unpredictable branches; a misprediction costs 7 ns.

        LLVM's last passes would convert conditional moves into branches, although hits of a register cache are
        unpredictable.  They would also unroll loops over two or three operands, with a branch for an odd number.
        """
        for option in _FEWER_GUESSES:
            llvmlite.binding.set_option("", f"-{option}=false")
        try:
            yield
        finally:
            for option in _FEWER_GUESSES:
                llvmlite.binding.set_option("", f"-{option}=true")


_FEWER_GUESSES = "x86-cmov-converter", "unroll-runtime"
"""LLVM options that are on by default."""
