"""Workloads of the study: each name of the paper, and the workloads of the suite whose launches stand for it."""

from __future__ import annotations

from collections.abc import Mapping

from warpreg.workloads.dimensions import SEPARATOR

NETWORKS: Mapping[str, tuple[str, ...]] = {
    "CifarNet": ("cifarnet",),
    "MobileNet": ("mobilenet",),
    "AlexNet": ("alexnet",),
    "LeNet": ("lenet",),
}
OTHERS: Mapping[str, tuple[str, ...]] = {"3DCONV": ("3dconv",), "2MM": ("2mm",), "3MM": ("3mm",)}
SOURCES: Mapping[str, tuple[str, ...]] = {**NETWORKS, **OTHERS}
REMAINING = ("AlexNet", "LeNet", "3DCONV", "2MM", "3MM")
"""Workloads of Figure 5.9."""
EXTENT = 128


def product(workload: str, **dimensions: int) -> str:
    """A workload with square matrices of the figure's extent."""
    every = {"m": EXTENT, "n": EXTENT, "k": EXTENT, **dimensions}
    return SEPARATOR.join([workload, *(f"{name}={number}" for name, number in every.items())])


PLAIN_PRODUCT, BLOCKED_PRODUCT = product("matrix-mul-plain", width=EXTENT, height=8), product("matrix-mul")
"""Multiplication of matrices of 128 x 128 without and with blocks in shared memory (Figure 5.11, section 5.6.3), both
with 16 thread blocks of 1024 threads.  The text does not print their shape.  Its example of sharing, a row of the first
matrix that the four warps of a row of the result load (section 5.3.1), needs these four warps on one SM, as registers
are those of an SM: a thread block of the plain code has whole rows, eight of them.  The blocked code has its 32 x 32
tiles."""
SQUARE_PRODUCT = product("matrix-mul-plain", width=32, height=32)
"""The plain code in the thread blocks of the blocked one, where the four warps of a row are in four thread blocks."""
LAYERS: Mapping[str, str] = {
    "conv1": "Cv1",
    "pool1": "Pl1",
    "conv2": "Cv2",
    "pool2": "Pl2",
    "conv3": "Cv3",
    "pool3": "Pl3",
    "hidden": "FC1",
    "classes": "FC2",
}
"""Layers of CifarNet in the order of its launches (Figure 5.6); softmax follows."""
KINDS: Mapping[str, str] = {
    "first_convolution": "Cv",
    "depthwise": "DWC",
    "pointwise": "PWC",
    "mean_pooling": "Pl",
    "fully_connected": "FC",
}
"""Kinds of MobileNet's layers by kernel (Figure 5.7)."""
