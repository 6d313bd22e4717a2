"""Host code: the target machine, LLVM modules to object code, object code to callable addresses."""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import llvmlite
from llvmlite import binding

import warpreg
from warpreg.cache import compiled_code, store
from warpreg.ir.errors import WarpregError


@functools.cache
def _initialized() -> bool:
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return True


VECTOR_BITS_VARIABLE = "WARPREG_VECTOR_BITS"
"""Environment variable that limits the vectors of compiled kernels; ``256`` removes the instructions of wider ones."""

WIDER_THAN_256 = ("avx512", "avx10", "evex512", "amx")
"""Beginnings of the names of CPU features that need, or come with, 512-bit vectors."""


@functools.cache
def host() -> tuple[str, str]:
    """The host's CPU name and LLVM feature string, limited by `VECTOR_BITS_VARIABLE`.  Raises WarpregError."""
    _initialized()
    limit = os.environ.get(VECTOR_BITS_VARIABLE, "512")
    if limit not in ("256", "512"):
        raise WarpregError(f"{VECTOR_BITS_VARIABLE}: expected 256 or 512, found {limit!r}")
    features = binding.get_host_cpu_features()
    if limit == "256":
        features = binding.FeatureMap({n: on and not n.startswith(WIDER_THAN_256) for n, on in features.items()})
    return binding.get_host_cpu_name(), features.flatten()


@functools.cache
def vector_bits() -> int:
    """Widest SIMD register of the host, in bits."""
    features = host()[1].split(",")
    return 512 if "+avx512f" in features else 256 if "+avx2" in features else 128


@functools.cache
def can_compress() -> bool:
    """Whether the host has an instruction that moves selected bytes and 16-bit parts of a vector together."""
    return "+avx512vbmi2" in host()[1].split(",")


@functools.cache
def target_machine() -> Any:
    _initialized()
    cpu, features = host()
    target = binding.Target.from_default_triple()
    return target.create_target_machine(cpu=cpu, features=features, opt=1, reloc="pic", codemodel="default", jit=True)


def limit_vectors(bits: int) -> None:
    """Compile for vectors of at most ``bits`` (256 or 512) from now on, in this process and in those that it starts."""
    os.environ[VECTOR_BITS_VARIABLE] = str(bits)
    for function in (host, vector_bits, can_compress, target_machine, identity):
        function.cache_clear()


def object_code(text: str, optimize: bool = False) -> bytes:
    """Object code of an LLVM module; ``optimize`` first promotes stack variables to values and simplifies.

    Raises RuntimeError (from LLVM) for malformed IR, which is a defect of the code generator.
    """
    with parsed(text, optimize) as module:
        return bytes(target_machine().emit_object(module))


@contextmanager
def parsed(text: str, optimize: bool = False) -> Iterator[Any]:
    """The module in LLVM, which is closed at the end: Ctrl-C in a finalizer would be lost."""
    _initialized()
    with binding.parse_assembly(text) as module:
        if optimize:
            _optimize(module)
        yield module


def _optimize(module: Any) -> None:
    with (
        binding.create_new_module_pass_manager() as passes,
        binding.create_pipeline_tuning_options() as options,
        binding.create_pass_builder(target_machine(), options) as builder,
    ):
        passes.add_sroa_pass()
        passes.add_simplify_cfg_pass()
        passes.add_instruction_combine_pass()
        passes.run(module, builder)


_LOADED: dict[str, Library] = {}


def cached_library(name: str, text: Callable[[], str]) -> Library:
    """A library of native operations, optimized and loaded; ``text`` returns its LLVM IR if ``name`` is not cached.

    Each is loaded once per process: a library needs several memory mappings, whose number per process is limited.
    """
    if name not in _LOADED:
        _LOADED[name] = _read_or_build(name, text)
    return _LOADED[name]


def _read_or_build(name: str, text: Callable[[], str]) -> Library:
    key = store.key_of(name, identity())
    code = compiled_code.read("objects", key)
    if code is None:
        code = object_code(text(), optimize=True)
        store.write("objects", key, code)
    return Library(code)


COMPILER = ("ir", "ptx", "analysis", "codegen", "machine_code", "simt", "trace")
"""The packages whose sources determine the compiled code of a kernel."""


@functools.cache
def identity() -> str:
    """Digest of everything except the input that compiled code depends on: the host, LLVM, and the sources of the
    compiling packages, so that an edited compiler does not use stale code."""
    digest = hashlib.sha256()
    root = Path(warpreg.__file__).parent
    for package in COMPILER:
        for path in sorted((root / package).rglob("*.py")):
            content = path.read_bytes()
            digest.update(f"{path.relative_to(root)}\0{len(content)}\0".encode() + content)
    versions = (llvmlite.__version__, ".".join(map(str, binding.llvm_version_info)))
    return "\n".join((*host(), *versions, digest.hexdigest()))


class Library:
    """Loaded object code; addresses are valid as long as the library lives."""

    def __init__(self, code: bytes) -> None:
        _initialized()
        self._module = binding.parse_assembly("")
        self._engine = binding.create_mcjit_compiler(self._module, _engine_machine())
        self._engine.add_object_file(binding.ObjectFileRef.from_data(code))
        self._engine.finalize_object()

    def address(self, name: str) -> int:
        """The address of a function.  Raises KeyError if the library lacks it."""
        address = int(self._engine.get_function_address(name))
        if not address:
            raise KeyError(name)
        return address


def _engine_machine() -> Any:
    cpu, features = host()
    target = binding.Target.from_default_triple()
    return target.create_target_machine(cpu=cpu, features=features, opt=1, jit=True)
