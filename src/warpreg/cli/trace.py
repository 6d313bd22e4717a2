"""``warpreg trace``: what happens in each cycle of a window, for a viewer."""

from __future__ import annotations

import re
from pathlib import Path

import click

from warpreg import gpu
from warpreg.cli import output as out
from warpreg.cli.compile_options import compile_options
from warpreg.cli.cycles import recorded
from warpreg.cli.designs import design_option, one_choice, set_option
from warpreg.cli.launching import KERNEL_FILES, KINDS, LaunchSpec, launch_options
from warpreg.cli.options import (
    json_option,
    limit_option,
    machine_option,
    problem_options,
    technology_option,
    trace_options,
    unchecked_option,
)
from warpreg.cli.targets import TARGET, run_target
from warpreg.evaluation.runs.comparison import BASELINE, Setting
from warpreg.evaluation.runs.counting import Timed
from warpreg.evaluation.runs.provenance import NOTE, code_version
from warpreg.evaluation.runs.run import CompileChoice
from warpreg.evaluation.runs.traces import TraceChoice
from warpreg.trace.files import whole

MIB = 1 << 20
PERFETTO, KONATA = "perfetto", "konata"
SUFFIXES = {PERFETTO: ".pftrace", KONATA: ".kanata"}
WINDOW = re.compile(r"(\d*):(\d*)")


def parse_window(text: str) -> tuple[int, int | None]:
    """``"A:B"``, ``"A:"`` or ``":B"``: cycles from A on and before B.  Raises click.BadParameter."""
    found = WINDOW.fullmatch(text)
    if found is None:
        raise click.BadParameter(f"'{text}': expected A:B, two cycles such as 1000:2000")
    begin, end = int(found[1] or 0), int(found[2]) if found[2] else None
    if end is not None and begin >= end:
        raise click.BadParameter(f"'{text}': expected A:B with A below B")
    return begin, end


@click.command()
@click.argument("target", metavar=TARGET)
@launch_options
@design_option("Design to time, by default the plain MRF. Repeat for designs of other slots.")
@set_option
@machine_option
@technology_option
@click.option(
    "--cycles",
    "window",
    type=parse_window,
    metavar="A:B",
    help="Cycles of the run to trace, from A on and before B. Default: all.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice([PERFETTO, KONATA]),
    default=PERFETTO,
    show_default=True,
    help="Format of the file: for ui.perfetto.dev, or text for the pipeline viewer Konata.",
)
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The file. Default: trace.pftrace or trace.kanata.",
)
@problem_options("tiny")
@compile_options
@limit_option
@trace_options
@unchecked_option
@json_option
def command(
    target: str,
    launching: LaunchSpec,
    files: tuple[str, ...],
    settings: tuple[str, ...],
    machine: str,
    technology: str | None,
    window: tuple[int, int | None] | None,
    form: str,
    output: Path | None,
    size: str,
    seed: int,
    choice: CompileChoice,
    max_instructions: int | None,
    reading: TraceChoice,
    unchecked: bool,
    as_json: bool,
) -> None:
    """Time a kernel and write what happens in each cycle of a window, to look at in a viewer.

    Cycles count from the start of the run, over all its launches. A file for Perfetto shows schedulers, warps with the
    causes of their waits, ports of banks, collectors and pipes of each SM, with counters of occupancy, registers and
    power. A file for Konata shows the stages of each instruction.

    \b
    warpreg trace hotspot --design rfc --cycles 1000:2000 --machine gtx480
    warpreg trace hotspot --design bow-wr --cycles 1000:1200 --machine gtx480 --format konata --output bow.kanata
    """
    from warpreg.evaluation.runs.event_energy import event_energy
    from warpreg.report.konata import write_konata
    from warpreg.report.perfetto import messages, write_perfetto
    from warpreg.timing.launch.tracing import trace

    if form == PERFETTO:
        messages()
    if launching.kernel and Path(target).suffix not in KERNEL_FILES:
        raise click.UsageError(f"--kernel requires a kernel file ({KINDS}), found '{target}'")
    described = gpu.load(machine)
    design = one_choice(files or (BASELINE,), settings, machine=described, unchecked=unchecked)
    setting = Setting.load(described, technology, [design])
    setting.check([design])
    begin, end = window or (0, None)
    path = output or Path("trace").with_suffix(SUFFIXES[form])
    timed = Timed()
    with out.alone(as_json), out.steps() as progress:
        progress.begin(f"running {target}")
        record = recorded(timed, [design])
        run = run_target(target, launching, size, seed, choice, max_instructions, reading, record)
        progress.begin(f"timing {design.design.name}")
        registers = run.options.get("registers")
        traced = trace(
            run.launches,
            setting.machine,
            begin,
            end,
            designs=design,
            registers=registers,
            mode=timed.mode,
            **timed.between(run),
        )
        progress.begin(f"writing {path}")
        with whole(path) as unfinished:
            if form == KONATA:
                write_konata(traced, unfinished)
            else:
                write_perfetto(traced, event_energy(traced, setting.technology), unfinished)
    size_of_file = path.stat().st_size
    if as_json:
        out.print_json(
            {
                "file": str(path),
                "bytes": size_of_file,
                "cycles": [traced.begin, traced.end],
                "run": run.name,
                **({NOTE: run.note} if run.note else {}),
                "design": design.design.name,
                "machine": setting.machine.name,
                "technology": setting.technology.name,
                "events": len(traced.events),
                "issued": traced.issued,
                "code": code_version(),
            }
        )
        return
    click.echo(
        f"wrote {path}: cycles {traced.begin:,} to {traced.end:,}, {traced.issued:,} instructions issued, "
        f"{size_of_file / MIB:.1f} MiB" + (f"; {run.note}" if run.note else ""),
        err=True,
    )
