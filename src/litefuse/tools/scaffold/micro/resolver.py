"""The methods of tflite-micro's op resolver that register the kernels of ops.

Of ``MicroMutableOpResolver`` in ``tensorflow/lite/micro/micro_mutable_op_resolver.h``, 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from litefuse.litert.inputs.graph import Model

__all__ = ["KNOWN_CUSTOM_OPS", "kernel_function", "registration", "used_ops"]

#: Custom ops for which tflite-micro has methods.
KNOWN_CUSTOM_OPS = {"TFLite_Detection_PostProcess": "AddDetectionPostprocess", "ethos-u": "AddEthosU"}

# Words of ops' names that a method writes in another way than with one capital.
_WORDS = {
    "2D": "2D",
    "BATCH_MATMUL": "BatchMatMul",
    "CUMSUM": "CumSum",
    "LSTM": "LSTM",
    "PADV2": "PadV2",
    "RELU6": "Relu6",
    "V2": "V2",
}


def registration(op: str) -> str:
    """Returns the name of the method for a builtin op, such as ``AddConv2D`` for ``CONV_2D``."""
    if op in _WORDS:
        return f"Add{_WORDS[op]}"
    return "Add" + "".join(_WORDS.get(word, word.capitalize()) for word in op.split("_"))


def used_ops(model: Model) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the names of the builtin ops in all subgraphs of a model, and of its custom ops, sorted."""
    found = {(op.name, op.custom) for graph in model.graphs for op in graph.ops}
    return _sorted(name for name, custom in found if not custom), _sorted(name for name, custom in found if custom)


def kernel_function(op: str) -> str:
    """Returns the name of the function that users write for a custom op, a valid identifier."""
    return "Register_" + re.sub(r"[^0-9A-Za-z_]", "_", op)


def _sorted(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(names))
