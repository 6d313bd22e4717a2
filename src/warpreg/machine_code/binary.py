"""Modules of machine code alone: kernels with parameters and variables as the records say, without PTX."""

from __future__ import annotations

import functools
import hashlib
import pickle
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from warpreg.cache import store
from warpreg.codegen.lower.address_layout import align
from warpreg.ir.errors import UnknownNameError, WarpregWarning
from warpreg.ir.kernel import Kernel, Parameter
from warpreg.ir.module import Content, Function, Module, Variable
from warpreg.ir.operands import Symbol
from warpreg.ir.types import TYPES
from warpreg.machine_code import cubin, listing
from warpreg.machine_code.banks import VARIABLES
from warpreg.machine_code.code import Code
from warpreg.machine_code.cubin import CONSTANT, INITIAL, ZEROS, Cubin
from warpreg.machine_code.errors import MachineCodeError
from warpreg.machine_code.lift import lift
from warpreg.machine_code.listing import Listing
from warpreg.machine_code.tools import VendorToolError, disassembled, version_of

KIND = "listings"
ADDRESS_BITS = 64
MAX_ALIGNED = 16
"""Greatest alignment of a parameter in bytes."""
SPACES = {f"{CONSTANT}{VARIABLES}": "const", INITIAL: "global", ZEROS: "global"}
"""The space of the variables of a section."""


class OtherVersionWarning(WarpregWarning):
    """A cubin of a later release than that of the disassembler."""


@dataclass(frozen=True, eq=False)
class BinaryCode:
    """The code of a module: its ``records``, and the bytes of the cubin or the listing that there is instead.

    ``parameters``: offset and bytes of each parameter by kernel; a kernel is absent if nothing says them.
    """

    architecture: str
    file: str
    records: Cubin
    data: bytes
    listed: Listing | None
    parameters: Mapping[str, Sequence[tuple[int, int]]]

    @functools.cached_property
    def listing(self) -> Listing:
        """Raises VendorToolMissingError without the ``cuda`` extra, MachineCodeError for what it cannot list."""
        if self.listed is not None:
            return self.listed
        return listing.parse(_disassembled(self.data, self.file, self.records.version), f"listing of {self.file}")

    def kernel(self, module: Module, name: str) -> Kernel:
        """A kernel of the module.  Raises UnknownNameError, MachineCodeError, UnsupportedError."""
        function = self.listing.functions.get(name)
        if function is None:
            raise UnknownNameError(f"kernel in {self.file}", name, self.listing.functions)
        file = self.file if self.listed is not None else f"listing of {self.file}"
        slots = zip(module.function(name).parameters, self.parameters.get(name, ()), strict=True)
        parameters = tuple(
            Parameter(one.name, one.type, offset, size, alignment=one.alignment) for one, (offset, size) in slots
        )
        declared = Kernel(name, parameters, (), module)
        return lift(Code(function, self.architecture, self.records, file), declared)

    def knows_parameters(self, name: str) -> bool:
        """Whether the parameters of a kernel are known."""
        return name in self.parameters

    def with_parameters(self, module: Module, name: str, slots: Sequence[tuple[int, int]]) -> Module:
        """The module with parameters of these bytes and alignments, in order, for a kernel."""
        placed: list[tuple[int, int]] = []
        end = 0
        for size, alignment in slots:
            first = align(end, alignment)
            placed.append((first, size))
            end = first + size
        code = replace(self, parameters={**self.parameters, name: placed})
        items = tuple(
            replace(one, parameters=_parameters(name, placed))
            if isinstance(one, Function) and one.name == name
            else one
            for one in module.items
        )
        digest = hashlib.sha256(f"{module.digest} {name} {placed}".encode()).hexdigest()
        return replace(module, items=items, digest=digest, code=code)


def module_of_cubin(data: bytes, file: str) -> Module:
    """The module of a cubin.  Raises MachineCodeError for a file that is none, is damaged, or has no kernel."""
    return _module(cubin.read(data, file), file, data, None, is_whole=True)


def module_of_listing(listed: Listing, file: str, records: Cubin | None, text: str) -> Module:
    """The module of a listing, with the records of its cubin, if there is one; without, the registers are those that
    the listing names, and the parameters of kernels are unknown."""
    return _module(records or _derived(listed), file, text.encode(), listed, is_whole=records is not None)


