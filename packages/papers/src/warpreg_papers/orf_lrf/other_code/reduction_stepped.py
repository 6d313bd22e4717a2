"""`reduction-loop` with an address that is incremented in the loop."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from warpreg.workloads.cuda_sdk.reduction_loop import WORKLOAD as REDUCTION_LOOP

WORKLOAD = dataclasses.replace(REDUCTION_LOOP, source=Path(__file__).with_name("reduction_stepped.ptx"))
