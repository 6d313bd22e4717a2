"""Turns each statement of a function into a Python function that a thread executes."""

from __future__ import annotations

from collections.abc import Callable

from tests.reference import floats, pure
from tests.reference.integers import value
from tests.reference.memory import LOCAL_WINDOW, SHARED_WINDOW, ReferenceFault
from tests.reference.number import F32, FORMATS, mask
from tests.reference.reader import Function, Program, Statement, literal
from tests.reference.thread import SPECIALS, Frame, Thread, Waiting

Read = Callable[[Thread], int]
Write = Callable[[Thread, int], None]
Execute = Callable[[Thread], None]

_NOTHING = ("membar", "fence", "nanosleep", "prefetch", "prefetchu", "pmevent")
_WARP_WIDE = ("shfl", "vote", "activemask")


class CompiledFunction:
    """``steps[pc]`` executes one statement, moving the thread's pc; past the last one the function returns."""

    def __init__(self, program: CompiledProgram, function: Function) -> None:
        self.program = program
        self.function = function
        self.steps: list[Execute] = []

    def compile(self) -> None:
        self.steps = [self._guarded(statement) for statement in self.function.code]

    def _guarded(self, statement: Statement) -> Execute:
        execute = self._statement(statement)
        if statement.guard is None:
            return execute
        register, negated = statement.guard

        def guarded(thread: Thread) -> None:
            if bool(thread.frame.registers[register]) != negated:
                execute(thread)
            else:
                thread.frame.pc += 1

        return guarded

    def _statement(self, s: Statement) -> Execute:
        if s.opcode == "mov" and any(o.startswith("{") for o in s.operands):
            return self._pack_or_unpack(s)
        instruction = pure.lookup(s.opcode, s.modifiers)
        if instruction:
            return self._pure(s, instruction)
        if s.opcode in _NOTHING or s.modifiers[:1] == ("warp",):
            return _step(lambda thread: None)
        if s.opcode in _WARP_WIDE:
            return self._warp_wide(s)
        builders: dict[str, Callable[[Statement], Execute]] = {
            "setp": self._setp, "ld": self._load, "ldu": self._load, "st": self._store, "atom": self._atomic,
            "red": self._atomic, "cvta": self._cvta, "bra": self._branch, "brx": self._branch_table, "ret": self._return,
            "exit": self._exit, "call": self._call, "bar": self._barrier, "barrier": self._barrier,
        }  # fmt: skip
        if s.opcode not in builders:
            raise ReferenceFault(f"{s} is not known to the reference")
        return builders[s.opcode](s)

    # Operands.

    def reader(self, text: str, name: str) -> Read:
        """What reads an operand as a pattern of type ``name``."""
        bits = pure.kind_and_bits(name)[1]
        if text.startswith("!"):
            inner = self.reader(text[1:].strip(), "pred")
            return lambda thread: 1 - inner(thread)
        if self.function.is_register(text):
            limit = mask(bits)
            return lambda thread: thread.frame.registers[text] & limit
        if text.startswith(SPECIALS):
            return lambda thread: thread.special(text) & mask(bits)
        if text[:1].isdigit() or text.startswith("-"):
            constant = literal(text, name)
            return lambda thread: constant
        return self.symbol(text)

    def symbol(self, text: str) -> Read:
        """The address of a variable, with an offset."""
        name, _, offset = text.partition("+")
        address = self.program.address(self.function, name.strip()) + int(offset or "0", 0)
        return lambda thread: address

    def writer(self, text: str, name: str) -> Write:
        """What writes a pattern of type ``name`` to a register, extended to the register's width by the type's sign."""
        if text == "_":
            return lambda thread, pattern: None
        kind, bits = pure.kind_and_bits(name)
        width = self.function.width(text)

        def write(thread: Thread, pattern: int) -> None:
            thread.frame.registers[text] = value(kind, bits, pattern) & mask(width)

        return write

    # Straight-line instructions.

    def _pure(self, s: Statement, instruction: pure.Pure) -> Execute:
        write = self.writer(s.operands[0], instruction.result)
        reads = [self.reader(o, t) for o, t in zip(s.operands[1:], instruction.sources, strict=True)]
        function = instruction.function

        def execute(thread: Thread) -> None:
            write(thread, function(*[read(thread) for read in reads]))

        def execute_with_carry(thread: Thread) -> None:
            result, carry = function(*[read(thread) for read in reads], thread.carry)  # type: ignore[misc]
            if instruction.sets_carry:
                thread.carry = carry
            write(thread, result)

        return _step(execute_with_carry if instruction.carry else execute)

    def _setp(self, s: Statement) -> Execute:
        types = [m for m in s.modifiers if pure.is_type(m)]
        compare, combine = pure.comparison(s.modifiers, types[0]), pure.combination(s.modifiers)
        first, _, second = s.operands[0].partition("|")
        write_p, write_q = self.writer(first.strip(), "pred"), self.writer(second.strip() or "_", "pred")
        a, b = (self.reader(o, types[0]) for o in s.operands[1:3])
        c = self.reader(s.operands[3], "pred") if combine else None

        def execute(thread: Thread) -> None:
            p = compare(a(thread), b(thread))
            q = not p
            if combine and c:
                with_c = bool(c(thread))
                p, q = combine(p, with_c), combine(q, with_c)
            write_p(thread, int(p))
            write_q(thread, int(q))

        return _step(execute)

    def _pack_or_unpack(self, s: Statement) -> Execute:
        bits = pure.kind_and_bits(s.modifiers[-1])[1]
        to, source = s.operands
        if source.startswith("{"):
            parts = _elements(source)
            width = bits // len(parts)
            reads = [self.reader(p, f"b{width}") for p in parts]
            write = self.writer(to, f"b{bits}")
            return _step(lambda t: write(t, sum(r(t) << (width * i) for i, r in enumerate(reads))))
        parts = _elements(to)
        width = bits // len(parts)
        writes = [self.writer(p, f"b{width}") for p in parts]
        read = self.reader(source, f"b{bits}")

        def unpack(thread: Thread) -> None:
            whole = read(thread)
            for i, w in enumerate(writes):
                w(thread, (whole >> (width * i)) & mask(width))

        return _step(unpack)

    # Memory.

    def _address(self, text: str) -> tuple[str, Read]:
        """The base's name and what computes the address."""
        inner = text.strip()[1:-1].strip()
        base, sign, offset = inner.partition("+")
        if not sign and "-" in inner[1:]:
            base, _, offset = inner.rpartition("-")
            offset = "-" + offset
        base, shift = base.strip(), int(offset.replace(" ", "") or "0", 0)
        if base in self.program.parameter_names(self.function):
            return base, lambda thread: shift
        width = self.function.width(base) if self.function.is_register(base) else 64
        read = self.reader(base, f"b{width}")
        return base, lambda thread: (read(thread) + shift) & mask(64)

    def _load(self, s: Statement) -> Execute:
        name, size, targets = self._access(s, s.operands[0])
        base, address = self._address(s.operands[1])
        writes = [self.writer(t, name) for t in targets]
        space = _space(s)

        def from_parameter(thread: Thread) -> None:
            data, at = thread.frame.parameters[base], address(thread)
            for i, write in enumerate(writes):
                piece = data[at + i * size : at + (i + 1) * size]
                write(thread, int.from_bytes(piece, "little"))

        def execute(thread: Thread) -> None:
            memory, at = thread.memory_of(space, address(thread))
            memory.check_alignment(at, size * len(writes))
            values = [memory.load(at + i * size, size) for i in range(len(writes))]
            for write, pattern in zip(writes, values, strict=True):
                write(thread, pattern)

        return _step(from_parameter if space == "param" else execute)

    def _store(self, s: Statement) -> Execute:
        name, size, sources = self._access(s, s.operands[1])
        base, address = self._address(s.operands[0])
        reads = [self.reader(o, name) for o in sources]
        space = _space(s)

        def to_parameter(thread: Thread) -> None:
            data, at = thread.frame.parameters[base], address(thread)
            for i, read in enumerate(reads):
                data[at + i * size : at + (i + 1) * size] = read(thread).to_bytes(size, "little")

        def execute(thread: Thread) -> None:
            memory, at = thread.memory_of(space, address(thread))
            memory.check_alignment(at, size * len(reads))
            for i, read in enumerate(reads):
                memory.store(at + i * size, size, read(thread))

        return _step(to_parameter if space == "param" else execute)

    def _access(self, s: Statement, data: str) -> tuple[str, int, list[str]]:
        """The element's type and size in bytes, and the registers."""
        name = next(m for m in reversed(s.modifiers) if pure.is_type(m))
        return name, pure.kind_and_bits(name)[1] // 8, _elements(data)

    def _cvta(self, s: Statement) -> Execute:
        bits = pure.kind_and_bits(s.modifiers[-1])[1]
        window = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW}.get(_space(s), 0)
        read, write = self.reader(s.operands[1], f"u{bits}"), self.writer(s.operands[0], f"u{bits}")
        shift = -window if "to" in s.modifiers else window
        return _step(lambda thread: write(thread, read(thread) + shift))

    def _atomic(self, s: Statement) -> Execute:
        name = s.modifiers[-1]
        size = pure.kind_and_bits(name)[1] // 8
        operation = next(m for m in s.modifiers if m in ATOMICS)
        operands = s.operands if s.opcode == "atom" else ("_", *s.operands)
        write = self.writer(operands[0], name)
        _, address = self._address(operands[1])
        reads = [self.reader(o, name) for o in operands[2:]]
        space, combine = _space(s), ATOMICS[operation]

        def execute(thread: Thread) -> None:
            memory, at = thread.memory_of(space, address(thread))
            old = memory.load(at, size)
            memory.store(at, size, combine(name, old, *[read(thread) for read in reads]) & mask(size * 8))
            write(thread, old)

        return _step(execute)

    # Control flow.

    def _branch(self, s: Statement) -> Execute:
        target = self.function.labels[s.operands[0]]

        def execute(thread: Thread) -> None:
            thread.frame.pc = target

        return execute

    def _branch_table(self, s: Statement) -> Execute:
        read = self.reader(s.operands[0], "u32")
        targets = [self.function.labels[label] for label in self.function.tables[s.operands[1]]]

        def execute(thread: Thread) -> None:
            thread.frame.pc = targets[read(thread)]

        return execute

    def _return(self, s: Statement) -> Execute:
        return return_from_function

    def _exit(self, s: Statement) -> Execute:
        return lambda thread: thread.frames.clear()

    def _call(self, s: Statement) -> Execute:
        groups = [_elements(o) if o.startswith("(") else o for o in s.operands]
        results = tuple(groups.pop(0)) if isinstance(groups[0], list) else ()
        callee = self.program.functions[str(groups[0])]
        arguments = tuple(groups[1]) if len(groups) > 1 else ()
        names = [p.name for p in callee.function.parameters]

        def execute(thread: Thread) -> None:
            caller = thread.frame.parameters
            given = {n: bytearray(caller[a]) for n, a in zip(names, arguments, strict=True)}
            thread.frame.pc += 1
            thread.frames.append(callee.frame(given, results))

        return execute

    def frame(self, given: dict[str, bytearray], results: tuple[str, ...] = ()) -> Frame:
        """A fresh frame with its parameters, its return values and the ``.param`` variables of its calls."""
        made = {v.name: bytearray(v.bytes) for v in self.function.returns}
        made |= {v.name: bytearray(v.bytes) for v in self.function.variables.values() if v.space == "param"}
        return Frame(self, made | given, results)

    # What needs other threads.

    def _warp_wide(self, s: Statement) -> Execute:
        if s.opcode == "activemask":
            member: Read | None = None
            reads: list[Read] = []
        else:
            types = {"shfl": ("b32", "u32", "u32"), "vote": ("pred",)}[s.opcode]
            member = self.reader(s.operands[-1], "b32")
            reads = [self.reader(o, t) for o, t in zip(s.operands[1:-1], types, strict=True)]
        first, _, second = s.operands[0].partition("|")
        kind = "pred" if s.opcode == "vote" and "ballot" not in s.modifiers else "b32"
        write, write_q = self.writer(first.strip(), kind), self.writer(second.strip() or "_", "pred")

        def resume(thread: Thread, result: int, flag: int = 0) -> None:
            thread.frame.pc += 1
            write(thread, result)
            write_q(thread, flag)

        def wait(thread: Thread) -> None:
            wanted = -1 if member is None else member(thread)
            thread.waiting = Waiting(s, resume, (wanted, *[read(thread) for read in reads]))

        return wait

    def _barrier(self, s: Statement) -> Execute:
        operands = list(s.operands)
        target = operands.pop(0) if "red" in s.modifiers else "_"
        predicate = self.reader(operands.pop(), "pred") if "red" in s.modifiers else lambda thread: 0
        reads = [self.reader(o, "u32") for o in operands]
        write = self.writer(target, "u32" if "popc" in s.modifiers else "pred")

        def resume(thread: Thread, result: int = 0) -> None:
            thread.frame.pc += 1
            if target != "_":
                write(thread, result)

        def wait(thread: Thread) -> None:
            numbers = [read(thread) for read in reads] or [0]
            count = numbers[1] if len(numbers) > 1 else 0
            thread.waiting = Waiting(s, resume, (numbers[0], count, predicate(thread)))

        return wait


