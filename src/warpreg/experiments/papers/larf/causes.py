"""Causes and ablations of `warpreg.experiments.papers.larf.results`, and remarks on results that none explains."""

from __future__ import annotations

from collections.abc import Mapping

from warpreg.designs.load_sharing.state import COMPLETE, MISS
from warpreg.experiments.papers.ablation import Ablation
from warpreg.experiments.papers.cause import Cause
from warpreg.experiments.papers.larf.designs import CACHED, FERMI, PASCAL, UNCACHED
from warpreg.experiments.papers.larf.sources import PLAIN_PRODUCT, SQUARE_PRODUCT


def _pending(rule: str) -> Mapping[str, Mapping[str, str]]:
    """Another rule for loads that find an entry whose data are under way."""
    return {"larf": {"pending": rule}, "larf+las": {"larf_pending": rule}}


ABLATIONS: Mapping[str, Ablation] = {
    "uncached": Ablation(
        "global loads pass the first-level cache of the Fermi GPU by",
        parts=("products",),
        machine={"machine": {FERMI: UNCACHED}},
    ),
    "square-blocks": Ablation(
        "the plain product of matrices has thread blocks of 32 x 32, as the blocked one has",
        parts=("products",),
        code={PLAIN_PRODUCT: SQUARE_PRODUCT},
    ),
    "pending-misses": Ablation(
        "a load does not find an entry whose data are under way",
        parts=("layers", "end-to-end", "products"),
        parameters=_pending(MISS),
    ),
    "pending-completes": Ablation(
        "a load that finds an entry is complete at once, also if the data are under way, which no hardware could do",
        parts=("layers", "end-to-end", "products"),
        parameters=_pending(COMPLETE),
    ),
    "cached": Ablation(
        "memory behind the first-level caches has latency and bandwidth, but no contention",
        parts=("layers", "end-to-end"),
        machine={"machine": {PASCAL: CACHED}},
    ),
}
CAUSES: Mapping[str, Cause] = {
    "larf-matmul-sharing-speedup": Cause(
        "model",
        "the first-level cache answers the loads that registers can answer, so that sharing saves no time; the text"
        " does not say whether it holds global data",
        "uncached",
    ),
}
_POINTWISE = (
    "point-wise layers take most of the time of mobilenet here and gain up to three times, as warps of several output"
    " channels read the same pixels; those of the paper gain little, so that the large gain of its depth-wise layers"
    " hardly shows end to end"
)
REMARKS: Mapping[str, str] = {
    "larf-end-to-end-max": _POINTWISE,
    "larf-end-to-end-mobilenet": _POINTWISE,
    "larf-end-to-end-others": (
        "compared in descending order, as the figure's own order is lost; products and convolutions of PolyBench gain"
        " much, and next to no loads of AlexNet and LeNet share"
    ),
    "larf-las-gain-2mm": (
        "entries stay in the table as long as their registers live, and an unlimited table gains as much as one of 400"
        " entries; so nothing is lost by the order of warps that another order could save"
    ),
    "larf-lenet-register-limited": (
        "the paper's LeNet is that of cuDNN, whose kernels are not public; those of the suite are small and limited by"
        " warps"
    ),
    "larf-matmul-software-extra": (
        "the plain code waits for each row of the second matrix as it comes, which sharing does not change; the blocked"
        " code loads 32 rows at a time"
    ),
    "larf-matmul-ctas-extra": (
        "an SM of Fermi holds 1536 threads, so that a second thread block of 1024 does not fit, however many registers"
        " are spared; the text does not say how large its thread blocks are"
    ),
    "larf-matmul-register-increase": "the compiler gives the plain code 28 registers and the blocked code 32",
    "larf-matmul-register-saved-kb": (
        "the plain code spares less than printed, as its unrolled loop keeps loaded values in all registers, and the"
        " blocked code more, as little is live while it waits at barriers"
    ),
}
