"""Loads what every worker of a sweep needs, once for all workers (`processes`)."""

from __future__ import annotations

import gc

import warpreg.replay.walker
import warpreg.timing.launch.simulate  # noqa: F401
from warpreg.experiments.runs.choices import Choice
from warpreg.experiments.runs.comparison import BASELINE
from warpreg.experiments.runs.provenance import code_version
from warpreg.experiments.sweep import work  # noqa: F401
from warpreg.experiments.sweep.batch import package
from warpreg.jit import entry_points  # noqa: F401

code_version()
package()
Choice.load(BASELINE)
gc.collect()
gc.freeze()  # what is loaded is searched for garbage in no worker
