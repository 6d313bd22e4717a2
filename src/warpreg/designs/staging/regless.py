"""RegLess: no register file, but a small staging unit that holds what the code at hand needs (MICRO 2017).

The compiler cuts the kernel into regions inside basic blocks.  A warp issues a region only when the staging unit has
reserved the lines that it needs at a time and holds its inputs.  Values that are still needed stay in their lines until
another region takes these; then they go to memory, through the first-level cache, and come back as preloads of a later
region.  A compressor in between packs registers whose lanes follow a pattern into lines of its own.

*Regions.* A region takes instructions until it would need more lines of a bank than ``region_lines``, would access the
result of a long-latency instruction of its own, or may wait for another warp.  Of the possible cuts, the one with the
fewest live registers is taken.  Annotations say which registers a region preloads, and for each operand whether its
line is free after a last read, or may be taken.

*Capacity manager.* It reserves lines by bank, first for the warp that asked last.  When a region has
issued, only results that are under way keep their lines.  The next region of the warp asks when they are written.

*Staging unit.* Each SM has one, in ``banks`` of lines with tags.  A line is taken in this order: a free one, one
whose value memory has too, one whose value has to be written.  Dead values are never written: a last read frees its
line, and the first region of a block drops what only the other side of a branch reads.

*Compressor.* Registers whose lanes are equal, or grow by 1 or by 4 from lane to lane, also in each half of the warp
alone, take 8 bytes.  It keeps the lines of packed registers that were used last, and writes others to memory.

Where the paper is silent (of its text, the abstract and a summary in a book were at hand: Aamodt, Fung and Rogers,
*General-Purpose Graphics Processor Architectures*, 2018, section 3.6.5):
- how a cut is chosen, that a load and its first use are in different regions, and that a region ends where it may wait
  for another warp, which otherwise could wait for its lines;
- the next region of a warp begins when the results of the last one are written;
- warps begin at different banks; the conflicts of reads are those of the machine's banks;
- stores pass through the first-level cache, as on the machines here, and keep their line there;
- a register that the compressor has is there at once; annotations cost no instructions.

Limits: tags, capacity manager and compressor have no energy, and neither have caches and DRAM.  Occupancy is that of
the machine's register file.  Runs need patterns of values, so hardware traces cannot be used.  Of the paper's results,
only those of its abstract could be confirmed: a staging unit of 25% of the register file saves 75% of the energy of the
register file and 11% of that of the GPU, with no loss of performance on average.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpreg.analysis.kernel_analysis import Analysis
from warpreg.designs.interface import ArraySpec, Declaration, Program, Structure, parameter
from warpreg.designs.interface.checked import Checked
from warpreg.designs.parts.hints.partial_results import partial_flags
from warpreg.designs.parts.hints.program_table import UNITS, program_table
from warpreg.designs.parts.renaming.hints import dead_results, dying_at_entry
from warpreg.designs.parts.staging.check import RegionCorruption, checked_regions, corruptions_of
from warpreg.designs.parts.staging.hooks import (
    admit,
    buffered,
    issued,
    plan_reads,
    plan_write,
    transferred,
    warp_end,
    written_back,
)
from warpreg.designs.parts.staging.lines import EVENTS
from warpreg.designs.parts.staging.regions import Annotations, Code, Limits, Region, annotated, cut
from warpreg.designs.parts.staging.state import Size, State, nothing_staged
from warpreg.ir.kernel import Kernel
from warpreg.ir.opcodes.form import Unit

__all__ = ["admit", "buffered", "issued", "plan_reads", "plan_write", "transferred", "warp_end", "written_back"]

BOOK = "Aamodt, Fung and Rogers 2018, section 3.6.5"
DESIGN = Declaration(
    slot=("mapping", "levels"),
    levels=("MRF", "OSU"),
    main=("MRF", "OSU"),
    order="sm",
    events=EVENTS,
    patterns=True,
    source="Kloosterman et al., MICRO 2017",
)
WARP_REGISTER_BITS = 1024


@dataclass(frozen=True)
class Parameters:
    """Sizes of the staging units and of the compressors, and options of the compiler."""

    enabled: bool = parameter(True, off=False, source="assumed: off, registers are in the register file")
    entries: int = parameter(
        512, unit="warp-registers per SM", low=8, high=16384, source=f"MICRO 2017, abstract; {BOOK}: 512 entries"
    )
    banks: int = parameter(8, unit="banks", low=1, high=32, source=BOOK)
    region_lines: int = parameter(
        8,
        unit="lines of a bank",
        low=1,
        high=512,
        source="assumed: an eighth of the lines of a bank, so that eight warps fit",
    )
    shortest: int = parameter(
        6, unit="instructions", low=1, high=64, source="assumed: cuts may not make regions of a few instructions"
    )
    compressor_lines: int = parameter(
        48, unit="lines", low=0, high=256, off=0, source="assumed: about a tenth of the entries of the staging unit"
    )
    order: str = parameter(
        "youngest",
        choices=("youngest", "oldest"),
        source="assumed: registers of the warp that asked last are most likely staged",
    )

    @property
    def lines(self) -> int:
        """Lines of a bank."""
        return max(1, self.entries // self.banks)


def structures(parameters: Parameters) -> tuple[Structure, ...]:
    """The staging units in place of the register file; a bank is as wide as a warp-register."""
    if not parameters.enabled:
        return Structure("MRF"), Structure("OSU", registers=0)
    bank = ArraySpec("sram", words=parameters.lines, word_bits=WARP_REGISTER_BITS)
    return (
        Structure("MRF", registers=0),
        Structure("OSU", array=bank, private_mm=1.0, shared_mm=1.0, registers=parameters.entries),
    )


def regions(program: Program, parameters: Parameters, analysis: Analysis) -> tuple[Code, list[Region]]:
    """The code of a kernel, and the regions that it is cut into."""
    code = Code(program, analysis, partial_flags(analysis.kernel))
    limits = Limits(parameters.banks, min(parameters.region_lines, parameters.lines), parameters.shortest)
    return code, cut(analysis.kernel, code, limits, parameters.lines)


def hints(program: Program, parameters: Parameters, analysis: Analysis) -> Annotations:
    """The annotations of the regions."""
    code, found = regions(program, parameters, analysis)
    unread, returns = dead_results(program, analysis), program.unit != UNITS.index(Unit.CTRL)
    dying = dying_at_entry(analysis)
    return annotated(program, code, found, dying, unread, returns.astype(np.uint8), parameters.banks)


def init(parameters: Parameters, program: Program) -> State:
    """Empty staging units."""
    size = Size(parameters.banks, parameters.lines, parameters.compressor_lines)
    compresses = parameters.compressor_lines > 0
    return nothing_staged(program, size, parameters.enabled, compresses, parameters.order == "youngest")


def checked(program: Program, parameters: Parameters, kernel: Kernel) -> Checked:
    """Verifies the annotations by execution."""
    return checked_regions(kernel, program, hints(program, parameters, Analysis(kernel)))


def corruptions(kernel: Kernel, parameters: Parameters, visits: NDArray[np.int64]) -> Sequence[RegionCorruption]:
    """Seeded errors in the annotations."""
    program = program_table(kernel)
    return corruptions_of(kernel, program, hints(program, parameters, Analysis(kernel)), visits)


def explain(program: Program, parameters: Parameters, kernel: Kernel, analysis: Analysis) -> Mapping[int, str]:
    """At the first instruction of each region: what it preloads, and the lines that it needs."""
    _, found = regions(program, parameters, analysis)
    return {
        one.first: f"region to {one.end - 1}: preloads {', '.join(f'R{r}' for r in sorted(one.inputs)) or 'nothing'}; "
        f"at most {max(one.lines)} lines of a bank"
        for one in found
    }
