"""Printed results that other numbers of the chapter do not allow (thesis of 2021, sections 2.3, 2.7, Table 2.1).

Two registers share a read, and an instruction has at most three, so a coalesced instruction saves one read.  Such
instructions read two registers or more.  Of their reads no more than half the coalesced share is saved, of all reads
the part that they have of them, and of all accesses no more than of all reads: 0.23 x 0.7 / 2 = 0.08 with CORF, where
0.10 is printed, and 0.48 x 0.7 / 2 = 0.17 with CORF++, where 0.23 is.  Only the latter is further off than a tolerance.
The reads of Table 2.1 are the remainders of the same reductions, and dynamic energy falls with accesses alone (packing
costs 1.00 there), so both inherit the bounds, within their tolerances.  The combined size of Figure 2.16 (0.54 saved)
and that of Table 2.1 (0.43 left) differ by 0.03, also within them.
"""

from __future__ import annotations

from collections.abc import Mapping

from warpreg_papers import published
from warpreg_papers.contradiction import Contradiction
from warpreg_papers.corf.mix import integer_share

READS_OF_MULTIPLE = "corf-multi-operand-read-share"
CLASSES = ("corf-access-reduction-int", "corf-access-reduction-fp", "corf-access-reduction-all")


def reads_saved(coalesced: float, read_share: float) -> float:
    """The most reads that are saved, of all: one of at least two for each coalesced instruction."""
    return read_share * coalesced / 2


def saved_by_integer(coalesced: float, read_share: float, floating: float, *means: float) -> float:
    """The most accesses that integer benchmarks save, of theirs, if all save no more than `reads_saved`; ``means`` of
    CORF over integer, floating point and all benchmarks say how many of these are integer ones.
    """
    share = integer_share(*means)
    return (reads_saved(coalesced, read_share) - (1 - share) * floating) / share


_ONE_OF_TWO = (
    "a coalesced instruction saves one read (two unpackers, section 2.6) of at least two, and the instructions that can"
    " be coalesced issue 70% of the reads (section 2.3); writes, which count too, make it less"
)
CONTRADICTIONS: Mapping[str, Contradiction] = {
    "corf-pp-access-reduction-all": Contradiction(
        f"48% of these instructions are coalesced: {_ONE_OF_TWO}",
        ("corf-pp-coalesced", READS_OF_MULTIPLE),
        reads_saved,
    ),
    "corf-pp-access-reduction-int": Contradiction(
        f"the mean over all cannot be reached, so neither can its integer part: {_ONE_OF_TWO}",
        ("corf-pp-coalesced", READS_OF_MULTIPLE, "corf-pp-access-reduction-fp", *CLASSES),
        saved_by_integer,
    ),
}


def most_saved(coalesced: str) -> float:
    """`reads_saved` with the printed share of coalesced instructions, a result by id."""
    return reads_saved(published.number(coalesced), published.number(READS_OF_MULTIPLE))
