"""What a designer learns from the study of the compiler-managed hierarchy."""

from __future__ import annotations

from collections.abc import Iterator

from warpreg.evaluation.studies.study import Study
from warpreg_papers.orf_lrf import results


def lessons(study: Study) -> Iterator[str]:
    """Sentences with the figures of the study; none without its runs."""
    if not all(measure in study.found for measure in results.MEASURES):
        return
    findings = results.findings(study)
    if not findings.keys() >= {"orf-sw-energy-saving-max", "orf-hw-rfc-energy-saving", "orf-limit-all-lrf"}:
        return
    yield (
        f"A compiler that places values in three levels saves {findings['orf-sw-energy-saving-max']:.0%} of the energy"
        f" of registers, where a cache saves {findings['orf-hw-rfc-energy-saving']:.0%}. If every access were one of"
        f" the last level, it would be {findings['orf-limit-all-lrf']:.0%}."
    )
