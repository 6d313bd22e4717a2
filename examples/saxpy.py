"""Compile a kernel of one's own, run it on NumPy arrays, compare register files on the run.

Needs the CUDA compiler's wheels (pip install 'warpreg[cuda]'); a .ptx file works without them.
"""

from pathlib import Path

import numpy as np

import warpreg

n = 1 << 20
x, y = np.arange(n, dtype=np.float32), np.ones(n, np.float32)

kernel = warpreg.compile(Path(__file__).with_name("saxpy.cu"))["saxpy"]
run = kernel[n // 256, 256](2.0, x, y, n)
print(y[:4])

table = warpreg.compare(run, designs=["mrf", "rfc"], parameters={"rfc": {"entries": 3}})
print(table[["workload", "design", "reads_elided", "writes_elided", "energy_normalized"]].to_string(index=False))
