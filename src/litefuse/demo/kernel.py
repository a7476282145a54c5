"""The kernel of the demo's custom op."""

from __future__ import annotations

from typing import Any

import numpy as np

from litefuse.runtime.custom_op import CustomOp, TensorSpec, custom_op
from litefuse.runtime.outputs import Outputs

__all__ = ["MyCustomFusedOp"]


@custom_op("my_custom_fused_op")
class MyCustomFusedOp(CustomOp):
    """``relu(input_1 + input_2) * example_option``, elementwise on float32 tensors of one shape.

    The factor is the annotation's attribute ``example_option``, which the converter hands over in the op's options.
    """

    def prepare(self, input_1: TensorSpec, input_2: TensorSpec) -> TensorSpec:
        if input_1.shape != input_2.shape:
            raise ValueError(f"input_1 is {input_1.shape} and input_2 {input_2.shape}; they must be alike")
        return TensorSpec(input_1.shape, input_1.dtype)

    def invoke(self, inputs: Any, outputs: Outputs, *, example_option: int) -> None:
        input_1, input_2 = inputs
        outputs[0][...] = np.maximum(input_1 + input_2, 0) * np.float32(example_option)
