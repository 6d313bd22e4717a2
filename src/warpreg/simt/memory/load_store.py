"""Native memory operations on 32 lanes: loads, stores and atomics in every state space, each checked lane by lane.

A memory operation is a function of its own module, generated and cached by its `Operation`; compiled kernels call it
through a table in the launch record.  Signatures (launch and site: i64, mask: i32, address: 32 lanes of i64, or of i32
for shared and local offsets):

    load    values(launch, site, mask, address)
    store   void(launch, site, mask, address, values)
    atomic  values(launch, site, mask, address, values, values)     the third vector is that of ``cas``

Lanes act in lane order where order matters: of several stores to one address the highest lane's remains, and atomics
(including floating point) are executed lane by lane.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from warpreg.ir.address_space import LOCAL_WINDOW, SHARED_WINDOW, WINDOW_BYTES
from warpreg.simt.block import address_recording, stops
from warpreg.simt.block.native_records import Fault, SiteField, Slot, slot
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import FULL, I1, I32, I64, LANES, MASK, Code, Value, apart, lanes_of
from warpreg.simt.llvm.object_code import vector_bits
from warpreg.simt.llvm.spilling import spilled
from warpreg.simt.memory.buffers import find_buffer
from warpreg.simt.memory.gather_scatter import gather, scatter
from warpreg.simt.memory.lane_by_lane import lane_by_lane
from warpreg.simt.memory.prefetch import prefetch_step


@dataclass(frozen=True)
class Operation:
    """One native memory operation.

    ``action`` is ``load``, ``store`` or an atomic operation with its type (``add.f32``); ``space`` is ``global``,
    ``const`` (in global memory: only the buffers of constants may be accessed), ``shared``, ``local`` or ``generic``;
    ``size`` the bytes of one lane; ``record``: record addresses.  ``alignment`` is the required alignment if larger
    than ``size``, as for a vector; that many bytes must be in bounds.  ``window`` is added to the address in a fault
    report.  ``returns``: an atomic returns the old values.  ``shared_window`` is where generic addresses of shared
    memory begin; ``unit`` the bytes in which recorded addresses count, 0 for ``size``.  ``scattered``: lanes are likely
    to be neither in a row nor at one address, so that neither is looked for.
    """

    action: str
    space: str
    size: int
    record: bool = False
    alignment: int = 0
    window: int = 0
    returns: bool = True
    shared_window: int = SHARED_WINDOW
    unit: int = 0
    scattered: bool = False

    @property
    def name(self) -> str:
        aligned = f"_aligned_{self.alignment}" if self.alignment else ""
        silent = "" if self.returns else "_silent"
        recorded = f"_recorded{self.unit or ''}" if self.record else ""
        high = "" if self.shared_window == SHARED_WINDOW else f"_{self.shared_window:x}"
        apart = "_scattered" if self.scattered else ""
        return f"{self.action.replace('.', '_')}_{self.space}_{self.size}{aligned}{silent}{recorded}{high}{apart}"

    @property
    def in_global_memory(self) -> bool:
        return self.space in ("global", "const")

    @property
    def element(self) -> Any:
        return ir.IntType(8 * self.size)

    @property
    def address(self) -> Any:
        return lanes_of(I32 if self.space in ("shared", "local") else I64)

    @property
    def result(self) -> Any:
        return lanes_of(self.element) if self.gives_values else ir.VoidType()

    @property
    def gives_values(self) -> bool:
        """Whether it has a result."""
        return self.action != "store" and self.returns

    @property
    def fits_registers(self) -> bool:
        """Whether all arguments and results are passed in the host's vector registers (x86-64: 8 and 4 of them)."""
        addresses, value = (-(-LANES * type_.width // vector_bits()) for type_ in (self.address.element, self.element))
        return bool(addresses + value * self.values <= 8 and value <= 4)

    @property
    def values(self) -> int:
        """The number of value vectors that it takes."""
        return {"load": 0, "store": 1}.get(self.action, 2)

    def module(self) -> str:
        """LLVM IR that defines the operation under its name."""
        module = ir.Module(self.name)
        _define(module, self)
        return str(module)


def _define(module: Any, operation: Operation) -> Any:
    arguments = [I64, I64, I32, operation.address, *[lanes_of(operation.element)] * operation.values]
    code = Code(module, operation.name, operation.result, arguments)
    launch, site, mask, address, *values = code.arguments
    if operation.space == "generic":
        if operation.record:
            address_recording.append(code, launch, site, mask, address, operation.unit or operation.size)
        with code.if_(mask == 0, likely=False):
            _return(code, operation, None)
        _return(code, operation, _generic(code, operation, launch, site, mask, address, values))
    else:
        access = _Access(code, operation, launch, site, mask, address)
        _return(code, operation, access.perform(values))
    return code.function


def _return(code: Code, operation: Operation, result: Value | None) -> None:
    if operation.gives_values:
        code.ret(result if result is not None else code.const(operation.result, 0))
    else:
        code.ret()


class _Access:
    """One access to one state space: checks, then the fastest method that the addresses allow."""

    def __init__(
        self,
        code: Code,
        operation: Operation,
        launch: Value,
        site: Value,
        mask: Value,
        address: Value,
    ) -> None:
        self.code, self.operation = code, operation
        self.launch, self.site, self.mask, self.address = launch, site, mask, address
        self.lanes = mask.bitcast(MASK)
        self.size = operation.size
        self.alignment = max(operation.size, operation.alignment)
        self.scalar = operation.address.element
        self.vector = lanes_of(operation.element)

    def perform(self, values: list[Value]) -> Value | None:
        """All of it: the usual cases of a load or store, and the others in a function of their own."""
        if self.operation.action not in ("load", "store") or self.operation.space == "local":
            return self.perform_rest(values)
        base = self.address.lane(0)
        if self.operation.in_global_memory:
            prefetch_step(self.code, self.site, base, self._origin(), self.operation.action == "store")
        if self.operation.scattered:
            return self._sound(values)
        self._usual(base, values)
        return self._apart("rest", _Access.perform_rest, values)

    def perform_rest(self, values: list[Value]) -> Value | None:
        """Everything but the usual cases."""
        with self.code.if_(self.mask == 0, likely=False):
            self._record()
            _return(self.code, self.operation, None)
        if self.operation.space == "local":
            self._record()
            return self._one_by_one(values)
        if self.operation.action in ("load", "store"):
            base = self.address.lane(0)
            with self.code.if_(self._is_row(base)), self.code.if_(self._ends_are_inside(base)):
                self._partial_row(base, values)
        return self._sound(values)

    def _sound(self, values: list[Value]) -> Value | None:
        """Access addresses that are no row, if all are in the buffer last used and aligned."""
        with self.code.if_(~self._are_sound(), likely=False):
            _return(self.code, self.operation, self._apart("search", _Access.search, values))
        return self._irregular(values)

    def search(self, values: list[Value]) -> Value | None:
        """Where not all active lanes are in the buffer last used, or aligned: fault, or search a buffer for each."""
        if not self.operation.in_global_memory:
            self._fault(self.address, self._bounds()[1])
            return None
        self._check_each_lane()
        if self.operation.action in ("load", "store"):
            base = self.address.lane(0)
            with self.code.if_(self._is_row(base)):
                self._partial_row(base, values)
        return self._irregular(values)

    def _irregular(self, values: list[Value]) -> Value | None:
        """Access addresses that are sound, but no row."""
        if self.operation.action == "load":
            return self._load(self.address.lane(0))
        self._record()
        if self.operation.action != "store":
            return self._one_by_one(values)
        self._recorded_half_rows(values)
        in_shared = self.operation.space == "shared"
        scatter(self.code, self._origin(), self.address, values[0], self.mask, self.lanes, in_shared)
        return None

    def _is_row(self, base: Value) -> Value:
        """Whether the active lanes are contiguous."""
        step, no = self.address.lane(1) - base, self.code.const(I1, 0)
        return self.code.choose(
            step == self.size, lambda: self._all(self.address == base.splat() + self._ramp), lambda: no
        )

    def _partial_row(self, base: Value, values: list[Value]) -> None:
        """Access the active lanes of a row, and return."""
        self._record_affine(base, self.size)
        _return(self.code, self.operation, self._masked(self._host(base), values))

    def _record(self) -> None:
        """Record the addresses, if they are recorded."""
        if self.operation.record:
            unit = self.operation.unit or self.size
            address_recording.append(self.code, self.launch, self.site, self.mask, self.address, unit)

    def _record_affine(self, base: Value, stride: int) -> None:
        """The same where the active lanes are ``stride`` bytes apart and lane 0, active or not, is at ``base``."""
        if not self.operation.record:
            return
        arguments = self.code, self.launch, self.site, self.mask
        known = self.address.lane(1) - base == stride
        if self.scalar == I32:
            known = known & (base < 1 << 31)
        with self.code.if_else(known) as (affine, unknown):
            with affine:
                address_recording.append_affine(*arguments, base, stride)
            with unknown:
                self._record()

    def _ends_are_inside(self, base: Value) -> Value:
        """Whether the first and last active lane of a row are in bounds and aligned; ``base`` is that of lane 0."""
        code, (first, span) = self.code, self._bounds()
        below, above = (
            code.intrinsic(f"llvm.{name}.i32", I32, [self.mask, code.const(I1, 0)]).zext(self.scalar) * self.size
            for name in ("cttz", "ctlz")
        )
        begin = base + below - first
        length = code.const(self.scalar, self.size * (LANES - 1)) - above - below
        return (begin < span) & (length < span - begin) & ((base & (self.alignment - 1)) == 0)

    @property
    def _ramp(self) -> Value:
        return self.code.const(self.address.type, [self.size * lane for lane in range(LANES)])

    def _apart(
        self, name: str, part: Callable[[_Access, list[Value]], Value | None], values: list[Value]
    ) -> Value | None:
        """A rarer part as a function of its own, which gets all arguments in registers, so that the usual ones need no
        stack frame."""
        operation, outer = self.operation, self.code
        if not operation.fits_registers:
            return part(self, values)
        given = [self.launch, self.site, self.mask, self.address, *values]
        code = Code(
            outer.module, f"{operation.name}_{name}_{operation.window:x}", operation.result, [one.type for one in given]
        )
        code.function.linkage = "internal"
        code.function.attributes.add("noinline")
        launch, site, mask, address, *rest = code.arguments
        _return(code, operation, part(_Access(code, operation, launch, site, mask, address), rest))
        return outer.tail_call(code.function, given)

    def _all(self, condition: Value) -> Value:
        """Whether a condition is true in all active lanes."""
        return (condition.bitcast(I32) | ~self.mask) == FULL

    def _usual(self, base: Value, values: list[Value]) -> None:
        """The common cases, which return from the operation: many lanes active, and all lanes, active or not,
        contiguous or at one address."""
        with self.code.if_(self._has_many_lanes(), likely=True):
            self._together(base, values)

    def _has_many_lanes(self) -> Value:
        return self.code.intrinsic("llvm.ctpop.i32", I32, [self.mask]) > LANES // 2

    def _together(self, base: Value, values: list[Value]) -> None:
        code, (first, span) = self.code, self._bounds()
        distance = self.address - base.splat()
        aligned = (base & (self.alignment - 1)) == 0
        with code.if_((base - first < span) & aligned, likely=True):
            if self.alignment == self.size:
                inside = base - first + self.size * (LANES - 1) < span
                is_row = ((distance == self._ramp).bitcast(I32) == FULL) & inside
                with self._recorded_if(is_row, base, self.size):
                    self._row(self._host(base), values)
            if self.operation.action == "load":
                with self._recorded_if((distance == 0).bitcast(I32) == FULL, base, 0):
                    code.ret(self._host(base).load(self.operation.element).splat())
        if self.alignment == self.size and not self.operation.record:
            self._half_rows(base, values)

    def _recorded_half_rows(self, values: list[Value]) -> None:
        """`_half_rows` behind the record, which needs a call."""
        if self.operation.record and self.alignment == self.size and not self.operation.scattered:
            with self.code.if_(self._has_many_lanes()):
                self._half_rows(self.address.lane(0), values)

    def _half_rows(self, base: Value, values: list[Value]) -> None:
        """Two rows of 16 lanes, as those of thread blocks that are 16 wide; returns from the operation."""
        code, (first, span), half = self.code, self._bounds(), LANES // 2
        second, reach = self.address.lane(half), self.size * (half - 1)
        lanes = range(LANES)
        ramp = code.const(self.address.type, [self.size * (lane % half) for lane in lanes])
        upper = code.const(self.address.type, [-(lane // half) % (1 << self.scalar.width) for lane in lanes])
        expected = base.splat() + ramp + ((second - base).splat() & upper)
        is_sound = ((base | second) & (self.alignment - 1)) == 0
        for begin in (base - first, second - first):
            is_sound = is_sound & (begin < span) & (begin + reach < span)
        with code.if_(((self.address == expected).bitcast(I32) == FULL) & is_sound):
            hosts = self._host(base), self._host(second)
            part = ir.VectorType(self.operation.element, half)
            if self.operation.action == "load":
                low, high = (host.load(part, align=self.size) for host in hosts)
                code.ret(low.joined(high))
                return
            for number, host in enumerate(hosts):
                place, lanes_of_half = number * half, self.lanes.part(number * half, half)
                kept = apart(host.load(part, align=self.size))
                host.store(lanes_of_half.select(values[0].part(place, half), kept), align=self.size)
            code.ret()

    def _row(self, host: Value, values: list[Value]) -> None:
        """Access a row of which all bytes are in bounds, and return; a load reads those of other lanes too."""
        code = self.code
        if self.operation.action == "load":
            code.ret(host.load(self.vector, align=self.size))
            return
        with code.if_(self.mask == FULL, likely=True):
            host.store(values[0], align=self.size)
            code.ret()
        self._masked(host, values)
        code.ret()

    @contextmanager
    def _recorded_if(self, condition: Value, base: Value, stride: int) -> Iterator[None]:
        """Code for a condition under which all lanes are ``stride`` bytes apart; with recording, only where the record
        needs no call, and behind it."""
        if not self.operation.record:
            with self.code.if_(condition, likely=True):
                yield
            return
        step = address_recording.Step(self.code, self.launch, self.site, base.zext(I64))
        with self.code.if_(condition & step.suffices(self.mask, stride), likely=True):
            step.append()
            yield

    def _bounds(self) -> tuple[Value, Value]:
        """First valid address, and the largest offset from it at which an access may begin."""
        if self.operation.in_global_memory:
            span, beyond = (self.site + SiteField.SPAN).load(I64), self.alignment - self.size
            within = (span < beyond).select(0, span - beyond) if beyond else span
            return (self.site + SiteField.FIRST).load(I64), within
        return self.code.const(self.scalar, 0), self._space_span(Slot.SHARED_BYTES)

    def _space_span(self, limit: Slot) -> Value:
        size = slot(self.code, self.launch, limit)
        span = (size < self.alignment).select(0, size - (self.alignment - 1))
        return span.trunc(self.scalar)

    def _host(self, address: Value) -> Value:
        """Host addresses (i64) of device addresses or shared offsets; a scalar of an inactive lane 0 may be before the
        first byte."""
        base = self._origin()
        if isinstance(address.type, ir.VectorType):
            return address.zext(lanes_of(I64)) + base.splat()
        return address.sext(I64) + base

    def _origin(self) -> Value:
        """Host address minus device address or shared offset."""
        first = Slot.GLOBAL_BIAS if self.operation.in_global_memory else Slot.SHARED
        return slot(self.code, self.launch, first)

    def _are_sound(self) -> Value:
        """Whether the address of every active lane is aligned and in the buffer last used."""
        code, reach = self.code, self.alignment - 1
        if not self.operation.in_global_memory:
            return self._are_below(self.address, slot(code, self.launch, Slot.SHARED_BYTES).trunc(self.scalar))
        first, span = self._bounds()
        end = ((first & reach) == 0).select(span + reach, code.const(I64, 0))  # or else each lane is checked alone
        return self._are_below(self.address - first.splat(), end)

    def _are_below(self, distance: Value, end: Value) -> Value:
        """Whether the distance of every active lane is aligned, and as many bytes follow before ``end``.

        Rotated by the bits that are 0 in aligned distances, a misaligned one is greater than any limit.
        """
        code, vector = self.code, self.address.type
        shift = self.alignment.bit_length() - 1
        if shift:
            name = f"llvm.fshr.v{LANES}i{self.scalar.width}"
            distance = code.intrinsic(name, vector, [distance, distance, code.const(vector, shift)])
        return self._all(distance < (end >> shift).splat())

    def _check_each_lane(self) -> None:
        """Find the buffer of every lane; the last one found is cached in the site."""
        code = self.code
        array = code.array(I64, LANES)
        array.store(self.address, align=64)
        with code.each_set_bit(self.mask) as lane:
            address = (array + lane.zext(I64) * 8).load(I64)
            with code.if_((address & (self.alignment - 1)) != 0, likely=False):
                self._stop(Fault.MISALIGNED, lane, address)
            is_constant = self.operation.space == "const"
            found = find_buffer(code, self.launch, self.site, address, self.size, self.operation.alignment, is_constant)
            with code.if_(~found, likely=False):
                self._stop(Fault.OUT_OF_BOUNDS, lane, address)

    def _fault(self, address: Value, span: Value) -> None:
        """Report the first lane that is outside ``span`` or misaligned."""
        code = self.code
        array = code.array(self.scalar, LANES)
        array.store(address, align=64)
        with code.each_set_bit(self.mask) as lane:
            offset = (array + lane.zext(I64) * (self.scalar.width // 8)).load(self.scalar)
            with code.if_((offset & (self.alignment - 1)) != 0):
                self._stop(Fault.MISALIGNED, lane, offset.zext(I64))
            with code.if_(offset >= span):
                self._stop(Fault.OUT_OF_BOUNDS, lane, offset.zext(I64))
        _return(code, self.operation, None)
        code.builder.position_at_end(code.builder.append_basic_block("unreachable"))

    def _stop(self, fault: Fault, lane: Value, address: Value) -> None:
        code, launch = self.code, self.launch
        with code.if_(slot(code, launch, Slot.FAULT) == 0):
            stops.stop(code, launch, fault, self.site, lane, address + self.operation.window)
        _return(code, self.operation, None)

    def _load(self, base: Value) -> Value:
        code = self.code
        if not self.operation.scattered:
            step = self.address.lane(1) - base
            with code.if_(step == 0), code.if_(self._all(self.address == base.splat())):
                self._record_affine(base, 0)
                code.ret(self._host(base).load(self.operation.element).splat())
        self._record()
        self._recorded_half_rows([])
        return gather(code, self._origin(), self.address, self.mask, self.lanes, self.operation.element)

    def _masked(self, host: Value, values: list[Value]) -> Value:
        """Load or store a row of lanes.  The upper half is left alone where no lane of it is active: the host would
        wait for its cache line even so."""
        code = self.code
        if self.size < 4:
            return self._masked_part(host, values, 0, LANES)
        half = LANES // 2
        low = self._masked_part(host, values, 0, half)
        if self.operation.action == "store":
            with code.if_(self.mask >> half != 0):
                self._masked_part(host, values, half, half)
            return low
        absent = code.const(low.type, 0)
        upper = code.choose(self.mask >> half != 0, lambda: self._masked_part(host, values, half, half), lambda: absent)
        return low.joined(upper)

    def _masked_part(self, host: Value, values: list[Value], first: int, count: int) -> Value:
        code, action = self.code, self.operation.action
        vector = ir.VectorType(self.operation.element, count)
        pointer = Value(code, code.pointer(host + first * self.size, vector))
        align = code.const(I32, self.size)
        lanes = self.lanes.part(first, count)
        name = f"llvm.masked.{action}.v{count}i{8 * self.size}.p0"
        if action == "load":
            return code.intrinsic(name, vector, [pointer, align, lanes, code.const(vector, 0)])
        return code.intrinsic(name, ir.VoidType(), [values[0].part(first, count), pointer, align, lanes])

    def _checked_local(self) -> Value:
        """Host addresses of local offsets: the frames of the block's threads are contiguous."""
        code, launch = self.code, self.launch
        frame = slot(code, launch, Slot.LOCAL_BYTES)
        with code.if_(~self._are_below(self.address, frame.trunc(self.scalar)), likely=False):
            self._fault(self.address, self._space_span(Slot.LOCAL_BYTES))
        first = slot(code, launch, Slot.LOCAL) + slot(code, launch, Slot.WARP) * frame * LANES
        ramp = code.const(lanes_of(I64), list(range(LANES)))
        return self.address.zext(lanes_of(I64)) + ramp * frame.splat() + first.splat()

    def _one_by_one(self, values: list[Value]) -> Value | None:
        """Local accesses and atomics."""
        operation, returns = self.operation, self.operation.gives_values
        return lane_by_lane(
            self.code,
            operation.action,
            operation.space,
            operation.element,
            self.mask,
            self._addresses(),
            values,
            returns,
        )

    def _addresses(self) -> Callable[[Value], Value]:
        """The host address (i64) of a lane by its index (i64)."""
        code = self.code
        if self.operation.space == "shared":
            origin, offsets = self._origin(), spilled(code, self.address)
            return lambda index: (offsets + index * 4).load(I32).zext(I64) + origin
        host = self._checked_local() if self.operation.space == "local" else self._host(self.address)
        addresses = spilled(code, host)
        return lambda index: (addresses + index * 8).load(I64)


def _generic(
    code: Code, operation: Operation, launch: Value, site: Value, mask: Value, address: Value, values: list[Value]
) -> Value | None:
    """Access, for each lane, the space whose window contains its address."""
    shared = _in_window(code, address, operation.shared_window) & mask
    local = _in_window(code, address, LOCAL_WINDOW) & mask
    result: Value | None = None
    for space, lanes, window in (
        ("shared", shared, operation.shared_window),
        ("local", local, LOCAL_WINDOW),
        ("global", mask & ~(shared | local), 0),
    ):
        part = replace(operation, space=space, record=False, window=window)
        function = _define(code.module, part)
        function.linkage = "internal"
        offset = (address - window).trunc(part.address) if window else address
        value = code.call(function, [launch, site, lanes, offset, *values])
        if operation.gives_values:
            result = value if result is None else lanes.bitcast(MASK).select(value, result)
    return result


def _in_window(code: Code, address: Value, first: int) -> Value:
    """The lanes (i32) whose address is in the window that begins at ``first``."""
    return (address - code.const(address.type, first) < WINDOW_BYTES).bitcast(I32)
