"""What a designer learns from the study of coalescing operands."""

from __future__ import annotations

from collections.abc import Iterator

from warpreg.evaluation.studies.study import Study
from warpreg_papers.corf import results


def lessons(study: Study) -> Iterator[str]:
    """Sentences with the figures of the study; none without its runs."""
    if not all(measure in study.found for measure in results.MEASURES):
        return
    findings = results.findings(study)
    if "corf-pp-coalesced" not in findings or "corf-packing-size" not in findings:
        return
    yield (
        f"Of instructions that read several registers, {findings['corf-coalesceable']:.0%} read two values narrow"
        f" enough for one physical register; CORF coalesces {findings['corf-coalesced']:.0%} and CORF++"
        f" {findings['corf-pp-coalesced']:.0%} of them, which removes {findings['corf-access-reduction-all']:.1%} and"
        f" {findings['corf-pp-access-reduction-all']:.1%} of all accesses. To save energy, their tables and logic must"
        " cost less than that."
    )
    yield (
        f"Packing narrow values frees {findings['corf-packing-size']:.0%} of the physical registers that warps hold,"
        f" releasing dead ones {findings['corf-virtualization-size']:.0%}, both {findings['corf-combined-size']:.0%}:"
        " size, not bandwidth, is what narrow values are good for."
    )
