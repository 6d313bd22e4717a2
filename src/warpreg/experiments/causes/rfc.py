"""Causes and ablations of `warpreg.experiments.rfc`."""

from __future__ import annotations

from collections.abc import Mapping

from warpreg.experiments import rfc
from warpreg.experiments.causes.ablation import Ablation
from warpreg.experiments.causes.cause import Cause
from warpreg.experiments.published import Measured
from warpreg.experiments.study import Study


def share_of_all_traffic(study: Study) -> dict[str, Measured]:
    """What read allocation changes, in shares of the traffic without a cache, as the paper's figures have it."""
    filled, large = rfc.traffic_left(study, rfc.READ_ALLOCATE), rfc.traffic_left(study, rfc.hardware(rfc.LARGE))
    return {
        "rfc-read-allocate-mrf-reads": large[0] - filled[0],
        "rfc-read-allocate-mrf-writes": filled[1] - large[1],
    }


ABLATIONS: Mapping[str, Ablation] = {
    "share-of-all-traffic": Ablation(
        "read allocation in shares of the traffic without a cache", findings=share_of_all_traffic
    ),
}
_OF_WHAT = (
    "the paper says neither how large the cache is nor of what its percentages are; with 16 entries little traffic is"
    " left, so that a small part of all writes is a large part of those left"
)
CAUSES: Mapping[str, Cause] = {
    "rfc-read-allocate-mrf-reads": Cause("paper", _OF_WHAT, "share-of-all-traffic"),
    "rfc-read-allocate-mrf-writes": Cause("paper", _OF_WHAT, "share-of-all-traffic"),
}
