"""Tests and packages on each supported Python that is installed: ``make test-all``, ``make packages``."""

import shutil
from pathlib import Path

import nox

nox.options.reuse_venv = "yes"
nox.options.error_on_missing_interpreters = False

PYTHONS = nox.project.python_versions(nox.project.load_toml("pyproject.toml"))
"""Those that the classifiers promise."""


COMMANDS = (
    "run vector-add --size tiny",
    "compare hotspot --size tiny",
    "compare hotspot --size tiny --recompute",  # with the compiled code of the one before
    "report",  # of these comparisons
    "list designs",
    "demo",
    "reproduce --help",
)
OTHERS = ("packages/papers", "packages/workbench")
"""The packages beside that of the users."""


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """Run pytest with the arguments after ``--``, by default with all tests."""
    session.install("--quiet", "--editable", ".[dev]", *(part for one in OTHERS for part in ("--editable", one)))
    session.run("python", "-m", "pytest", "-n", "auto", "--maxprocesses", "8", "--dist", "worksteal", *session.posargs)


@nox.session(python=PYTHONS, reuse_venv=False, default=False)
@nox.parametrize("kind", ["wheel", "sdist"])
def package(session: nox.Session, kind: str) -> None:
    """Build a package, install it in a fresh environment as a user does, and run some commands."""
    folder = session.create_tmp()
    session.install("--quiet", "build")
    for source in (".", "packages/papers"):
        session.run("python", "-m", "build", f"--{kind}", "--outdir", folder, source, silent=True)
    pattern = "{}-*.whl" if kind == "wheel" else "{}-*.tar.gz"
    built, papers = (one for name in ("warpreg", "warpreg_papers") for one in Path(folder).glob(pattern.format(name)))
    session.run("python", "-m", "venv", f"{folder}/fresh", silent=True)
    warpreg = Path(folder).resolve() / "fresh" / "bin" / "warpreg"
    pip = str(warpreg.with_name("pip"))
    session.run(pip, "install", "--quiet", f"{built.resolve()}[report]", str(papers.resolve()), external=True)
    session.chdir(folder)  # where no sources are
    for command in COMMANDS:
        session.run(str(warpreg), *command.split(), external=True, silent=True, env={"WARPREG_CACHE": "cache"})


LEVELS = ("x86-64-v2", "x86-64-v3", "x86-64-v4")
"""Processors that the wheel of compiled code is for."""


@nox.session(python=PYTHONS, reuse_venv=False, default=False)
def compiled(session: nox.Session) -> None:
    """Build the wheel of compiled code for a Python, in ``dist``: all processors of the levels share it."""
    session.install("--quiet", "build", "wheel", ".")
    folder = Path("packages/compiled/src/warpreg_compiled")
    shutil.rmtree(folder, ignore_errors=True)
    for level in LEVELS:
        session.run("warpreg", "warm", "--processor", level, "--output", str(folder.resolve()))
    built = session.create_tmp()
    session.run("python", "-m", "build", "--wheel", "--outdir", built, str(folder.parents[1]), silent=True)
    (wheel,) = Path(built).glob("warpreg_compiled-*-py3-none-any.whl")
    tags = "--python-tag", f"cp{str(session.python).replace('.', '')}", "--platform-tag", "manylinux2014_x86_64"
    session.run("python", "-m", "wheel", "tags", "--remove", *tags, str(wheel))
    Path("dist").mkdir(exist_ok=True)
    for made in Path(built).glob("warpreg_compiled-*.whl"):
        shutil.move(made, Path("dist") / made.name)
