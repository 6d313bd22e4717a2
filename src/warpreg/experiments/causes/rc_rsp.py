"""Causes and ablations of `warpreg.experiments.rc_rsp`."""

from __future__ import annotations

from collections.abc import Mapping

from warpreg.experiments.causes.ablation import Ablation
from warpreg.experiments.causes.cause import Cause

ABLATIONS: Mapping[str, Ablation] = {}
CAUSES: Mapping[str, Cause] = {}
