"""Run the tests on each supported Python that is installed: ``make test-all``."""

import nox

nox.options.reuse_venv = "yes"
nox.options.error_on_missing_interpreters = False

PYTHONS = nox.project.python_versions(nox.project.load_toml("pyproject.toml"))
"""Those that the classifiers promise."""


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """Run pytest with the arguments after ``--``, by default with all tests."""
    session.install("--quiet", "--editable", ".[dev]")
    session.run("python", "-m", "pytest", "-n", "auto", "--maxprocesses", "8", "--dist", "worksteal", *session.posargs)
