"""Recording of accesses that share an address register in a block, with one comparison for all of them.

While all lanes are active, and in a row or at one address, each access is as far from its last record as the register
is from its own last value: all append the same word (AFFINE_STEP).  The site of the first access then has the
register's value of lane 0, and the sites of all have an old base, until one needs its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from warpreg.simt.block.address_recording import fits_step, mask_changed, step_word
from warpreg.simt.block.block_values import BlockValues
from warpreg.simt.block.native_records import SITE_BYTES, SiteField
from warpreg.simt.llvm.emitter import I32, I64, Value
from warpreg.trace.addresses import MASK_FOLLOWS


@dataclass(frozen=True)
class Site:
    """The record of a memory instruction: its address (i64) and number."""

    address: Value
    number: int


@dataclass
class Group:
    """The accesses of a block that share an address register; ``base`` is its value in lane 0 (i64), ``stride`` (i64)
    the distance from lane to lane if the lanes are ``usual``."""

    values: BlockValues
    leader: Site
    base: Value
    stride: Value
    usual: Value
    is_narrow: bool
    members: list[tuple[Site, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        code = self.values.code
        self._last, self._known = (
            (self.leader.address + one).load(I64) for one in (SiteField.GROUP_BASE, SiteField.GROUP_STRIDE)
        )
        delta = self.base - self._last
        self.steps = self.usual & (self._known == self.stride + 1) & fits_step(delta)
        """Whether all accesses append the same word."""
        self._word = step_word(delta)
        self._leave = code.builder.append_basic_block("leave")
        self._begin = code.builder.append_basic_block("begin")
        code.builder.cbranch(self.steps.llvm, self._begin, self._leave, True)
        code.builder.position_at_end(self._begin)

    def put(self, position: Value) -> Value:
        """Append the record of one access; returns the next position."""
        position.store(self._word)
        return position + 4

    def restore(self, site: Value, offset: int) -> None:
        """Give one site its last base and stride."""
        _restore(site, self._last + offset % (1 << 64), self._known, self.is_narrow)

    def finish(self) -> None:
        """The block ends."""
        code = self.values.code
        (self.leader.address + SiteField.GROUP_BASE).store(self.base)
        builder = self.values.code.builder
        here = builder.block
        builder.position_at_end(self._leave)
        stride = self.usual.select(self.stride + 1, code.const(I64, 0))
        (self.leader.address + SiteField.GROUP_STRIDE).store(stride)
        with code.if_(self._known != 0):
            for site, offset in self.members:
                self.restore(self.leader.address + (site.number - self.leader.number) * SITE_BYTES, offset)
        builder.branch(self._begin)
        builder.position_at_end(here)


@dataclass(frozen=True)
class SteppingGroup:
    """The same for accesses whose lanes are as expected (`block_versions`), ``stride`` bytes apart; all have the same
    guard."""

    leader: Site
    base: Value
    stride: int
    is_narrow: bool
    members: tuple[tuple[Site, int], ...]

    @property
    def _last(self) -> Value:
        return (self.leader.address + SiteField.GROUP_BASE).load(I64)

    @property
    def _known(self) -> Value:
        return (self.leader.address + SiteField.GROUP_STRIDE).load(I64)

    def in_step(self) -> tuple[Value, Value]:
        """Whether all accesses append the same word, and the word."""
        delta = self.base - self._last
        return (self._known == self.stride + 1) & fits_step(delta), step_word(delta)

    def advance(self) -> None:
        """All accesses append it."""
        (self.leader.address + SiteField.GROUP_BASE).store(self.base)

    def leave(self, is_expected: Value) -> None:
        """Let each access append its own record; the next ones may be in step if the lanes are as expected."""
        code, known, last = self.base.code, self._known, self._last
        with code.if_(known != 0):
            for site, offset in self.members:
                _restore(site.address, last + offset % (1 << 64), known, self.is_narrow)
        self.advance()
        stride = is_expected.select(self.stride + 1, code.const(I64, 0))
        (self.leader.address + SiteField.GROUP_STRIDE).store(stride)


def append_step(values: BlockValues, word: Value, site: Value, mask: Value, has_guard: bool) -> None:
    """Append the record of an instruction in one word, and its mask (i32) if it has a guard and another mask than in
    its last record."""
    position = values.position()
    if not has_guard:
        position.store(word)
        values.go_on_at(position + 4)
        return
    changed = mask_changed(site, mask)
    position.store(word | changed.select(MASK_FOLLOWS, values.code.const(I32, 0)))
    (position + 4).store(mask)
    (site + SiteField.MASK).store(mask.zext(I64))
    values.go_on_at(position + changed.select(8, values.code.const(I64, 4)))


def _restore(site: Value, base: Value, known: Value, is_narrow: bool) -> None:
    (site + SiteField.BASE).store(base.trunc(I32).zext(I64) if is_narrow else base)
    (site + SiteField.STRIDE).store(known - 1)
