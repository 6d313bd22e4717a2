"""A core of one line that asks a single hook, in place of the whole one, which takes long to compile.

It is built, keyed and kept on disk as the whole one is, and refuses a wrong hook alike.
"""

from __future__ import annotations

from typing import Any

from warpreg.timing.core import ports
from warpreg.timing.core.columns import clock
from warpreg.timing.core.status import DONE

FIRST, SECOND, BOTH = 1, 2, 3


def run(c: Any, memory: Any, d: Any) -> int:
    """Asks ``priority`` of the first two warps of a scheduler; which of them go first is how long the run takes."""
    c.clock[clock.ENDED_BLOCKS] = 1
    sm: Any = 0
    c.clock[clock.LAST_LEFT] = ports.prefer(c, d, sm, 0, BOTH, 0) - 1
    return DONE
