"""PTX virtual registers -> architected registers: build, simplify, schedule, allocate, verify."""

from warpreg.codegen.build import build
from warpreg.codegen.pipeline import CompileOptions, compile, pipeline
from warpreg.codegen.target import PLAIN, TARGETS, Target, target

__all__ = ["PLAIN", "TARGETS", "CompileOptions", "Target", "build", "compile", "pipeline", "target"]
