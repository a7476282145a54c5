"""The kernel of the demo's custom op."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

import litefuse

__all__ = ["MyCustomFusedOp"]


class MyCustomFusedOp(litefuse.CustomOp):
    """``relu(input_1 + input_2) * example_option``, elementwise on float32 tensors of one shape.

    The factor is the annotation's attribute ``example_option``, which the converter stores in the op's options.

    It is not registered with ``litefuse.custom_op``: the demo passes it only to its own interpreter, so that a program
    may have a kernel of that name.
    """

    op_name: ClassVar[str] = "my_custom_fused_op"

    def prepare(self, input_1: litefuse.TensorSpec, input_2: litefuse.TensorSpec) -> litefuse.TensorSpec:
        if input_1.shape != input_2.shape:
            raise ValueError(f"input_1 is {input_1.shape} and input_2 {input_2.shape}; they must be alike")
        return litefuse.TensorSpec(input_1.shape, input_1.dtype)

    def invoke(self, inputs: Any, outputs: Any, *, example_option: int) -> None:
        input_1, input_2 = inputs
        outputs[0][...] = np.maximum(input_1 + input_2, 0) * np.float32(example_option)
