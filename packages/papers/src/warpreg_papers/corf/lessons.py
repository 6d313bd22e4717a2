"""What a designer learns from the study of coalescing operands."""

from __future__ import annotations

from collections.abc import Iterator

from warpreg.evaluation.studies.study import Study
from warpreg_papers.corf import results


def lessons(study: Study) -> Iterator[str]:
    """Sentences with the figures of the study; none without its runs."""
    if not all(measure in study.found for measure in results.MEASURES):
        return
    found = results.findings(study)
    if "corf-pp-coalesced" not in found or "corf-packing-size" not in found:
        return
    yield (
        f"Of instructions that read several registers, {found['corf-coalesceable']:.0%} read two values narrow enough"
        f" for one physical register; CORF coalesces {found['corf-coalesced']:.0%} and CORF++"
        f" {found['corf-pp-coalesced']:.0%} of them, which removes {found['corf-access-reduction-all']:.1%} and"
        f" {found['corf-pp-access-reduction-all']:.1%} of all accesses. To save energy, their tables and logic must"
        " cost less than that."
    )
    yield (
        f"Packing narrow values frees {found['corf-packing-size']:.0%} of the physical registers that warps hold,"
        f" releasing dead ones {found['corf-virtualization-size']:.0%}, both {found['corf-combined-size']:.0%}: size,"
        " not bandwidth, is what narrow values are good for."
    )
