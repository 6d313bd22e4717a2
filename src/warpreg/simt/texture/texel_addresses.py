"""Recording of texture addresses: computed lane by lane, then appended like those of a load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warpreg.simt.block import address_recording
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import I32, I64, MASK, Code, Value, lanes_of


def leave_addresses(code: Code, target: Value, base: Value, offsets: Value, valid: Value, mask: Value) -> None:
    """Store device addresses (i64) at a host address in the lanes of ``mask``; those not ``valid`` get ``base``."""
    wide = lanes_of(I64)
    reached = valid.bitcast(MASK).select(offsets, code.const(offsets.type, 0)).zext(wide) + base.splat()
    pointer = Value(code, code.pointer(target, wide))
    arguments = [reached, pointer, code.const(I32, 8), mask.bitcast(MASK)]
    code.intrinsic("llvm.masked.store.v32i64.p0", ir.VoidType(), arguments)


@dataclass(frozen=True)
class AddressRecord:
    """``void(launch, site, mask, addresses)``: appends one record; a step between lanes counts bytes."""

    name: str = "texture_addresses"

    @property
    def result(self) -> Any:
        return ir.VoidType()

    def module(self) -> str:
        """LLVM IR that defines the function."""
        module = ir.Module(self.name)
        code = Code(module, self.name, self.result, [I64, I64, I32, lanes_of(I64)])
        launch, site, mask, addresses = code.arguments
        address_recording.append(code, launch, site, mask, addresses, 1)
        code.ret()
        return str(module)
