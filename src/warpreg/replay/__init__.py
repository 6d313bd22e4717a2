"""Replay: access counts of a design over a recorded path, and the register profile of a run; no cycles.

``replay(trace, kernel, "rfc", entries=6)`` returns :class:`Counts`, ``profile(trace, kernel)`` a :class:`Profile`.
"""

from warpreg.counting.counts import Counts, together
from warpreg.counting.distinct_warps import DistinctWarps, distinct_warps
from warpreg.counting.errors import ReplayError
from warpreg.replay.profile import Profile, profile
from warpreg.replay.replay import Suspend, replay, replay_launches

__all__ = [
    "Counts", "DistinctWarps", "Profile", "ReplayError", "Suspend", "distinct_warps", "profile", "replay",
    "replay_launches", "together",
]  # fmt: skip
