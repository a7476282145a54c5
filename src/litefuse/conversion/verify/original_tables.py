"""Reads the contents of the original's tables, and its constants: what a model lacks, its own graph does not say."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from litefuse.errors import LitefuseError
from litefuse.frontends.saved_model import Constant, SavedModel, Variable, load
from litefuse.frontends.saved_model.messages import NodeDef, TensorProto
from litefuse.frontends.saved_model.tensor_proto import tensor_value
from litefuse.litert.inputs.kinds import FEW, MOST_CONSTANTS, few_numbers
from litefuse.litert.inputs.model_inputs import Tables

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
    nodes = [node for function in model.functions.values() for node in function.node_def]
    own = [number for constant in model.constants.values() for number in _few(constant.tensor)]
    numbers = dict.fromkeys([*(number for node in nodes for number in _numbers(node)), *own])
    asks_for_nan = any(node.op in {"IsNan", "IsInf", "IsFinite"} for node in nodes)
    return Tables(tuple(keys), frozenset(shapes), tuple(numbers)[:MOST_CONSTANTS], asks_for_nan)


def _numbers(node: NodeDef) -> Iterator[float]:
    """Yields the numbers of a constant, unless they are weights, and those that an op has as options."""
    if node.op == "Const":
        yield from _few(node.attr["value"].tensor)
    elif node.op == "Relu6":
        yield 6.0
    elif "epsilon" in node.attr:
        yield node.attr["epsilon"].f


def _few(tensor: TensorProto) -> list[float]:
    value = None
    if math.prod(dim.size for dim in tensor.tensor_shape.dim) <= FEW:
        with suppress(LitefuseError):
            value = tensor_value(tensor)
    return few_numbers(value)
