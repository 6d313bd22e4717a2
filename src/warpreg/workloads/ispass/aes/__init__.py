"""aes: encryption and decryption by table look-ups, with keys of 128 and 256 bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.ispass.aes.tables import (
    MIX,
    UNMIX,
    inverse_round_keys,
    inverse_sbox,
    mixed,
    round_keys,
    round_tables,
    sbox,
)
from warpreg.workloads.workload import Array, Arrays, Device, Size, Workload, blocks

BLOCK = 256
KEY_BITS = (128, 256)


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``data``: uint8[blocks, 16], the pixels of an image with smooth areas, and ``key_128`` and ``key_256``."""
    places = np.arange(16 * size["blocks"]).reshape(-1, 16)
    data = (128 + 100 * np.sin(places / 97.0) + rng.integers(0, 8, places.shape)).astype(np.uint8)
    keys = {f"key_{bits}": rng.integers(0, 256, bits // 8, dtype=np.uint8) for bits in KEY_BITS}
    return {"data": data, **keys}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """For each length of key the data encrypted (``cipher_128``, ``cipher_256``), and that decrypted (``plain_``)."""
    _assign_tables(device)
    words = 4 * size["blocks"]
    data = device.upload(inputs["data"].view(np.uint32))
    outputs = {}
    for bits in KEY_BITS:
        cipher, plain = (device.zeros((size["blocks"], 4), np.uint32) for _ in range(2))
        schedules = round_keys(inputs[f"key_{bits}"]), inverse_round_keys(inputs[f"key_{bits}"])
        keys, inverse_keys = (device.texture(keys.view(np.uint32).ravel(), kind="1d") for keys in schedules)
        device.launch(f"encrypt_{bits}", blocks(words, BLOCK), BLOCK, cipher, data, keys, words)
        device.launch(f"decrypt_{bits}", blocks(words, BLOCK), BLOCK, plain, cipher, inverse_keys, words)
        outputs[f"cipher_{bits}"] = cipher.download().view(np.uint8)
        outputs[f"plain_{bits}"] = plain.download().view(np.uint8)
    return outputs


def _assign_tables(device: Device) -> None:
    column, k = np.divmod(np.arange(16), 4)
    device.assign("encrypt_tables", round_tables(sbox(), MIX))
    device.assign("decrypt_tables", round_tables(inverse_sbox(), UNMIX))
    device.assign("inverse_sbox", inverse_sbox().astype(np.uint32))
    device.assign("encrypt_columns", ((column + k) % 4).astype(np.uint32))
    device.assign("decrypt_columns", ((column - k) % 4).astype(np.uint32))


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The cipher step by step on bytes (FIPS 197, 5.1), all blocks at once; decryption gives the data back."""
    outputs = {}
    for bits in KEY_BITS:
        outputs[f"cipher_{bits}"] = _encrypted(inputs["data"], round_keys(inputs[f"key_{bits}"]))
        outputs[f"plain_{bits}"] = inputs["data"]
    return outputs


def _encrypted(data: Array, keys: Array) -> Array:
    """uint8[blocks, 16]."""
    state = data.reshape(-1, 4, 4) ^ keys[0]
    columns = (np.arange(4)[:, None] + np.arange(4)) % 4
    for key in keys[1:-1]:
        state = mixed(sbox()[state[:, columns, np.arange(4)]], MIX) ^ key
    state = sbox()[state[:, columns, np.arange(4)]] ^ keys[-1]
    return np.reshape(state, data.shape)


WORKLOAD = Workload(
    name="aes",
    title="AES encryption",
    description=(
        "Encryption and decryption of an image by AES with keys of 128 and 256 bits, four kernels. A block of 256"
        " threads copies the four round tables from constant to shared memory; a thread owns a column of the state. In"
        " each unrolled round it reads four columns from one half of a stage in shared memory, picks a byte of each,"
        " looks it up, adds a round key from a texture and stores its column to the other half, then a barrier. Eight"
        " shared loads with scattered banks a round, addresses that live throughout, and short chains of logic."
    ),
    suite="ispass",
    tags=("integer", "compute", "shared-memory", "texture", "constant-memory", "barriers", "several-launches"),
    originals=("ispass/AES",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"blocks": 101},
        "small": {"blocks": 83_001},
        "full": {"blocks": 196_608},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
)
