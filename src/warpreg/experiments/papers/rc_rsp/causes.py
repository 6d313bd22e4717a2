"""Causes and ablations of `warpreg.experiments.papers.rc_rsp.results`, and remarks on results that none explains.

The paper takes its energies from CACTI and does not print them; those here are of CACTI too, for organisations that
come near to the printed times and areas.  What a difference owes to these prices is in the frame `frames.gaps` and in
the band of each energy; no other prices have a source, so no ablation changes them.
"""

from __future__ import annotations

from collections.abc import Mapping

from warpreg.experiments.papers.ablation import Ablation
from warpreg.experiments.papers.cause import Cause

FEW_WARPS = 16
"""Warps of an SM: four per scheduler, as many as are active."""

ABLATIONS: Mapping[str, Ablation] = {
    "through-barriers": Ablation(
        "strands go on at barriers", parts=("scratchpad",), parameters={"rsp": {"flush_at_barriers": False}}
    ),
    "sets-by-register": Ablation(
        "a line of the cache goes by its register's number alone",
        parts=("designs",),
        parameters={design: {"sets_by": "register"} for design in ("rc", "rc-rsp")},
    ),
    "few-warps": Ablation(
        f"an SM holds {FEW_WARPS} warps, all of them active", parts=("designs",), machine={"warps": {None: FEW_WARPS}}
    ),
}

_BARRIERS = Cause(
    "model",
    "strands end at barriers, of which the paper does not speak: a warp that waits at one gives up its part of the"
    " scratchpad",
    "through-barriers",
)
_SETS = Cause(
    "model",
    "the paper does not say to which set of the cache a register goes; if that depends on its number alone, warps in"
    " the same code meet in a set, and the cache alone loses more than the hybrid",
    "sets-by-register",
)
_INPUTS = Cause(
    "input",
    "the paper does not say which inputs it ran, which decide how many warps an SM holds; here most hold more than are"
    " active (figure of resident warps), so that much of what a warp leaves in the shared lines is evicted before it is"
    " active again",
    "few-warps",
)
CAUSES: Mapping[str, Cause] = {
    "rc-rsp-register-energy-rc": _INPUTS,
    "rc-rsp-gpu-energy-rc": _INPUTS,
    "rc-rsp-register-energy-half-rc": _INPUTS,
    "rc-rsp-writes-elided-rc": _INPUTS,
    "rc-rsp-reads-elided-rc": _INPUTS,
    "rc-rsp-register-energy-rsp": _BARRIERS,
    "rc-rsp-gpu-energy-rsp": _BARRIERS,
    "rc-rsp-register-energy-half-rsp": _BARRIERS,
    "rc-rsp-writes-elided-rsp": _BARRIERS,
    "rc-rsp-reads-elided-rsp": _BARRIERS,
    "rc-rsp-register-energy-hybrid": _INPUTS,
    "rc-rsp-gpu-energy-hybrid": _INPUTS,
    "rc-rsp-writes-elided-hybrid": _INPUTS,
    "rc-rsp-reads-elided-hybrid": _INPUTS,
    "rc-rsp-rc-hit-rate-alone": _INPUTS,
    "rc-rsp-rc-hit-rate-in-hybrid": _INPUTS,
    "rc-rsp-parallel-evict": _INPUTS,
    "rc-rsp-parallel-no-liveout": _INPUTS,
    "rc-rsp-unbalanced-energy-wins": _INPUTS,
    "rc-rsp-streamcluster": _INPUTS,
    "rc-rsp-balanced-write-wins": _SETS,
    "rc-rsp-balanced-read-wins": _INPUTS,
}
_WINS = (
    "the hybrid serves fewer accesses than in the paper, and an access of CACTI's slices costs only 3 to 12% less in"
    " half of the storage, so that half-size power changes little"
)
REMARKS: Mapping[str, str] = {
    "rc-rsp-balanced-energy-wins": _WINS,
    "rc-rsp-rsp-size-optimum": (
        "an access of CACTI's slices costs little more in a larger store, so that more storage saves energy at every"
        " size; the paper's must rise faster"
    ),
    "rc-rsp-rsp-captures-within": (
        "the paper says up to which age the scratchpad generally serves more reads, and not that its lead ends there."
        " Here it serves more at every age up to the printed one, where nine tenths of its lead are reached; beyond,"
        " one part or the other serves more, and the lead in all reads up to an age is largest later"
    ),
    "rc-rsp-hybrid-all-capacities": (
        "at the smallest capacity the scratchpad alone takes hardly less than the hybrid; at all others the hybrid"
        " takes least"
    ),
}
