"""Calls: a frame for each activation, with its own parameters, registers and local variables.

Functions of the host (``vprintf``, ``malloc``, ``free``) are implemented in Python.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from tests.reference.memory import ReferenceFault, Region
from tests.reference.memory_statements import MemoryStatements
from tests.reference.operands import Execute, aligned, elements, step
from tests.reference.reader import Statement, Variable
from tests.reference.thread import Frame, Thread

if TYPE_CHECKING:
    from tests.reference.compiled import CompiledFunction, CompiledProgram

FIRST_HEAP = 0x7000_0000
STACK_BYTES = 1 << 16
HOST = {"vprintf": (8, 8), "malloc": (8,), "free": (8,)}
"""Functions of the host by the sizes of their parameters."""


@dataclass
class Host:
    """What the host does for kernels: ``printed`` has thread block, thread and text of each print."""

    printed: list[tuple[tuple[int, int, int], int, str]] = field(default_factory=list)
    heap: int = FIRST_HEAP

    def call(self, name: str, thread: Thread, arguments: list[int]) -> int:
        if name == "vprintf":
            return self._print(thread, *arguments)
        memory = thread.block.memory
        if name == "malloc":
            self.heap = aligned(self.heap, 16)
            memory.regions.append(Region(self.heap, bytearray(arguments[0])))
            self.heap += arguments[0] + 64
            return memory.regions[-1].base
        found = [region for region in memory.regions if region.base == arguments[0] >= FIRST_HEAP]
        if arguments[0] and not found:
            raise ReferenceFault(f"free of {arguments[0]:#x}")
        memory.regions = [region for region in memory.regions if region not in found]
        return 0

    def _print(self, thread: Thread, template: int, pack: int) -> int:
        given: list[int | float | str] = []
        text = _text(thread, template)
        for long, kind in re.findall(r"%[-+ #0]*\d*(?:\.\d+)?(ll)?([duxcsf])", text):
            size = 8 if long or kind in "sf" else 4
            pack = aligned(pack, size)
            memory, at = thread.memory_of("", pack)
            word = memory.load(at, size)
            pack += size
            if kind == "f":
                given.append(struct.unpack("<d", struct.pack("<Q", word))[0])
            elif kind == "s":
                given.append(_text(thread, word))
            else:
                given.append(word - (1 << 8 * size) if kind == "d" and word >> (8 * size - 1) else word)
        plain = re.sub(r"(%[-+ #0]*\d*(?:\.\d+)?)(?:ll)?([duxcsf])", r"\1\2", text)
        self.printed.append((thread.block.index, thread.number, plain % tuple(given)))
        return len(given)


def _text(thread: Thread, address: int) -> str:
    found = ""
    while True:
        memory, at = thread.memory_of("", address + len(found))
        byte = memory.load(at, 1)
        if byte == 0:
            return found
        found += chr(byte)


class CallStatements(MemoryStatements):
    """``call``, ``ret`` and the stack of a function that is compiled."""

    program: CompiledProgram

    def call(self, s: Statement) -> Execute:
        groups = [elements(o) if o.startswith("(") else o for o in s.operands]
        results = tuple(groups.pop(0)) if isinstance(groups[0], list) else ()
        target = str(groups[0])
        arguments = tuple(groups[1]) if len(groups) > 1 and isinstance(groups[1], list) else ()
        if target in HOST and target not in self.program.functions:
            return step(lambda thread: _on_host(thread, target, arguments, results))
        read = self.reader(target, "b64") if self.function.is_register(target) else None

        def execute(thread: Thread) -> None:
            name = self.places.function_at(read(thread)) if read else target
            callee, caller = self.program.functions[name], thread.frame
            parameters = callee.function.parameters
            given = [self._passed(thread, p, a) for p, a in zip(parameters, arguments, strict=True)]
            caller.pc += 1
            thread.frames.append(callee.frame({}, results, caller.top))
            for parameter, content in zip(parameters, given, strict=True):
                callee.receive(thread, parameter, parameter.name, content)

        return execute

    def _passed(self, thread: Thread, parameter: Variable, argument: str) -> bytes:
        """The bytes of an argument: a ``.param`` variable, a constant, a register, or the elements of a vector."""
        if argument in self.parameter_names:
            return bytes(thread.frame.parameters[argument])
        size = parameter.bytes // parameter.elements
        reads = [self.reader(part, parameter.type) for part in self.function.vectors.get(argument, [argument])]
        assert len(reads) == parameter.elements
        return b"".join(read(thread).to_bytes(size, "little") for read in reads)

    def receive(self, thread: Thread, variable: Variable, place: str, content: bytes) -> None:
        """Put the bytes of a parameter or result of this type into a variable or into registers of the top frame."""
        if place in self.parameter_names:
            thread.frame.parameters[place][:] = content
            return
        size = variable.bytes // variable.elements
        for i, part in enumerate(self.function.vectors.get(place, [place])):
            self.writer(part, variable.type)(thread, int.from_bytes(content[i * size : (i + 1) * size], "little"))

    def returned(self, frame: Frame, variable: Variable) -> bytes:
        """The bytes of a return value in a frame of this function."""
        if variable.space == "param":
            return bytes(frame.parameters[variable.name])
        parts = self.function.vectors.get(variable.name, [variable.name])
        return b"".join(frame.registers[part].to_bytes(variable.bytes // len(parts), "little") for part in parts)

    def frame(self, given: dict[str, bytearray], results: tuple[str, ...] = (), below: int = 0) -> Frame:
        """A fresh frame with its parameters, return values, ``.param`` variables and local memory above ``below``."""
        own = (*self.function.returns, *self.function.parameters, *self.function.variables.values())
        made = {v.name: bytearray(v.bytes) for v in own if v.space == "param"}
        first = aligned(below, 16)
        top = first + self.places.frame_bytes(self.function)
        return Frame(cast("CompiledFunction", self), made | given, results, local=first, top=top)

    def alloca(self, s: Statement) -> Execute:
        write, read = self.writer(s.operands[0], "u64"), self.reader(s.operands[1], "u64")
        alignment = int(s.operands[2]) if len(s.operands) > 2 else 16

        def execute(thread: Thread) -> None:
            first = aligned(thread.frame.top, max(16, alignment))
            thread.frame.top = first + read(thread)
            write(thread, first)

        return step(execute)

    def stack(self, s: Statement) -> Execute:
        """``stacksave`` and ``stackrestore``."""
        if s.opcode == "stacksave":
            write = self.writer(s.operands[0], "u64")
            return step(lambda thread: write(thread, thread.frame.top))
        read = self.reader(s.operands[0], "u64")

        def restore(thread: Thread) -> None:
            thread.frame.top = read(thread)

        return step(restore)


def _on_host(thread: Thread, name: str, arguments: tuple[str, ...], results: tuple[str, ...]) -> None:
    parameters = thread.frame.parameters
    given = [int.from_bytes(parameters[a][:size], "little") for a, size in zip(arguments, HOST[name], strict=True)]
    result = thread.block.host.call(name, thread, given)
    for returned in results:
        parameters[returned][:] = result.to_bytes(len(parameters[returned]), "little")


def return_from_function(thread: Thread) -> None:
    """Leave the frame, handing its return values to the caller."""
    done = thread.frames.pop()
    for variable, place in zip(done.function.function.returns, done.results, strict=False):
        thread.frame.function.receive(thread, variable, place, done.function.returned(done, variable))
