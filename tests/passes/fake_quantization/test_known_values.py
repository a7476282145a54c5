"""Values that are computed of constants alone."""

from __future__ import annotations

import numpy as np

from litefuse.ir.constants import tensor_constant
from litefuse.ir.mlir import func, ir, mlir_context
from litefuse.passes.fake_quantization.known_values import known_value


def _op(name: str, *operands: ir.Value, kind: ir.Type | None = None) -> ir.Value:
    return ir.Operation.create(name, [kind or operands[0].type], operands).result


def test_known_values() -> None:
    with mlir_context():
        scalar = ir.RankedTensorType.get([], ir.F32Type.get())
        with ir.InsertionPoint(ir.Module.create().body):
            w = tensor_constant(ir.DenseElementsAttr.get(np.array([[1, -3], [2, 0.5]], np.float32)))
            axes = tensor_constant(ir.DenseElementsAttr.get(np.array([0, 1], np.int32)))
            largest = _op("tf.Max", _op("tf.Abs", w), axes, kind=scalar)
            found = known_value(_op("tf.RealDiv", largest, largest))
            assert known_value(largest) == np.float32(3)
            assert found is not None
            assert (found.dtype, float(found)) == (np.float32, 1.0)
            assert known_value(axes) is not None
            shape = tensor_constant(ir.DenseElementsAttr.get(np.array([-1, 1], np.int32)))
            column = known_value(_op("tf.Reshape", w, shape, kind=ir.RankedTensorType.get([4, 1], ir.F32Type.get())))
            np.testing.assert_array_equal(column, [[1], [-3], [2], [0.5]])


def test_what_is_not_followed() -> None:
    """Arguments, other ops, long chains, axes that there are not, and what grows."""
    with mlir_context():
        vector = ir.RankedTensorType.get([3], ir.F32Type.get())
        with ir.InsertionPoint(ir.Module.create().body):
            function = func.FuncOp("main", ir.FunctionType.get([vector], []))
            argument = function.add_entry_block().arguments[0]
            assert known_value(argument) is None
            row = tensor_constant(ir.DenseElementsAttr.get(np.ones((1, 3), np.float32)))
            column = tensor_constant(ir.DenseElementsAttr.get(np.ones((3, 1), np.float32)))
            wide = ir.RankedTensorType.get([3, 3], ir.F32Type.get())
            assert known_value(_op("tf.Mul", row, column, kind=wide)) is None
            assert known_value(_op("tf.Sin", row)) is None
            axis = tensor_constant(ir.DenseElementsAttr.get(np.array([7], np.int32)))
            assert known_value(_op("tf.Max", row, axis)) is None
            copied = row
            for _ in range(48):
                copied = _op("tf.Identity", copied)
            np.testing.assert_array_equal(known_value(copied), [[1, 1, 1]])
            assert known_value(_op("tf.StopGradient", copied)) is None
            doubled = row
            for _ in range(40):  # each op uses the last one twice: a trillion of paths
                doubled = _op("tf.AddV2", doubled, doubled)
            found = known_value(doubled)
            assert found is not None
            assert float(found[0, 0]) == 2.0**40
            for _ in range(5000):
                doubled = _op("tf.Neg", doubled)
            assert known_value(doubled) is None
