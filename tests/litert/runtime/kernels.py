"""Kernels that the tests of the runtime use."""

# Kernels take what they are given.

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec, custom_op

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from litefuse.litert.runtime.outputs import Outputs


class Double(CustomOp):
    """y = x + x, for every dtype that can add (strings are repeated)."""

    op_name = "Double"

    def prepare(self, x: TensorSpec) -> TensorSpec:
        return TensorSpec(x.shape, x.dtype)

    def invoke(self, inputs: Any, outputs: Outputs) -> None:
        outputs[0][...] = inputs[0] + inputs[0]


class Scale(CustomOp):
    """y = x * factor."""

    op_name = "Scale"

    def prepare(self, x: TensorSpec, *, factor: float) -> TensorSpec:
        return TensorSpec(x.shape, x.dtype)

    def invoke(self, inputs: Any, outputs: Outputs, *, factor: float) -> None:
        np.multiply(inputs[0], factor, out=outputs[0])


class AddN(CustomOp):
    """The sum of the inputs that are there."""

    op_name = "AddN"

    def prepare(self, *inputs: TensorSpec | None) -> TensorSpec:
        present = [spec for spec in inputs if spec is not None]
        return TensorSpec(present[0].shape, present[0].dtype)

    def invoke(self, inputs: Any, outputs: Outputs) -> None:
        outputs[0][...] = sum(array for array in inputs if array is not None)


class Where(CustomOp):
    """The indices of the elements that are not zero, [count, rank] int64: its size depends on the data."""

    op_name = "Where"

    def prepare(self, x: TensorSpec) -> TensorSpec:
        return TensorSpec(None, np.int64)

    def invoke(self, inputs: Any, outputs: Outputs) -> None:
        outputs[0] = np.argwhere(inputs[0])


def register_anything(monkeypatch: pytest.MonkeyPatch, function: Callable[[Any], Any]) -> None:
    """Registers a kernel of the op ``Anything``, ``y = function(x)`` of the shape of ``x``, for one test alone."""
    monkeypatch.setattr("litefuse.litert.runtime.custom_op._registered", {})

    @custom_op("Anything")
    class Anything(CustomOp):  # pyright: ignore[reportUnusedClass]
        def prepare(self, x: TensorSpec) -> TensorSpec:
            return TensorSpec(x.shape, x.dtype)

        def invoke(self, inputs: Any, outputs: Any) -> None:
            outputs[0][...] = function(inputs[0])
