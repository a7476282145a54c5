"""Ranges of tensors without elements, which calibration observes nothing of, and litert-quantizer asks for."""

from __future__ import annotations

from typing import Any

import numpy as np

from litefuse.conversion.quantization.calibration import Ranges
from litefuse.litert.runtime.schema_objects import dtype_of, tensor_name

__all__ = ["ranges_of_empty_tensors"]


def ranges_of_empty_tensors(model: Any) -> Ranges:
    """Returns ranges of the tensors without elements, which have none in any call: 0 to 0.

    Args:
        model: The model, as the schema's objects.
    """
    zero = np.zeros(1, np.float32)
    return {
        tensor_name(tensor): {"min": zero, "max": zero}
        for graph in model.subgraphs
        for tensor in graph.tensors
        if tensor.shape is not None and 0 in tensor.shape and dtype_of(tensor) == "float32"
    }
