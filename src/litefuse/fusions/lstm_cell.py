"""Composites of one LSTM step from zero states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from litefuse.fusions.fusion import Fusion, Inputs, fusion

if TYPE_CHECKING:
    from litefuse.fusions.builder import Builder
    from litefuse.fusions.composite import Composite
    from litefuse.ir.mlir import ir
    from litefuse.ir.types import TensorType

__all__ = ["LstmCellSimple"]

# name and rank
_ARGUMENTS = (("the input", 2), ("the weight", 2), ("the bias", 1), ("the projection", 2), ("the layer norm scale", 1))

_NORMALIZED = "LayerNormalizedLstmCellSimple"
_COUPLED = ",CoupleInputForgetGates"

# The reference sets this limit, as does the cell that the composite is named after. The new cell state is never
# greater than 1, as the old one is zero: the limit has no effect.
_CELL_CLIP = 10.0


@fusion(
    "LSTMCellSimple",
    "LSTMCellSimple,CoupleInputForgetGates",
    "LayerNormalizedLstmCellSimple",
    "LayerNormalizedLstmCellSimple,CoupleInputForgetGates",
)
class LstmCellSimple(Fusion):
    """One LSTM step from zero states becomes the builtin LSTM.

    ``f(input [batch, n_in], weight [n_in + n_out, 4 n_cell], bias [4 n_cell], projection [n_cell, n_out]) ->
    [batch, n_out]``, all float32, the gates in the order cell, input, forget, output; the weight's first rows are for
    the input, the others for the output of the step before, which is zero. ``LayerNormalizedLstmCellSimple`` has a
    fifth argument, the scale ``[4 n_cell]`` of the sums, which are normalized before the bias is added. With the suffix
    ``,CoupleInputForgetGates``, the input gate is 1 minus the forget gate, and the weights have three parts instead of
    four: cell, forget, output. ``LSTMCellSimple`` may have further arguments, which it does not use.
    """

    def verify(self, composite: Composite) -> str | None:
        arguments = composite.arg_types
        expected = _ARGUMENTS[: 5 if composite.name.startswith(_NORMALIZED) else 4]
        if len(arguments) < len(expected) or (len(expected) == 5 and len(arguments) != 5):
            return f"it has {len(arguments)} arguments, not {len(expected)} ({', '.join(name for name, _ in expected)})"
        if len(composite.result_types) != 1:
            return f"it has {len(composite.result_types)} results, not 1"
        for (name, rank), kind in zip(expected, arguments, strict=False):
            if kind.dtype != "float32" or kind.rank != rank:
                return f"{name} is {kind}; LSTM takes float32, here of rank {rank}"
            if name != "the input" and None in kind.sizes:
                return f"{name} is {kind}; the weights' sizes must be known"
        (result,) = composite.result_tensor_types
        if result.dtype != "float32" or result.rank not in {2, None}:
            return f"the result is {result}; LSTM gives float32 of rank 2"
        return _size_problem(arguments[: len(expected)], result, len(_order(composite)))

    def faster_inlined(self, composite: Composite) -> str | None:
        del composite
        return "one step of its ops is faster than the fused op, whatever its size"

    def rewrite(self, composite: Composite, b: Builder) -> ir.Value:
        from litefuse.fusions.lstm import Gates, LstmWeights, lstm, split_gates

        x, weight, bias, projection = composite.args[:4]
        order = _order(composite)
        n_cell, n_out = _sizes(composite.arg_types[3])
        rows = _sizes(composite.arg_types[1])[0]
        columns = _sizes(composite.arg_types[1])[1]

        def gates(begin: int, count: int) -> Gates:
            return split_gates(b, b.slice(weight, [begin, 0], [count, columns]), order, axis=1)

        normalized = composite.name.startswith(_NORMALIZED)
        weights = LstmWeights(
            kernel=gates(0, rows - n_out),
            recurrent=gates(rows - n_out, n_out),
            bias=split_gates(b, bias, order),
            layer_norm=split_gates(b, composite.args[4], order) if normalized else None,
            projection=b.transpose(projection, (1, 0)),
        )
        h, c = (b.state(b.zeros(x, 0, [size])) for size in (n_out, n_cell))
        return lstm(b, x, weights, h, c, cell_clip=_CELL_CLIP)

    def check_inputs(self, composite: Composite, size: int, random: np.random.Generator) -> Inputs | None:
        x, weight, *others = composite.arg_types
        rows, columns = _sizes(weight)
        n_out = _sizes(others[1])[1]
        if any(kind.dtype != "float32" or kind.shape is None for kind in others):
            return None  # an unused argument
        # Scaled by the number of weights, so that the gates do not saturate.
        values = [
            random.normal(0, 1, (x.sizes[0] or size, rows - n_out)),
            random.normal(0, (rows - n_out) ** -0.5, (rows, columns)),
            *(random.normal(0, 1, [extent or size for extent in kind.sizes]) for kind in others),
        ]
        return [value.astype(np.float32) for value in values]


def _order(composite: Composite) -> str:
    return "cfo" if composite.name.endswith(_COUPLED) else "cifo"


def _sizes(kind: TensorType) -> tuple[int, int]:
    """Returns the sizes of a matrix, which were verified to be known."""
    rows, columns = (size or 0 for size in kind.sizes)
    return rows, columns


def _size_problem(arguments: Sequence[TensorType], result: TensorType, gates: int) -> str | None:
    x, weight, bias, projection = arguments[:4]
    rows, columns = _sizes(weight)
    n_cell, n_out = _sizes(projection)
    if columns % gates:
        return f"the weight is {weight}: its columns are not of {gates} gates"
    if n_cell != columns // gates or not n_cell or not n_out:
        return (
            f"the projection is {projection}, the weight {weight}: "
            f"a projection of {columns // gates} cells has as many rows"
        )
    if rows <= n_out:
        return f"the weight is {weight}: it has rows for the {n_out} outputs of the projection, but none for the input"
    if x.sizes[1] not in {rows - n_out, None}:
        return f"the input is {x}; the weight {weight} has {rows - n_out} rows for it, and {n_out} for the output"
    for (name, _), kind in ((_ARGUMENTS[2], bias), *((_ARGUMENTS[4], argument) for argument in arguments[4:])):
        if kind.shape != (columns,):
            return f"{name} is {kind}; the weight has {columns} columns"
    if result.shape is not None and result.shape[1] not in {n_out, None}:
        return f"the result is {result}; the projection {projection} gives {n_out}"
    return None
