"""The table of timing classes and latencies, ``latencies.toml``, where every number has its source."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from warpreg.ir.errors import UnknownNameError, WarpregError
from warpreg.ir.toml_files import STRICT, read_toml

ARCHITECTURES = ("sm_80", "sm_90")
PIPES = frozenset({"alu", "fma", "half", "fp64", "uniform"})
"""Kinds of consumers that read predicates and uniform registers in their pipe; all others when they are dispatched."""

FILE = Path(__file__).with_name("latencies.toml")

File = Literal["register", "predicate", "uniform"]


class LatencyTableError(WarpregError):
    """A table of latencies that is not complete or has unknown keys."""


class Order(BaseModel):
    """Queues of a class of variable latency: its instructions read their sources in the order of the queue ``reads``,
    and write results in the order of ``results``; without one, in any order."""

    model_config = STRICT
    reads: str = ""
    results: str = ""


class ClassRow(BaseModel):
    """Opcodes of a timing class, some with one modifier (``IMAD.WIDE``); a class of fixed latency has no ``order``."""

    model_config = STRICT
    name: str
    opcodes: str
    source: str
    architectures: list[str] = list(ARCHITECTURES)
    order: Order | None = None


class LatencyRow(BaseModel):
    """Cycles from a class of producers of a register file to each kind of consumer."""

    model_config = STRICT
    file: File
    producer: str
    cycles: dict[str, int]
    source: str
    architectures: list[str] = list(ARCHITECTURES)


class LatencyFile(BaseModel):
    """The whole file; ``reads`` has the kind of consumer of a class that does not read as itself."""

    model_config = STRICT
    classes: list[ClassRow]
    reads: dict[str, str]
    latencies: list[LatencyRow]


@dataclass(frozen=True, slots=True)
class TimingClass:
    """The timing of an opcode: ``reads_as`` is the kind of consumer that it is; ``order`` is None if its latency is
    fixed."""

    name: str
    reads_as: str
    order: Order | None

    @property
    def is_fixed(self) -> bool:
        """Whether results appear a known number of cycles after issue."""
        return self.order is None

    def result_class(self, word: int, words: int) -> str:
        """The producer class of a word of a result; those of wide products differ by word."""
        if self.name == "wide":
            return "wide-low" if word == 0 and words == 2 else "wide-high"
        return self.name


@dataclass(frozen=True, eq=False)
class Latencies:
    """Timing classes by opcode, and cycles by (file, producer class, kind of consumer), of one architecture."""

    architecture: str
    classes: dict[str, TimingClass]
    cycles: dict[tuple[str, str], dict[str, int]]

    @classmethod
    def of(cls, architecture: str) -> Latencies:
        """The latencies of an architecture.  Raises UnknownNameError, LatencyTableError."""
        if architecture not in ARCHITECTURES:
            raise UnknownNameError("architecture with latencies", architecture, ARCHITECTURES)
        return _of(architecture)

    def needed(self, file: str, producer: str, consumer: str) -> int:
        """The least cycles from the issue of a producer of fixed latency to the issue of a consumer; the largest of the
        producer's if the table does not have this kind of consumer, 1 if it does not have the producer."""
        row = self.cycles.get((file, producer), {})
        return row.get(consumer, self.most(file, producer))

    def most(self, file: str, producer: str) -> int:
        """The cycles from a producer to whatever reads its result; 1 without a row."""
        return max(self.cycles.get((file, producer), {}).values(), default=1)

    def to_result(self, file: str, producer: str) -> int:
        """The least cycles to a consumer in one of the `PIPES`: when a result is there."""
        row = self.cycles.get((file, producer), {})
        return min((cycles for kind, cycles in row.items() if kind in PIPES), default=1)

    @functools.cached_property
    def longest(self) -> int:
        """The most cycles of any pair."""
        return max(cycles for row in self.cycles.values() for cycles in row.values())


@functools.cache
def _of(architecture: str) -> Latencies:
    table = read_toml(FILE, LatencyFile, LatencyTableError)
    classes = {
        opcode: TimingClass(row.name, table.reads.get(row.name, row.name), row.order)
        for row in table.classes
        if architecture in row.architectures
        for opcode in row.opcodes.split()
    }
    cycles: dict[tuple[str, str], dict[str, int]] = {
        (row.file, row.producer): row.cycles for row in table.latencies if architecture in row.architectures
    }
    return Latencies(architecture, classes, cycles)
