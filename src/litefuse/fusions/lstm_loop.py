"""LSTM layers that nobody annotated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.fusions.fusion import Fusion, fusion
from litefuse.fusions.keras_lstm import random_layer_inputs

if TYPE_CHECKING:
    from litefuse.engine.mlir import ir
    from litefuse.fusions.builder import Builder
    from litefuse.fusions.composite import Composite

__all__ = ["LstmLoop"]

_ARGUMENTS = ("inputs", "the initial h", "the initial c", "the kernel", "the recurrent kernel", "the bias")
_RANKS = (3, 2, 2, 2, 2, 1)


@fusion("lstm_loop")
class LstmLoop(Fusion):
    """A loop that was recognised as an LSTM layer becomes the builtin UNIDIRECTIONAL_SEQUENCE_LSTM.

    ``litefuse.recognizers`` makes the function, which is ``f(inputs [time, batch, n], h [batch, u], c [batch, u],
    kernel [n, 4 u], recurrent_kernel [u, 4 u], bias [4 u] or none) -> (outputs [time or 1, batch, u], h [batch, u],
    c [batch, u])``, all float32, the gates in the order input, forget, cell, output.
    """

    def verify(self, composite: Composite) -> str | None:
        kinds, results = composite.arg_types, composite.result_tensor_types
        if len(kinds) not in (5, 6) or len(results) != 3:
            return f"it has {len(kinds)} arguments and {len(results)} results, not 5 or 6 and 3"
        for name, rank, kind in zip(_ARGUMENTS, _RANKS, kinds, strict=False):
            if kind.dtype != "float32" or kind.rank != rank:
                return f"{name} is {kind}; UNIDIRECTIONAL_SEQUENCE_LSTM takes float32, here of rank {rank}"
        units = kinds[4].sizes[0]
        shapes = ((None, None, None), (None, units), (None, units), (None, 4 * (units or 0)), (units, 4 * (units or 0)))
        for name, shape, kind in zip(_ARGUMENTS, (*shapes, (4 * (units or 0),)), kinds, strict=False):
            if any(None not in pair and pair[0] != pair[1] for pair in zip(shape, kind.sizes, strict=True)):
                return f"{name} is {kind}, which does not fit a layer of {units} units"
        for name, kind in zip(_ARGUMENTS[3:], kinds[3:], strict=False):
            if None in kind.sizes or 0 in kind.sizes:
                return f"{name} is {kind}; the weights' sizes must be known, and not 0"
        return None

    def rewrite(self, composite: Composite, b: Builder) -> Sequence[ir.Value]:
        from litefuse.fusions.lstm import keras_weights, lstm_layer

        inputs, h, c, kernel, recurrent, *biases = composite.args
        units = composite.arg_types[4].sizes[0] or 0
        bias = biases[0] if biases else b.constant(np.zeros(4 * units, np.float32))
        weights = keras_weights(b, kernel, recurrent, bias)
        only_last = composite.result_tensor_types[0].sizes[0] == 1 and composite.arg_types[0].sizes[0] != 1
        return lstm_layer(b, inputs, weights, h, c, time_major=True, only_last=only_last)

    def check_inputs(
        self, composite: Composite, size: int, random: np.random.Generator
    ) -> Sequence[npt.NDArray[Any]] | None:
        return random_layer_inputs(composite.arg_types, size, random, time_major=True)
