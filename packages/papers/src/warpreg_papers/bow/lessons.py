"""What a designer learns from the study of bypassing operand collectors."""

from __future__ import annotations

from collections.abc import Iterator

from warpreg.evaluation.studies.study import Study
from warpreg_papers.bow import frames
from warpreg_papers.bow.designs import CHOSEN, HALF, bow, bow_wr
from warpreg_papers.bow.frames import READS, WRITES, mean


def lessons(study: Study) -> Iterator[str]:
    """Sentences with the figures of the study; none without its runs."""
    ideal, gained = frames.ideal_gains(study), frames.gains(study, bow(CHOSEN))
    if ideal and gained:
        bypassing = mean(study, gained)
        most = max(ideal, key=lambda name: ideal[name])
        yield (
            f"An operand path that takes no time gains {mean(study, ideal):.1%} in IPC on a mean of {len(ideal)}"
            f" workloads of `bow`, and {ideal[most]:.1%} on the one that gains most ({most}). No bypass, cache or"
            f" coalescing of operands can gain more on this machine; bypassing collectors gain {bypassing:.1%}."
        )
    saved = frames.bypassed(study, CHOSEN)
    if saved[READS] and saved[WRITES]:
        yield (
            f"A window of {CHOSEN} instructions saves {mean(study, saved[READS]):.0%} of the reads and"
            f" {mean(study, saved[WRITES]):.0%} of the writes of the register file in scheduled code: bypassing is a"
            " technique for energy, not for time."
        )
    half = frames.gains(study, HALF)
    full = frames.gains(study, bow_wr(CHOSEN))
    if half and full:
        change, over = mean(study, half) - mean(study, full), mean(study, frames.over_half(study))
        yield (
            f"Half of the entries of a bypassing collector change IPC by {change:+.1%} of the baseline's: a warp needs"
            f" more than half of its 12 entries in {over:.1%} of the cycles."
        )