class CompiledProgram:
    """All functions of a program, and where its variables live: absolute for global and const, else an offset."""

    def __init__(self, program: Program, addresses: dict[str, int]) -> None:
        self.program = program
        self.addresses = dict(addresses)
        self.local_bytes = 0
        self.static_shared = 0
        everything = [*program.variables.values()]
        for function in program.functions.values():
            everything += function.variables.values()
        for v in everything:
            if v.space == "local":
                self.addresses[v.name] = _aligned(self.local_bytes, v.alignment)
                self.local_bytes = self.addresses[v.name] + v.bytes
            elif v.space == "shared" and v.bytes:
                self.addresses[v.name] = _aligned(self.static_shared, v.alignment)
                self.static_shared = self.addresses[v.name] + v.bytes
        self.dynamic_shared = _aligned(self.static_shared, 16)
        self.addresses |= {v.name: self.dynamic_shared for v in everything if v.space == "shared" and not v.bytes}
        self.functions = {n: CompiledFunction(self, f) for n, f in program.functions.items()}
        for compiled in self.functions.values():
            compiled.compile()

    def address(self, function: Function, name: str) -> int:
        if name not in self.addresses:
            raise ReferenceFault(f"{function.name}: nothing is named {name}")
        return self.addresses[name]

    def parameter_names(self, function: Function) -> set[str]:
        names = {v.name for v in (*function.parameters, *function.returns)}
        return names | {v.name for v in function.variables.values() if v.space == "param"}


