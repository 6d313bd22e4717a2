"""Printed results that other numbers of the thesis do not allow (sections 2.3, 2.7, 3.3, 3.5.1, Table 2.1).

Two registers share a read, and an instruction has at most three, so a coalesced instruction saves one read.  Such
instructions read two registers or more.  Of their reads no more than half the coalesced share is saved, of all reads
the part that they have of them, and of all accesses no more than of all reads: 0.23 x 0.7 / 2 = 0.08 with CORF, where
0.10 is printed, and 0.48 x 0.7 / 2 = 0.17 with CORF++, where 0.23 is.  Only the latter is further off than a tolerance.

Writes are accesses too.  Chapter 2 does not print how many there are; chapter 3 does, on benchmarks of the same suites
and the same simulator: bypassing 0.59 of the reads saves 0.36 of the energy after 0.03 of overhead, and a read costs as
much as a write (Table 3.4), so that reads are 0.66 of the accesses.  Then CORF saves at most 0.05 of them, and CORF++
0.11.  Dynamic energy falls with accesses alone (packing costs 1.00 in Table 2.1), less the printed overhead of 0.03.
What is called contradicted here stays so as long as writes are more than a tenth of the accesses, and for accesses of
integer benchmarks more than a quarter.

The reads of Table 2.1 are the remainders of the same reductions.  The combined size of Figure 2.16 (0.54 saved) and
that of Table 2.1 (0.43 left) differ by 0.03, within their tolerances.
"""

from __future__ import annotations

from collections.abc import Mapping

from warpreg_papers import published
from warpreg_papers.contradiction import Contradiction
from warpreg_papers.corf.mix import integer_share

READS_OF_MULTIPLE = "corf-multi-operand-read-share"
READ_SHARE = ("bow-read-bypass-iw3", "bow-dynamic-energy", "bow-dynamic-overhead")
OVERHEAD = "corf-dynamic-overhead"
CLASSES = ("corf-access-reduction-int", "corf-access-reduction-fp", "corf-access-reduction-all")


def reads_saved(coalesced: float, read_share: float) -> float:
    """The most reads that are saved, of all: one of at least two for each coalesced instruction."""
    return read_share * coalesced / 2


def saved_by_integer(coalesced: float, read_share: float, floating: float, *means: float) -> float:
    """The most accesses that integer benchmarks save, of theirs, if all save no more than `reads_saved`; ``means`` of
    CORF over integer, floating point and all benchmarks say how many of these are integer ones.
    """
    return of_integer(reads_saved(coalesced, read_share), floating, *means)


def of_integer(every: float, floating: float, *means: float) -> float:
    """The mean over integer benchmarks, by those over all and over floating point ones; ``means`` as above."""
    share = integer_share(*means)
    return (every - (1 - share) * floating) / share


def reads_of_accesses(bypassed: float, saved: float, overhead: float) -> float:
    """The share of reads in accesses, if bypassing so many of them saves that energy, and so much is added."""
    return (saved + overhead) / bypassed


def accesses_saved(coalesced: float, read_share: float, *bypassing: float) -> float:
    """The most accesses that are saved, of all; ``bypassing`` as in `reads_of_accesses`."""
    return reads_saved(coalesced, read_share) * reads_of_accesses(*bypassing)


def integer_accesses_saved(coalesced: float, read_share: float, *others: float) -> float:
    """The most accesses that integer benchmarks save; ``others``: the three of `reads_of_accesses`, then those of
    `of_integer`.
    """
    bypassing, rest = others[:3], others[3:]
    return of_integer(accesses_saved(coalesced, read_share, *bypassing), *rest)


def energy_saved(overhead: float, *shares: float) -> float:
    """The most dynamic energy that is saved after the overhead; ``shares`` as in `accesses_saved`."""
    return accesses_saved(*shares) - overhead


def energy_left(overhead: float, *shares: float) -> float:
    """The least dynamic energy that is left."""
    return 1 - energy_saved(overhead, *shares)


_ONE_OF_TWO = (
    "a coalesced instruction saves one read (two unpackers, section 2.6) of at least two, and the instructions that can"
    " be coalesced issue 70% of the reads (section 2.3); writes, which count too, make it less"
)
_READS = (
    "reads are two thirds of the accesses, as bypassing 59% of them saves 36% of the energy after 3% of overhead"
    " (section 3.5.1)"
)
_ENERGY = f"it falls with accesses alone, less the printed overhead; {_ONE_OF_TWO}; {_READS}"


def _energy(coalesced: str, *, left: bool) -> Contradiction:
    rows = (OVERHEAD, coalesced, READS_OF_MULTIPLE, *READ_SHARE)
    return Contradiction(_ENERGY, rows, energy_left, "min") if left else Contradiction(_ENERGY, rows, energy_saved)


CONTRADICTIONS: Mapping[str, Contradiction] = {
    "corf-access-reduction-int": Contradiction(
        f"23% of these instructions are coalesced: {_ONE_OF_TWO}; {_READS}",
        ("corf-coalesced", READS_OF_MULTIPLE, *READ_SHARE, "corf-access-reduction-fp", *CLASSES),
        integer_accesses_saved,
    ),
    "corf-dynamic-energy": _energy("corf-coalesced", left=False),
    "corf-pp-dynamic-energy": _energy("corf-pp-coalesced", left=False),
    "corf-table21-corf-dyn": _energy("corf-coalesced", left=True),
    "corf-table21-corfpp-dyn": _energy("corf-pp-coalesced", left=True),
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
