"""Instructions of a recorded trace joined with those of a listing by kernel and pc.

A trace has neither control codes nor reuse flags; the listing of the same machine code has both.  A tracer names the
ordinary registers of a listing in order, bases of addresses among them, and not those that index constant banks
(Accel-Sim, ``util/tracer_nvbit/tracer_tool/tracer_tool.cu``).  The pc of a line is the byte offset from the start of
the function, as in a listing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from warpreg.ir.instruction import registers_of
from warpreg.ir.operands import ConstantBank, Immediate
from warpreg.machine_code.cubin import read
from warpreg.machine_code.errors import MachineCodeError
from warpreg.machine_code.lift import NEVER
from warpreg.machine_code.listing import INSTRUCTION_BYTES, Function, ListedInstruction, Listing, parse
from warpreg.machine_code.operands import Nan, Text, operand_texts
from warpreg.machine_code.operands import parse as parse_operand
from warpreg.machine_code.tools import VendorToolError, disassembled
from warpreg.sass.errors import SassTraceError
from warpreg.sass.isa.opcodes import find
from warpreg.sass.isa.widths import EXPLICIT
from warpreg.sass.parse.header import Header
from warpreg.sass.parse.line import ZERO_REGISTER, TraceLine
from warpreg.sass.rebuild.program import Annotation

ELF, ELF_MACHINE, CUDA = b"\x7fELF", slice(18, 20), 190
GIVEN = re.compile(r"\S*kernel\.cubin")
"""The temporary file that nvdisasm gets."""
SHOWN = 3


@dataclass(frozen=True, slots=True)
class _RegisterUse:
    """A register of a listed instruction: whether it is kept for reuse, and whether it indexes a constant bank."""

    register: int
    is_kept: bool
    is_index: bool


@dataclass(frozen=True)
class JoinedListing:
    """A listing whose control codes and reuse flags instructions of traces get; ``name`` is its file, ``digest`` the
    SHA-256 of that."""

    listing: Listing
    name: str
    digest: str

    def annotation(self, header: Header, line: TraceLine) -> Annotation:
        """The control code and the reuse flags of an instruction, which a kernel's trace has in ``line``.

        Raises SassTraceError, without the place in the trace, for a kernel or a pc that is not in the listing, and
        for an opcode or registers that differ from it.
        """
        listed = self._listed(header, line.pc)
        place = f"{header.kernel}+{line.pc:#06x}"
        kept = None if _opcode(line) != listed.opcode else _kept(line, listed)
        if listed.guard in NEVER and line.opcode == "NOP":
            kept = ()
        if kept is None:
            raise SassTraceError(
                f"{place}: the trace has '{_text(line)}', {self.name}:{listed.line} has"
                f" '{f'{listed.opcode} {listed.operands}'.rstrip()}'"
            )
        return Annotation(listed.control, kept)

    def _listed(self, header: Header, pc: int) -> ListedInstruction:
        architecture = self.listing.architecture.removeprefix("sm_").rstrip("af")
        if architecture and int(architecture) != header.binary_version:
            raise SassTraceError(
                f"{header.kernel}: the trace is of sm_{header.binary_version}, {self.name} of"
                f" {self.listing.architecture}"
            )
        function = self.listing.functions.get(header.kernel)
        if function is None:
            raise SassTraceError(f"{header.kernel}: no kernel of this name in {self.name}, which has {self._names()}")
        number, odd = divmod(pc, INSTRUCTION_BYTES)
        if odd or number >= len(function.instructions):
            raise SassTraceError(
                f"{header.kernel}+{pc:#06x}: no instruction at this pc in {self.name}, which has every"
                f" {INSTRUCTION_BYTES} bytes one up to {_last(function):#06x}"
            )
        return function.instructions[number]

    def _names(self) -> str:
        names = [*self.listing.functions]
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        return ", ".join(names[:SHOWN]) + more


def joined(path: Path) -> JoinedListing:
    """The listing in a file: text of ``nvdisasm -c -hex`` or ``cuobjdump -sass``, or a cubin, which is listed.

    Raises MachineCodeError for another file and for a listing without encodings, `VendorToolMissingError` for a cubin
    without the ``cuda`` extra, OSError.
    """
    data = path.read_bytes()
    if data.startswith(ELF):
        text = _listed_cubin(data, path)
    else:
        text = data.decode("utf-8", "replace")
    listing = parse(text, str(path))
    for function in listing.functions.values():
        if any(one.control is None for one in function.instructions):
            raise MachineCodeError(
                f"{path}: {function.name} has no encodings, which hold the control codes; list it with nvdisasm -c -hex"
            )
    return JoinedListing(listing, str(path), hashlib.sha256(data).hexdigest())


def _listed_cubin(data: bytes, path: Path) -> str:
    if int.from_bytes(data[ELF_MACHINE], "little") != CUDA:
        raise MachineCodeError(f"{path}: expected a cubin or a listing, found a program; 'cuobjdump -sass' lists it")
    read(data, str(path))
    try:
        return disassembled(data)
    except VendorToolError as error:
        told = GIVEN.sub(path.name, str(error).splitlines()[-1])
        raise MachineCodeError(f"{path}: nvdisasm cannot list it: {told}") from None


def _last(function: Function) -> int:
    return INSTRUCTION_BYTES * max(0, len(function.instructions) - 1)


def _opcode(line: TraceLine) -> str:
    """With its modifiers, without the widths that `warpreg.sass.export` adds."""
    return ".".join((line.opcode, *(one for one in line.modifiers if not EXPLICIT.fullmatch(one))))


def _text(line: TraceLine) -> str:
    """As in the trace, without counts and addresses."""
    registers = [[f"R{number}" for number in numbers] for numbers in (line.results, line.sources)]
    return " ".join((*registers[0], ".".join((line.opcode, *line.modifiers)), *registers[1]))


def _kept(line: TraceLine, listed: ListedInstruction) -> tuple[int, ...] | None:
    """Positions, among the registers of a line, of those that are kept for reuse; None if the registers differ.

    Zero registers are not compared.  A line with explicit widths, which is exported, may name registers that index
    constant banks, and leave out what has no place in a line; those of its texture fetches are not compared.
    """
    is_explicit = any(EXPLICIT.fullmatch(one) for one in line.modifiers)
    if is_explicit and find(line.opcode).pipe == "tex":
        return ()
    named = [one for one in _registers(listed) if is_explicit or not one.is_index]
    raw = [(at, r) for at, r in enumerate((*line.results, *line.sources)) if r != ZERO_REGISTER]
    if not is_explicit and len(raw) != len(named):
        return None
    return _aligned(raw, named)


def _aligned(raw: Sequence[tuple[int, int]], named: Sequence[_RegisterUse]) -> tuple[int, ...] | None:
    """Positions in a line of the registers that are kept; None if they do not come in this order in the listing."""
    rest, kept = iter(named), []
    for at, register in raw:
        found = next((one for one in rest if one.register == register), None)
        if found is None:
            return None
        if found.is_kept:
            kept.append(at)
    return tuple(kept)


def _registers(listed: ListedInstruction) -> list[_RegisterUse]:
    """The ordinary registers of a listed instruction in order, without zero registers."""
    registers = []
    for text in operand_texts(listed.opcode.partition(".")[0], listed.operands):
        try:
            operand, is_kept = parse_operand(text)
        except ValueError:
            continue
        if isinstance(operand, Text | Nan | Immediate):
            continue
        is_index = isinstance(operand, ConstantBank)
        registers += [_RegisterUse(r.index, is_kept, is_index) for r in registers_of(operand) if r.words]
    return registers
