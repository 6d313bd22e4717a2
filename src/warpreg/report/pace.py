"""How fast work is done, and when it will be finished, in words."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

FIRST_S = 2.0
"""Seconds of work after which its pace is known."""


class Pace:
    """The mean rate since the work began; what was found finished, such as kept results, has no part in it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.began, self.done, self.total = clock(), 0.0, 0.0
        self._found = 0.0

    def begin(self, total: float, done: float = 0) -> None:
        """Begin to measure with so much done."""
        self.began, self.done, self.total, self._found = self._clock(), done, total, done

    def advance(self, done: float) -> None:
        """So much more is done."""
        self.done += done

    def find(self, done: float) -> None:
        """So much more was done before."""
        self.done += done
        self._found += done

    def as_dict(self) -> dict[str, float]:
        """For a log; ``began`` in seconds since 1970, by the clock as it is set now."""
        return {
            "began": time.time() - (self._clock() - self.began),
            "done": self.done,
            "found": self._found,
            "total": self.total,
        }

    @staticmethod
    def of_dict(values: Mapping[str, float], now: float) -> Pace:
        """The pace of a log, at a time in seconds since 1970."""
        pace = Pace(lambda: now)
        pace.begin(values["total"], values["found"])
        pace.began, pace.done = values["began"], values["done"]
        return pace

    @property
    def rate(self) -> float | None:
        """Units per second; None if it is not known yet."""
        taken_s, done = self._clock() - self.began, self.done - self._found
        return done / taken_s if done > 0 and taken_s >= FIRST_S else None

    @property
    def left_s(self) -> float | None:
        """Seconds until the end; None if they are not known."""
        rate = self.rate
        return None if rate is None or self.total <= 0 else max(0.0, self.total - self.done) / rate

    def words(self, unit: str = "", now: datetime | None = None) -> str:
        """``12 of 40 cells, 2.1 a minute, 3:12 left, ends 14:05``, as far as it is known."""
        if not self.total:
            return ""
        parts = [f"{amount(self.done)} of {amount(self.total)} {unit}".rstrip()]
        if (rate := self.rate) is not None and (left_s := self.left_s) is not None:
            parts += [rate_words(rate), f"{duration(left_s)} left", f"ends {end_words(left_s, now or datetime.now())}"]
        return ", ".join(parts)


def amount(value: float) -> str:
    """A number with three digits or as many as a count has: ``40``, ``1,204``, ``3.41 M``."""
    for limit, suffix in ((1e9, " G"), (1e6, " M"), (1e5, " k")):
        if value >= limit:
            scaled = value / (1e3 if limit == 1e5 else limit)
            return f"{scaled:.3g}{suffix}" if scaled < 999.5 else f"{scaled:,.0f}{suffix}"
    return f"{value:,.0f}"


def rate_words(rate: float) -> str:
    """A rate in the unit of time in which it is at least one, if there is such a unit."""
    if rate >= 1:
        return f"{amount(rate)} a second" if rate >= 10 else f"{rate:.1f} a second"
    return f"{rate * 60:.1f} a minute" if rate * 60 >= 1 else f"{rate * 3600:.2g} an hour"


def duration(seconds: float) -> str:
    """``3:12``, ``2:03:12``, ``3 days 2:03:12``."""
    return str(timedelta(seconds=round(seconds))).removeprefix("0:").replace(", ", " ")


def end_words(left_s: float, now: datetime) -> str:
    """The local time of the end, with the day if that is another one."""
    end = now + timedelta(seconds=left_s)
    return end.strftime("%H:%M" if end.date() == now.date() else "%a %d %b %H:%M")
