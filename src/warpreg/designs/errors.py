"""Errors of designs: each names the author's file and line where there is one."""

from __future__ import annotations

from warpreg.ir.errors import InterruptedCodeError, WarpregError


class DesignError(WarpregError):
    """An invalid design; one line, ``file:line: what is wrong``."""


class DesignInterruptedError(DesignError, InterruptedCodeError):
    """The user has interrupted a design's own code."""


class ParameterError(DesignError):
    """A parameter value outside its declared type or range."""
