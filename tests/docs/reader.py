"""A reader who follows a page: runs its blocks in order in one folder, at size ``tiny`` where no output is shown."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from tests.sass.vector_add import write_vector_add

from warpreg.cli import main
from warpreg.cli.app import command as commands
from warpreg.designs import load
from warpreg_workbench.suite.page_blocks import Block, blocks_of
from warpreg_workbench.suite.shown_output import CHANGES, agrees, parts_of

ROOT = Path(__file__).parents[2]
SMALLER = {
    "reproduce": ["--size", "tiny", "--workloads", "vector-add", "-j", "1"],
    "check": ["--kernels", "5"],
    "new-design": [],
    "rank": [],
}
"""What makes a command quick, where `--size tiny -j 1` does not."""
PLACEHOLDER = re.compile(r"^[A-Z]")
PTX = ("saxpy.ptx", "filter.ptx")


@dataclass
class Reader:
    """``folder`` has the examples, and what a page takes for granted; ``told`` is the output of the last block."""

    folder: Path
    told: str = ""
    names: dict[str, Any] = field(default_factory=dict)

    def prepare(self) -> None:
        """Lay out the files that pages take for granted."""
        examples = ROOT / "examples"
        shutil.copytree(examples, self.folder / "examples")
        for name in ("saxpy.cu", "my_design.py"):
            shutil.copy(examples / name, self.folder)
        for folder in (self.folder, self.folder / "examples"):
            for name in PTX:
                shutil.copy(ROOT / "tests" / "cli" / "data" / name, folder)
        sweeping = (ROOT / "docs" / "how-to" / "sweep.md").read_text(encoding="utf-8")
        for block in blocks_of(sweeping):
            if block.note("file") == "entries.toml":
                block.write(self.folder)
        self._prepare_versions((ROOT / "tests" / "cli" / "data" / PTX[0]).read_text(encoding="utf-8"))
        (self.folder / "traces" / "vectoradd").mkdir(parents=True)
        write_vector_add(self.folder / "traces" / "vectoradd", 300)
        if not has_compiler():
            for launches in (self.folder / "examples").glob("*.toml"):
                launches.write_text(with_ptx(launches.read_text(encoding="utf-8")), encoding="utf-8")

    def _prepare_versions(self, ptx: str) -> None:
        """Two versions of a kernel, and its launches: without the fused multiply-add, it has one instruction more."""
        two = "mul.rn.f32 %f2, %f1, %f2;\n    add.rn.f32 %f4, %f2, %f3;"
        versions = {"old.ptx": ptx, "new.ptx": ptx.replace("fma.rn.f32 %f4, %f1, %f2, %f3;", two)}
        launches = (ROOT / "examples" / "saxpy.toml").read_text(encoding="utf-8").replace("saxpy.cu", "old.ptx")
        for name, text in {**versions, "launches.toml": launches}.items():
            (self.folder / name).write_text(text, encoding="utf-8")

    def follow(self, block: Block) -> None:
        """Do what a block shows.  Raises AssertionError if it does not work as shown."""
        block.write(self.folder)
        if block.has("output"):
            told = lines_of(CHANGES.sub("", self.told))
            missing = [line for line in lines_of(CHANGES.sub("", block.text)) if line not in told]
            assert missing == [], f"not among the lines of\n{self.told}"
        elif block.is_shell:
            self._run(block)
        elif block.language == "python" and not block.has("insert") and not block.has("not run"):
            self._python(block)
        elif block.language == "toml":
            tomllib.loads(block.text)

    def _run(self, block: Block) -> None:
        output = io.StringIO()
        every = list(block.commands())
        for number, (command, is_run) in enumerate(every):
            if not is_run:
                parse(command)
                continue
            status, text = self.run(command, as_written=block.shows_output)
            expected = 1 if block.has("fails") and number == len(every) - 1 else 0
            assert status == expected, f"{command}: status {status}\n{text}"
            output.write(text)
        self.told = output.getvalue()
        if block.shows_output and all(is_run for _, is_run in every):
            assert agrees(parts_of(block.text)[1], self.told) or not parts_of(block.text)[1].strip(), self.told

    def run(self, command: str, *, as_written: bool = False) -> tuple[int, str]:
        """Exit status and output of a command line."""
        line, _, tail = command.partition(" | tail -")
        line, _, file = line.partition(" > ")
        words = shlex.split(line if has_compiler() else with_ptx(line))
        if words[0] == "warpreg":
            status, text = in_process(words[1:] if as_written else smaller(words[1:]))
        else:
            status, text = self._other(words)
        if file:
            (self.folder / file.strip()).write_text(text, encoding="utf-8")
        return status, "\n".join(text.splitlines()[-int(tail) :]) + "\n" if tail else text

    def _other(self, words: list[str]) -> tuple[int, str]:
        """Other programs: extras that exist, targets of the Makefile, tests and modules of Python."""
        if words[:2] == ["pip", "install"]:
            extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
            asked = re.findall(r"\[(\w+)\]", words[2])
            return int(any(extra not in extras["optional-dependencies"] for extra in asked)), ""
        if words == ["make", "demo"]:
            return in_process(["demo", "--output", "demo"])
        if words[0] == "pytest":
            words = ["python", "-m", *words, "-q", "-p", "no:cacheprovider"]
        assert words[0] == "python", words
        done = subprocess.run([sys.executable, *words[1:]], cwd=self.folder, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def _python(self, block: Block) -> None:
        if "DESIGN = " in block.text:
            path = self.folder / (block.note("file") or f"design_{block.line}.py")
            path.write_text(block.text, encoding="utf-8")
            load(path)
            return
        code = block.text if has_compiler() else with_ptx(block.text)
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(code, f"block at line {block.line}", "exec"), self.names)


def in_process(arguments: list[str]) -> tuple[int, str]:
    """Exit status and output of the command line in this process."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        status = main(arguments)
    return status, output.getvalue()


