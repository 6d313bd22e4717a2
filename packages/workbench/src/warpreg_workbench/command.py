"""``warpreg bench``: measure the speed of Warpreg, and compare its compiler and its cycles with other tools."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from warpreg.cli import bench_gpu, output
from warpreg.cli.compile_options import address_option
from warpreg.cli.options import SIZES, json_option
from warpreg.ir.errors import UnknownNameError
from warpreg.machine_code.assembler import ARCHITECTURES

UNITS = {
    "functional_mwi_s_geomean": "M warp-instructions/s, path recorded, geometric mean",
    "functional_mwi_s_min": "M warp-instructions/s, path recorded, slowest workload",
    "limit_mwi_s": "M 32-lane multiply-adds/s on registers in memory: the limit of this processor",
    "limit_share_geomean": "functional speed / limit, geometric mean",
    "limit_share_min": "functional speed / limit, least",
    "own_limit_share_geomean": "functional speed / limit of the workload's own accesses, geometric mean",
    "own_limit_share_min": "the same, least",
    "recorded_addresses_ratio": "speed with addresses recorded / without",
    "recorded_widths_ratio": "speed with value widths recorded / without, geometric mean",
    "recorded_widths_ratio_min": "speed with value widths recorded / without, slowest workload",
    "recorded_patterns_ratio": "the same with patterns of values, geometric mean",
    "recorded_patterns_ratio_min": "the same, slowest workload",
    "compile_s_400": "s, 400 instructions, first time",
    "compile_cached_s_400": "s, 400 instructions, from the disk cache",
    "path_bytes_per_wi": "bytes of path on disk per warp-instruction, worst workload",
    "replay_maccess_s": "M register accesses/s in replay",
    "parse_mb_s": "MB/s of PTX text",
    "first_run_s": "s, 'warpreg run vector-add' with an empty cache",
    "later_run_s": "s, 'warpreg run vector-add' with a warm cache",
    "list_ratio": "processor time of a warm 'warpreg list' / of importing NumPy",
    "run_ratio": "the same of 'warpreg run vector-add'",
    "trace_ratio": "the same of 'warpreg run TRACE --cycles', 40,000 warp-instructions",
}

EDIT_UNITS = {
    "first_core_s": "processor s, compiling in the first timing run with an empty cache",
    "designed_core_ratio": "the same in the first one under a design file, then / first_core_s",
    "edited_core_ratio": "the same in the first one after an edit of the file / first_core_s",
    "first_replay_s": "processor s, compiling in the first replay of a design file with an empty cache",
    "edited_replay_ratio": "the same in the first one after an edit of the file / first_replay_s",
}

FIRST_UNITS = {
    "warm_s": "processor s, 'warpreg warm'",
    "first_run_ratio": "processor time of a first 'run' after it / of importing NumPy",
    "first_cycles_ratio": "the same of a first 'run --cycles --machine v100'",
    "first_comparison_ratio": "the same of a first 'compare --designs all'",
    "first_comparison_s": "the same in processor s",
    "bare_run_ratio": "a first 'run' without it / importing NumPy",
    "bare_cycles_ratio": "the same of a first 'run --cycles --machine v100'",
    "bare_comparison_ratio": "the same of a first 'compare --designs all'",
    "bare_comparison_s": "the same in processor s",
}

COMPILER_UNITS = {
    "registers_ratio_geomean": "registers per thread, max(r, 1/r) of Warpreg over ptxas, geometric mean",
    "registers_ratio_p90": "the same, 90th percentile",
    "instructions_ratio_geomean": "static instructions, max(r, 1/r) of Warpreg over ptxas, geometric mean",
    "instructions_ratio_p90": "the same, 90th percentile",
    "rolled_registers_ratio_geomean": "registers, without unrolling on both sides, geometric mean",
    "rolled_registers_ratio_p90": "the same, 90th percentile",
    "rolled_instructions_ratio_geomean": "static instructions, without unrolling on both sides, geometric mean",
    "rolled_instructions_ratio_p90": "the same, 90th percentile",
    "copies_equal_share": "share of loops with as many copies as in ptxas's code",
    "copies_equal_share_unrolled": "the same, of loops that one of the two unrolls",
    "verified_kernels": "kernels whose compiled code leaves the same memory as virtual registers, size tiny",
}


def _spine(size: str, as_json: bool) -> None:
    from warpreg_workbench.bench.spine import spine

    with output.steps() as progress:
        measured = spine(size, progress.begin)
    _print_spine(measured, UNITS, as_json)


CODE_UNITS = {
    "functional_mwi_s_geomean": "M warp-instructions/s of machine code, path recorded, geometric mean",
    "functional_mwi_s_min": "the same, slowest workload",
    "ptx_mwi_s_geomean": "M warp-instructions/s of PTX, path recorded, geometric mean",
    "rate_ratio_geomean": "warp-instructions/s of PTX / of machine code, geometric mean",
    "rate_ratio_max": "the same, worst workload",
    "time_ratio_geomean": "time of machine code / of PTX, geometric mean",
    "time_ratio_max": "the same, worst workload",
    "lifted_instructions_s": "instructions/s from listings to kernels",
}


def _machine_code(architecture: str, size: str, as_json: bool) -> None:
    from warpreg_workbench.bench.machine_code import machine_code

    with output.steps() as progress:
        measured = machine_code(architecture, size, progress.begin)
    _print_spine(measured, CODE_UNITS, as_json)


def _print_spine(measured: Mapping[str, Any], units: Mapping[str, str], as_json: bool) -> None:
    """Print the figures, the workloads and the machine."""
    if as_json:
        output.print_json(measured)
        return
    workloads = measured["workloads"]
    output.print_tables([_figures(measured, units), output.table(workloads, list(workloads[0]), "Workloads")])
    machine = measured["machine"]
    output.console().print(
        f"\n{machine['cpu']} ({machine['architecture']}, {machine['vector_bits']}-bit vectors),"
        f" {machine['cores']} cores, Python {machine['python']}, llvmlite {machine['llvmlite']},"
        f" warpreg {machine['code']}"
    )


def _compiler(folder: Path | None, address_bits: int, as_json: bool) -> None:
    from warpreg_workbench.compiler.bench import compiler

    with output.steps() as progress:
        measured = compiler(progress.begin, folder, address_bits)
    if as_json:
        output.print_json(measured)
        return
    rows = [_flat(row) for row in measured["kernels"]]
    output.print_tables([_figures(measured, COMPILER_UNITS), output.table(rows, list(rows[0]), "Kernels")])
    versions = measured["compilers"]
    output.console().print(f"\nwarpreg {versions['warpreg']}, ptxas {versions['ptxas']}")


TRACE_UNITS = {
    "traceg_mb_s": "MB of trace text read per second of processor time",
    "traceg_bytes": "bytes of trace text",
}


def _traces(size: str, as_json: bool) -> None:
    from warpreg_workbench.bench.trace import traces

    with output.steps() as progress:
        measured = traces(progress.begin)
    if as_json:
        output.print_json(measured)
    else:
        output.print_tables([_figures(measured, TRACE_UNITS)])


TIMING_UNITS = {
    "timing_mwi_s_geomean": "M warp-instructions/s timed, geometric mean, by machine",
    "timing_mwi_s_min": "M warp-instructions/s timed, slowest workload, by machine",
    "timing_ns_geomean": "ns of processor time per warp-instruction timed, geometric mean, by machine",
    "chase_ns": "ns of processor time per load in a loop that follows pointers through 1 MB",
    "memory_share_mean": "share of the memory model in the time of the core, mean, by machine",
    "threads_speedup_geomean": "wall time with one thread / with two, geometric mean, by machine",
    "modern_ratio_geomean": "processor time per warp-instruction on h100 / on v100, geometric mean",
    "modern_ratio_max": "the same, worst workload",
    "hook_overhead_max": "time added by the hooks of a register file cache, worst workload",
    "first_compile_s": "s, process that times a tiny run, with an empty cache",
    "later_start_s": "s, process that times a tiny run, with a warm cache",
    "traceg_mb_s": "MB of trace text read per second of processor time",
}


def _timing(size: str, as_json: bool) -> None:
    from warpreg_workbench.bench.timing import timing

    with output.steps() as progress:
        measured = timing(size, progress.begin)
    if as_json:
        output.print_json(measured)
        return
    workloads = measured["workloads"]
    output.print_tables([_figures(measured, TIMING_UNITS), output.table(workloads, list(workloads[0]), "Workloads")])


def _accelsim(size: str, as_json: bool) -> None:
    from warpreg_workbench.accelsim.comparison import compare, summary

    with output.steps() as progress:
        progress.begin("timing twelve traces on three machines")
        frame = compare()
    rows, figures = frame.to_dict("records"), summary(frame)
    if as_json:
        output.print_json({**figures, "traces": rows})
    else:
        shown = [{"figure": name, "value": value} for name, value in figures.items()]
        output.print_tables([output.table(shown, ["figure", "value"]), output.table(rows, list(frame.columns))])


def _accelsim_runs(cycles: Path | None, as_json: bool) -> None:
    from warpreg_workbench.accelsim.exported import compare, figures, read_cycles

    theirs = None if cycles is None else read_cycles(cycles)
    with output.steps() as progress:
        rows = compare(theirs=theirs, begin=progress.begin)
    found = figures(rows)
    if as_json:
        output.print_json({**found, "runs": rows})
        return
    shown = [{"figure": name, "value": value} for name, value in found.items()]
    tables = [output.table(shown, ["figure", "value"])] if shown else []
    columns = max((list(row) for row in rows), key=len)
    output.print_tables([*tables, output.table(rows, columns)])


def _replay(size: str, as_json: bool) -> None:
    from warpreg_workbench.bench.replay import replays

    with output.steps() as progress:
        measured = replays(size, progress.begin)
    if as_json:
        output.print_json(measured)
        return
    means = {"workload": "geometric mean", **measured["replay_maccess_s"]}
    rows = [*measured["workloads"], means]
    output.print_tables([output.table(rows, list(rows[0]), "M register accesses per second")])


def _placement(size: str, as_json: bool) -> None:
    from warpreg_workbench.bench.placement_time import placements

    with output.steps() as progress:
        measured = placements(begin=progress.begin)
    if as_json:
        output.print_json(measured)
        return
    sums = {name: sum(row[name] for row in measured["workloads"]) for name in ("kernels", "instructions")}
    rows = [*measured["workloads"], {"workload": "all", **sums, **measured["placement_s"]}]
    output.print_tables([output.table(rows, list(rows[0]), "Seconds of processor time")])


def _large(size: str, as_json: bool) -> None:
    from warpreg_workbench.bench.large_kernels import large_kernels

    with output.steps() as progress:
        measured = large_kernels(size, progress.begin)
    if as_json:
        output.print_json(measured)
        return
    rows = measured["kernels"]
    output.print_tables([output.table(rows, list(rows[0]), "Microseconds of processor time per PTX instruction")])


def _checks(size: str, as_json: bool) -> None:
    from warpreg_workbench.bench.checks import checks

    with output.steps() as progress:
        measured = checks(size, progress.begin)
    if as_json:
        output.print_json(measured)
        return
    means = [
        {"way": way, "geometric mean": mean, "largest": measured["checked_ratio_max"][way]}
        for way, mean in measured["checked_ratio_geomean"].items()
    ]
    title = "Time with checks over time without"
    output.print_tables(
        [output.table(means, list(means[0]), title), output.table(measured["runs"], list(measured["runs"][0]))]
    )


def _growth(size: str, as_json: bool) -> None:
    from warpreg_workbench.bench.growth.axes import growth

    with output.steps() as progress:
        measured = growth(size, progress.begin)
    if as_json:
        output.print_json(measured)
        return
    exponents, points = measured["exponents"], measured["points"]
    title = "Exponents e of cost ~ size^e"
    output.print_tables(
        [output.table(exponents, list(exponents[0]), title), output.table(points, list(points[0]), "Points")]
    )


def _edit(size: str, as_json: bool) -> None:
    from warpreg_workbench.bench.edit import edit

    with output.steps() as progress:
        measured = edit(progress.begin)
    if as_json:
        output.print_json(measured)
        return
    output.print_tables([_figures(measured, EDIT_UNITS)])


def _first(size: str, as_json: bool) -> None:
    from warpreg_workbench.bench.first import first

    with output.steps() as progress:
        measured = first(progress.begin)
    if as_json:
        output.print_json(measured)
        return
    output.print_tables([_figures(measured, FIRST_UNITS)])


SUITES = {
    "spine": _spine, "timing": _timing, "traces": _traces, "accelsim": _accelsim, "replay": _replay,
    "placement": _placement, "checks": _checks, "edit": _edit, "large": _large, "growth": _growth,
    "first": _first,
}  # fmt: skip
COMPILER, RUNS, GPU = "compiler", "accelsim-runs", "gpu"


class Bench(click.Command):
    """The benchmarks of one set of options, and ``gpu``, which has its own."""

    def make_context(self, info_name: str | None, args: list[str], *rest: Any, **more: Any) -> click.Context:
        """The context of ``gpu`` if that is the first word."""
        if args[:1] == [GPU]:
            return bench_gpu.command.make_context(f"{info_name} {GPU}", args[1:], *rest, **more)
        return super().make_context(info_name, args, *rest, **more)


@click.command("bench", cls=Bench)
@click.argument("suite", metavar="|".join((*SUITES, RUNS, COMPILER, GPU)))
@click.option(
    "--size",
    type=click.Choice(SIZES),
    default="small",
    show_default=True,
    help="Problem size of the workloads (spine, timing, replay, growth).",
)
@click.option(
    "--ptx",
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="For compiler: use the .ptx files of this folder; its launches.toml describes how to check them.",
)
@click.option(
    "--accelsim-cycles",
    "cycles",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="For accelsim-runs: Accel-Sim's cycles of the exported runs (.toml).",
)
@click.option(
    "--vector-bits",
    type=click.Choice(("256", "512")),
    help="For spine: use vectors of at most this width, and no instruction for wider ones, in compiled kernels.",
)
@click.option(
    "--code",
    type=click.Choice(ARCHITECTURES),
    help="For spine: compare the machine code that ptxas makes for this architecture with PTX.",
)
@address_option
@json_option
def command(
    suite: str,
    size: str,
    folder: Path | None,
    cycles: Path | None,
    vector_bits: str | None,
    code: str | None,
    address_bits: int,
    as_json: bool,
) -> None:
    """Run a benchmark of Warpreg on this machine.

    \b
    spine      speed of running, compiling, replaying and parsing; medians of five; takes minutes;
               with --code, of machine code beside PTX, and of lifting it; requires the cuda extra
    timing     speed of the timing core
    traces     speed of reading hardware traces
    replay     speed of replaying each cache design
    checks     cost of the checks in the hooks of design files
    edit       time to compile after an edit of a design
    first      time of first commands, with and without what 'warpreg warm' compiles; takes five minutes
    placement  time to compile the operand placements of the suite
    large      time to compile an instruction of a large kernel, over that of a small one; takes two minutes
    growth     cost and memory by length of a run, size of a kernel and number of SMs; takes half an hour
    accelsim   cycles compared with those of Accel-Sim on twelve traces
    accelsim-runs  the same for exported runs of twelve workloads of several launches
    compiler   registers and instructions compared with those of ptxas; requires the cuda extra
    gpu        measure a real NVIDIA GPU; see 'warpreg bench gpu --help'
    """
    if cycles is not None and suite != RUNS:
        raise click.UsageError("--accelsim-cycles requires 'warpreg bench accelsim-runs'")
    if vector_bits is not None:
        if suite != "spine":
            raise click.UsageError("--vector-bits requires 'warpreg bench spine'")
        _use_vectors(vector_bits)
    if code is not None and suite != "spine":
        raise click.UsageError("--code requires 'warpreg bench spine'")
    if suite == COMPILER:
        _compiler(folder, address_bits, as_json)
        return
    if suite not in (*SUITES, RUNS):
        raise click.UsageError(str(UnknownNameError("benchmark", suite, (*SUITES, RUNS, COMPILER))))
    if folder is not None or address_bits != 64:
        raise click.UsageError("--ptx and --address-bits require 'warpreg bench compiler'")
    if code is not None:
        _machine_code(code, size, as_json)
    elif suite == RUNS:
        _accelsim_runs(cycles, as_json)
    else:
        SUITES[suite](size, as_json)


def _use_vectors(bits: str) -> None:
    """Limit the vectors of this process and of those it starts.  Raises UsageError if the host has narrower ones."""
    from warpreg.simt.llvm import object_code

    object_code.limit_vectors(int(bits))
    if object_code.vector_bits() < int(bits):
        raise click.UsageError(f"--vector-bits {bits}: this processor has {object_code.vector_bits()}-bit vectors")


def _figures(measured: Mapping[str, Any], units: Mapping[str, str]) -> Table:
    """A table of single figures with their units."""
    figures = [{"figure": name, "value": measured[name], "unit": unit} for name, unit in units.items()]
    return output.table(figures, ["figure", "value", "unit"])


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Flatten groups of figures into columns such as ``ours registers``."""
    flat: dict[str, Any] = {}
    for name, value in row.items():
        flat |= {f"{name} {inner}": one for inner, one in value.items()} if isinstance(value, dict) else {name: value}
    return flat
