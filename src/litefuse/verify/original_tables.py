"""Reads the contents of the original's tables: if the model's tables lack some, its own graph does not say so."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from litefuse.errors import LitefuseError
from litefuse.inputs.tables import Tables
from litefuse.saved_model import Constant, SavedModel, Variable, load

__all__ = ["original_tables"]


def original_tables(model: Path, tags: Collection[str] | None) -> Tables:
    """Reads the tables, as far as they can be read: this is not the place to refuse a model.

    Args:
        model: The folder of a SavedModel, or the file of a frozen graph.
        tags: The tags of the graph in the SavedModel.
    """
    try:
        loaded = load(model, tags) if model.is_dir() else None
    except LitefuseError:
        loaded = None
    return Tables() if loaded is None else _tables(loaded)


def _tables(model: SavedModel) -> Tables:
    keys: list[tuple[bytes | int, ...]] = []
    for table in model.tables.values():
        with suppress(LitefuseError):
            found = table.read()[0]
            if found.dtype.kind in "iuO":
                keys.append(tuple(found.tolist()))
    captured: list[Variable | Constant] = [*model.variables.values(), *model.constants.values()]
    shapes = {tuple(size or 0 for size in each.shape) for each in captured if each.shape and None not in each.shape}
    return Tables(tuple(keys), frozenset(shapes))
