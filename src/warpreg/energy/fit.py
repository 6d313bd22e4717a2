"""Fits the array model of a technology: each kind of array through the points that the file prints for its levels."""

from __future__ import annotations

from collections.abc import Mapping

from warpreg.energy.array import (
    FLIP_FLOP,
    FORMS,
    SLICES,
    SRAM,
    ArrayKind,
    ArrayModel,
    FlipFlopModel,
    SliceModel,
    SramModel,
    least_squares,
)
from warpreg.energy.sections import FlipFlopConstants, Level, Process, SramConstants
from warpreg.gpu.sourced import Document

MRF = "MRF"


def kinds_of(document: Document) -> tuple[str, ...]:
    """The kinds of array of a technology: those named after a form, and each further section ``[model.KIND]``."""
    return tuple(sorted({*FORMS, *document.keys("model")}))


def fitted(document: Document, process: Process, levels: Mapping[str, Level]) -> ArrayModel:
    """The array model; kinds that no level has are left out.  Raises the document's error for a wrong section."""
    if MRF not in levels or _form(document, levels[MRF].array) != SRAM:
        raise document.refusal(f"level.{MRF}", f"a level {MRF} with array sram", "none")
    kinds = {}
    for name in kinds_of(document):
        of_kind = {key: level for key, level in levels.items() if level.array == name}
        form = _form(document, name)
        if of_kind:
            kinds[name] = FITS[form](document, name, process, of_kind)
    return ArrayModel(kinds, process.node)


def _form(document: Document, kind: str) -> str:
    """The form of a kind of array, a kind of that name by default."""
    if "form" not in document.keys(f"model.{kind}"):
        if kind not in FORMS:
            raise document.refusal(f"model.{kind}.form", f"an entry: {' or '.join(FORMS)}", "nothing")
        return kind
    return str(document.entry(f"model.{kind}.form", SramConstants))


def _flip_flops(document: Document, kind: str, process: Process, levels: Mapping[str, Level]) -> ArrayKind:
    """The least-squares lines through the energies of all levels, at the supply of the process."""
    points = {point for level in levels.values() for point in _at(process.voltage, process, level)}
    constants = document.section(f"model.{kind}", FlipFlopConstants)
    to_fj_per_bit = 1000 / process.access
    model = FlipFlopModel(
        read=least_squares([(words, read * to_fj_per_bit) for words, read, _ in sorted(points)]),
        write=least_squares([(words, write * to_fj_per_bit) for words, _, write in sorted(points)]),
        cell_area_um2=constants.cell_area,
        multiplexer_area_um2=constants.multiplexer_area,
        leakage_nw_per_um2=constants.leakage_density,
        level_delay_ns=constants.level_delay,
    )
    return ArrayKind(model, process.voltage)


def _at(voltage: float, process: Process, level: Level) -> tuple[tuple[int, float, float], ...]:
    """The printed points of a level at another supply."""
    scale = (voltage / (level.voltage or process.voltage)) ** 2
    return tuple((words, read * scale, write * scale) for words, read, write in level.printed())


def _sram(document: Document, kind: str, process: Process, levels: Mapping[str, Level]) -> ArrayKind:
    """Scaled from the smallest bank of the reference level, at the supply of that level."""
    model, voltage = _scaled(document, kind, process, levels)
    return ArrayKind(model, voltage)


def _slices(document: Document, kind: str, process: Process, levels: Mapping[str, Level]) -> ArrayKind:
    """As `_sram`, with the least-squares lines through the energies of all levels."""
    model, voltage = _scaled(document, kind, process, levels)
    share = model.reference.word_bits / process.access
    points = sorted({point for level in levels.values() for point in _at(voltage, process, level)})
    lines = (least_squares([(point[0], point[column] * share) for point in points]) for column in (1, 2))
    return ArrayKind(SliceModel(model, *lines), voltage)


def _scaled(document: Document, kind: str, process: Process, levels: Mapping[str, Level]) -> tuple[SramModel, float]:
    """The model of the smallest bank of the reference level, and its supply."""
    bank = levels.get(MRF) or next(iter(levels.values()))
    words, read, write = bank.printed()[0]
    constants = document.section(f"model.{kind}", SramConstants)
    voltage = bank.voltage or process.voltage
    at_this_voltage = voltage / constants.leakage_voltage
    share = bank.word / process.access
    model = SramModel(
        reference=bank.spec(words),
        read_pj=read * share,
        write_pj=write * share,
        area_um2=constants.area,
        leakage_nw_per_bit=constants.leakage * 1e6 / constants.leakage_bits * at_this_voltage,
        access_ns=constants.access_time,
        access_bits=constants.access_time_bits,
        cell_tracks=constants.cell_tracks,
    )
    return model, voltage


FITS = {FLIP_FLOP: _flip_flops, SRAM: _sram, SLICES: _slices}
