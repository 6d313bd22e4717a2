"""b-tree: lookups of single keys and of ranges in a B+ tree, one block a query."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Device, Size, Workload, blocks

ORDER = 256
FILL = 180
"""Keys in a leaf and children of an inner node when the tree is built; as insertions in random order leave them."""
LAST = np.iinfo(np.int32).max
A_NODE = np.dtype([("keys", np.int32, ORDER), ("indices", np.int32, ORDER), ("is_leaf", np.bool_)], align=True)


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``keys``: int32[records], ascending; ``values``: int32[records]; ``wanted``: int32[queries], of which about half
    are in the tree; ``ranges``: int32[ranges, 2], the first and the last key of each, both in the tree."""
    records = size["records"]
    keys = np.cumsum(rng.integers(1, 4, records), dtype=np.int32)
    first = rng.integers(0, records, size["ranges"])
    last = np.minimum(first + rng.integers(0, size["longest"], size["ranges"]), records - 1)
    return {
        "keys": keys,
        "values": rng.integers(0, 1 << 30, records, dtype=np.int32),
        "wanted": rng.integers(0, keys[-1] + 1, size["queries"], dtype=np.int32),
        "ranges": np.stack((keys[first], keys[last]), axis=1),
    }


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """Two launches; ``answers``: int32[queries], the value or -1, ``first`` and ``lengths``: int32[ranges]."""
    tree, _ = loaded(inputs["keys"])
    nodes, records = device.upload(tree.view(np.uint8)), device.upload(inputs["values"])

    queries = len(inputs["wanted"])
    wanted, answers = device.upload(inputs["wanted"]), device.zeros(queries, np.int32)
    device.launch("find_keys", blocks(queries, 2), ORDER, nodes, records, wanted, queries, answers)

    count = len(inputs["ranges"])
    ranges = device.upload(inputs["ranges"])
    first, lengths = device.zeros(count, np.int32), device.zeros(count, np.int32)
    device.launch("find_ranges", count, ORDER, nodes, ranges, first, lengths)
    return {"answers": answers.download(), "first": first.download(), "lengths": lengths.download()}


def loaded(keys: Array) -> tuple[Array, int]:
    """A tree over ascending ``keys``, whose records are numbered in their order: its nodes, the root first, and how
    many levels of inner nodes it has."""
    levels = [_level(keys, np.arange(len(keys)), leaf=True)]
    while len(levels[0]) > 1:
        below = levels[0]
        levels.insert(0, _level(below["keys"][:, 0], np.arange(len(below)), leaf=False))
    start = 0
    for level in levels[:-1]:
        start += len(level)
        level["indices"][level["keys"] != LAST] += start
        level["keys"][0, 0] = np.iinfo(np.int32).min
    tree = np.concatenate(levels, out=np.zeros(start + len(levels[-1]), A_NODE))  # padding is zero, too
    return tree, len(levels) - 1


def _level(keys: Array, indices: Array, leaf: bool) -> Array:
    """Nodes of ``FILL`` keys each."""
    nodes = np.zeros(blocks(len(keys), FILL), A_NODE)
    nodes["is_leaf"] = leaf
    nodes["keys"] = LAST
    node, slot = np.divmod(np.arange(len(keys)), FILL)
    nodes["keys"][node, slot], nodes["indices"][node, slot] = keys, indices
    return nodes


def reference(size: Size, inputs: Arrays) -> Arrays:
    """Binary search in the sorted keys."""
    keys = inputs["keys"]
    at = np.minimum(np.searchsorted(keys, inputs["wanted"]), len(keys) - 1)
    answers = np.where(keys[at] == inputs["wanted"], inputs["values"][at], -1)
    first, last = np.searchsorted(keys, inputs["ranges"]).astype(np.int32).T
    return {"answers": answers.astype(np.int32), "first": first.copy(), "lengths": last - first + np.int32(1)}


WORKLOAD = Workload(
    name="b-tree",
    title="Lookups in a B+ tree",
    description=(
        "Single keys and ranges are looked up in a B+ tree of order 256, one block of 256 threads for two keys or for"
        " the two ends of a range, one thread a key of the node. On each level all threads compare their key with the"
        " one that is wanted, and a barrier that counts tells all of them which child follows. Two paths are followed"
        " at once; nearly everything is 64-bit address arithmetic with 2052-byte nodes, on values that are the same in"
        " all lanes, and dependent loads. In the end one thread answers each query."
    ),
    suite="rodinia",
    tags=("integer", "memory", "divergence", "barriers"),
    papers=("corf", "bow", "rc-rsp"),
    originals=("rodinia/b+tree",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"records": 33_000, "queries": 60, "ranges": 40, "longest": 500},
        "small": {"records": 200_000, "queries": 3_000, "ranges": 1_500, "longest": 1_000},
        "full": {"records": 1_000_000, "queries": 20_000, "ranges": 12_000, "longest": 3_000},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
)
