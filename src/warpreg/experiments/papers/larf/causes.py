"""Causes and ablations of `warpreg.experiments.papers.larf.results`, and remarks on results that none explains."""

from __future__ import annotations

from collections.abc import Mapping

from warpreg.experiments.papers.ablation import Ablation
from warpreg.experiments.papers.cause import Cause
from warpreg.experiments.papers.larf.designs import FERMI

NO_STAGE = {"renaming_stages": 0}
UNCACHED = "larf-gtx480-uncached"
ABLATIONS: Mapping[str, Ablation] = {
    "no-renaming-stage": Ablation(
        "the renaming table takes no stage of the pipeline",
        parts=("layers", "end-to-end", "above-infinite", "products"),
        parameters={"larf": NO_STAGE, "larf+las": {"larf_renaming_stages": 0}},
    ),
    "uncached": Ablation(
        "global loads pass the first-level cache of the Fermi GPU by",
        parts=("products",),
        machine={"machine": {FERMI: UNCACHED}},
    ),
}
_STAGE = Cause(
    "model",
    "every instruction passes the renaming table, which takes a stage here; the text says that perfect sharing costs"
    " no time and does not say what renaming costs",
    "no-renaming-stage",
)
CAUSES: Mapping[str, Cause] = dict.fromkeys(
    (
        "larf-end-to-end-mobilenet",
        "larf-end-to-end-cifarnet",
        "larf-las-gain-2mm",
        "larf-matmul-sharing-speedup",
        "larf-matmul-ctas-extra",
    ),
    _STAGE,
)
REMARKS: Mapping[str, str] = {
    "larf-end-to-end-others": "compared in descending order, as the figure's own order is lost",
}
