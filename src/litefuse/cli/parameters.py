"""What options and arguments of several commands have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Any, overload

import click

__all__ = ["PATH", "parse_shape", "split_names"]

# A click.Path that gives Path objects; whether there is such a file, the command says, or whoever reads it.
PATH: Any = click.Path(path_type=Path)


@overload
def split_names(names: str) -> list[str]: ...
@overload
def split_names(names: None) -> None: ...
def split_names(names: str | None) -> list[str] | None:
    """The names in a list that is separated by commas; None of None."""
    return None if names is None else [name.strip() for name in names.split(",") if name.strip()]


def parse_shape(text: str) -> tuple[str, tuple[int, ...]]:
    """An input's name and shape, of ``NAME=1,2,3``."""
    name, equals, sizes = text.rpartition("=")
    try:
        shape = tuple(int(size) for size in sizes.split(",")) if sizes else ()
    except ValueError:
        shape = (-1,)
    if not equals or not name or min(shape, default=0) < 0:
        raise click.BadParameter(f"--shape {text!r} is not NAME=SIZE,SIZE,...")
    return name, shape
