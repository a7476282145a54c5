"""Lowering of ops that write into their operand to ops without side effects."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from litefuse.ir.constants import int32_constant, string_elements, tensor_constant
from litefuse.ir.mlir import ir
from litefuse.ir.op_creation import create_value
from litefuse.ir.passes import Visitor, module_pass, visit_ops


@module_pass
def lower_inplace_ops(module: ir.Module) -> bool:
    """Rewrites the ops of TensorFlow's ``inplace_ops`` as ops without side effects::

        %x = tf.Empty(%shape)                        %x = tf.Fill(%shape, 0)
        %y = tf.InplaceUpdate(%x, %i, %v)       -->  %r = tf.FloorMod(%i, rows of %x)
        %z = tf.DeepCopy(%y)                         %y = tf.TensorScatterUpdate(%x, tf.ExpandDims(%r, 1), %v)

    InplaceAdd and InplaceSub likewise. Row indices are taken modulo the number of rows, as in TensorFlow's kernels
    (``tensorflow/core/kernels/inplace_ops.cc``). This requires that a model does not read the operand of such an op
    afterwards, so that the write into it cannot be observed. The elements of ``Empty`` are undefined; here zeros.
    """
    return visit_ops(module, _LOWERED, nested=False)


def _empty(op: ir.OpView) -> ir.Value:
    kind = op.results[0].type
    return create_value("tf.Fill", kind, [op.operands[0], _zero(ir.ShapedType(kind).element_type)])


def _zero(kind: ir.Type) -> ir.Value:
    """Returns the scalar that ``Empty`` is filled with."""
    scalar = ir.RankedTensorType.get([], kind)
    if str(kind) == "!tf_type.string":
        return create_value("tf.Const", scalar, [], {"value": string_elements(np.array(b"", np.object_))})
    if isinstance(kind, ir.ComplexType):  # the bindings cannot create such a constant
        return create_value("tf.Cast", scalar, [_zero(kind.element_type)])
    number = ir.IntegerAttr.get(kind, 0) if isinstance(kind, ir.IntegerType) else ir.FloatAttr.get(kind, 0.0)
    return tensor_constant(ir.DenseElementsAttr.get_splat(scalar, number))


def _copy(op: ir.OpView) -> ir.Value:
    return op.operands[0]


def _scatter(name: str) -> Callable[[ir.OpView], ir.Value]:
    def lower(op: ir.OpView) -> ir.Value:
        target, places, rows = op.operands
        shape = create_value("tf.Shape", _vector(target), [target])
        count = create_value("tf.GatherV2", _scalar(), [shape, int32_constant(0), int32_constant(0)])
        # A tensor without rows has nothing to write, but a remainder by 0 would still be an error.
        count = create_value("tf.Maximum", _scalar(), [count, int32_constant(1)])
        places = create_value("tf.FloorMod", places.type, [places, count])
        unranked = ir.UnrankedTensorType.get(ir.IntegerType.get_signless(32))
        indices = create_value("tf.ExpandDims", unranked, [places, int32_constant(1)])
        return create_value(f"tf.{name}", op.results[0].type, [target, indices, rows])

    return lower


def _scalar() -> ir.Type:
    return ir.RankedTensorType.get([], ir.IntegerType.get_signless(32))


def _vector(value: ir.Value) -> ir.Type:
    kind = ir.ShapedType(value.type)
    size = kind.rank if kind.has_rank else ir.ShapedType.get_dynamic_size()
    return ir.RankedTensorType.get([size], ir.IntegerType.get_signless(32))


_LOWERED: Mapping[str, Visitor] = {
    "tf.DeepCopy": _copy,
    "tf.Empty": _empty,
    "tf.InplaceAdd": _scatter("TensorScatterAdd"),
    "tf.InplaceSub": _scatter("TensorScatterSub"),
    "tf.InplaceUpdate": _scatter("TensorScatterUpdate"),
}
