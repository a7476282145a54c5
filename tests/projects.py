"""What ``pyproject.toml`` says of the project."""

from __future__ import annotations

from pathlib import Path
from typing import Any

try:
    import tomllib
except ModuleNotFoundError:  # before Python 3.11
    import tomli as tomllib  # of pytest


def pyproject() -> dict[str, Any]:
    """The whole file."""
    return tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))


def project() -> dict[str, Any]:
    """The table ``project``."""
    return pyproject()["project"]
