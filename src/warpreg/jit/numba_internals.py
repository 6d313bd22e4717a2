"""The fast compiler: all uses of numba's internals, for the version that `warpreg.jit.compiler` names.

A core is about a hundred small functions that are inlined into one.  numba compiles every jitted function to machine
code, and a caller once more together with all its callees; for a core, that discards more than a third of the first
compilation.  Here, inner functions are kept as LLVM bitcode (`warpreg.jit.piecewise`); `outermost` links and optimises
all of them once.  numba also infers the type of every ``+`` and every index by trying rules one by one, anew in each
function; here the results are cached while a core compiles.

numba has no interface for this.  The classes below take part in its pipeline, and some of its functions are patched
during a compilation and restored afterwards.  Other versions of numba may differ; they use plain ``njit``.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple, cast

import llvmlite.binding
import numba
from llvmlite import ir
from llvmlite.ir.instructions import ExtractValue, InsertValue
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, CompileResult, DefaultPassBuilder
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import LoweringPass, PassManager, register_pass
from numba.core.registry import cpu_target
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
from numba.np import arrayobj

from warpreg.cache import store
from warpreg.jit import units
from warpreg.jit.call_graph import CallGraph
from warpreg.jit.fault_record import provide_record
from warpreg.jit.natives import Function
from warpreg.jit.noinline import is_noinline
from warpreg.jit.options import OPTIONS
from warpreg.jit.piecewise import Piecewise
from warpreg.jit.rebuild import origin_of
from warpreg.jit.units import LABEL_LENGTH, PLACEHOLDER, Instance, Linker, relabelled

BARE_OPTIONS = {**OPTIONS, "_nrt": False, "no_cfunc_wrapper": True}
"""Options without reference counts, which took 94% of the time of a replay (hooks receive arrays and allocate none),
and without the entry point for C.
"""

PLAIN = ("warpreg.timing.", "warpreg.replay.")
"""Packages whose functions contain nothing that numba must rewrite (closures, array expressions, type-dependent
branches); the search for it took a sixth of a compilation.
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
"""The numba passes that such functions need."""


class _Lowered(JITCodeLibrary):
    """A library that keeps one function as LLVM IR."""

    def finalize(self) -> None:
        self._raise_if_finalized()
        self._finalize_dynamic_globals()
        self._finalized = True


class _Unit(JITCodeLibrary):
    """A library that optimises all functions of a unit together; only its ``own`` are visible from outside."""

    own: Collection[str] = ()

    def _optimize_final_module(self) -> None:
        for function in self.get_defined_functions():
            if function.name not in self.own:
                function.linkage = "internal"
        super()._optimize_final_module()

    def _get_module_for_linking(self) -> Any:
        """Nothing is linked to a unit, so that its symbols suffice."""
        return llvmlite.binding.parse_assembly(_named(self.own))


class _Outermost(_Unit):
    """The unit of an entry point; ``apart``: those that stand apart from it."""

    piecewise: Piecewise
    apart: Sequence[_Part] = ()

    def finalize(self) -> None:
        self.own = {function.name for function in self.get_defined_functions()}
        calls, linker = self.piecewise.called, self.piecewise.linker
        self.apart = _emitted(linker, calls, self.codegen)
        linker.link_entry(self._final_module, calls)
        super().finalize()


class _Part(NamedTuple):
    """A unit that stands apart: its symbol, its object code, and what keeps it loaded."""

    symbol: str
    code: bytes
    library: Any


def _emitted(linker: Linker, calls: Sequence[Instance], codegen: Any) -> list[_Part]:
    """The units that stand apart from the one of the entry point, from the cache or emitted."""
    return [_part(linker, one, linker.symbol(number), codegen) for number, one in enumerate(linker.apart(calls))]


