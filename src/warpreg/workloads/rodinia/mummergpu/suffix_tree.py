"""The suffix tree of a text over four letters, by Ukkonen ("On-line construction of suffix trees", 1995)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warpreg.workloads.workload import Array

NONE, ROOT = 0, 1
END = 4
"""The letter behind the text: its code, behind those of A, C, G and T."""


@dataclass(frozen=True)
class SuffixTree:
    """Nodes by number, from 1, the root; 0 is no node.  All arrays are int64[nodes], ``children`` int64[nodes, 5].

    ``first`` and ``last`` are the letters of the text on the edge from the parent, ``depth`` those from the root to the
    node, ``suffix`` the place where a leaf's suffix begins, -1 for other nodes, ``leaves`` how many lie below.
    """

    parent: Array
    link: Array
    first: Array
    last: Array
    depth: Array
    children: Array
    suffix: Array
    leaves: Array


def suffix_tree(codes: Array) -> SuffixTree:
    """The tree of all suffixes of ``codes``, whose last and only last is `END`."""
    first, last, link, children = _grow(codes.tolist())
    parent = np.zeros(len(first), np.int64)
    above, branch = np.nonzero(children)
    parent[children[above, branch]] = above
    order = _from_the_root(children)
    is_leaf = (children == NONE).all(axis=1)
    is_leaf[NONE] = False
    depth, leaves = np.zeros_like(parent), is_leaf.astype(np.int64)
    for level in order[1:]:
        depth[level] = depth[parent[level]] + last[level] - first[level] + 1
    for level in reversed(order):
        np.add.at(leaves, parent[level], leaves[level])
    suffix = np.where(is_leaf, len(codes) - depth, -1)
    return SuffixTree(parent, link, first, last, depth, children, suffix, leaves)


def _from_the_root(children: Array) -> list[Array]:
    """The nodes level by level."""
    levels = [np.array([ROOT])]
    while levels[-1].size:
        below = children[levels[-1]]
        levels.append(below[below != NONE])
    return levels[:-1]


def _grow(codes: list[int]) -> tuple[Array, Array, Array, Array]:
    """First and last letters of the edges, suffix links and children; leaves reach to the end of the text."""
    end = len(codes)
    first, last, link, children = [0, 0], [-1, -1], [NONE, NONE], [[NONE] * 5, [NONE] * 5]

    def node(start: int, stop: int) -> int:
        first.append(start)
        last.append(stop)
        link.append(ROOT)
        children.append([NONE] * 5)
        return len(first) - 1

    active, edge, length, pending = ROOT, 0, 0, 0
    for place, code in enumerate(codes):
        pending += 1
        waiting = NONE
        while pending:
            if length == 0:
                edge = place
            below = children[active][codes[edge]]
            if below == NONE:
                children[active][codes[edge]] = node(place, end - 1)
                inserted_at = active
            else:
                span = min(last[below], place) - first[below] + 1
                if length >= span:
                    edge, length, active = edge + span, length - span, below
                    continue
                if codes[first[below] + length] == code:
                    if waiting != NONE:
                        link[waiting] = active
                    length += 1
                    break
                inserted_at = node(first[below], first[below] + length - 1)
                children[active][codes[edge]] = inserted_at
                children[inserted_at][code] = node(place, end - 1)
                first[below] += length
                children[inserted_at][codes[first[below]]] = below
            if waiting != NONE:
                link[waiting] = inserted_at
            waiting = inserted_at if inserted_at != ROOT else NONE
            pending -= 1
            if active == ROOT and length:
                length -= 1
                edge = place - pending + 1
            elif active != ROOT:
                active = link[active]
    link[ROOT] = NONE
    return np.array(first), np.array(last), np.array(link), np.array(children)
