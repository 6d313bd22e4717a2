"""Pieces of compiled code: one function for arguments of some types as LLVM bitcode, without what it calls.

A piece is valid while the calls that type inference met return the types that they returned then.  So it outlives an
edit of a function that it calls, and serves every entry point that reaches the function.
"""

from __future__ import annotations

import pickle
from typing import NamedTuple

from warpreg.cache import store

KIND = "pieces"
VARIANTS = 8
"""Pieces of one function and types that are kept: they differ in what its calls return."""


class Call(NamedTuple):
    """A call: the number of the function among the callees, digests of the types of the arguments and of the result."""

    callee: int
    arguments: tuple[str, ...]
    result: str


class Piece(NamedTuple):
    """A function: its calls in the order in which their types were inferred, the digest of the type of its result, and
    its bitcode, in which it is the symbol `OWN` and its calls are the symbols `called`.
    """

    calls: tuple[Call, ...]
    result: str
    code: bytes


OWN = "own"


def called(number: int) -> str:
    """The symbol of a call."""
    return f"callee.{number}"


def stored(key: str) -> tuple[Piece, ...]:
    """The pieces with a key, the latest first."""
    data = store.read(KIND, key)
    if data is None:
        return ()
    found = pickle.loads(data)
    return tuple(Piece(tuple(Call(*call) for call in calls), result, code) for calls, result, code in found)


def keep(key: str, piece: Piece) -> None:
    """Store one more piece with a key."""
    others = [one for one in stored(key) if one.calls != piece.calls]
    plain = [
        ([tuple(call) for call in calls], result, code) for calls, result, code in (piece, *others[: VARIANTS - 1])
    ]
    store.write(KIND, key, pickle.dumps(plain, protocol=4))
