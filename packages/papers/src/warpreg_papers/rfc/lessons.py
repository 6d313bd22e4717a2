"""What a designer learns from the study of the register file cache."""

from __future__ import annotations

from collections.abc import Iterator

from warpreg.evaluation.studies.study import Study
from warpreg_papers.rfc import results


def lessons(study: Study) -> Iterator[str]:
    """Sentences with the figures of the study; none without its runs."""
    if not all(measure in study.found for measure in results.MEASURES):
        return
    findings = results.findings(study)
    if not findings.keys() >= {
        "rfc-usage-read-once",
        "rfc-6-mrf-reads-avoided",
        "rfc-6-mrf-writes-avoided-liveness",
        "rfc-energy-headline",
    }:
        return
    yield (
        f"{findings['rfc-usage-read-once']:.0%} of all values are read once, so that six entries a thread keep"
        f" {findings['rfc-6-mrf-reads-avoided']:.0%} of the reads of the main register file away and, with liveness,"
        f" {findings['rfc-6-mrf-writes-avoided-liveness']:.0%} of its writes. That saves"
        f" {findings['rfc-energy-headline']:.0%} of its energy."
    )
