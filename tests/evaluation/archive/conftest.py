"""Studies as those of sweeps."""

from tests.evaluation.sweep.conftest import study as study
