"""Compilation of an entry point in pieces: each function is compiled by numba once, and linked wherever it is reached.

A function is looked up by its own fingerprint (`piecewise_numba.call_graph`) and the types of its arguments.  A piece
that is found is used if all calls that it makes return the types that they returned when it was compiled; to know
these, the functions that it calls are looked up, and compiled if they are not found.  An edit of a hook therefore
compiles the hook, and nothing that calls it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from numba.core import funcdesc, types, typing
from numba.core.compiler import compile_result
from numba.core.errors import NumbaError

from piecewise_numba import pieces, type_book
from piecewise_numba.call_graph import CallGraph, key_of
from piecewise_numba.natives import Function
from piecewise_numba.pieces import Call, Piece
from piecewise_numba.processor import chosen
from piecewise_numba.sealed import digest_up_to, place_of, sealed_type, watched
from piecewise_numba.type_book import NoTextError, digest_of, type_of
from piecewise_numba.units import Instance, Linker, bitcode_of

Types = tuple[Any, ...]
ENTRY = "entry"


class Specialization(NamedTuple):
    """A function for arguments of these types."""

    function: Function
    arguments: Types


@dataclass(eq=False)
class CallRecord:
    """What a function that is being compiled has called so far."""

    function: Function
    calls: dict[Specialization, Instance | None] = field(default_factory=dict)
    uses: dict[tuple[Any, str], None] = field(default_factory=dict)
    is_complete: bool = True

    @property
    def instances(self) -> list[Instance]:
        """The functions that it calls, in the order in which their types were inferred."""
        return [one for one in self.calls.values() if one is not None]


class Piecewise:
    """One compilation of an entry point.

    ``outside``: hooks that are out of line; ``label``: unique to the entry point.
    """

    def __init__(self, graph: CallGraph, outside: Collection[Function], label: str) -> None:
        self._graph = graph
        self._dispatchers: dict[Function, Any] = {}
        self._instances: dict[Specialization, Instance] = {}
        self._by_name: dict[str, Instance] = {}
        self._open: set[Specialization] = set()
        self._absent: set[Specialization] = set()
        self._compiling: list[CallRecord] = []
        self._keeps = False
        self._sealed: dict[str, Any] = {}
        self.linker = Linker(self._by_name, outside, label, f"{graph.settings}{chosen()!r}")

    def add(self, function: Function, dispatcher: Any) -> None:
        """The dispatcher of a function."""
        self._dispatchers[function] = dispatcher
        ask = dispatcher.get_call_template

        def get_call_template(args: Any, kws: Any) -> Any:
            record = self._compiling[-1] if self._compiling else None
            if record is None:
                return ask(args, kws)
            try:
                template = ask(args, kws)
            except BaseException:
                record.is_complete = False
                raise
            wanted = Specialization(function, tuple(template[2]))
            record.calls[wanted] = self._instances.get(wanted)
            return template

        dispatcher.get_call_template = get_call_template

    # Look up.

    def found(self, function: Function, arguments: Types) -> Instance | None:
        """A function for arguments of these types from the cache, if it is there."""
        wanted = Specialization(function, arguments)
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

    def calls_of_entry(self, function: Function, arguments: Types) -> list[Instance] | None:
        """What the entry point calls; None if that is not known before it is compiled."""
        key = self._key(function, arguments, ENTRY)
        found = () if key is None else pieces.stored(key)
        known = (self._as_before(piece.calls, self._graph.node(function).callees) for piece in found)
        return next((calls for calls in known if calls is not None), None)

    def key_of_entry(self, function: Function, arguments: Types, calls: Sequence[Instance]) -> str | None:
        """The key of the unit of the entry point; None if another process would not find the same."""
        key = self._key(function, arguments, ENTRY)
        return None if key is None else self.linker.key(calls, key)

    def _key(self, function: Function, arguments: Types, *kind: str) -> str | None:
        try:
            return key_of(self._graph.node(function), (*kind, *map(self._digest_of, arguments)))
        except NoTextError:
            return None

    def _look_up(self, wanted: Specialization) -> Instance | None:
        key = self._key(*wanted)
        for piece in () if key is None else pieces.stored(key):
            if not all(map(self._is_used_alike, piece.uses)):
                continue
            calls = self._as_before(piece.calls, self._graph.node(wanted.function).callees)
            result = type_of(piece.result)
            if calls is not None and result is not None:
                name = f"piecewise.{len(self._by_name)}"
                return self._registered(Instance(name, *wanted, result, piece.code, calls, True))
        return None

    def _as_before(self, calls: Sequence[Call], callees: Sequence[Function]) -> list[Instance] | None:
        """The instances of these calls; None if one no longer returns the type that it returned."""
        made: list[Instance] = []
        for call in calls:
            arguments = tuple(map(self._type_of, call.arguments))
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
        return self._instances.get(Specialization(function, arguments))

    # Types.

    def know_records(self, arguments: Types) -> None:
        """Named tuples among the arguments of the entry point are those that sealed records may refer to."""
        for kind in arguments:
            if hasattr(kind, "instance_class"):
                self._sealed[_sealed_digest(kind)] = sealed_type()(kind)

    def _digest_of(self, kind: Any) -> str:
        """The digest of a type.  Raises NoTextError."""
        return _sealed_digest(kind.record) if isinstance(kind, sealed_type()) else digest_of(kind)

    def _type_of(self, digest: str) -> Any:
        return self._sealed.get(digest) or type_of(digest)

    def _use(self, kind: Any, name: str) -> pieces.Use:
        """What a function depends on that uses a field of a sealed record.  Raises NoTextError."""
        return pieces.Use(_sealed_digest(kind.record), name, digest_up_to(kind.record, name, digest_of))

    def _is_used_alike(self, use: pieces.Use) -> bool:
        kind = self._sealed.get(use.record)
        try:
            return kind is not None and use.field in ("", *kind.record.fields) and self._use(kind, use.field) == use
        except NoTextError:
            return False

    def _registered(self, instance: Instance) -> Instance:
        """Remember an instance, unless another one has been made in the meantime."""
        self._by_name[instance.name] = instance
        return self._instances.setdefault(Specialization(instance.function, instance.arguments), instance)

    def result(self, instance: Instance, state: Any, key: Any) -> Any:
        """What numba expects of a compilation."""
        external: Any = funcdesc.ExternalFunctionDescriptor
        description = external(instance.name, instance.result, instance.arguments)
        state.targetctx.insert_user_function(key, description)
        return cast(Any, compile_result)(
            typing_context=state.typingctx,
            target_context=state.targetctx,
            entry_point=key,
            typing_error=None,
            signature=cast(Any, typing).signature(instance.result, *instance.arguments),
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
    def compiling(self, function: Function) -> Iterator[CallRecord]:
        """While a function compiles: what it calls."""
        record = CallRecord(function)
        in_progress = {one.function for one in self._compiling} - {function}
        self._compiling.append(record)
        if not in_progress.isdisjoint(self._graph.node(function).callees):
            for one in self._compiling:  # functions that call each other have no order in which to look them up
                one.is_complete = False
        try:
            with watched(self._note_use):
                yield record
        finally:
            self._compiling.pop()

    def _note_use(self, kind: Any, name: str) -> None:
        if self._compiling:
            self._compiling[-1].uses[kind, name] = None

    @property
    def called(self) -> list[Instance]:
        """What the function that is being compiled calls."""
        return self._compiling[-1].instances

    def keep(self, record: CallRecord, arguments: Types, compiled: Any) -> None:
        """Take over what numba has compiled, and store it if other processes can use it."""
        for kind in _given_to_intrinsics(compiled.fndesc):
            record.uses[kind, ""] = None
        code, is_alone = bitcode_of(compiled, record.instances)
        result = compiled.signature.return_type
        is_kept = is_alone and self._store(self._key(record.function, arguments), record, result, code)
        name = compiled.fndesc.llvm_func_name
        self._registered(Instance(name, record.function, arguments, result, code, record.instances, is_kept))

    def keep_entry(self, record: CallRecord, arguments: Types, compiled: Any) -> None:
        """Store what the entry point calls."""
        self._store(self._key(record.function, arguments, ENTRY), record, compiled.signature.return_type, b"")

    def _store(self, key: str | None, record: CallRecord, result: Any, code: bytes) -> bool:
        """Store a piece; returns whether other processes can find it."""
        calls, callees = record.instances, self._graph.node(record.function).callees
        if key is None or not (self._keeps and record.is_complete and len(calls) == len(record.calls)):
            return False
        try:
            made = [
                Call(callees.index(one.function), tuple(map(self._digest_of, one.arguments)), digest_of(one.result))
                for one in calls
            ]
            uses = tuple(self._use(*use) for use in record.uses)
            piece = Piece(tuple(made), digest_of(result), code, uses)
        except (NoTextError, ValueError):
            return False
        for digest in {piece.result, *(one for call in made for one in (*call.arguments, call.result))}:
            if digest not in self._sealed:
                type_book.keep(digest)
        pieces.keep(key, piece)
        return True


def _sealed_digest(record: Any) -> str:
    return hashlib.sha256(f"sealed {place_of(record)}".encode()).hexdigest()[:32]


def _given_to_intrinsics(description: Any) -> Iterator[Any]:
    """The types of sealed records that a function gives to intrinsics, which may depend on all of the record."""
    for expression, signature in description.calltypes.items():
        if getattr(expression, "op", "") != "call" or signature is None:
            continue
        is_dispatcher = isinstance(description.typemap[expression.func.name], types.Dispatcher)
        yield from (kind for kind in signature.args if isinstance(kind, sealed_type()) and not is_dispatcher)


def _digest(kind: Any) -> str | None:
    try:
        return digest_of(kind)
    except NoTextError:
        return None
