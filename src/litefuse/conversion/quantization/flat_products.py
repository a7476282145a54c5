"""Products of int16 as older runtimes compute them, too."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from litefuse.litert.export.editor import editors_of

__all__ = ["flatten_products"]


def flatten_products(model: Any) -> bool:
    """Computes products of int16 with more than two dimensions as ones of two::

        %y = fully_connected(%x) {keep_num_dims}  -->  %0 = fully_connected(%x)
                                                       %y = reshape(%0)

    With several scales of weights, TensorFlow Lite up to 2.16 takes the first one where dimensions are kept. What has
    several dimensions that are known only in a call stays.

    Args:
        model: The quantized model, as the schema's objects.

    Returns:
        Whether it changed.
    """
    changed = False
    for graph in editors_of(model):
        for op in [op for op in graph.ops or () if graph.kind(op) == "FULLY_CONNECTED"]:
            result, options = int(op.outputs[0]), op.builtinOptions
            shape = graph.shape(result)
            if options is None or not options.keepNumDims or len(shape) < 3 or 0 in shape or shape.count(-1) > 1:
                continue
            if graph.is_type(result, "int16") and graph.scale(int(op.inputs[1])) is None:
                count = math.prod(
                    int(size) for size in graph.tensor(result).shape[:-1]
                )  # where a dynamic dimension is 1
                rows = graph.add_tensor(f"{graph.name(result)}_rows", (count, shape[-1]), "int16", graph.scale(result))
                if -1 in shape:
                    graph.tensor(rows).shapeSignature = [-1, shape[-1]]
                sizes = graph.add_constant(f"{graph.name(result)}_shape", np.array(shape, np.int32))
                options.keepNumDims, op.outputs = False, [rows]
                graph.add_op(graph.after(op), "RESHAPE", [rows, sizes], [result])
                changed = True
    return changed
