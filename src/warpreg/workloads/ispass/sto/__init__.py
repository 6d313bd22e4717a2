"""sto: MD5 and SHA-1 of many pieces of data, side by side or overlapping, for content-addressed storage."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Device, Size, Workload, blocks

THREADS = 127
WORDS = {"md5": 4, "sha1": 5}


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``data``: uint8[n], all pieces side by side and four bytes; random, with stretches of zeros as files have."""
    data = rng.integers(0, 256, size["pieces"] * size["bytes"] + 4, dtype=np.uint8)
    data[: data.size // 8] = 0
    return {"data": data}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """Four launches; each output: uint32[pieces, words], the digests' bytes.

    ``md5`` and ``sha1`` are of pieces side by side, ``md5_overlap`` and ``sha1_overlap`` of windows of the same length
    that start ``step`` bytes apart; with the suffix ``_all`` uint8[bytes], the host's hash of all digests in order.
    """
    pieces, length = size["pieces"], size["bytes"]
    data = device.upload(inputs["data"].view(np.uint32))
    grid = blocks(pieces, THREADS)
    outputs: dict[str, Array] = {}
    for name, words in WORDS.items():
        digests, windows = (device.zeros((pieces, words), np.uint32) for _ in range(2))
        device.launch(name, grid, THREADS, data, pieces, length, digests)
        device.launch(f"{name}_overlap", grid, THREADS, data, pieces, length, size["step"], windows)
        outputs |= _with_hash_of_all(name, name, digests.download())
        outputs |= _with_hash_of_all(name, f"{name}_overlap", windows.download())
    return outputs


def _with_hash_of_all(algorithm: str, output: str, digests: Array) -> dict[str, Array]:
    whole = hashlib.new(algorithm, digests.tobytes(), usedforsecurity=False).digest()
    return {output: digests, f"{output}_all": np.frombuffer(whole, np.uint8)}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """Piece by piece with Python's own hash functions."""
    outputs: dict[str, Array] = {}
    data, length = inputs["data"].tobytes(), size["bytes"]
    for name, words in WORDS.items():
        for output, step in ((name, length), (f"{name}_overlap", size["step"])):
            digests = b"".join(
                hashlib.new(name, data[start : start + length], usedforsecurity=False).digest()
                for start in range(0, size["pieces"] * step, step)
            )
            outputs |= _with_hash_of_all(name, output, np.frombuffer(digests, np.uint32).reshape(-1, words))
    return outputs


WORKLOAD = Workload(
    name="sto",
    title="Hashes for storage",
    description=(
        "MD5 and SHA-1 of many pieces of data, side by side for a direct hash of a file, and of a window that slides"
        " by a few bytes to find where known pieces begin: four kernels. A thread hashes a piece. It copies 128 bytes"
        " at a time to its own part of shared memory, without barriers, in the sliding kernels joining words across"
        " byte boundaries, then digests them in 64 or 80 unrolled steps with immediate constants. Chains of additions,"
        " logic and rotations: a value is read two or three times within a few instructions, but the words of a chunk"
        " and the state live throughout. A block has 127 threads."
    ),
    suite="ispass",
    tags=("integer", "compute", "shared-memory", "partial-warps", "several-launches"),
    papers=("bow",),
    originals=("ispass/STO",),
    differences=(
        "A chunk is digested in one loop that padding passes through as well, and a rotation is one funnel shift: the"
        " SHA-1 kernels have 1,178 and 1,243 PTX instructions against 2,133 and 2,283, md5_overlap 736 against 1,175."
        " The sliding kernels copy like the others, so they need no more registers than those: 63 and 40 against 86"
        " and 95."
    ),
    source=Path(__file__).with_name("kernel.cu"),
    # A hash is thousands of instructions: small has 12,000 threads, full a file of 8 MB.
    sizes={
        "tiny": {"pieces": 150, "bytes": 128, "step": 13},
        "small": {"pieces": 12_000, "bytes": 128, "step": 13},
        "full": {"pieces": 32_768, "bytes": 256, "step": 23},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
)