def return_from_function(thread: Thread) -> None:
    """Leave the frame, handing its return values to the caller."""
    done = thread.frames.pop()
    for variable, name in zip(done.function.function.returns, done.results, strict=False):
        thread.frame.parameters[name][:] = done.parameters[variable.name]


def _step(execute: Execute) -> Execute:
    def step(thread: Thread) -> None:
        execute(thread)
        thread.frame.pc += 1

    return step


def _aligned(offset: int, alignment: int) -> int:
    return -(-offset // alignment) * alignment


def _elements(text: str) -> list[str]:
    return [p.strip() for p in text.strip("{}() ").split(",") if p.strip()]


def _space(s: Statement) -> str:
    return next((m.split("::")[0] for m in s.modifiers if m in _SPACES), "")


_SPACES = ("global", "shared", "local", "const", "param", "shared::cta")


def _add(name: str, old: int, b: int) -> int:
    kind, bits = pure.kind_and_bits(name)
    if kind != "f":
        return old + b
    return floats.add(FORMATS[bits], old, b, "rn")


def _extreme(choose: Callable[..., int]) -> Callable[[str, int, int], int]:
    def combine(name: str, old: int, b: int) -> int:
        kind, bits = pure.kind_and_bits(name)
        return choose(old, b, key=lambda pattern: value(kind, bits, pattern))

    return combine


ATOMICS: dict[str, Callable[..., int]] = {
    "add": _add,
    "min": _extreme(min),
    "max": _extreme(max),
    "and": lambda name, old, b: old & b,
    "or": lambda name, old, b: old | b,
    "xor": lambda name, old, b: old ^ b,
    "exch": lambda name, old, b: b,
    "cas": lambda name, old, b, c: c if old == b else old,
    "inc": lambda name, old, b: 0 if old >= b else old + 1,
    "dec": lambda name, old, b: b if old == 0 or old > b else old - 1,
}

__all__ = ["F32", "CompiledFunction", "CompiledProgram", "return_from_function"]
