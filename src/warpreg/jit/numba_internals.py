"""Compiles functions that are only ever called from compiled ones: they are lowered, and optimised where they end up.

numba takes every jitted function to machine code, and a function that calls others once more with all of theirs in it.
Of a core that is compiled as one function that work is thrown away, more than a third of the time that its first
compilation takes.  Here the functions below keep the code that they are lowered to, and the one on top, `outermost`,
links them all and optimises once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import llvmlite.binding
import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import LoweringPass, PassManager, register_pass
from numba.core.typed_passes import (
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.untyped_passes import FixupArgs, ReconstructSSA, TranslateByteCode

from warpreg.jit.noinline import is_seldom
from warpreg.jit.typed_once import typed_once

PLAIN = ("warpreg.timing.", "warpreg.replay.")
"""Packages whose functions have nothing that numba would have to rewrite, such as closures, expressions of arrays or
branches that types decide; looking for it was a sixth of a compilation.
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
"""numba's passes that a function without such things goes through."""


class _Linking(JITCodeLibrary):
    def add_linking_library(self, library: Any) -> None:
        """Take what this calls, and what that calls in turn."""
        for one in (library, *library._linking_libraries):
            if one not in self._linking_libraries:
                super().add_linking_library(one)


class _Lowered(_Linking):
    """Holds one function as it was lowered."""

    def finalize(self) -> None:
        self._raise_if_finalized()
        self._finalize_dynamic_globals()
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        return self._final_module


class _Outermost(_Linking):
    """Links all that it calls and optimises it together; only its own functions can be seen from outside."""

    def finalize(self) -> None:
        self._own = {function.name for function in self.get_defined_functions()}
        # numba's own functions last: LLVM links of those only what something refers to by then.
        self._linking_libraries.sort(key=lambda one: not isinstance(one, _Lowered))
        super().finalize()

    def _optimize_final_module(self) -> None:
        for function in self.get_defined_functions():
            if function.name not in self._own:
                function.linkage = "internal"
        super()._optimize_final_module()


@register_pass(mutates_CFG=False, analysis_only=False)
class _MakeLinkable(LoweringPass):
    """Lets callers find the function although there is no machine code: by a key in place of its entry point.

    The dispatcher wants a builtin there; a method of a new list is one, and unlike any other.  It is never called.
    """

    _name = "warpreg_make_linkable"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        key = list[Any]().append
        state.targetctx.insert_user_function(key, state.cr.fndesc, [state.library])
        state.cr = state.cr._replace(cfunc=key)
        return True


class _OutermostPipeline(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        return [_into(_Outermost, self.state)]


class _LoweredPipeline(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        passes = _into(_Lowered, self.state)
        self.state.flags.no_compile = True
        passes.add_pass_after(_MakeLinkable, NativeLowering)
        passes.finalize()
        return [passes]


class _NeededPasses(PassManager):
    _ENFORCING = False
    """None of them leaves anything behind that would have to be put right before the next."""

    def __init__(self) -> None:
        super().__init__("needed")
        for one in NEEDED:
            self.add_pass(one, "")


def _into(library: type[JITCodeLibrary], state: Any) -> Any:
    """numba's own passes, into a library of that class."""
    state.library = library(state.targetctx.codegen(), state.func_id.func_qualname)
    state.library.enable_object_caching()
    builder: Any = DefaultPassBuilder
    passes = _NeededPasses() if state.flags.no_rewrites else builder.define_nopython_pipeline(state)
    passes.finalize()
    return passes


def inlined(options: dict[str, Any]) -> Any:
    """A decorator for functions that compiled ones call."""
    njit: Any = numba.njit
    settings = {"no_cpython_wrapper": True, "pipeline_class": _LoweredPipeline, **options}

    def compiled(function: Any) -> Any:
        plain = function.__module__.startswith(PLAIN)
        return njit(no_rewrites=plain, forceinline=not is_seldom(function), **settings)(function)

    return compiled


def outermost(signature: Any, options: dict[str, Any]) -> Any:
    """A decorator for the function that is called from Python; compiles it at once, and caches it beside its file."""
    njit: Any = numba.njit
    compiling = njit(signature, cache=True, no_rewrites=True, pipeline_class=_OutermostPipeline, **options)

    def compiled(function: Any) -> Any:
        with typed_once():
            return compiling(function)

    return compiled


_FEWER_GUESSES = "x86-cmov-converter", "unroll-runtime"
"""LLVM's options, which are on otherwise."""


@contextmanager
def selecting() -> Iterator[None]:
    """What is compiled meanwhile has fewer branches that are hard to guess; a wrong guess costs 7 ns.

    LLVM's last steps would turn conditional moves into branches, although nobody knows whether a register cache hits.
    And loops over two or three operands would be unrolled, with a branch for an odd number of them.
    """
    for option in _FEWER_GUESSES:
        llvmlite.binding.set_option("", f"-{option}=false")
    try:
        yield
    finally:
        for option in _FEWER_GUESSES:
            llvmlite.binding.set_option("", f"-{option}=true")