def _part(linker: Linker, instance: Instance, symbol: str, codegen: Any) -> _Part:
    key = linker.key([instance], relabelled(symbol.encode(), linker.label, PLACEHOLDER).decode(), instance)
    code = None if key is None else store.read(units.KIND, key)
    if code is not None:
        code = relabelled(code, PLACEHOLDER, linker.label)
        return _Part(symbol, code, _loaded_unit(codegen, symbol, code))
    library = _Unit(codegen, symbol)
    library.own = (symbol,)
    library.enable_object_caching()
    linker.link_part(library._final_module, instance, symbol)
    library.finalize()
    code = library._get_compiled_object()
    if key is not None:
        store.write(units.KIND, key, relabelled(code, linker.label, PLACEHOLDER))
    return _Part(symbol, code, library)


def _loaded_unit(codegen: Any, symbol: str, code: bytes) -> Any:
    bitcode = llvmlite.binding.parse_assembly(_named((symbol,))).as_bitcode()
    return codegen.unserialize_library((symbol, "object", (code, bitcode)))


def _named(symbols: Collection[str]) -> str:
    """A module that defines these symbols."""
    return "\n".join(f'define void @"{symbol}"() {{ ret void }}' for symbol in symbols)


@register_pass(mutates_CFG=False, analysis_only=False)
class _MakeLinkable(LoweringPass):
    """Makes a function without machine code linkable: its entry point is a unique key.

    The dispatcher requires a builtin; the key is a method of a new list.  It is never called.
    """

    _name = "warpreg_make_linkable"

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
        return compiled

    def define_pipelines(self) -> list[Any]:
        passes = _into(_Outermost, self.state)
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
        return compiled

    def define_pipelines(self) -> list[Any]:
        passes = _into(_Lowered, self.state)
        self.state.flags.no_compile = True
        passes.add_pass_after(_MakeLinkable, NativeLowering)
        passes.finalize()
        return [passes]


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
        is_plain = function.__module__.startswith(PLAIN)
        flags = {"no_rewrites": is_plain, "forceinline": not is_noinline(function), "boundscheck": self._checked}
        pipeline = self._pipeline(_LoweredPipeline)
        dispatcher = njit(no_cpython_wrapper=True, pipeline_class=pipeline, **flags, **BARE_OPTIONS)(function)
        self._piecewise.add(origin_of(function), dispatcher)
        return dispatcher

    def outermost(
        self, function: Function, signature: tuple[Any, ...], classes: Sequence[type], told: Collection[Any]
    ) -> Any:
        """Compile a function and all its callees to machine code, or find it where only units apart have changed."""
        with _typed_once(), nullcontext() if self._checked else _counted_from_the_start(), self._piecewise.keeping():
            self._piecewise.know_records(signature)
            made = self._found(function, signature, classes) or self._made(function, signature, classes)
            self._piecewise.tell(told)
            return made

    def _found(self, function: Function, signature: tuple[Any, ...], classes: Sequence[type]) -> Any:
        linker, origin = self._piecewise.linker, origin_of(function)
        calls = self._piecewise.calls_of_entry(origin, signature) if linker.has_parts else None
        key = self._piecewise.key_of_entry(origin, signature, calls) if calls is not None else None
        code = store.read(units.KIND, key) if key is not None else None
        if calls is None or code is None:
            return None
        parts = _emitted(linker, calls, cpu_target.target_context.codegen())
        return _dispatcher(function, relabelled(code, PLACEHOLDER, linker.label), parts, classes)

    def _made(self, function: Function, signature: tuple[Any, ...], classes: Sequence[type]) -> Any:
        njit: Any = numba.njit
        pipeline = self._pipeline(_OutermostPipeline)
        settings = {"no_rewrites": True, "pipeline_class": pipeline, "boundscheck": self._checked}
        made = njit(signature, **settings, **BARE_OPTIONS)(function)
        (result,) = made.overloads.values()
        if result.library.has_dynamic_globals:
            return made
        buffer = io.BytesIO()
        _Pickler(buffer, classes).dump(result._reduce())
        _set_code(made, buffer.getvalue(), result.library.apart)
        linker, origin = self._piecewise.linker, origin_of(function)
        calls = self._piecewise.calls_of_entry(origin, signature) if linker.has_parts else None
        key = self._piecewise.key_of_entry(origin, signature, calls) if calls is not None else None
        if key is not None:
            store.write(units.KIND, key, relabelled(buffer.getvalue(), linker.label, PLACEHOLDER))
        return made

    def _pipeline(self, kind: type[CompilerBase]) -> type[CompilerBase]:
        return type(kind.__name__, (kind,), {"piecewise": self._piecewise})


