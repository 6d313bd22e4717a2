"""``warpreg bench`` where the tools of developers are not installed: ``gpu`` alone, which measures a real GPU."""

from __future__ import annotations

import click

from warpreg.cli import bench_gpu
from warpreg.cli.installed import absent

SOURCES = "benchmarks of Warpreg itself come with its sources: make bench"


class Bench(click.Group):
    """The command ``gpu``, and a message for every other name."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        return super().get_command(ctx, cmd_name) or absent(cmd_name, SOURCES)


command = Bench("bench", commands={"gpu": bench_gpu.command}, help="Measure a real GPU.")
