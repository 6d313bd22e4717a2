"""Causes and ablations of `warpreg_papers.bow.results`, and remarks on results that none explains.

The chapter describes the window in two ways that differ by one instruction.  In section 3.4.1, sources are looked up
before the oldest instruction leaves; in Figure 3.6 and Table 3.1 it leaves first, which is the default here.
"""

from __future__ import annotations

from collections.abc import Mapping

from warpreg.evaluation.runs.scheduled import Variant
from warpreg.evaluation.studies.study import Study
from warpreg.workloads.dimensions import SEPARATOR
from warpreg_papers import published
from warpreg_papers.ablation import Ablation
from warpreg_papers.bow import figure_36, frames
from warpreg_papers.bow.designs import CHOSEN, LIMIT, PLAIN, bow, bow_wr
from warpreg_papers.bow.frames import mean
from warpreg_papers.cause import Cause
from warpreg_papers.contradiction import Contradiction
from warpreg_papers.limit import Limit
from warpreg_papers.reading import Reading

WP = "wp"
ABLATIONS: Mapping[str, Ablation] = {
    "lookup-first": Ablation(
        "sources are looked up before the oldest instruction leaves the window",
        parts=("reuse", "destinations"),
        parameters={design: {"eviction": "after"} for design in ("bow", "bow-wr")},
    ),
    "ptx-order": Ablation(
        "no scheduling, addresses of 32 bits",
        parts=("reuse", "destinations", "sources", "energy"),
        choice={"schedule": False, "address_bits": 32},
    ),
    "any-ports": Ablation(
        "a bypassing collector takes any number of operands in a cycle, a plain one still one",
        parts=("cycles", "collection"),
        parameters={design: {"ports": 0} for design in ("bow", "bow-wr")},
    ),
    "more-columns": Ablation(
        "wp has the columns of its size full, of which an SM holds about twenty warps instead of five",
        parts=("wp",),
        code={WP: SEPARATOR.join((WP, "columns=40000"))},
    ),
}
_LOOKUP = Cause(
    "model",
    "the text looks sources up before the oldest instruction leaves the window, so that values are forwarded one"
    " instruction longer than in its example and its table of writes, which are followed here",
    "lookup-first",
)
_SCHEDULED = Cause(
    "compiler",
    "the scheduler moves producers away from their consumers, and addresses of 64 bits take two registers",
    "ptx-order",
)
CAUSES: Mapping[str, Cause] = {
    "bow-sensitivity-wp": Cause(
        "input",
        "inputs are not printed; at its size here, WP has few warps on an SM, so that operands take a large part of its"
        " time",
        "more-columns",
    ),
    "bow-read-bypass-iw2": _LOOKUP,
    "bow-write-bypass-iw2": _LOOKUP,
    "bow-read-bypass-iw3": _LOOKUP,
    "bow-write-bypass-iw3": _LOOKUP,
    "bow-dest-boc-only": _LOOKUP,
    "bow-transient-share": _LOOKUP,
    "bow-dest-rf-only": _SCHEDULED,
    "bow-dest-both": _SCHEDULED,
    "bow-three-source-instructions": _SCHEDULED,
    "bow-dynamic-energy": _SCHEDULED,
    "bow-wr-dynamic-energy": _SCHEDULED,
    "bow-oc-cycles-iw3": Cause(
        "model",
        "a collector takes one operand in a cycle; the instructions of a warp share the one port of their bypassing"
        " collector, but have a plain collector with a port each",
        "any-ports",
    ),
}


def _most_gained(study: Study, printed: float) -> float | None:
    """The mean gain of operands that take no time, in which WP has no more than the printed mean."""
    ideal = frames.ideal_gains(study)
    if not ideal:
        return None
    return mean(study, {**ideal, WP: min(ideal[WP], printed)} if WP in ideal else ideal)


