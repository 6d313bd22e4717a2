"""PTX virtual registers -> architected registers: build, simplify, schedule, allocate, verify."""

from warpreg.codegen.build import build
from warpreg.codegen.cycles import Cycles
from warpreg.codegen.pipeline import LEVELS, MACHINE, CompileOptions, compile, pipeline, translate
from warpreg.codegen.targets import PLAIN, TARGETS, Target, target

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
