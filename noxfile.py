"""The checks of this project, each in an environment of its own: ``nox -s lint``, ``nox -s tests -- tests/mlir``.

How the tests are installed and run is in README.md, and read from there.
"""

from __future__ import annotations

import shlex
from pathlib import Path

import nox

nox.needs_version = ">=2024.4.15"
nox.options.sessions = ["lint", "docs", "types", "tests"]

#: What starts neither TensorFlow nor JAX nor a fuzzer: CI runs it on each Python and system.
PORTABLE = tuple(f"--ignore=tests/{name}" for name in ("tensorflow", "with_jax", "docs", "fuzz"))


def _readme() -> tuple[str, str]:
    """README's command that runs the tests: what installs, and what runs."""
    lines = Path("README.md").read_text(encoding="utf-8").splitlines()
    (command,) = [line for line in lines if "pip install '.[test]'" in line]
    install, _, run = command.rpartition(" && ")
    return install, run


def _install(session: nox.Session) -> None:
    """Installs this project with all that its tests need."""
    session.run_install("bash", "-c", _readme()[0], external=True)


def _test(session: nox.Session, *arguments: str) -> None:
    """Runs the tests."""
    session.run("bash", "-c", f"{_readme()[1]} {shlex.join(arguments)}", external=True)


def _tool(name: str) -> str:
    """What the extra ``test`` asks for of a package."""
    extra = nox.project.load_toml("pyproject.toml")["project"]["optional-dependencies"]["test"]
    (requirement,) = [each for each in extra if each.startswith(f"{name}>")]
    return requirement


@nox.session
def lint(session: nox.Session) -> None:
    """Style and format."""
    session.install(_tool("ruff"))
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")


@nox.session
def docs(session: nox.Session) -> None:
    """Links between the pages lead somewhere. What the pages tell a reader to do is run by the tests."""
    session.install(_tool("pytest"))
    session.run("pytest", "--noconftest", "tests/test_links.py")


@nox.session
def types(session: nox.Session) -> None:
    """Types, with everything that the tests import.

    The code is written against the stubs of numpy 2.4, the last one for Python 3.11: with those of 2.5, strict checks
    find other types.
    """
    _install(session)
    session.run("pyright")


@nox.session
def tests(session: nox.Session) -> None:
    """All tests, or those that are named behind ``--``."""
    _install(session)
    _test(session, *session.posargs)


@nox.session(default=False)
def portable(session: nox.Session) -> None:
    """The tests without TensorFlow."""
    _install(session)
    _test(session, *PORTABLE, *session.posargs)


@nox.session(default=False)
def mutants(session: nox.Session) -> None:
    """Whether the tests notice changes of the modules that differ from main, or of those behind ``--``."""
    _install(session)
    session.run("python", "-m", "scripts.mutants", *session.posargs)
