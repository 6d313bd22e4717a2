"""Loads what every worker of a sweep needs, once for all workers (`processes`)."""

from __future__ import annotations

import gc

import numpy.random

import warpreg.replay.walker  # noqa: F401
from warpreg import energy, gpu
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.evaluation.runs.comparison import BASELINE, DEFAULT_MACHINE
from warpreg.evaluation.runs.provenance import code_version
from warpreg.evaluation.runs.technologies import DEFAULT_TECHNOLOGY
from warpreg.evaluation.sweep import work  # noqa: F401
from warpreg.evaluation.sweep.batch import package
from warpreg.simt.llvm.object_code import identity

code_version()
package()
identity()
ConfiguredDesign.load(BASELINE)
gpu.load(DEFAULT_MACHINE)
energy.load(DEFAULT_TECHNOLOGY)
numpy.random.default_rng()
gc.freeze()  # what is loaded is searched for garbage in no worker
