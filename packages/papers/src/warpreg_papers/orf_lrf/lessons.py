"""What a designer learns from the study of the compiler-managed hierarchy."""

from __future__ import annotations

from collections.abc import Iterator

from warpreg.evaluation.studies.study import Study
from warpreg_papers.orf_lrf import results


def lessons(study: Study) -> Iterator[str]:
    """Sentences with the figures of the study; none without its runs."""
    if not all(measure in study.found for measure in results.MEASURES):
        return
    found = results.findings(study)
    if not found.keys() >= {"orf-sw-energy-saving-max", "orf-hw-rfc-energy-saving", "orf-limit-all-lrf"}:
        return
    yield (
        f"A compiler that places values in three levels saves {found['orf-sw-energy-saving-max']:.0%} of the energy of"
        f" registers, where a cache saves {found['orf-hw-rfc-energy-saving']:.0%}. If every access were one of the last"
        f" level, it would be {found['orf-limit-all-lrf']:.0%}."
    )
