"""Runs kernels natively: warps of 32 lanes on the host's SIMD units, memory checked lane by lane, paths recorded."""

from warpreg.simt.device import Device
from warpreg.simt.faults import (
    AssertionFault,
    DeadlockError,
    ExecutionError,
    LaunchError,
    MemoryFault,
    RunawayError,
    StackFault,
    TaintFault,
    TextureFault,
    TrapFault,
)
from warpreg.simt.heap import HEAP_BYTES
from warpreg.simt.launch import STACK_BYTES, Launch
from warpreg.simt.memory import Buffer, GlobalMemory
from warpreg.simt.native_kernel import Record
from warpreg.simt.taints import FILE, TaintEvent, Taints, TaintWrite
from warpreg.simt.texture_arguments import SurfaceArgument, TextureArgument
from warpreg.simt.texture_arrays import TextureError
from warpreg.simt.textures import Sampler, Surface, Texture

__all__ = [
    "FILE",
    "HEAP_BYTES",
    "STACK_BYTES",
    "AssertionFault",
    "Buffer",
    "DeadlockError",
    "Device",
    "ExecutionError",
    "GlobalMemory",
    "Launch",
    "LaunchError",
    "MemoryFault",
    "Record",
    "RunawayError",
    "Sampler",
    "Surface",
    "SurfaceArgument",
    "Texture",
    "TextureArgument",
    "TextureError",
    "TextureFault",
    "StackFault",
    "TaintEvent",
    "TaintFault",
    "TaintWrite",
    "Taints",
    "TrapFault",
]
