"""Kernels in the machine code of ``ptxas``: PTX to cubin, cubin to listing, listing to kernel."""

from __future__ import annotations

import functools
import hashlib
import pickle
from dataclasses import dataclass

from warpreg import ptx
from warpreg.cache import store
from warpreg.codegen import build_kernel
from warpreg.ir.errors import UnknownNameError, WarpregError
from warpreg.ir.kernel import Kernel
from warpreg.ir.module import Module
from warpreg.machine_code import cubin, listing
from warpreg.machine_code.code import Code
from warpreg.machine_code.lift import lift
from warpreg.machine_code.tools import assembled, disassembled, ptxas_version

ARCHITECTURES = ("sm_80", "sm_90")
KIND, HASHES = "cubins", "cubin-hashes"
KEPT = 8
"""Modules whose code is kept in memory."""


@dataclass(frozen=True)
class MachineCode:
    """The assembler ``ptxas`` of a ``version`` for an ``architecture``; ``max_registers`` limits those of a thread.

    With ``lines``, instructions name their source lines; the code is the same.
    """

    architecture: str
    version: str
    max_registers: int | None = None
    lines: bool = False

    @classmethod
    def of(cls, architecture: str, max_registers: int | None = None) -> MachineCode:
        """The installed assembler.  Raises UnknownNameError, `VendorToolMissingError` without the ``cuda`` extra."""
        if architecture not in ARCHITECTURES:
            raise UnknownNameError("architecture of machine code", architecture, ARCHITECTURES)
        return cls(architecture, ptxas_version(), max_registers)

    def kernel(self, module: Module, name: str) -> Kernel:
        """A kernel of a module, lifted.

        Raises `VendorToolError` for PTX that ``ptxas`` rejects, `MachineCodeError`, UnsupportedError.
        """
        code = _code_of(ptx.write(module), self)
        function = code.listing.functions.get(name)
        if function is None:
            raise WarpregError(f"kernel '{name}': ptxas made no code of it for {self.architecture}")
        file = f"{name}.{self.architecture}.sass"
        return lift(Code(function, self.architecture, code.records, file), build_kernel(module, name))

    def code_hash(self, module: Module) -> str:
        """The SHA-256 of the cubin of a module; kept on disk, so that a compiled kernel is found without its cubin."""
        text = module.digest or hashlib.sha256(ptx.write(module).encode()).hexdigest()
        key = self._key(text)
        kept = store.read(HASHES, key)
        if kept is None:
            kept = hashlib.sha256(self.files(ptx.write(module))[0]).hexdigest().encode()
            store.write(HASHES, key, kept)
        return kept.decode()

    def files(self, text: str) -> tuple[bytes, str]:
        """The cubin of PTX text, and its listing; kept on disk."""
        key = self._key(text)
        data = store.read(KIND, key)
        if data is None:
            made = assembled(text, self.architecture, self._options)
            data = pickle.dumps((made, disassembled(made, lines=self.lines)))
            store.write(KIND, key, data)
        binary, listed = pickle.loads(data)
        return binary, listed

    @property
    def _options(self) -> list[str]:
        limit = [] if self.max_registers is None else [f"-maxrregcount={self.max_registers}"]
        return [*limit, *(["-lineinfo"] if self.lines else [])]

    def _key(self, text: str) -> str:
        return store.key_of(text, self.architecture, self.version, str(self._options))


@dataclass(frozen=True)
class ModuleCode:
    """The code of a module: what its cubin says, and its listing."""

    records: cubin.Cubin
    listing: listing.Listing


@functools.lru_cache(maxsize=KEPT)
def _code_of(text: str, assembler: MachineCode) -> ModuleCode:
    binary, listed = assembler.files(text)
    return ModuleCode(cubin.read(binary), listing.parse(listed))