class FastCompiler:
    """The `warpreg.jit.compiler.Compiler` for the supported version of numba."""

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

    def dumped(self, dispatcher: Any) -> bytes | None:
        """The format of numba's own cache, except for the classes of arguments, which need not be importable."""
        code: bytes | None = vars(dispatcher).get(CODE)
        return code

    def loaded(self, function: Function, code: bytes, classes: Sequence[type]) -> Any:
        """Load without numba's own cache, which would first import and register all that it can compile, including the
        linear algebra of SciPy; that takes a third of a second.
        """
        provide_record()
        entry, parts = pickle.loads(code)
        codegen = cpu_target.target_context.codegen()
        loaded = [_Part(symbol, part, _loaded_unit(codegen, symbol, part)) for symbol, part in parts]
        return _dispatcher(function, entry, loaded, classes)


CODE = "warpreg_code"
"""The attribute of a dispatcher with its machine code."""


def _set_code(dispatcher: Any, entry: bytes, parts: Sequence[_Part]) -> None:
    vars(dispatcher)[CODE] = pickle.dumps((entry, [(part.symbol, part.code) for part in parts]), protocol=4)


def _dispatcher(function: Function, entry: bytes, parts: Sequence[_Part], classes: Sequence[type]) -> Any:
    """The dispatcher of an entry point from its machine code; what stands apart from it is loaded."""
    njit: Any = numba.njit
    dispatcher = njit(**OPTIONS)(function)
    rebuild: Any = CompileResult._rebuild
    result = rebuild(dispatcher.targetctx, *_Unpickler(io.BytesIO(entry), classes).load())
    vars(result.library)["apart"] = parts
    dispatcher.add_overload(result)
    dispatcher.disable_compile()
    _set_code(dispatcher, entry, parts)
    return dispatcher


_FEWER_GUESSES = "x86-cmov-converter", "unroll-runtime"
"""LLVM options that are on by default."""


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
    """In this context, cache the types of builtin calls and compare compilation flags quickly."""
    function, flags = cast(Any, BaseFunction), cast(Any, TargetConfig)
    with cast(Any, global_compiler_lock):
        before = function.get_call_type, flags.__hash__, flags.__eq__
        function.get_call_type = _kept(function.get_call_type)
        flags.__hash__, flags.__eq__ = _hash, _is_equal
        try:
            yield
        finally:
            function.get_call_type, flags.__hash__, flags.__eq__ = before


@contextmanager
def _counted_from_the_start() -> Iterator[None]:
    """In this context, only an index that is a constant may be negative, as the interface of designs has it; any other
    one is used as it is, without a comparison and a sum for each dimension.
    """
    numba_arrays = cast(Any, arrayobj)
    before = numba_arrays.fix_integer_index

    def as_it_is(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:
        if isinstance(_of_tuple(index), ir.Constant):
            return before(context, builder, kind, index, size)
        return context.cast(builder, index, kind, types.intp if kind.signed else types.uintp)

    numba_arrays.fix_integer_index = as_it_is
    try:
        yield
    finally:
        numba_arrays.fix_integer_index = before


def _of_tuple(value: Any) -> Any:
    """The element of a tuple that a value was taken from, where the function shows it; else the value."""
    if not isinstance(value, ExtractValue):
        return value
    (tuple_, *_), wanted = value.operands, list(value.indices)
    while isinstance(tuple_, InsertValue):
        if list(tuple_.indices) == wanted:
            return tuple_.operands[1]
        tuple_ = tuple_.operands[0]
    return value


def _hash(flags: Any) -> int:
    """Quick hash of compilation flags, which are part of numba's look-up keys.  Their own hash sorts the names of all
    options and took a tenth of a compilation.
    """
    return hash(type(flags))


def _is_equal(flags: Any, others: Any) -> bool:
    """Same result as numba's comparison, which first formats all options of both."""
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
