"""Causes and ablations of `warpreg.experiments.papers.rc_rsp.results`, and remarks on results that none explains.

The paper takes its energies and areas from CACTI and does not print them; those here are derived by the array model.
No other energies have a source, so no ablation can show that they cause a difference.
"""

from __future__ import annotations

from collections.abc import Mapping

from warpreg.experiments.papers.ablation import Ablation
from warpreg.experiments.papers.cause import Cause

FEW_WARPS = 16
"""Warps of an SM: four per scheduler, as many as are active."""

ABLATIONS: Mapping[str, Ablation] = {
    "ptx-order": Ablation(
        "no scheduling, addresses of 32 bits, strands go on at barriers",
        parts=("designs",),
        choice={"schedule": False, "address_bits": 32},
        parameters={design: {"flush_at_barriers": False} for design in ("rsp", "rc-rsp")},
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

_SCHEDULED = Cause(
    "compiler",
    "the scheduler moves loads away from their first use, so that values are needed in a later strand, addresses of 64"
    " bits take two entries, and strands end at barriers, of which the paper does not speak",
    "ptx-order",
)
_SETS = Cause(
    "model",
    "the paper does not say to which set of the cache a register goes; if that depends on its number alone, warps in"
    " the same code meet in a set, and the cache alone loses more than the hybrid",
    "sets-by-register",
)
_READ_WINS = Cause(
    "compiler",
    "the scheduler moves loads away from their first use; without that cache and scratchpad serve more by themselves,"
    " so that the hybrid is ahead of both less often",
    "ptx-order",
)
_INPUTS = Cause(
    "input",
    "the paper does not say which inputs it ran, which decide how many warps an SM holds; here every SM is full, so"
    " that much of what a warp leaves in the shared lines is evicted before it is active again",
    "few-warps",
)
CAUSES: Mapping[str, Cause] = {
    "rc-rsp-register-energy-rc": _INPUTS,
    "rc-rsp-gpu-energy-rc": _INPUTS,
    "rc-rsp-register-energy-half-rc": _INPUTS,
    "rc-rsp-writes-elided-rc": _INPUTS,
    "rc-rsp-reads-elided-rc": _INPUTS,
    "rc-rsp-register-energy-rsp": _SCHEDULED,
    "rc-rsp-gpu-energy-rsp": _SCHEDULED,
    "rc-rsp-register-energy-half-rsp": _SCHEDULED,
    "rc-rsp-writes-elided-rsp": _SCHEDULED,
    "rc-rsp-reads-elided-rsp": _SCHEDULED,
    "rc-rsp-register-energy-hybrid": _INPUTS,
    "rc-rsp-gpu-energy-hybrid": _INPUTS,
    "rc-rsp-writes-elided-hybrid": _INPUTS,
    "rc-rsp-reads-elided-hybrid": _INPUTS,
    "rc-rsp-rc-hit-rate-alone": _INPUTS,
    "rc-rsp-rc-hit-rate-in-hybrid": _INPUTS,
    "rc-rsp-parallel-evict": _INPUTS,
    "rc-rsp-parallel-no-liveout": _INPUTS,
    "rc-rsp-balanced-write-wins": _SETS,
    "rc-rsp-balanced-read-wins": _READ_WINS,
}
_AREA = "ports widen a cell by one track a side in the array model, and control and wiring have no area"
_HALF = (
    "energy falls with the square root of a store's words in the array model, faster than in the paper's pair of full"
    " and half-size power, so that cache and scratchpad at half-size power are hard to beat"
)
REMARKS: Mapping[str, str] = {
    "rc-rsp-area-rc": _AREA,
    "rc-rsp-area-rsp": _AREA,
    "rc-rsp-area-hybrid": _AREA,
    "rc-rsp-balanced-energy-wins": _HALF,
    "rc-rsp-unbalanced-energy-wins": _HALF,
    "rc-rsp-rsp-captures-within": (
        "the paper says that the scratchpad serves more reads within that age, not that its lead ends there; what is"
        " measured is up to which age its lead is largest"
    ),
}
