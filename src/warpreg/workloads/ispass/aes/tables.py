"""The arithmetic of AES (FIPS 197) on bytes: S-box, products in its field, key expansion, and tables of a round."""

from __future__ import annotations

from functools import cache

import numpy as np

from warpreg.workloads.workload import Array

BYTES = np.arange(256, dtype=np.uint8)


def doubled(values: Array) -> Array:
    """Twice each byte in the field with 256 elements (FIPS 197, 4.2.1)."""
    carry = np.where(values & 0x80, np.uint8(0x1B), np.uint8(0))
    return (values << np.uint8(1)).astype(np.uint8) ^ carry


def times(values: Array, factor: int) -> Array:
    """``factor``, from 1 to 15, times each byte of ``values`` in the field."""
    product, power = np.zeros_like(values), values
    while factor:
        if factor & 1:
            product = product ^ power
        power, factor = doubled(power), factor >> 1
    return product


@cache
def sbox() -> Array:
    """uint8[256]: inverses in the field, then the affine map (5.1.1)."""
    powers = [1]  # of 3, which generates the field
    while len(powers) < 255:
        powers.append(int(times(np.array([powers[-1]], np.uint8), 3)[0]))
    inverse = np.zeros(256, np.uint8)
    inverse[powers] = np.array(powers, np.uint8)[(255 - np.arange(255)) % 255]
    turned = [(inverse << np.uint8(k)) | (inverse >> np.uint8(8 - k)) for k in range(1, 5)]
    return (inverse ^ turned[0] ^ turned[1] ^ turned[2] ^ turned[3] ^ 0x63).astype(np.uint8)


@cache
def inverse_sbox() -> Array:
    """uint8[256], undoes `sbox`."""
    result = np.empty(256, np.uint8)
    result[sbox()] = BYTES
    return result


def mixed(state: Array, factors: tuple[int, int, int, int]) -> Array:
    """Columns, the last axis of ``state``, times a circulant matrix whose first row is ``factors`` (5.1.3)."""
    columns = [np.zeros_like(state[..., 0]) for _ in range(4)]
    for row in range(4):
        for k in range(4):
            columns[row] ^= times(state[..., k], factors[(k - row) % 4])
    return np.stack(columns, axis=-1)


MIX = (2, 3, 1, 1)
UNMIX = (14, 11, 13, 9)


def round_keys(key: Array) -> Array:
    """uint8[rounds + 1, 4, 4] of a key of 16 or 32 bytes: a key for each round, column by column (5.2)."""
    key_words = len(key) // 4
    rounds = key_words + 6
    words = [key[4 * i : 4 * i + 4] for i in range(key_words)]
    constant = np.array([1], np.uint8)
    for i in range(key_words, 4 * (rounds + 1)):
        word = words[-1]
        if i % key_words == 0:
            word = sbox()[np.roll(word, -1)]
            word[0] ^= constant[0]
            constant = doubled(constant)
        elif key_words > 6 and i % key_words == 4:
            word = sbox()[word]
        words.append(words[-key_words] ^ word)
    return np.array(words, np.uint8).reshape(rounds + 1, 4, 4)


def inverse_round_keys(key: Array) -> Array:
    """The round keys for decryption by tables: backwards, all but the first and last unmixed (5.3.5)."""
    keys = round_keys(key)[::-1].copy()
    keys[1:-1] = mixed(keys[1:-1], UNMIX)
    return keys


def round_tables(substitution: Array, factors: tuple[int, int, int, int]) -> Array:
    """uint32[4, 256]: what a byte in each row adds to its column, as a word whose lowest byte is the first row."""
    rows = [[times(substitution, factors[(row - k) % 4]) for k in range(4)] for row in range(4)]
    return np.stack([np.stack(columns, axis=-1).copy().view(np.uint32)[:, 0] for columns in rows])
