"""Summary of a lowered module: its operators by their names in the file format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from litefuse.ir.mlir import ir

__all__ = ["ModelSummary", "summarize"]

# Ops that become buffers, or belong to another op, in the file.
_NOT_OPERATORS = frozenset({"func.call", "func.return", "tfl.no_value", "tfl.yield"})  # nor are constants
# LiteRT has one operator where the dialect has two ops.
_OPERATOR_NAMES = {"tfl.basic_lstm": "LSTM", "tf.If": "IF", "vhlo.composite_v1": "STABLEHLO_COMPOSITE"}


class ModelSummary(NamedTuple):
    """Summary of a model.

    Attributes:
        op_counts: The number of each operator over all subgraphs; custom ops by their names.
        custom_ops: The names of the custom ops.
    """

    op_counts: Mapping[str, int]
    custom_ops: tuple[str, ...]


def summarize(module: ir.Module) -> ModelSummary:
    """Counts the operators of a module that is ready for export."""
    # A summary of a file needs no engine.
    from litefuse.ir.call_graph import functions, operations
    from litefuse.ir.constants import CONSTANTS
    from litefuse.ir.mlir import ir

    counts: Counter[str] = Counter()
    custom: set[str] = set()
    for function in functions(module).values():
        for op in operations(function):
            if op.name == "tfl.custom":
                name = ir.StringAttr(op.attributes["custom_code"]).value
                custom.add(name)
            elif op.name in _NOT_OPERATORS or op.name in CONSTANTS:
                continue
            else:
                name = _OPERATOR_NAMES.get(op.name) or op.name.removeprefix("tfl.").replace(".", "_").upper()
            counts[name] += 1
    return ModelSummary(dict(sorted(counts.items())), tuple(sorted(custom)))