def _module(records: Cubin, file: str, data: bytes, listed: Listing | None, is_whole: bool) -> Module:
    """``is_whole``: the records are those of a cubin."""
    kernels = [one for one in records.kernels.values() if one.is_entry]
    if not kernels:
        raise MachineCodeError(f"{file}: it has no kernel")
    known = {one.name: [one.parameters[n] for n in sorted(one.parameters)] for one in kernels if is_whole}
    functions = tuple(
        Function(one.name, True, _parameters(one.name, known.get(one.name, ())), body=()) for one in kernels
    )
    code = BinaryCode(records.architecture, file, records, data, listed, known)
    return Module(
        "8.0",
        (records.architecture,),
        ADDRESS_BITS,
        (*_variables(records), *functions),
        file,
        hashlib.sha256(records.architecture.encode() + data).hexdigest(),
        code=code,
    )


def _parameters(kernel: str, slots: Iterable[tuple[int, int]]) -> tuple[Variable, ...]:
    """Declarations of parameters: untyped words, or bytes aligned as far as offset and size allow."""
    return tuple(
        _variable("param", f"{kernel}_param_{number}", size, alignment=_alignment(offset | size))
        for number, (offset, size) in enumerate(slots)
    )


def _alignment(bits: int) -> int:
    """The greatest power of two that divides a number, up to `MAX_ALIGNED`."""
    return min(bits & -bits, MAX_ALIGNED) if bits else 1


def _variable(space: str, name: str, size: int, alignment: int = 0, initializer: Content | None = None) -> Variable:
    type_ = TYPES.get(f"b{8 * size}")
    is_word = type_ is not None and type_.bits <= ADDRESS_BITS
    return Variable(
        space,
        type_ if is_word and type_ else TYPES["b8"],
        name,
        alignment,
        () if is_word else (size,),
        initializer=initializer,
        linkage="visible",
    )


def _variables(records: Cubin) -> Iterable[Variable]:
    """Variables of global and constant memory, and references to textures; one whose bytes are all 0 has no
    initialiser."""
    for section, space in SPACES.items():
        content, addresses = records.contents.get(section, b""), records.relocated.get(section, {})
        for one in records.symbols.get(section, ()):
            if not one.bytes:
                continue
            data = content[one.offset : one.offset + one.bytes]
            held = tuple(
                (at - one.offset, Symbol(found.symbol, found.addend))
                for at, found in sorted(addresses.items())
                if one.offset <= at < one.offset + one.bytes
            )
            initial = Content(data, held) if any(data) or held else None
            yield _variable(space, one.name, one.bytes, _alignment(one.offset | one.bytes), initial)
    for name, type_ in records.references.items():
        yield Variable("global", TYPES[type_], name, linkage="visible")


def _derived(listed: Listing) -> Cubin:
    """The records that a listing alone tells."""
    kernels = {
        name: cubin.KernelRecord(name, function.registers, frame_bytes(function), is_entry=True)
        for name, function in listed.functions.items()
    }
    return Cubin(kernels, {}, {}, {}, listed.architecture)


def frame_bytes(function: listing.Function) -> int:
    """The local memory of a thread: what the code takes from the stack pointer ``R1``."""
    taken = [0]
    for one in function.instructions:
        words = [word.strip() for word in one.operands.split(",")]
        if words[:2] == ["R1", "R1"] and words[2].startswith("-0x"):
            taken.append(-int(words[2], 16))
    return sum(taken)


def _disassembled(data: bytes, file: str, version: str) -> str:
    """The listing of a cubin, kept on disk."""
    own = version_of("nvdisasm")
    key = store.key_of(hashlib.sha256(data).hexdigest(), own)
    kept = store.read(KIND, key)
    if kept is not None:
        text: str = pickle.loads(kept)
        return text
    made = f"made by CUDA {version}" if version else "of an unknown release"
    try:
        text = disassembled(data)
    except VendorToolError as error:
        last = str(error).splitlines()[-1]
        raise MachineCodeError(f"{file}: nvdisasm {own} cannot list this cubin, {made}: {last}") from error
    if _numbers(version) > _numbers(own):
        warnings.warn(f"{file}: {made}, listed by nvdisasm {own}, which may not know it", OtherVersionWarning, 2)
    store.write(KIND, key, pickle.dumps(text))
    return text


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
