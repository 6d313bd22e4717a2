"""Native queries of 32 lanes: ``txq``, ``suq`` and ``istypep``.

words(launch, site, mask, handles)      handles are 32 lanes of i64
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warpreg.ir.address_space import TEXTURE_WINDOW
from warpreg.simt.block.native_records import Fault, Slot, slot
from warpreg.simt.lanes.single_precision import WORDS
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import I32, I64, Code, Value, lanes_of
from warpreg.simt.llvm.spilling import spilled
from warpreg.simt.texture.descriptors import stop
from warpreg.simt.texture.state import RECORD_BYTES, Field, Resource


@dataclass(frozen=True)
class TextureQuery:
    """Reads the ``field`` of records of a ``resource``, or of another one that it is ``also`` for; a ``test`` returns 1
    if the handle is of the resource, and 0 otherwise, also for unknown handles."""

    field: int
    resource: Resource
    test: bool = False
    also: Resource | None = None

    @property
    def name(self) -> str:
        also = "" if self.also is None else f"_{self.also}"
        return f"texture_query_{self.field}_{self.resource}_{self.test:d}{also}"

    @property
    def result(self) -> Any:
        return WORDS

    def module(self) -> str:
        """LLVM IR that defines the query under its name."""
        module = ir.Module(self.name)
        code = Code(module, self.name, WORDS, [I64, I64, I32, lanes_of(I64)])
        launch, site, mask, handles = code.arguments
        given, results = spilled(code, handles), spilled(code, code.const(WORDS, 0))
        with code.each_set_bit(mask) as lane:
            handle = (given + lane.zext(I64) * 8).load(I64)
            distance = handle - TEXTURE_WINDOW
            bytes_ = slot(code, launch, Slot.TEXTURE_BYTES)
            known = (distance < bytes_) & ((distance & (RECORD_BYTES - 1)) == 0)
            record = slot(code, launch, Slot.TEXTURES) + known.select(distance, code.const(I64, 0))
            resource = (record + Field.RESOURCE).load(I32)
            fits = resource == self.resource
            if self.also is not None:
                fits = fits | (resource == self.also)
            target = results + lane.zext(I64) * 4
            if self.test:
                target.store((known & fits).zext(I32))
            else:
                only = (launch, site, code.const(I32, 1) << lane)
                self._refuse(code, ~known, only, Fault.UNKNOWN_HANDLE, handle)
                self._refuse(code, ~fits, only, Fault.WRONG_RESOURCE, handle)
                target.store((record + self.field).load(I32))
        code.ret(results.load(WORDS, align=64))
        return str(module)

    def _refuse(self, code: Code, wrong: Value, place: tuple[Value, Value, Value], fault: Fault, handle: Value) -> None:
        with code.if_(wrong, likely=False):
            stop(code, place, fault, handle)
