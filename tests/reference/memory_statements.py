"""Memory statements: loads, stores, atomics, conversions of addresses."""

from __future__ import annotations

from collections.abc import Callable

from tests.reference import floats, pure
from tests.reference.number import FORMATS, mask
from tests.reference.operands import Execute, Operands, Read, elements, space_of, step
from tests.reference.reader import Statement
from tests.reference.thread import Thread


class MemoryStatements(Operands):
    """``load`` and its kin return what executes a statement."""

    def _address(self, text: str) -> tuple[str, Read]:
        """The base's name and what computes the address; an address in a register wraps around at its width."""
        inner = text.strip()[1:-1].strip()
        base, sign, offset = inner.partition("+")
        if not sign and "-" in inner[1:]:
            base, _, offset = inner.rpartition("-")
            offset = "-" + offset
        base, shift = base.strip(), int(offset.replace(" ", "") or "0", 0)
        if base in self.parameter_names:
            return base, lambda thread: shift
        width = self.function.width(base) if self.function.is_register(base) else 64
        read = self.reader(base, f"b{width}")
        return base, lambda thread: (read(thread) + shift) & mask(width)

    def _space(self, s: Statement, base: str) -> str:
        """The space that a statement names, or else that of the variable in its address."""
        return space_of(s) or self.places.spaces.get(base, "")

    def load(self, s: Statement) -> Execute:
        name, size, targets = self._access(s, s.operands[0])
        base, address = self._address(s.operands[1])
        writes = [self.writer(t, name) for t in targets]
        space = self._space(s, base)

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

        return step(from_parameter if space == "param" else execute)

    def store(self, s: Statement) -> Execute:
        name, size, sources = self._access(s, s.operands[1])
        base, address = self._address(s.operands[0])
        reads = [self.reader(o, name) for o in sources]
        space = self._space(s, base)

        def to_parameter(thread: Thread) -> None:
            data, at = thread.frame.parameters[base], address(thread)
            for i, read in enumerate(reads):
                data[at + i * size : at + (i + 1) * size] = read(thread).to_bytes(size, "little")

        def execute(thread: Thread) -> None:
            memory, at = thread.memory_of(space, address(thread))
            memory.check_alignment(at, size * len(reads))
            for i, read in enumerate(reads):
                memory.store(at + i * size, size, read(thread))

        return step(to_parameter if space == "param" else execute)

    def _access(self, s: Statement, data: str) -> tuple[str, int, list[str]]:
        """The element's type and size in bytes, and the registers."""
        name = next(m for m in reversed(s.modifiers) if pure.is_type(m))
        return name, pure.kind_and_bits(name)[1] // 8, elements(data)

    def atomic(self, s: Statement) -> Execute:
        """Each element of a vector is an atomic operation of its own."""
        name, size, _ = self._access(s, s.operands[0])
        operation = next(m for m in s.modifiers if m in ATOMICS)
        operands = s.operands if s.opcode == "atom" else ("_", *s.operands)
        columns = list(zip(*(elements(o) for o in operands[2 : 4 if operation == "cas" else 3]), strict=True))
        targets = elements(operands[0]) if s.opcode == "atom" else ["_"] * len(columns)
        writes = [self.writer(target, name) for target in targets]
        base, address = self._address(operands[1])
        reads = [[self.reader(operand, name) for operand in column] for column in columns]
        space = self._space(s, base)

        def execute(thread: Thread) -> None:
            memory, at = thread.memory_of(space, address(thread))
            memory.check_alignment(at, size * len(writes))
            flushes = operation == "add" and name == "f32" and memory is thread.block.memory
            combine = _add_flushing if flushes else ATOMICS[operation]
            for i, (write, readers) in enumerate(zip(writes, reads, strict=True)):
                old = memory.load(at + i * size, size)
                new = combine(name, old, *[read(thread) for read in readers])
                memory.store(at + i * size, size, new & mask(8 * size))
                write(thread, old)

        return step(execute)


def _add_flushing(name: str, old: int, b: int) -> int:
    """``atom.add.f32`` on global memory makes zeros of subnormal operands and results (PTX ISA, "atom")."""
    single = FORMATS[32]
    return single.flush(floats.add(single, single.flush(old), single.flush(b), "rn"))


def _by_opcode(opcode: str) -> Callable[[str, int, int], int]:
    """The instruction of that name on the old value and the operand."""

    def combine(name: str, old: int, b: int) -> int:
        instruction = pure.lookup(opcode, (name,), 2)
        assert instruction is not None
        return int(instruction.function(old, b))

    return combine


ATOMICS: dict[str, Callable[..., int]] = {
    "add": _by_opcode("add"),
    "min": _by_opcode("min"),
    "max": _by_opcode("max"),
    "and": lambda name, old, b: old & b,
    "or": lambda name, old, b: old | b,
    "xor": lambda name, old, b: old ^ b,
    "exch": lambda name, old, b: b,
    "cas": lambda name, old, b, c: c if old == b else old,
    "inc": lambda name, old, b: 0 if old >= b else old + 1,
    "dec": lambda name, old, b: b if old == 0 or old > b else old - 1,
}
