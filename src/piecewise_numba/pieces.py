"""Pieces of compiled code: one function for arguments of some types as LLVM bitcode, without what it calls.

A piece is valid while the calls that type inference met return the types that they returned then.  So it outlives an
edit of a function that it calls, and serves every entry point that reaches the function, on every processor: machine
code is made where pieces are linked.
"""

from __future__ import annotations

import pickle
from typing import NamedTuple

from piecewise_numba.settings import storage

KIND = "pieces"
VARIANTS = 16
"""Pieces of one function and types that are kept: what its calls return, or the records that it uses, differ."""


class Call(NamedTuple):
    """A call: the number of the function among the callees, digests of the types of the arguments and of the result."""

    callee: int
    arguments: tuple[str, ...]
    result: str


class Use(NamedTuple):
    """A use of a sealed record (`piecewise_numba.sealed`): its class, the field, and a digest of what that depends
    on."""

    record: str
    field: str
    digest: str


class Piece(NamedTuple):
    """A function: its calls in the order in which their types were inferred, the digest of the type of its result, its
    bitcode, in which it is the symbol `OWN` and its calls are the symbols `called`, and its uses of sealed records.
    """

    calls: tuple[Call, ...]
    result: str
    code: bytes
    uses: tuple[Use, ...]


OWN = "own"


def called(number: int) -> str:
    """The symbol of a call."""
    return f"callee.{number}"


def stored(key: str) -> tuple[Piece, ...]:
    """The pieces with a key, the latest first."""
    data = storage().read(KIND, key)
    if data is None:
        return ()
    found = pickle.loads(data)
    return tuple(
        Piece(tuple(Call(*call) for call in calls), result, code, tuple(Use(*use) for use in uses))
        for calls, result, code, uses in found
    )


def keep(key: str, piece: Piece) -> None:
    """Store one more piece with a key."""
    others = [one for one in stored(key) if (one.calls, one.uses) != (piece.calls, piece.uses)]
    kept = piece, *others[: VARIANTS - 1]
    plain = [(list(map(tuple, one.calls)), one.result, one.code, list(map(tuple, one.uses))) for one in kept]
    storage().write(KIND, key, pickle.dumps(plain, protocol=4))
