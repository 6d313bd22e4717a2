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
_NETWORKS = (
    "most shared loads join one that is under way, which the text does not decide; if an entry is not found"
    " before its data are there, networks gain next to nothing (--ablation pending-misses)"
)
REMARKS: Mapping[str, str] = {
    "larf-layer-speedup-max": (
        "half of the loads of this layer share here, and it gains little more if these are complete at once (--ablation"
        " pending-completes) or if memory has no contention (--ablation cached); the loads are read-only, so that the"
        " first-level cache of the machine holds their data too"
    ),
    "larf-end-to-end-max": f"of CifarNet: {_NETWORKS}",
    "larf-end-to-end-cifarnet": _NETWORKS,
    "larf-end-to-end-mobilenet": (
        f"{_NETWORKS}; if a load is complete as soon as it finds an entry, which no hardware could do, it gains far"
        " more than printed (--ablation pending-completes)"
    ),
    "larf-end-to-end-others": (
        "compared in descending order, as the figure's own order is lost; both products of PolyBench gain more than"
        " printed, as the stores of each step and the loads compete for the same memory; without contention they gain"
        " about as much as printed, and the convolution far more (--ablation cached); if an entry is not found before"
        " its data are there, both and the convolution gain about what is printed (--ablation pending-misses), but far"
        " fewer loads are removed than printed; next to no loads of AlexNet and LeNet share by either rule"
    ),
    "larf-las-gain-2mm": (
        "entries stay in the table as long as their registers live, and an unlimited table gains as much as one of 400"
        " entries; so nothing is lost by the order of warps that another order could save, also not if entries are"
        " not found before their data are there (--ablation pending-misses)"
    ),
    "larf-lrr-better-layers": (
        "pooling and the last layer share no load under any scheduler, and the first fully connected layer the same"
        " quarter under all, so that at most three of eight layers can differ; in these, a warp that comes late joins"
        " a load that is still under way, so that its order hardly matters"
    ),
    "larf-las-best": (
        "it holds in all layers but the second convolution, where the greedy scheduler shares slightly more; five of"
        " the eight layers share the same under all schedulers"
    ),
    "larf-register-utilisation": (
        "networks and the convolution have about half of their registers in use, as printed; the products of PolyBench"
        " do all their work in one loop, in which most registers are live"
    ),
    "larf-lenet-register-limited": (
        "the paper's LeNet is that of cuDNN, whose kernels are not public; those of the suite are small and limited by"
        " warps or thread blocks"
    ),
    "larf-matmul-software-extra": (
        "the plain code waits for each row of the second matrix as it comes, which sharing does not change; the blocked"
        " code loads 32 rows at a time; the shape of the plain code's thread blocks does not decide it (--ablation"
        " square-blocks)"
    ),
    "larf-matmul-ctas-extra": (
        "an SM of Fermi holds 1536 threads, so that a second thread block of 1024 does not fit, however many registers"
        " are spared; the 24 KB that are spared are 40% of 60 KB, which is less than half of the 128 KB of the thesis's"
        " other Fermi GPU (section 4.4), so that registers do not limit its thread blocks either"
    ),
    "larf-matmul-register-increase": (
        "the blocked code unrolls the 32 steps of a tile and loads ahead of them, for which it takes 32 registers; the"
        " plain code takes 12"
    ),
    "larf-matmul-register-saved-kb": (
        "the plain code keeps the operands of its short loop live most of the time and spares less than printed; the"
        " blocked code spares more, as little is live while it waits at barriers"
    ),
}
SUMMARY = (
    "Reproduced were the share of global loads that registers can answer, the registers that are saved, in networks as"
    " in products of matrices, and that the scheduler with a small table can exceed an unlimited one; the whole"
    " MobileNet gains little, as in the paper. Not reproduced were the gain of MobileNet's first depth-wise layer, the"
    " size of the gains of CifarNet and of the five other workloads, the gain by the locality-aware scheduler, and the"
    " times of the products on Fermi. What decides most of them is not in the text: whether a load shares with one that"
    " is under way, on which the gain of every network and product depends and without which the order of warps would"
    " matter no more, whether the first-level cache of Fermi holds global data, and the code and thread blocks of the"
    " workloads."
)
"""What was reproduced, what was not, and why."""