def _no_time(result: str) -> Limit:
    return Limit(
        "the time of these workloads goes into memory and dependences; the limit is the gain of operands that take no"
        " time (machine bow-titanx-ideal), in which WP has no more than the printed mean: by section 3.5.1 it gains"
        " little, and here most, as it has few warps on an SM. Bypassing gains a small part of the limit, with any"
        " number of ports of a collector about twice as much (--ablation any-ports)",
        lambda study: _most_gained(study, published.number(result)),
        measures=(PLAIN, LIMIT),
    )


def _margin_of_sad(study: Study) -> float | None:
    """By how much SAD could gain more than the mean of BOW-WR: the gain of operands that take no time, less that."""
    ideal, gains = frames.ideal_gains(study), frames.gains(study, bow_wr(CHOSEN))
    return ideal["sad"] - mean(study, gains) if "sad" in ideal and gains else None


LIMITS: Mapping[str, Limit] = {
    **{name: _no_time(name) for name in ("bow-ipc-iw3", "bow-wr-ipc-iw3", "bow-wr-ipc-half", "bow-wr-ipc-summary")},
    "bow-sensitivity-sad": Limit(
        "SAD waits for its load-store unit: operands that take no time gain it less than bypassing gains on the mean",
        _margin_of_sad,
    ),
}
_NETWORK = (
    "the power of the network, 33.2 mW, is charged by the writes of collectors that it is printed for; section 3.5.1"
    " compares it with 2.5 W of the register file, and by the other reading the network takes that share of its energy"
)


def _by_power(variant: Variant) -> Reading:
    def value(study: Study) -> float | None:
        overheads = frames.overheads_by_power(study, variant)
        return mean(study, overheads) if overheads else None

    return Reading(_NETWORK, value)


def _until_dispatch(study: Study) -> float | None:
    samples = study.found.get(PLAIN, {})
    shares = {name: frames.collection_shares(one)[frames.UNTIL_DISPATCH] for name, one in samples.items()}
    return mean(study, shares) if shares else None


READINGS: Mapping[str, Reading] = {
    "bow-dynamic-overhead": _by_power(bow(CHOSEN)),
    "bow-wr-dynamic-overhead": _by_power(bow_wr(CHOSEN)),
    "bow-oc-time-share": Reading(
        "measured until the last operand is read; section 3.3 speaks of the stage that holds an instruction, which it"
        " leaves when a unit takes it. By that reading the share is about twice as large, but then bypassing does not"
        " shorten it",
        _until_dispatch,
        parts=("baseline",),
    ),
}
CONTRADICTIONS: Mapping[str, Contradiction] = {
    "bow-three-source-none": Contradiction(
        "figure 3.6 shows code of BTREE with two multiply-adds that read three registers each; the margin is their"
        " number, negative",
        (),
        lambda: float(-figure_36.three_sources()),
    )
}
REMARKS: Mapping[str, str] = {
    "bow-half-loss": "a warp seldom needs more than half of the entries, and little is gained that could be lost",
    "bow-boc-never-over-half": "instructions of all three read three registers or more (figure 3.8)",
    "bow-table31-r2-wt": "the printed code writes r2 three times, in lines 3, 11 and 12; the table counts two",
}

SUMMARY = (
    "Reproduced were the worked example of the paper, the reuse in a window of seven instructions, how seldom a"
    " collector needs more than half of its entries, the storage, and, if sources are looked up before the oldest"
    " instruction leaves the window, the shares of reads and writes that bypassing saves; in the order of the PTX with"
    " addresses of 32 bits, also both savings of energy. Not reproduced was the gain in IPC: on the machine of the"
    " simulator version that the paper names, even operands that take no time gain less than is printed, and bypassing"
    " gains a small part of that. The reasons are that these workloads wait for memory and for results, and that the"
    " instructions of a warp share one port of its collector, of which the paper leaves open how many there are."
)
"""What was reproduced, what was not, and why."""
