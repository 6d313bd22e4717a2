"""Causes and ablations of `warpreg.experiments.papers.bow.results`, and remarks on results that none explains."""

from __future__ import annotations

from collections.abc import Mapping

from warpreg.experiments.papers.ablation import Ablation
from warpreg.experiments.papers.cause import Cause

ABLATIONS: Mapping[str, Ablation] = {}
CAUSES: Mapping[str, Cause] = {}
REMARKS: Mapping[str, str] = {
    "bow-table31-r2-wt": "the printed code writes r2 three times, in lines 3, 11 and 12; the table counts two",
}