def smaller(arguments: list[str]) -> list[str]:
    """The same at size ``tiny`` and in one process, where there are such options."""
    words = ["tiny" if word in ("small", "full") else word for word in arguments]
    if words[0] in SMALLER:
        return [*words, *SMALLER[words[0]]]
    known = options_of(words[0])
    more = [("--size", "tiny")] if "--size" in known and "--size" not in words and not _is_file(words) else []
    more += [("-j", "1")] if "-j" in known and "-j" not in words else []
    return [*words, *(word for pair in more for word in pair)]


def _is_file(words: list[str]) -> bool:
    return any(word.endswith((".cu", ".ptx", ".g")) for word in words)


def parse(command: str) -> None:
    """Check that a command exists and has these options; raises click.ClickException or AssertionError."""
    words = shlex.split(command.partition(" | ")[0].partition(" > ")[0])
    if words[0] == "make":
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        assert re.search(rf"^{re.escape(words[1])}:", makefile, re.MULTILINE), command
    elif words[:2] == ["python", "-m"]:
        assert importlib.util.find_spec(words[2]) is not None, command
    elif words[0] == "warpreg":
        found = commands.get_command(click.Context(commands), words[1])
        assert found is not None, command
        found.make_context(words[1], words[2:], resilient_parsing=True)


def options_of(name: str) -> set[str]:
    """The options of a command."""
    found = commands.get_command(click.Context(commands), name)
    assert found is not None, name
    return {option for one in found.params if isinstance(one, click.Option) for option in one.opts}


def lines_of(text: str) -> list[str]:
    """Lines without spaces at their end."""
    return [line.rstrip() for line in text.splitlines()]


def has_compiler() -> bool:
    """Whether CUDA C++ can be compiled."""
    return importlib.util.find_spec("cuda") is not None


def with_ptx(text: str) -> str:
    """The example with its PTX, which is the same kernel, in place of its source."""
    for name in PTX:
        text = text.replace(name.replace(".ptx", ".cu"), name)
    return text
