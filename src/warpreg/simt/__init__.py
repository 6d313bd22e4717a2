"""Runs kernels natively: warps of 32 lanes on the host's SIMD units, memory checked lane by lane, paths recorded."""

from warpreg.simt.kernel.native_kernel import Record
from warpreg.simt.launch.device import Device, UnfilledWarning
from warpreg.simt.launch.faults import (
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
from warpreg.simt.launch.launch import STACK_BYTES, Launch
from warpreg.simt.launch.structures import Structure
from warpreg.simt.launch.texture_arguments import SurfaceArgument, TextureArgument
from warpreg.simt.memory.arena import Buffer, GlobalMemory
from warpreg.simt.memory.heap import HEAP_BYTES
from warpreg.simt.texture.arrays import TextureError
from warpreg.simt.texture.objects import Sampler, Surface, Texture

__all__ = [
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
    "Structure",
    "Surface",
    "SurfaceArgument",
    "Texture",
    "TextureArgument",
    "TextureError",
    "TextureFault",
    "StackFault",
    "TaintFault",
    "TrapFault",
    "UnfilledWarning",
]
