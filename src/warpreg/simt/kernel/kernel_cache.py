"""Disk cache of compiled kernels, so that a kernel compiled before is ready in milliseconds.

An entry's key covers the text (or the bytes of machine code), the kernel's name, the compile and recording options,
and `object_code.identity`.
"""

from __future__ import annotations

import hashlib
import pickle
from dataclasses import replace

from piecewise_numba.collector_pause import collector_paused
from warpreg import codegen, ptx
from warpreg.cache import store
from warpreg.cache.identity import spelled
from warpreg.codegen import CompileOptions
from warpreg.ir.compile_observer import compile_step, compiling
from warpreg.ir.kernel import Kernel
from warpreg.ir.module import Module
from warpreg.simt.kernel.native_kernel import Image, NativeKernel, Record, load
from warpreg.simt.llvm import object_code

KIND = "kernels"


def load_or_compile(module: Module, name: str, options: CompileOptions | None, record: Record) -> NativeKernel:
    """A kernel of a module as native code, compiled only if the disk cache lacks it.

    Raises UnknownNameError, UnsupportedError and the errors of the compiler passes.
    """
    text = module.digest or hashlib.sha256(ptx.write(module).encode()).hexdigest()
    key = store.key_of(text, name, spelled(options), spelled(record), object_code.identity())
    with collector_paused():
        image = _read(key)
        if image is None:
            translated = options or module.code
            kernel = codegen.translate(module, name, options) if translated else codegen.build_kernel(module, name)
            from warpreg.simt.kernel.compile_image import compile_image  # not imported if the kernel is in the cache

            with compiling(name):
                compile_step("native code")
                image = compile_image(kernel, record)
            store.write(KIND, key, pickle.dumps(_detached(image), pickle.HIGHEST_PROTOCOL))
    return load(replace(image, kernel=_attached(image.kernel, module)), record)


def _read(key: str) -> Image | None:
    """The entry, or None if there is none."""
    data = store.read(KIND, key)
    if data is None:
        return None
    image: Image = pickle.loads(data)
    return image


def _detached(image: Image) -> Image:
    """The image without the module, which the reader already has, and without cached analyses."""
    bare = Module(image.kernel.module.version, image.kernel.module.target, image.kernel.module.address_size, ())
    return replace(image, kernel=_attached(image.kernel, bare))


def _attached(kernel: Kernel, module: Module) -> Kernel:
    return replace(kernel, module=module, analyses={})
