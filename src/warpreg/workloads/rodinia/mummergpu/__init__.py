"""mummergpu: all maximal matches of short DNA reads in a genome, through a suffix tree in textures."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.rodinia.mummergpu.suffix_tree import END, SuffixTree, suffix_tree
from warpreg.workloads.workload import Array, Arrays, Device, Size, Workload, blocks

THREADS = 256
ROW_BITS = 12
LETTERS = np.frombuffer(b"ACGT$", np.uint8)
BEFORE_ALL = ord("q")
NO_PAGE = -1


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``text``: uint8[letters], codes 0 to 3 with stretches that repeat; ``queries``: uint8[reads, length].

    Two thirds of the reads are pieces of the text, half of these with one letter changed; the others are random.
    """
    text = rng.integers(0, 4, size["letters"], dtype=np.uint8)
    stretch = size["letters"] // 20
    for source, target in rng.integers(0, size["letters"] - stretch, (4, 2)):
        text[target : target + stretch] = text[source : source + stretch].copy()
    reads, length = size["reads"], size["length"]
    queries = rng.integers(0, 4, (reads, length), dtype=np.uint8)
    copied = rng.integers(0, size["letters"] - length, 2 * reads // 3)
    queries[: len(copied)] = text[copied[:, None] + np.arange(length)]
    changed = np.arange(len(copied) // 2)
    places = rng.integers(0, length, len(changed))
    queries[changed, places] = (queries[changed, places] + 1) % 4
    return {"text": text, "queries": rng.permutation(queries)}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """Matches of all reads, then all alignments of all matches.

    ``lengths``: int32[reads, starts], the letters of the longest match at each start, 0 if below ``shortest``.
    ``alignments``: int32[slots, 2], place and length; a match has a slot for each place that agrees in ``shortest``.
    """
    reads, length, shortest = size["reads"], size["length"], size["shortest"]
    codes = np.append(inputs["text"], np.uint8(END))
    tree = suffix_tree(codes)
    nodes, children = (device.texture(table, "2d") for table in texels(tree, LETTERS[codes]))

    framed = np.zeros((reads, length + 2), np.uint8)
    framed[:, 0] = BEFORE_ALL
    framed[:, 1:-1] = LETTERS[inputs["queries"]]
    queries = device.upload(framed)
    starts, lengths = np.arange(reads, dtype=np.int32) * (length + 2), np.full(reads, length, np.int32)
    query_starts, query_lengths = device.upload(starts), device.upload(lengths)
    places = device.zeros((reads, length - shortest + 1, 2), np.int32)
    device.launch(
        "find_matches",
        blocks(reads, THREADS),
        THREADS,
        *(places, queries, device.upload(LETTERS[codes]), query_starts, query_lengths, nodes, children),
        *(reads, shortest),
    )
    node, along = np.moveaxis(places.download(), -1, 0)
    matches, slots = _matches(tree, node, along, shortest)
    alignments = device.zeros((max(1, slots), 2), np.int32)
    device.launch(
        "report_matches",
        max(1, blocks(len(matches), THREADS)),
        THREADS,
        *(device.upload(matches), len(matches), alignments, queries, query_starts, nodes, children),
        *(0, len(inputs["text"]), NO_PAGE, NO_PAGE, shortest),
    )
    matched = np.where(along > 0, tree.depth[tree.parent[node]] + along, tree.depth[node])
    return {"lengths": matched.astype(np.int32), "alignments": alignments.download()}


def texels(tree: SuffixTree, text: Array) -> tuple[Array, Array]:
    """Nodes and children as uint32[rows, 4096, 4]: five numbers of three bytes, then a letter."""
    leaf = tree.suffix >= 0
    below = tree.children.copy()
    below[leaf, 0] = tree.suffix[leaf]
    before = np.where(tree.suffix > 0, text[tree.suffix - 1], BEFORE_ALL + 1)
    fields = np.stack([tree.parent, tree.link, tree.first, tree.last, tree.depth], axis=1)
    return _packed(fields, np.zeros(len(leaf), np.uint8)), _packed(below, np.where(leaf, before, 0))


def _packed(numbers: Array, letters: Array) -> Array:
    rows = blocks(len(numbers), 1 << ROW_BITS)
    table = np.zeros((rows << ROW_BITS, 16), np.uint8)
    table[: len(numbers), :15] = (numbers[:, :, None] >> np.array([0, 8, 16])).reshape(-1, 15) & 0xFF
    table[: len(numbers), 15] = letters
    return table.view("<u4").reshape(rows, -1, 4)


def _matches(tree: SuffixTree, node: Array, along: Array, shortest: int) -> tuple[Array, int]:
    """int32[matches, 5] for the second kernel: read, start, node, letters along its edge, first slot; and all slots."""
    read, start = np.nonzero(node)
    top = node[read, start]
    while (higher := tree.depth[tree.parent[top]] >= shortest).any():
        top = np.where(higher, tree.parent[top], top)
    counts = tree.leaves[top]
    first_slot = np.cumsum(counts) - counts
    matches = np.stack([read, start, node[read, start], along[read, start], first_slot], axis=1).astype(np.int32)
    return matches, int(counts.sum())


def reference(size: Size, inputs: Arrays) -> Arrays:
    """Through the sorted suffixes: those that begin with the same letters are neighbours."""
    return maximal_matches(inputs["text"], inputs["queries"], size["shortest"])


def maximal_matches(text: Array, queries: Array, shortest: int) -> dict[str, Array]:
    """The outputs of `run`; ``shortest`` is at most 27."""
    reads, length = queries.shape
    suffixes = sorted_suffixes(text)
    window = np.append(text, np.full(length, END, np.uint8))
    sorted_keys = _keys(window[suffixes[:, None] + np.arange(shortest)])
    starts = length - shortest + 1
    lengths = np.zeros((reads, starts), np.int32)
    alignments: list[Array] = []
    for start in range(starts):
        keys = _keys(queries[:, start : start + shortest])
        lower, upper = np.searchsorted(sorted_keys, keys, "left"), np.searchsorted(sorted_keys, keys, "right")
        counts = upper - lower
        read = np.repeat(np.arange(reads), counts)
        rank = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(lower, counts)
        place = suffixes[rank]
        equal = window[place[:, None] + np.arange(length - start)] == queries[read, start:]
        matched = np.logical_and.accumulate(equal, axis=1).sum(axis=1)
        np.maximum.at(lengths[:, start], read, matched.astype(np.int32))
        differs = (place == 0) | (start == 0) | (text[place - 1] != queries[read, start - 1])
        alignments.append(np.stack([read, np.full(len(read), start), rank, place, matched, differs], axis=1))
    return {"lengths": lengths, "alignments": _in_slots(np.concatenate(alignments))}


def _in_slots(rows: Array) -> Array:
    """Place and length of rows (read, start, rank, place, length, counts), the counting ones of a match first."""
    read, start, _, place, matched, differs = rows[np.lexsort((rows[:, 2], rows[:, 1], rows[:, 0]))].T
    slots = np.zeros((max(1, len(rows)), 2), np.int32)
    if len(rows) == 0:
        return slots
    is_first = np.append(True, (np.diff(read) != 0) | (np.diff(start) != 0))
    match = np.cumsum(is_first) - 1
    counted = np.cumsum(differs) - differs
    begins = np.flatnonzero(is_first)
    position = begins[match] + counted - counted[begins][match]
    keep = differs == 1
    slots[position[keep]] = np.stack([place[keep], matched[keep]], axis=1)
    return slots


def sorted_suffixes(text: Array) -> Array:
    """Where the suffixes of ``text`` begin, in alphabetical order; its end comes behind all letters.  By doubling."""
    count = len(text)
    rank = np.append(text.astype(np.int64), END)
    width = 1
    while True:
        behind = np.full(count + 1, count + 1, np.int64)
        behind[:-width] = rank[width:]
        key = rank * (count + 2) + behind
        order = np.argsort(key, kind="stable")
        rank[order] = np.cumsum(np.append(0, np.diff(key[order]) != 0))
        if rank[order[-1]] == count:
            return order[:-1]
        width *= 2


def _keys(windows: Array) -> Array:
    """Numbers in the alphabetical order of some windows of up to 27 letters: int64[windows]."""
    powers = (END + 1) ** np.arange(windows.shape[1] - 1, -1, -1, dtype=np.int64)
    keys: Array = windows.astype(np.int64) @ powers
    return keys


WORKLOAD = Workload(
    name="mummergpu",
    title="DNA reads matched through a suffix tree",
    description=(
        "All maximal exact matches of short reads in a genome, whose suffix tree lies in two 2D textures, a texel of"
        " 16 packed bytes a node. In the first kernel a thread takes a read: it walks down the tree letter by letter,"
        " records where it gets stuck, and goes on from the next letter along a suffix link, with as many letters as"
        " it knows skipped. In the second a thread takes a match and walks over all leaves below it without a stack,"
        " by asking a parent which of its children it came from. Nothing but dependent loads, unpacked bytes and"
        " branches on letters; warps diverge at once."
    ),
    suite="rodinia",
    tags=("integer", "memory", "texture", "divergence"),
    papers=("bow",),
    originals=("rodinia/mummergpu",),
    differences="The third kernel of the original is empty, and not here.",
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"letters": 700, "reads": 301, "length": 21, "shortest": 9},
        # Half the original's reads, since warps take long: each of their 32 paths through the tree is another.
        "small": {"letters": 20000, "reads": 25000, "length": 25, "shortest": 20},
        "full": {"letters": 100000, "reads": 500000, "length": 25, "shortest": 20},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
)
