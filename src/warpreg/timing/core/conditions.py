"""What a core is compiled for, and the properties of it under which a function of the core is replaced."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from warpreg.designs.interface.banks import Banks, Collectors
from warpreg.designs.interface.hooks import HOOKS
from warpreg.designs.loading.fetch import UNSLICED
from warpreg.gpu import units
from warpreg.gpu.memory import MODELS
from warpreg.ir.errors import UnknownNameError

Recording = Literal["", "events", "waits"]


@dataclass(frozen=True)
class CoreConfig:
    """What a core is compiled for: a machine, a design, a kernel, and what the run wants to know."""

    operand_path: str
    """How operands are read: one of the kinds of `warpreg.gpu.units.OperandPath`."""
    memory_model: str
    """One of `warpreg.gpu.memory.MODELS`."""
    has_instruction_caches: bool = False
    """The machine fetches through caches."""
    has_constant_caches: bool = False
    """The machine reads constants through caches."""
    tracks_sources: bool = False
    """The scoreboard of the machine has sources."""
    is_two_level: bool = False
    """Schedulers of the machine have active sets."""
    serves_instructions: bool = False
    """An access of a bank serves all words of an instruction that the bank has."""
    waits_for_all: bool = False
    """The kernel has suspension points at which a warp waits for all its long-latency results."""
    has_control_codes: bool = False
    """Control codes of the kernel order dependent instructions."""
    hooks: frozenset[str] = frozenset()
    """The hooks that the design defines."""
    has_large_hooks: bool = False
    """Hooks call functions that are out of line."""
    knows_thread_blocks: bool = False
    """Hooks ask for the thread block of a warp."""
    plans_when_produced: bool = False
    """``produced`` says which levels results are written to."""
    widths: bool = False
    """Hooks ask for the widths of results."""
    lanes: bool = False
    """Hooks ask for the addresses of lanes."""
    main_levels: int = 1
    """The levels of the main register file, a bit each."""
    banks: Banks = UNSLICED
    """Slices and row addresses of the banks."""
    collectors: Collectors | None = None
    """The collectors of a warp slot, if it owns any."""
    has_tables: bool = False
    """The design has tables in front of operand fetch."""
    sends_to_memory: bool = False
    """Hooks send registers to memory or fetch them."""
    has_paths: bool = False
    """The design has paths between levels."""
    reach: bool = False
    """The run asks which level of memory warps wait for."""
    recording: Recording = ""
    """The run records events, or sums of waits."""
    clocked: bool = False
    """The run measures the time that the memory model takes."""

    @property
    def slot_collectors(self) -> Collectors:
        """The collectors of a slot that owns some."""
        return self.collectors or Collectors()


@dataclass(frozen=True)
class Condition:
    """A property of what a core is compiled for: its ``words``, whether it ``holds``, and the words ``otherwise``."""

    words: str
    holds: Callable[[CoreConfig], bool]
    otherwise: str = ""

    def __and__(self, other: Condition) -> Condition:
        return Condition(f"{self.words}, and {other.words}", lambda given: self.holds(given) and other.holds(given))

    def __or__(self, other: Condition) -> Condition:
        return Condition(f"{self.words}, or {other.words}", lambda given: self.holds(given) or other.holds(given))

    def __invert__(self) -> Condition:
        return Condition(self.otherwise or f"not: {self.words}", lambda given: not self.holds(given), self.words)

    def called(self, words: str, otherwise: str = "") -> Condition:
        """The same property in other words."""
        return Condition(words, self.holds, otherwise)


def hook(name: str) -> Condition:
    """The design defines a hook.  Raises UnknownNameError for one that does not exist."""
    if name not in HOOKS:
        raise UnknownNameError("hook", name, HOOKS)
    return Condition(f"the design defines {name}", lambda given: name in given.hooks)


def memory_model(*names: str) -> Condition:
    """The memory system is of one of these models.  Raises UnknownNameError for one that does not exist."""
    for name in names:
        if name not in MODELS:
            raise UnknownNameError("memory model", name, MODELS)
    return Condition(f"the memory model is {' or '.join(names)}", lambda given: given.memory_model in names)


# Of the machine.

IDEAL = Condition(
    "the operand path is ideal", lambda given: given.operand_path == "ideal", "operands are read from banks"
)
BANKED = Condition("operands are read through collectors", lambda given: given.operand_path == "banks")
WINDOW = Condition("operands are read in a window", lambda given: given.operand_path == units.WINDOW)
TWO_LEVEL = Condition("schedulers have active sets", lambda given: given.is_two_level, "schedulers have no active sets")
FIXED, CACHED, CONTENTION = memory_model("fixed"), memory_model("cached"), memory_model("contention")
CACHES = memory_model("cached", "contention")

INSTRUCTION_CACHES = Condition("instructions are fetched through caches", lambda given: given.has_instruction_caches)
CONSTANT_CACHES = Condition("constants are read through caches", lambda given: given.has_constant_caches)
TRACKS_SOURCES = Condition(
    "sources are in a scoreboard", lambda given: given.tracks_sources and not given.has_control_codes
)

# Of the kernel.

CONTROL_CODES = Condition("control codes order instructions", lambda given: given.has_control_codes)
WAITS_FOR_ALL = Condition(
    "a suspension point waits for all results",
    lambda given: given.is_two_level and given.waits_for_all,
    "no suspension point waits for all results",
)

# Of the design.

HOOKS_CALLED = Condition("the design has hooks", lambda given: bool(given.hooks))
LARGE_HOOKS = Condition("hooks call functions out of line", lambda given: given.has_large_hooks)
THREAD_BLOCKS = Condition("hooks ask for thread blocks", lambda given: given.knows_thread_blocks)
WIDTHS = Condition("hooks ask for widths or patterns of results", lambda given: given.widths)
LANES = Condition("hooks ask for addresses of lanes", lambda given: given.lanes)
SEVERAL_MAIN = Condition("several levels are the main register file", lambda given: given.main_levels > 1)
TABLES = Condition("the design has tables", lambda given: given.has_tables)
PATHS = Condition("the design has paths", lambda given: given.has_paths)
PLANS_SOURCES = hook("plan_reads").called("the design plans sources")
SEES_ALL_READS = (PLANS_SOURCES | hook("collected")).called("the design plans sources or defines collected")
MAY_MERGE = (PLANS_SOURCES & hook("collected")).called("the design plans sources and defines collected")
PLANS_RESULTS = (hook("plan_write") | hook("produced")).called(
    "the design plans results", "the design plans no results"
)
BOTH_WRITE = hook("plan_write") & hook("produced")
PLANS_TWICE = (BOTH_WRITE & Condition("", lambda given: given.plans_when_produced)).called(
    "plan_write and produced both plan results"
)
TOLD_ONLY = (BOTH_WRITE & Condition("", lambda given: not given.plans_when_produced)).called(
    "produced follows plan_write and plans nothing", "produced may plan results"
)
OWNED = Condition(
    "warps own collectors",
    lambda given: given.collectors is not None and given.operand_path != "ideal",
    "collectors are the machine's",
)
SEVERAL_READ = OWNED & Condition("several of a warp read", lambda given: given.slot_collectors.reading > 1)
IN_TURN = OWNED & Condition("they dispatch in turn", lambda given: given.slot_collectors.dispatch == "round-robin")
SLICED = Condition("banks have slices", lambda given: given.banks.slices > 1)


def shares_accesses(given: CoreConfig) -> bool:
    """Whether words may share an access of a bank by their slices and rows."""
    by_word = given.operand_path != "ideal" and not given.serves_instructions
    return by_word and given.banks.shares and "plan_reads" in given.hooks


SHARED = Condition("words share accesses of a bank", shares_accesses, "each word takes an access")

TRAFFIC = Condition(
    "hooks send registers to memory", lambda given: given.sends_to_memory, "hooks send no registers to memory"
)

# Of the run.

REACH = Condition(
    "the run asks how far accesses go", lambda given: given.reach, "the run does not ask how far accesses go"
)
ANSWERING_LEVELS = Condition(
    "the run asks how far accesses go, or hooks send registers to memory",
    lambda given: given.reach or given.sends_to_memory,
    "nobody asks how far accesses go",
)
RECORDED = Condition("the run is recorded", lambda given: given.recording != "")
EVENTS = Condition("the run records events", lambda given: given.recording == "events")
WAITS = Condition("the run sums waits", lambda given: given.recording == "waits")
CLOCKED = Condition("the run measures the memory model", lambda given: given.clocked)
COUNTS_EXTRAS = Condition(
    "nobody tells the extra accesses of hooks apart",
    lambda given: bool(given.hooks) and not given.has_paths and given.recording != "events",
)
JOINS_AT_ONCE = Condition(
    "nobody sees the order of writes in a cycle",
    lambda given: (
        not (
            given.hooks
            or given.recording
            or given.reach
            or given.serves_instructions
            or given.operand_path == units.WINDOW
        )
    ),
)
