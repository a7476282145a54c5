"""EMBEDDING_LOOKUP in place of gathered rows, and activations as ops where readers leave out fused ones."""

from __future__ import annotations

import math
from types import MappingProxyType

from litefuse.ir.constants import CONSTANTS
from litefuse.ir.litert_ops import concatenation, int32_vector, sizes_of
from litefuse.ir.mlir import ir, producer
from litefuse.ir.op_creation import create_op, create_value
from litefuse.ir.passes import module_pass, visit_ops


@module_pass
def embedding_lookups(module: ir.Module) -> bool:
    """Looks rows up instead of gathering them::

        %y = tfl.gather(%table : tensor<1000x8xf32>, %ids : tensor<?x5xi32>) {axis = 0}
        -->  %r = tfl.embedding_lookup(tfl.reshape(%ids, [-1]), %table)
             %y = tfl.reshape(%r, [-1, 5, 8])

    The embedding tables that make up most of many language models are operands of gathers where nobody marked the
    lookup. Quantization supports EMBEDDING_LOOKUP, not GATHER.
    """
    return visit_ops(module, {"tfl.gather": _looked_up})


def _takes_rows(op: ir.OpView) -> bool:
    table, ids = op.operands
    if producer(table, *CONSTANTS) is None:
        return False
    kind, indices = ir.ShapedType(table.type), ir.ShapedType(ids.type)
    if not kind.has_static_shape or kind.rank != 2 or not isinstance(kind.element_type, ir.F32Type):
        return False
    axis, batch_dims = (ir.IntegerAttr(op.attributes[name]).value for name in ("axis", "batch_dims"))
    return indices.has_rank and axis == 0 and batch_dims == 0


def _looked_up(op: ir.OpView) -> ir.Value | None:
    if not _takes_rows(op):
        return None
    table, ids = op.operands
    kind, indices = ir.ShapedType(table.type), ir.ShapedType(ids.type)
    int32 = ir.IntegerType.get_signless(32)
    count = math.prod(indices.shape) if indices.has_static_shape else ir.ShapedType.get_dynamic_size()
    if indices.element_type != int32:
        ids = create_value("tfl.cast", ir.RankedTensorType.get(list(indices.shape), int32), [ids])
    flat = create_value("tfl.reshape", ir.RankedTensorType.get([count], int32), [ids, int32_vector([-1])])
    rows = ir.RankedTensorType.get([count, kind.shape[1]], kind.element_type)
    looked_up = create_value("tfl.embedding_lookup", rows, [flat, table])
    return create_value("tfl.reshape", op.results[0].type, [looked_up, _shape(ids, indices, kind.shape[1])])


def _shape(ids: ir.Value, indices: ir.ShapedType, width: int) -> ir.Value:
    """Returns the shape of the ids with one more dimension."""
    sizes = [-1 if indices.is_dynamic_dim(axis) else indices.shape[axis] for axis in range(indices.rank)]
    if sizes.count(-1) < 2:
        return int32_vector([*sizes, width])
    joined = ir.RankedTensorType.get([indices.rank + 1], ir.IntegerType.get_signless(32))
    return concatenation([sizes_of(ids), int32_vector([width])], joined, 0)


_FUSED = "fused_activation_function"
_OPS = MappingProxyType({"RELU": "tfl.relu", "RELU6": "tfl.relu6", "RELU_N1_TO_1": "tfl.relu_n1_to_1"})


@module_pass
def separate_activations(module: ir.Module) -> bool:
    """Takes fused activations out of TRANSPOSE_CONV::

        %y = tfl.transpose_conv(%s, %w, %x, %b) {fused_activation_function = "RELU"}
        -->  %0 = tfl.transpose_conv(%s, %w, %x, %b) {fused_activation_function = "NONE"}
             %y = tfl.relu(%0)

    OpenVINO leaves them out, and TensorFlow Lite before 2.13 has none there. XNNPACK fuses them itself. Those that
    integers are made of stay: what is outside of their range is outside of that of the integers.
    """
    return visit_ops(module, {"tfl.transpose_conv": _separate})


def _separate(op: ir.OpView) -> bool:
    activation = _OPS.get(ir.StringAttr(op.attributes[_FUSED]).value)
    result = op.results[0]
    if activation is None or any(use.owner.name == "tfl.quantize" for use in result.uses):
        return False
    op.attributes[_FUSED] = ir.StringAttr.get("NONE")
    activated = create_op(activation, [result.type], [result], point=ir.InsertionPoint.after(op.operation))
    result.replace_all_uses_except(activated.result, activated)
    return True
