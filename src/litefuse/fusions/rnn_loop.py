"""SimpleRNN layers that nobody annotated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.fusions.fusion import Fusion, fusion

if TYPE_CHECKING:
    from litefuse.engine.mlir import ir
    from litefuse.fusions.builder import Builder
    from litefuse.fusions.composite import Composite

__all__ = ["RnnLoop"]

_ARGUMENTS = ("inputs", "the initial h", "the kernel", "the recurrent kernel", "the bias")
_RANKS = (3, 2, 2, 2, 1)


@fusion("rnn_loop")
class RnnLoop(Fusion):
    """A loop that was recognised as a SimpleRNN layer becomes the builtin UNIDIRECTIONAL_SEQUENCE_RNN.

    ``litefuse.recognizers`` makes the function, which is ``f(inputs [time, batch, n], h [batch, u], kernel [n, u],
    recurrent_kernel [u, u], bias [u] or none) -> (outputs [time or 1, batch, u], h [batch, u])``, all float32.
    """

    def verify(self, composite: Composite) -> str | None:
        kinds, results = composite.arg_types, composite.result_tensor_types
        if len(kinds) not in (4, 5) or len(results) != 2:
            return f"it has {len(kinds)} arguments and {len(results)} results, not 4 or 5 and 2"
        for name, rank, kind in zip(_ARGUMENTS, _RANKS, kinds, strict=False):
            if kind.dtype != "float32" or kind.rank != rank:
                return f"{name} is {kind}; UNIDIRECTIONAL_SEQUENCE_RNN takes float32, here of rank {rank}"
        units = kinds[3].sizes[0]
        shapes = ((None, None, None), (None, units), (None, units), (units, units), (units,))
        for name, shape, kind in zip(_ARGUMENTS, shapes, kinds, strict=False):
            if any(None not in pair and pair[0] != pair[1] for pair in zip(shape, kind.sizes, strict=True)):
                return f"{name} is {kind}, which does not fit a layer of {units} units"
        for name, kind in zip(_ARGUMENTS[2:], kinds[2:], strict=False):
            if None in kind.sizes or 0 in kind.sizes:
                return f"{name} is {kind}; the weights' sizes must be known, and not 0"
        return None

    def rewrite(self, composite: Composite, b: Builder) -> Sequence[ir.Value]:
        from litefuse.engine.mlir import ir

        inputs, h, kernel, recurrent, *biases = composite.args
        units = composite.arg_types[3].sizes[0] or 0
        bias = biases[0] if biases else b.constant(np.zeros(units, np.float32))
        kind = ir.ShapedType(inputs.type)
        (outputs,) = b.op(
            "tfl.unidirectional_sequence_rnn",
            [inputs, b.transpose(kernel, (1, 0)), b.transpose(recurrent, (1, 0)), bias, b.state(h)],
            [ir.RankedTensorType.get([*kind.shape[:2], units], kind.element_type)],
            {"time_major": ir.BoolAttr.get(True), "fused_activation_function": ir.StringAttr.get("TANH")},
        )
        last = b.last(outputs, 0)
        only_last = composite.result_tensor_types[0].sizes[0] == 1 and composite.arg_types[0].sizes[0] != 1
        return b.last(outputs, 0, keep=True) if only_last else outputs, last

    def check_inputs(
        self, composite: Composite, size: int, random: np.random.Generator
    ) -> Sequence[npt.NDArray[Any]] | None:
        inputs, h, kernel, recurrent, *bias = (kind.sizes for kind in composite.arg_types)
        batch, steps = inputs[1] or h[0] or size, inputs[0] or size
        features, units = kernel[0] or 0, recurrent[0] or 0

        def normal(shape: Sequence[int | None], scale: float) -> npt.NDArray[Any]:
            return random.normal(0, scale, [each or 0 for each in shape]).astype(np.float32)

        return [
            normal([steps, batch, features], 1),
            normal([batch, units], 1),
            normal(kernel, 1 / max(1, features) ** 0.5),
            normal(recurrent, 1 / max(1, units) ** 0.5),
            *(normal(shape, 1) for shape in bias),
        ]
