"""What a designer learns from the study of the register cache and scratchpad."""

from __future__ import annotations

from collections.abc import Iterator

from warpreg.evaluation.studies.study import Study
from warpreg_papers.rc_rsp import results


def lessons(study: Study) -> Iterator[str]:
    """Sentences with the figures of the study; none without its runs."""
    if not all(measure in study.found for measure in results.MEASURES):
        return
    findings = results.findings(study)
    if not findings.keys() >= {
        "rc-rsp-register-energy-rc",
        "rc-rsp-register-energy-rsp",
        "rc-rsp-register-energy-hybrid",
    }:
        return
    yield (
        f"On Rodinia, a register cache leaves {findings['rc-rsp-register-energy-rc']:.0%} of the energy of registers, a"
        f" scratchpad of the same size {findings['rc-rsp-register-energy-rsp']:.0%}, and both together, half of the"
        f" size each, {findings['rc-rsp-register-energy-hybrid']:.0%}. What the cache serves depends on how many"
        " warps share it, so a study of it must say how full its SMs are."
    )
