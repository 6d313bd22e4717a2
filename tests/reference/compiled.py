"""Convert each statement of a function to a Python function that a thread executes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tests.reference import pure, video
from tests.reference.asynchronous import AsynchronousStatement, counted
from tests.reference.calls import CallStatements, return_from_function
from tests.reference.matrices import MATRIX, MatrixStatement
from tests.reference.memory import ReferenceFault
from tests.reference.memory_statements import ATOMICS
from tests.reference.number import mask
from tests.reference.operands import Execute, Places, elements, step
from tests.reference.reader import Function, Program, Statement
from tests.reference.texture_statements import TextureStatements
from tests.reference.thread import Thread, Waiting
from tests.reference.warp import TOGETHER, results_and_operands

_NOTHING = (
    "membar", "fence", "nanosleep", "prefetch", "prefetchu", "pmevent", "discard", "applypriority", "griddepcontrol",
    "setmaxnreg",
)  # fmt: skip


class CompiledFunction(CallStatements, TextureStatements):
    """``steps[pc]`` executes one statement, moving the thread's pc; past the last one the function returns."""

    def __init__(self, program: CompiledProgram, function: Function) -> None:
        super().__init__(program.places, function)
        self.program = program
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
        if s.opcode == "mov" and {"v2", "v4"} & set(s.modifiers):
            return self._move_elements(s)
        if s.opcode == "mov" and any(o.startswith("{") for o in s.operands):
            return self._pack_or_unpack(s)
        if s.opcode in video.OPCODES:
            return self._video(s)
        instruction = pure.lookup(s.opcode, s.modifiers, len(s.operands) - 1)
        if instruction:
            return self._pure(s, instruction)
        if s.opcode in _NOTHING:
            return step(lambda thread: None)
        if s.opcode in TOGETHER or s.modifiers[:1] == ("warp",):
            return self._warp_wide(s)
        builders: dict[str, Callable[[Statement], Execute]] = {
            "ld": self.load, "ldu": self.load, "st": self.store, "atom": self.atomic,
            "red": self.atomic, "bra": self._branch, "brx": self._branch_table,
            "ret": self._return,
            "exit": self._exit, "call": self.call, "alloca": self.alloca, "stacksave": self.stack,
            "stackrestore": self.stack, "bar": self._barrier, "barrier": self._barrier,
        }  # fmt: skip
        if s.opcode in ("cp", "mbarrier"):
            combine = next((ATOMICS[m] for m in s.modifiers if m in ATOMICS), None) if "reduce" in s.modifiers else None
            return AsynchronousStatement(self, s, lambda text: self._address(text)[1], combine).execute()
        if s.opcode == "createpolicy":
            write = self.writer(s.operands[0], "b64")
            return step(lambda thread: write(thread, 0))
        if s.opcode in ("st", "red") and "mbarrier::complete_tx::bytes" in s.modifiers:
            access = replace(s, operands=s.operands[:-1])
            execute = self.store(access) if s.opcode == "st" else self.atomic(access)
            _, size, _ = self._access(s, s.operands[1])
            return counted(execute, self._address(s.operands[2])[1], size * len(elements(s.operands[1])))
        if s.opcode in MATRIX:
            address = next((self._address(o)[1] for o in s.operands if o.startswith("[")), None)
            return MatrixStatement(self, s, address).execute()
        builders |= {"tex": self.fetch, "tld4": self.fetch, "txq": self.query, "suq": self.query}
        builders |= dict.fromkeys(("suld", "sust", "sured"), self.surface)
        if s.opcode not in builders:
            raise ReferenceFault(f"{s} is not known to the reference")
        return builders[s.opcode](s)

    # Straight-line instructions.

    def _video(self, s: Statement) -> Execute:
        """An instruction whose operands name parts of registers."""
        names, selectors, negated = zip(*map(video.split, s.operands), strict=True)
        types = tuple(m for m in s.modifiers if pure.is_type(m))
        rest = tuple(m for m in s.modifiers if not pure.is_type(m))
        chosen = video.Selected(selectors[0], (*selectors[1:], "")[:3], (*negated[1:], False)[:3])
        whole = Statement(s.opcode, s.modifiers, names, s.guard, s.line)
        return self._pure(whole, video.build(s.opcode, types, rest, len(names) - 1, chosen))

    def _pure(self, s: Statement, instruction: pure.Pure) -> Execute:
        first, _, second = s.operands[0].partition("|")
        write = self.writer(first.strip(), instruction.result)
        write_second = self.writer(second.strip() or "_", instruction.second or "pred")
        reads = [self.reader(o, t) for o, t in zip(s.operands[1:], instruction.sources, strict=True)]
        function = instruction.function

        def execute(thread: Thread) -> None:
            write(thread, function(*[read(thread) for read in reads]))

        def execute_with_carry(thread: Thread) -> None:
            result, carry = function(*[read(thread) for read in reads], thread.carry)
            if instruction.sets_carry:
                thread.carry = carry
            write(thread, result)

        def execute_both(thread: Thread) -> None:
            result, other = function(*[read(thread) for read in reads])
            write(thread, result)
            write_second(thread, int(other))

        return step(execute_with_carry if instruction.carry else execute_both if instruction.second else execute)

    def _move_elements(self, s: Statement) -> Execute:
        """All elements are read before one is written."""
        name = s.modifiers[-1]
        writes = [self.writer(part, name) for part in elements(s.operands[0])]
        reads = [self.reader(part, name) for part in elements(s.operands[1])]

        def execute(thread: Thread) -> None:
            values = [read(thread) for read in reads]
            for write, pattern in zip(writes, values, strict=True):
                write(thread, pattern)

        return step(execute)

    def _pack_or_unpack(self, s: Statement) -> Execute:
        bits = pure.kind_and_bits(s.modifiers[-1])[1]
        to, source = s.operands
        if source.startswith("{"):
            parts = elements(source)
            width = bits // len(parts)
            reads = [self.reader(p, f"b{width}") for p in parts]
            write = self.writer(to, f"b{bits}")
            return step(lambda t: write(t, sum(r(t) << (width * i) for i, r in enumerate(reads))))
        parts = elements(to)
        width = bits // len(parts)
        writes = [self.writer(p, f"b{width}") for p in parts]
        read = self.reader(source, f"b{bits}")

        def unpack(thread: Thread) -> None:
            whole = read(thread)
            for i, w in enumerate(writes):
                w(thread, (whole >> (width * i)) & mask(width))

        return step(unpack)

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

    # What needs other threads.

    def _warp_wide(self, s: Statement) -> Execute:
        kind, types = results_and_operands(s.opcode, s.modifiers)
        operands = list(s.operands) if s.opcode == "bar" else list(s.operands[1:])
        everyone = "-1" if s.opcode != "activemask" and "sync" not in s.modifiers else "0"
        member = self.reader(operands.pop() if "sync" in s.modifiers else everyone, "b32")
        reads = [self.reader(o, t) for o, t in zip(operands, types, strict=True)]
        first, _, second = ("_" if s.opcode == "bar" else s.operands[0]).partition("|")
        write, write_q = self.writer(first.strip(), kind), self.writer(second.strip() or "_", "pred")

        def resume(thread: Thread, result: int, flag: int = 0) -> None:
            thread.frame.pc += 1
            write(thread, result)
            write_q(thread, flag)

        def wait(thread: Thread) -> None:
            thread.waiting = Waiting(s, resume, (member(thread), *[read(thread) for read in reads]))

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
    """All functions of a program."""

    def __init__(self, program: Program, addresses: dict[str, int]) -> None:
        self.places = Places(program, addresses)
        self.functions = {n: CompiledFunction(self, f) for n, f in program.functions.items()}
        for compiled in self.functions.values():
            compiled.compile()
