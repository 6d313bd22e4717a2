"""Causes and ablations of `warpreg_papers.rc_rsp.results`, and remarks on results that none explains.

The paper takes its energies from CACTI and does not print them; those here are of CACTI too, for organisations that
come near to the printed times and areas.  What a difference owes to these prices is in the frame `frames.gaps` and in
the band of each energy; no other prices have a source, so no ablation changes them.
"""

from __future__ import annotations

from collections.abc import Mapping

from warpreg.evaluation.studies.study import Study
from warpreg_papers import published
from warpreg_papers.ablation import Ablation
from warpreg_papers.cause import Cause
from warpreg_papers.rc_rsp import results
from warpreg_papers.reading import Reading

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
        f"an SM holds {FEW_WARPS} warps, all of them active",
        parts=("designs", "sweeps"),
        machine={"warps": {None: FEW_WARPS}},
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
    "rc-rsp-hybrid-all-capacities": _INPUTS,
}
_WINS = (
    "the hybrid serves fewer accesses than in the paper, and an access of CACTI's slices costs only 3 to 12% less in"
    " half of the storage, so that half-size power changes little"
)
REMARKS: Mapping[str, str] = {
    "rc-rsp-balanced-energy-wins": _WINS,
    "rc-rsp-rsp-size-optimum": (
        "an access of CACTI's slices costs little more in a larger store, so that more storage saves energy at every"
        " size. The paper's must rise faster: by its energies with half-size power and its shares of elided accesses,"
        " an access of 6 KB costs at most two thirds of one of 12 KB"
    ),
}


def _led_within(study: Study) -> float | None:
    """The age up to which the scratchpad leads, of those that the text speaks of."""
    led = results.led_until(study)
    return None if led is None else min(led, published.number("rc-rsp-rsp-captures-within"))


READINGS: Mapping[str, Reading] = {
    "rc-rsp-rsp-captures-within": Reading(
        "taken as the age at which the cache draws level; the text says that the scratchpad leads up to an age, and of"
        " later ages only that its share falls faster, so by the other reading it may lead longer",
        _led_within,
    ),
}

SUMMARY = (
    "The energy of cache and scratchpad, also with half-size power, that of the whole GPU, the areas, the writes that"
    " the scratchpad elides, the best split, and that sharing the cache among warps saves energy were reproduced. Not"
    " reproduced were the accesses that cache and hybrid elide, the energy of the hybrid, the hit rates of the cache,"
    " most numbers of benchmarks on which the hybrid wins, and the capacity at which the scratchpad is best. The"
    " reasons are that the paper names no inputs, which decide how many warps share the cache, and neither the index of"
    " its sets nor what strands do at barriers, and that it prints no energies, which must rise faster with the size of"
    " a store than those of CACTI here."
)
"""What was reproduced, what was not, and why."""
