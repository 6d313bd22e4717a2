"""Libraries of numba's code generator: functions that are kept as LLVM IR, and units of machine code."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple, cast

import llvmlite.binding
from numba.core import config
from numba.core.codegen import JITCodeLibrary

from piecewise_numba import units
from piecewise_numba.piecewise import Piecewise
from piecewise_numba.settings import storage
from piecewise_numba.units import PART, Instance, Linker, relabelled

WRAPPER = "_ZN7cpython"
"""How the symbols of functions begin that Python calls (`piecewise_numba.python_entry`)."""


class Lowered(JITCodeLibrary):
    """A library that keeps one function as LLVM IR."""

    def _optimize_functions(self, ll_module: Any) -> None:
        """Simplify the function, but unroll no loop: what its calls contain is inlined later, once for each of them."""
        ll_module.data_layout = self.codegen._data_layout
        tuning = llvmlite.binding.create_pipeline_tuning_options(cast(Any, config).OPT)
        tuning.loop_unrolling = False
        passes = llvmlite.binding.create_pass_builder(self.codegen._tm, tuning)
        for function in ll_module.functions:
            if not function.is_declaration:
                passes.getFunctionPassManager().run(function, passes)

    def finalize(self) -> None:
        self._raise_if_finalized()
        self._finalize_dynamic_globals()
        self._finalized = True


class Unit(JITCodeLibrary):
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


class Part(NamedTuple):
    """A unit that stands apart: its symbol, its object code, and what keeps it loaded."""

    symbol: str
    code: bytes
    library: Any


class Outermost(Unit):
    """The unit of an entry point; ``apart``: those that stand apart from it."""

    piecewise: Piecewise
    apart: Sequence[Part] = ()

    def _optimize_functions(self, ll_module: Any) -> None:
        """Leave the function that Python calls as it is: it has thousands of instructions, which run once per call."""
        for function in ll_module.functions:
            if not function.is_declaration and function.name.startswith(WRAPPER):
                function.add_function_attribute("noinline")
                function.add_function_attribute("optnone")
                ll_module.data_layout = self.codegen._data_layout
                return
        super()._optimize_functions(ll_module)

    def finalize(self) -> None:
        self.own = {function.name for function in self.get_defined_functions()}
        calls, linker = self.piecewise.called, self.piecewise.linker
        self.apart = emitted_parts(linker, calls, self.codegen)
        linker.link_entry(self._final_module, calls)
        super().finalize()


def emitted_parts(linker: Linker, calls: Sequence[Instance], codegen: Any) -> list[Part]:
    """The units that stand apart from the one of the entry point, from the cache or emitted."""
    return [_part(linker, one, linker.symbol(number), codegen) for number, one in enumerate(linker.apart(calls))]


def _part(linker: Linker, instance: Instance, symbol: str, codegen: Any) -> Part:
    key = linker.key([instance], PART, instance)
    code = None if key is None else storage().read(units.KIND, key)
    if code is not None:
        code = relabelled(code, PART, symbol)
        return Part(symbol, code, loaded_part(codegen, symbol, code))
    library = Unit(codegen, symbol)
    library.own = (symbol,)
    library.enable_object_caching()
    linker.link_part(library._final_module, instance, symbol)
    library.finalize()
    code = library._get_compiled_object()
    if key is not None:
        storage().write(units.KIND, key, relabelled(code, symbol, PART))
    return Part(symbol, code, library)


def loaded_part(codegen: Any, symbol: str, code: bytes) -> Any:
    bitcode = llvmlite.binding.parse_assembly(_named((symbol,))).as_bitcode()
    return codegen.unserialize_library((symbol, "object", (code, bitcode)))


def release(*libraries: Any) -> None:
    """Take what was emitted out of numba's engine, which would keep its LLVM IR."""
    for library in libraries:
        if isinstance(library, Unit):
            library.codegen._engine._ee.remove_module(library._final_module)


def _named(symbols: Collection[str]) -> str:
    """A module that defines these symbols."""
    return "\n".join(f'define void @"{symbol}"() {{ ret void }}' for symbol in symbols)
