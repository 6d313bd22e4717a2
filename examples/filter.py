"""Fill variables of a module and pass a structure by value."""

from pathlib import Path

import numpy as np

import warpreg

x, y = np.arange(1000, dtype=np.float32), np.zeros(1000, np.float32)
taps, limited = np.array([0.25, 0.5, 0.25], np.float32), np.array(0, np.int32)

kernel = warpreg.compile(Path(__file__).with_name("filter.cu"))["filter"]
signal = warpreg.struct(x, y, np.int32(1000), np.float32(900))  # arrays are pointers, numbers have their NumPy type
kernel[4, 256](signal, symbols={"taps": taps, "limited": limited})
print(y[:3], y[-1], limited)  # [0.25 1.   2.  ] 900.0 99
