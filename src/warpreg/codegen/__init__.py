"""PTX virtual registers -> architected registers: build, simplify, schedule, allocate, verify."""

from warpreg.codegen.build import build
from warpreg.codegen.pipeline import CompileOptions, compile, pipeline

__all__ = ["CompileOptions", "build", "compile", "pipeline"]
