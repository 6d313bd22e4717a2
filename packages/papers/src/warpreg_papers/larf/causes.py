"""Causes and ablations of `warpreg_papers.larf.results`, and remarks on results that none explains."""

from __future__ import annotations

from collections.abc import Mapping

from warpreg.designs.parts.load_sharing.state import COMPLETE, MISS
from warpreg_papers.ablation import Ablation
from warpreg_papers.cause import Cause
from warpreg_papers.larf import limits
from warpreg_papers.larf.designs import CACHED, FERMI, HALF, PASCAL, UNCACHED
from warpreg_papers.larf.sources import PLAIN_PRODUCT, SQUARE_PRODUCT
from warpreg_papers.limit import Limit


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
    "half-registers": Ablation(
        "an SM has the 128 KB of registers of section 5.6, not the 2048 warp-registers of section 5.6.4",
        parts=("limits",),
        machine={"machine": {PASCAL: HALF}},
    ),
    "ptx-order": Ablation(
        "instructions in the order of the PTX, which the paper runs",
        parts=("layers", "end-to-end", "schedulers", "registers"),
        choice={"schedule": False},
    ),
    "fermi-code": Ablation(
        "no scheduling, addresses of 32 bits",
        parts=("products",),
        choice={"schedule": False, "address_bits": 32},
    ),
}
_ORDER = Cause(
    "compiler",
    "the text runs PTX in its order; our scheduler moves loads ahead of their use, by which sharing them saves more"
    " time",
    "ptx-order",
)
CAUSES: Mapping[str, Cause] = {
    "larf-end-to-end-max": _ORDER,
    "larf-end-to-end-mobilenet": _ORDER,
    "larf-end-to-end-cifarnet": _ORDER,
    "larf-matmul-sharing-speedup": Cause(
        "model",
        "the first-level cache answers the loads that registers can answer, so that sharing saves no time; the text"
        " does not say whether it holds global data",
        "uncached",
    ),
    "larf-matmul-register-increase": Cause(
        "compiler",
        "the scheduler loads the rows of a tile ahead of the 32 unrolled steps of the blocked code, which takes more"
        " than twice the registers; the text runs code of old compilers for Fermi, whose addresses have 32 bits",
        "fermi-code",
    ),
    "larf-lenet-register-limited": Cause(
        "model",
        "an SM has 2048 warp-registers (section 5.6.4), as many as 32 for each thread; in the 128 KB of section 5.6,"
        " convolutions and fully connected layers are limited by registers; the rest is code, as the kernels of cuDNN"
        " are not public",
        "half-registers",
    ),
}
LIMITS: Mapping[str, Limit] = {
    "larf-layer-speedup-max": Limit(
        "with a memory that takes no time (machine larf-gp102-free-loads), with or without the design, the layer gains"
        " less than is printed: the rest of its instructions takes more than half of its time",
        limits.layer_speedup,
    ),
    "larf-matmul-software-extra": Limit(
        "the plain code issues several instructions for each multiply-add, so that the blocked code stays faster even"
        " if all loads of the plain one take no time (machine larf-gtx480-free-loads)",
        limits.software_extra,
        "min",
    ),
    "larf-matmul-ctas-extra": Limit(
        "an SM of Fermi holds 1536 threads, so that a second thread block of 1024 does not fit, even if threads need no"
        " registers at all; the 24 KB that are spared are 40% of 60 KB, which is less than half of the 128 KB of the"
        " thesis's other Fermi GPU (section 4.4), so that registers do not limit its thread blocks either",
        limits.blocks_extra,
    ),
}
REMARKS: Mapping[str, str] = {
    "larf-layer-speedup-max": (
        "half of the loads of this layer share here, and it gains little more if these are complete at once (--ablation"
        " pending-completes) or if memory has no contention (--ablation cached); the loads are read-only, so that the"
        " first-level cache of the machine holds their data too"
    ),
    "larf-end-to-end-others": (
        "compared in descending order, as the figure's own order is lost; both products of PolyBench gain more than"
        " printed, as the stores of each step and the loads compete for the same memory; without contention they gain"
        " about as much as printed, and the convolution far more (--ablation cached); if an entry is not found before"
        " its data are there, both and the convolution gain about what is printed (--ablation pending-misses), but far"
        " fewer loads are removed than printed; next to no loads of AlexNet and LeNet share by either rule; what the"
        " convolution shares is a matter of the order of its code (--ablation ptx-order)"
    ),
    "larf-las-gain-2mm": (
        "entries stay in the table as long as their registers live, and an unlimited table gains as much as one of 400"
        " entries; so nothing is lost by the order of warps that another order could save, also not if entries are"
        " not found before their data are there (--ablation pending-misses)"
    ),
    "larf-lrr-better-layers": (
        "pooling and the last layer share no load under any scheduler, and the first fully connected layer the same"
        " quarter under all, so that at most three of eight layers can differ; the last layer is one warp, which has no"
        " other to share with; in the rest, a warp that comes late joins a load that is still under way, so that its"
        " order hardly matters, also not in the order of the PTX (--ablation ptx-order)"
    ),
    "larf-las-best": (
        "it holds in all layers but the second convolution, where the greedy scheduler shares slightly more; five of"
        " the eight layers share the same under all schedulers"
    ),
    "larf-register-utilisation": (
        "networks and the convolution have about half of their registers in use, as printed; the products of PolyBench"
        " do all their work in one loop, in which most registers are live"
    ),
    "larf-matmul-software-extra": (
        "the plain code waits for each row of the second matrix as it comes, which sharing does not change; the blocked"
        " code loads 32 rows at a time; the shape of the plain code's thread blocks does not decide it (--ablation"
        " square-blocks)"
    ),
    "larf-matmul-register-saved-kb": (
        "the plain code keeps the operands of its short loop live most of the time and spares less than printed; the"
        " blocked code spares more, as little is live while it waits at barriers"
    ),
}
SUMMARY = (
    "Reproduced were the share of global loads that registers can answer, the registers that are saved, in networks as"
    " in products of matrices, and that the scheduler with a small table can exceed an unlimited one. The gain of"
    " MobileNet is as printed in the order of the PTX, which the text runs, and that of CifarNet comes nearer. Out of"
    " reach of any design on this machine and code are the gain of MobileNet's first depth-wise layer, the small gain"
    " of blocks in shared memory over sharing, and the gain by more thread blocks on Fermi. Not reproduced were the"
    " size of the gains of the five other workloads, the gain by the locality-aware scheduler, and the layers in which"
    " the order of warps matters. What decides them is not in the text: whether a load shares with one that is under"
    " way, on which the gain of every network and product depends and without which the order of warps would matter no"
    " more, whether the first-level cache of Fermi holds global data, which of two sizes the register file has, and"
    " the code and thread blocks of the workloads."
)
"""What was reproduced, what was not, and why."""
