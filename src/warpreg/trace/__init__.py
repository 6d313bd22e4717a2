"""What a run leaves behind: paths, addresses and value widths, and the file that holds them."""

from warpreg.trace.file import Stream, Trace, TraceError, TraceWriter
from warpreg.trace.path import PathWord, Visit, visits

__all__ = ["PathWord", "Stream", "Trace", "TraceError", "TraceWriter", "Visit", "visits"]
