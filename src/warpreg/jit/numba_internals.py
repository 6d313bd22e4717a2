"""The fast compiler: everything that reaches into numba, made for the version that `warpreg.jit.compiler` names.

A core is some hundred small functions that end up in one.  numba takes every jitted function to machine code, and a
function that calls others once more with all of theirs in it; of a core that work is thrown away, more than a third of
its first compilation.  Here the functions below keep the code that they are lowered to, and the one on top,
`outermost`, links them all and optimises once.  numba also works out the types of every ``+`` and every index by
trying rule after rule, again in each function; here the answers are kept while a core compiles.

numba has no interface for this, so the classes below take part in its pipeline, and two of its functions are changed
while a core compiles and put back afterwards.  Another version may have changed what they rely on; it gets plain
``njit`` instead.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import llvmlite.binding
import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, CompileResult, DefaultPassBuilder
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import LoweringPass, PassManager, register_pass
from numba.core.serialize import NumbaPickler
from numba.core.targetconfig import ConfigStack, TargetConfig
from numba.core.typed_passes import (
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.types.functions import BaseFunction
from numba.core.untyped_passes import FixupArgs, ReconstructSSA, TranslateByteCode

from warpreg.jit.natives import Function
from warpreg.jit.noinline import is_noinline
from warpreg.jit.options import OPTIONS

BARE_OPTIONS = {**OPTIONS, "_nrt": False, "no_cfunc_wrapper": True}
"""Without numba's reference counts, which took 94% of the time of a replay: hooks are handed arrays and allocate none.
And without the entry that C code would call."""

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


class FastCompiler:
    """The `warpreg.jit.compiler.Compiler` for this version of numba."""

    def inlined(self, checked: bool) -> Callable[[Function], Any]:
        """They are lowered, and optimised where they end up."""
        njit: Any = numba.njit
        settings = {"no_cpython_wrapper": True, "pipeline_class": _LoweredPipeline, "boundscheck": checked}

        def compiled(function: Function) -> Any:
            plain = function.__module__.startswith(PLAIN)
            return njit(no_rewrites=plain, forceinline=not is_noinline(function), **settings, **BARE_OPTIONS)(function)

        return compiled

    def outermost(self, function: Function, signature: tuple[Any, ...], checked: bool) -> Any:
        """All that it calls becomes machine code here."""
        njit: Any = numba.njit
        settings = {"no_rewrites": True, "pipeline_class": _OutermostPipeline, "boundscheck": checked}
        with _typed_once():
            return njit(signature, **settings, **BARE_OPTIONS)(function)

    @contextmanager
    def selecting(self) -> Iterator[None]:
        """Fewer branches that are hard to guess; a wrong guess costs 7 ns.

        LLVM's last steps would turn conditional moves into branches, although nobody knows whether a register cache
        hits. And loops over two or three operands would be unrolled, with a branch for an odd number of them.
        """
        for option in _FEWER_GUESSES:
            llvmlite.binding.set_option("", f"-{option}=false")
        try:
            yield
        finally:
            for option in _FEWER_GUESSES:
                llvmlite.binding.set_option("", f"-{option}=true")

    def dumped(self, dispatcher: Any, classes: Sequence[type]) -> bytes | None:
        """As numba's own cache writes it, but for the classes of arguments, which need not be importable."""
        (result,) = dispatcher.overloads.values()
        if result.library.has_dynamic_globals:
            return None
        buffer = io.BytesIO()
        _Pickler(buffer, classes).dump(result._reduce())
        return buffer.getvalue()

    def loaded(self, function: Function, code: bytes, classes: Sequence[type]) -> Any:
        """Without numba's own cache, which would first import and register all that it can compile, SciPy's linear
        algebra included; that takes a third of a second.
        """
        njit: Any = numba.njit
        dispatcher = njit(**OPTIONS)(function)
        rebuild: Any = CompileResult._rebuild
        dispatcher.add_overload(rebuild(dispatcher.targetctx, *_Unpickler(io.BytesIO(code), classes).load()))
        dispatcher.disable_compile()
        return dispatcher


_FEWER_GUESSES = "x86-cmov-converter", "unroll-runtime"
"""LLVM's options, which are on otherwise."""


class _Pickler(NumbaPickler):
    def __init__(self, file: Any, classes: Sequence[type]) -> None:
        super().__init__(file, protocol=4)
        self._classes = classes

    def persistent_id(self, value: Any) -> int | None:
        return self._classes.index(value) if isinstance(value, type) and value in self._classes else None


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: Any, classes: Sequence[type]) -> None:
        super().__init__(file)
        self._classes = classes

    def persistent_load(self, position: int) -> type:
        return self._classes[position]


@contextmanager
def _typed_once() -> Iterator[None]:
    """Keep meanwhile how calls of builtin functions are typed, and compare compilations' flags in a short way."""
    function, flags = cast(Any, BaseFunction), cast(Any, TargetConfig)
    with cast(Any, global_compiler_lock):
        before = function.get_call_type, flags.__hash__, flags.__eq__
        function.get_call_type = _kept(function.get_call_type)
        flags.__hash__, flags.__eq__ = _hash, _is_equal
        try:
            yield
        finally:
            function.get_call_type, flags.__hash__, flags.__eq__ = before


def _hash(flags: Any) -> int:
    """What numba looks implementations up by has a compilation's flags in it.  Their own hash sorts the names of all
    options, which never differ, and took a tenth of a compilation.
    """
    return hash(type(flags))


def _is_equal(flags: Any, others: Any) -> bool:
    """As numba has it, which spells out all options of both first."""
    if not isinstance(others, cast(Any, TargetConfig)):
        return False
    return flags is others or flags._values == others._values or flags.values() == others.values()


def _kept(work_out: Any) -> Any:
    found: dict[Any, Any] = {}

    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        key = id(self), context, args, tuple(kws.items()), cast(Any, ConfigStack).top_or_none()
        if key not in found:
            signature = work_out(self, context, args, kws)
            found[key] = self, signature, self.get_impl_key(signature)
        _, signature, implementation = found[key]
        self._impl_keys[signature.args] = implementation
        return signature

    return get_call_type
