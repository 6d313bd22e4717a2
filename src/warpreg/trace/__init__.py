"""Recordings of a run: paths, addresses, value widths and schedules, and their file format."""

from warpreg.trace.chunked import Stream, TraceError
from warpreg.trace.file import Trace, TraceWriter
from warpreg.trace.path import PathWord, Visit, visits
from warpreg.trace.schedule import Schedule, ScheduleWord, ScheduleWriter, Slots

__all__ = [
    "PathWord", "Schedule", "ScheduleWord", "ScheduleWriter", "Slots", "Stream", "Trace", "TraceError", "TraceWriter",
    "Visit", "visits",
]  # fmt: skip
