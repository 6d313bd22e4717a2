"""PTX virtual registers -> architected registers: build, simplify, schedule, allocate, verify."""

from warpreg.codegen.build.build import build
from warpreg.codegen.machine.latency_model import Cycles
from warpreg.codegen.machine.targets import PLAIN, TARGETS, Target, target
from warpreg.codegen.pipeline import LEVELS, MACHINE, CompileOptions, compile, pipeline, translate

__all__ = [
    "LEVELS",
    "MACHINE",
    "PLAIN",
    "TARGETS",
    "CompileOptions",
    "Cycles",
    "Target",
    "build",
    "compile",
    "pipeline",
    "target",
    "translate",
]
