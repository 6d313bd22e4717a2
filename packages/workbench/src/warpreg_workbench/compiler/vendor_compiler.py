"""Machine code of NVIDIA's assembler: ``ptxas`` and ``nvdisasm`` of the ``cuda`` extra; needs no GPU."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from warpreg.machine_code.listing import parse
from warpreg.machine_code.tools import find_tool, output_of

ENTRY = re.compile(r"Compiling entry function '([^']+)' for")
USED = re.compile(r"Used (\d+) registers")
PRAGMA = '\n.pragma "nounroll";\n'
BOUNDS = re.compile(r"^[ \t]*\.(maxntid|reqntid|minnctapersm|maxnreg)\b[^\n{]*", re.MULTILINE)
UNIFORM = re.compile(r"\bUR(\d+)")
WIDE_PARTS = frozenset({"64", "WIDE"})
PTX_SECTION = ".nv_debug_ptx_txt"
"""The name of the PTX in a cubin, as lines refer to it."""

LINKED = "$__internal_"
HEADER = re.compile(r"^\s*\.target\b[^\n]*(\n\s*\.address_size[^\n]*)?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class DisassemblyLine:
    """A line of a disassembly: the instruction's opcode and operands, the labels right before it, and the ``number`` of
    the line of PTX that it comes from, 0 if unknown."""

    opcode: str
    operands: str
    labels: tuple[str, ...]
    number: int = 0


@dataclass(frozen=True, slots=True)
class MachineCode:
    """One kernel in SASS.

    ``registers`` is the count of ``ptxas -v``: the 32-bit registers allocated per thread.  It includes those of the
    calling convention (R1 is the stack pointer, used or not) and, on sm_75 and sm_80, two beyond the highest that the
    code names.  ``uniform_registers`` is the number of different registers of the uniform datapath (one per warp) that
    the code names.  ``instructions`` are static, without the padding after the kernel's end and without the subroutines
    that the assembler links in after it for unusual operands of divisions and roots; those are
    ``subroutine_instructions``.  ``code`` is without subroutines.
    """

    registers: int
    uniform_registers: int
    instructions: int
    subroutine_instructions: int = 0
    code: tuple[DisassemblyLine, ...] = field(default=(), repr=False, compare=False)

    def as_dict(self) -> dict[str, int]:
        return {
            "registers": self.registers,
            "uniform_registers": self.uniform_registers,
            "instructions": self.instructions,
            "subroutine_instructions": self.subroutine_instructions,
        }


def assemble(
    ptx_path: Path, architecture: str, *, unroll: bool = True, registers: int | None = None
) -> dict[str, MachineCode]:
    """Every kernel of a PTX file by name, compiled for ``architecture`` (``sm_75``) as ``ptxas`` does by default.

    Without ``unroll``, loops are not unrolled (PTX ISA, pragma ``nounroll``).  ``registers`` limits those of a thread
    (``-maxrregcount``); the directives that ``ptxas`` obeys instead are left out.
    Raises `VendorToolMissingError` without the ``cuda`` extra, `VendorToolError` if a tool rejects its input.
    """
    ptxas, nvdisasm = find_tool("ptxas"), find_tool("nvdisasm")
    with tempfile.TemporaryDirectory(prefix="warpreg-ptxas-") as folder:
        cubin, added = Path(folder) / "kernel.cubin", 0
        text = ptx_path.read_text(encoding="utf-8")
        if not unroll:
            text, added = rolled_loops(text), PRAGMA.count("\n")
        limit = [] if registers is None else [f"-maxrregcount={registers}"]
        edited = Path(folder) / ptx_path.name
        edited.write_text(BOUNDS.sub("", text) if limit else text, encoding="utf-8")
        options = ["-v", "-lineinfo", f"-arch={architecture}", *limit]
        report = output_of([str(ptxas), *options, "-o", str(cubin), str(edited)])
        listing = sections(output_of([str(nvdisasm), "-c", "-gp", str(cubin)]), added)
    return {name: _machine_code(registers, listing[name]) for name, registers in reported_registers(report).items()}


def rolled_loops(text: str) -> str:
    """The PTX of a module with a pragma that disables loop unrolling."""
    return HEADER.sub(lambda found: found[0] + PRAGMA, text, count=1)


def reported_registers(report: str) -> dict[str, int]:
    """Kernel name -> registers per thread, from the output of ``ptxas -v``."""
    registers: dict[str, int] = {}
    entry = ""
    for line in report.splitlines():
        if found := ENTRY.search(line):
            entry = found[1]
        elif entry and (found := USED.search(line)):
            registers[entry] = int(found[1])
    return registers


def sections(disassembly: str, added: int = 0) -> dict[str, list[DisassemblyLine]]:
    """Function name -> its instructions in order, from ``nvdisasm -c``, padding included.

    With ``-gp``, they have the lines of the PTX, less those that were ``added`` to its header.
    """
    by_function = {}
    for name, function in parse(disassembly).functions.items():
        labels: dict[int, tuple[str, ...]] = {}
        for label, address in function.labels.items():
            labels[address] = (*labels.get(address, ()), label)
        by_function[name] = [
            DisassemblyLine(one.opcode, one.operands, labels.get(one.address, ()), _ptx_line(one.source, added))
            for one in function.instructions
        ]
    return by_function


def _ptx_line(source: tuple[str, int] | None, added: int) -> int:
    """The line of the PTX that an instruction comes from; 0 if unknown."""
    return source[1] - added if source and source[0] == PTX_SECTION else 0


def without_padding(code: Sequence[DisassemblyLine]) -> Sequence[DisassemblyLine]:
    """The instructions without the NOPs at the end and the branch to itself before them, which stops prefetching."""
    end = len(code)
    while end and code[end - 1].opcode == "NOP":
        end -= 1
    if end and _branches_to_itself(code[end - 1]):
        end -= 1
    return code[:end]


def uniform_registers(code: Sequence[DisassemblyLine]) -> int:
    """The number of different uniform registers that the code names; a 64-bit result is two."""
    named: set[int] = set()
    for line in code:
        numbers = [int(number) for number in UNIFORM.findall(line.operands)]
        named.update(numbers)
        if line.opcode.startswith("U") and WIDE_PARTS & set(line.opcode.split(".")) and numbers:
            named.add(numbers[0] + 1)
    return len(named)


def _machine_code(registers: int, code: Sequence[DisassemblyLine]) -> MachineCode:
    code = without_padding(code)
    linked = next((i for i, line in enumerate(code) if any(map(is_linked, line.labels))), len(code))
    own = tuple(code[:linked])
    return MachineCode(registers, uniform_registers(code), linked, len(code) - linked, own)


def is_linked(label: str) -> bool:
    """Whether a label is that of a linked subroutine."""
    return label.startswith(LINKED)


def _branches_to_itself(line: DisassemblyLine) -> bool:
    return line.opcode == "BRA" and line.operands.strip("`() ") in line.labels
