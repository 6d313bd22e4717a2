"""Compilation of an entry point in pieces: each function is compiled by numba once, and linked wherever it is reached.

A function is looked up by its own fingerprint (`warpreg.jit.call_graph`) and the types of its arguments.  A piece that
is found is used if all calls that it makes return the types that they returned when it was compiled; to know these,
the functions that it calls are looked up, and compiled if they are not found.  An edit of a hook therefore compiles the
hook, and nothing that calls it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

import llvmlite.binding
from numba.core import funcdesc, typing
from numba.core.compiler import compile_result
from numba.core.errors import NumbaError

from warpreg.jit import pieces, type_book
from warpreg.jit.call_graph import CallGraph, key_of
from warpreg.jit.natives import Function
from warpreg.jit.pieces import OWN, Call, Piece, called
from warpreg.jit.type_book import NoTextError, digest_of, type_of

llvm: Any = llvmlite.binding
Types = tuple[Any, ...]


class Wanted(NamedTuple):
    """A function for arguments of these types."""

    function: Function
    arguments: Types


@dataclass(frozen=True, eq=False)
class Instance:
    """A compiled function: its symbol in this process, the type of its result, its bitcode and the calls in it."""

    name: str
    wanted: Wanted
    result: Any
    code: bytes
    calls: Sequence[Instance]


@dataclass(eq=False)
class _Asked:
    """What a function that is being compiled has called so far."""

    function: Function
    calls: dict[Wanted, Any] = field(default_factory=dict)
    is_complete: bool = True


class Piecewise:
    """One compilation of an entry point."""

    def __init__(self, graph: CallGraph) -> None:
        self._graph = graph
        self._dispatchers: dict[Function, Any] = {}
        self._instances: dict[Wanted, Instance] = {}
        self._by_name: dict[str, Instance] = {}
        self._open: set[Wanted] = set()
        self._absent: set[Wanted] = set()
        self._compiling: list[_Asked] = []
        self._keeps = False

    def add(self, function: Function, dispatcher: Any) -> None:
        """The dispatcher of a function."""
        self._dispatchers[function] = dispatcher
        ask = dispatcher.get_call_template

        def get_call_template(args: Any, kws: Any) -> Any:
            asked = self._compiling[-1] if self._compiling else None
            if asked is None:
                return ask(args, kws)
            try:
                found = ask(args, kws)
            except BaseException:
                asked.is_complete = False
                raise
            wanted = Wanted(function, tuple(found[2]))
            asked.calls[wanted] = self._instances.get(wanted)
            return found

        dispatcher.get_call_template = get_call_template

    # Look up.

    def found(self, function: Function, arguments: Types) -> Instance | None:
        """A function for arguments of these types from the cache, if it is there."""
        wanted = Wanted(function, arguments)
        if wanted in self._instances:
            return self._instances[wanted]
        if wanted in self._open or wanted in self._absent:
            return None
        self._open.add(wanted)
        try:
            instance = self._look_up(wanted)
        finally:
            self._open.discard(wanted)
        if instance is None:
            self._absent.add(wanted)
        return instance

    def _look_up(self, wanted: Wanted) -> Instance | None:
        try:
            digests = tuple(map(digest_of, wanted.arguments))
        except NoTextError:
            return None
        node = self._graph.node(wanted.function)
        for piece in pieces.stored(key_of(node, digests)):
            calls = self._as_before(piece.calls, node.callees)
            result = type_of(piece.result)
            if calls is not None and result is not None:
                name = f"warpreg.{len(self._by_name)}"
                return self._instances.setdefault(
                    wanted, self._registered(Instance(name, wanted, result, piece.code, calls))
                )
        return None

    def _as_before(self, calls: Sequence[Call], callees: Sequence[Function]) -> list[Instance] | None:
        """The instances of these calls; None if one no longer returns the type that it returned."""
        made: list[Instance] = []
        for call in calls:
            arguments = tuple(map(type_of, call.arguments))
            if None in arguments:
                return None
            instance = self._instance(callees[call.callee], arguments)
            if instance is None or _digest(instance.result) != call.result:
                return None
            made.append(instance)
        return made

    def _instance(self, function: Function, arguments: Types) -> Instance | None:
        """A function from the cache, or else compiled; None if it does not compile."""
        found = self.found(function, arguments)
        if found is not None:
            return found
        compiling, self._compiling = self._compiling, []
        try:
            self._dispatchers[function].compile(arguments)
        except NumbaError:
            return None
        finally:
            self._compiling = compiling
        return self._instances.get(Wanted(function, arguments))

    def _registered(self, instance: Instance) -> Instance:
        self._by_name[instance.name] = instance
        return instance

    def result(self, instance: Instance, state: Any, key: Any) -> Any:
        """What numba expects of a compilation."""
        external: Any = funcdesc.ExternalFunctionDescriptor
        description = external(instance.name, instance.result, instance.wanted.arguments)
        state.targetctx.insert_user_function(key, description)
        signature = cast(Any, typing).signature(instance.result, *instance.wanted.arguments)
        return cast(Any, compile_result)(
            typing_context=state.typingctx,
            target_context=state.targetctx,
            entry_point=key,
            typing_error=None,
            signature=signature,
            objectmode=False,
            fndesc=description,
            library=None,
        )

    def tell(self, dispatchers: Collection[Any]) -> None:
        """Let these dispatchers know for which types their functions were compiled."""
        for function, arguments in list(self._instances):
            if self._dispatchers[function] in dispatchers:
                self._dispatchers[function].compile(arguments)

    # Compile.

    @contextmanager
    def keeping(self) -> Iterator[None]:
        """In this context, functions are compiled for the entry point, and pieces are stored."""
        self._keeps = True
        try:
            yield
        finally:
            self._keeps = False

    @contextmanager
    def compiling(self, function: Function) -> Iterator[_Asked]:
        """While a function compiles: what it calls."""
        asked = _Asked(function)
        in_progress = {one.function for one in self._compiling} - {function}
        self._compiling.append(asked)
        if not in_progress.isdisjoint(self._graph.node(function).callees):
            for one in self._compiling:  # functions that call each other have no order in which to look them up
                one.is_complete = False
        try:
            yield asked
        finally:
            self._compiling.pop()

    def keep(self, asked: _Asked, arguments: Types, compiled: Any) -> None:
        """Take over what numba has compiled, and store it if other processes can use it."""
        wanted = Wanted(asked.function, arguments)
        calls = [one for one in asked.calls.values() if one is not None]
        code, is_alone = _piece(compiled, calls)
        name = compiled.fndesc.llvm_func_name
        instance = self._registered(Instance(name, wanted, compiled.signature.return_type, code, calls))
        self._instances[wanted] = instance
        if not (self._keeps and is_alone and asked.is_complete and len(calls) == len(asked.calls)):
            return
        node = self._graph.node(asked.function)
        try:
            digests = tuple(map(digest_of, arguments))
            made = [
                Call(
                    node.callees.index(one.wanted.function),
                    tuple(map(digest_of, one.wanted.arguments)),
                    digest_of(one.result),
                )
                for one in calls
            ]
            piece = Piece(tuple(made), digest_of(instance.result), code)
        except (NoTextError, ValueError):
            return
        for digest in {piece.result, *(one for call in made for one in (*call.arguments, call.result))}:
            type_book.keep(digest)
        pieces.keep(key_of(node, digests), piece)

    # Link.

    def link(self, module: Any) -> None:
        """Link all instances that a module reaches to it."""
        names: dict[Instance, str] = {}
        left = _declared(module, self._by_name)
        for instance in left:
            _rename(module, instance.name, self._final(instance, names))
        done: set[Instance] = set()
        while left:
            instance = left.pop()
            if instance in done:
                continue
            done.add(instance)
            piece = llvm.parse_bitcode(instance.code)
            _rename(piece, OWN, self._final(instance, names))
            for number, call in enumerate(instance.calls):
                if _rename(piece, called(number), self._final(call, names)):
                    left.append(call)
            for other in _declared(piece, self._by_name):
                _rename(piece, other.name, self._final(other, names))
                left.append(other)
            module.link_in(piece)

    def _final(self, instance: Instance, names: dict[Instance, str]) -> str:
        if instance not in names:
            short = re.sub(r"\W", "_", instance.wanted.function.__name__, flags=re.ASCII)
            names[instance] = f"{short}.{len(names)}"
        return names[instance]


def _piece(compiled: Any, calls: Sequence[Instance]) -> tuple[bytes, bool]:
    """The bitcode of a function, and whether other processes can use it."""
    library = compiled.library
    module = library._final_module
    own = {function.name for function in module.functions if not function.is_declaration}
    for other in library._linking_libraries:
        module.link_in(other._get_module_for_linking(), preserve=True)
    for function in module.functions:
        if not function.is_declaration and function.name not in own:
            function.linkage = "internal"
    is_alone = not library._dynamic_globals and not compiled.environment.consts
    for value in module.global_variables:
        is_alone = is_alone and not value.name.startswith("numba.dynamic.globals")
        if is_alone and value.name.startswith("_ZN08NumbaEnv") and not value.is_declaration:
            value.linkage = "internal"
    _rename(module, compiled.fndesc.llvm_func_name, OWN)
    for number, call in enumerate(calls):
        _rename(module, call.name, called(number))
    return module.as_bitcode(), is_alone


def _rename(module: Any, before: str, after: str) -> bool:
    """Rename a function; returns whether the module has it."""
    try:
        module.get_function(before).name = after
    except NameError:
        return False
    return True


def _declared(module: Any, by_name: dict[str, Instance]) -> list[Instance]:
    return [by_name[one.name] for one in module.functions if one.is_declaration and one.name in by_name]


def _digest(kind: Any) -> str | None:
    try:
        return digest_of(kind)
    except NoTextError:
        return None
