"""Lowers ops on variables to reads and assignments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from litefuse.ir.constants import int32_constant, tensor_constant
from litefuse.ir.mlir import ir, producer
from litefuse.ir.op_creation import create_value
from litefuse.ir.passes import Visitor, module_pass, visit_ops
from litefuse.ir.types import assign_variable, resource_value_type

# How far a generator's counter advances for each number that is drawn from it.
_SKIPPED = 256


@module_pass
def decompose_resource_ops(module: ir.Module) -> bool:
    """Rewrites ops that combine a variable access with something else::

        %y = tf.ResourceGather(%v, %ids)         %t = tf.ReadVariableOp(%v)
                                           -->   %y = tf.GatherV2(%t, %ids, axis)
        tf.AssignAddVariableOp(%v, %x)           %t = tf.ReadVariableOp(%v)
                                           -->   tf.AssignVariableOp(%v, tf.AddV2(%t, %x))

    Afterwards a use of a variable other than ``tf.ReadVariableOp`` is a write.
    """
    return visit_ops(module, _DECOMPOSITIONS, nested=False)


def _read(handle: ir.Value, value_type: ir.Type) -> ir.Value:
    return create_value("tf.ReadVariableOp", resource_value_type(handle) or value_type, [handle])


def _unranked(value: ir.Value) -> ir.Type:
    return ir.UnrankedTensorType.get(ir.ShapedType(value.type).element_type)


def _gather(op: ir.OpView) -> list[ir.Value]:
    handle, indices = op.operands
    result = op.results[0]
    batch_dims = ir.IntegerAttr(op.attributes["batch_dims"])
    # ResourceGather gathers along the first dimension after the batch dimensions.
    axis = int32_constant(batch_dims.value)
    table = _read(handle, _unranked(result))
    return [create_value("tf.GatherV2", result.type, [table, indices, axis], {"batch_dims": batch_dims})]


def _gather_nd(op: ir.OpView) -> list[ir.Value]:
    handle, indices = op.operands
    result = op.results[0]
    return [create_value("tf.GatherNd", result.type, [_read(handle, _unranked(result)), indices])]


def _shape(op: ir.OpView) -> list[ir.Value]:
    (handle,) = op.operands
    # The handle of an argument does not tell its dtype, and the shape does not depend on it.
    value_type = ir.UnrankedTensorType.get(ir.F32Type.get())
    return [create_value("tf.Shape", op.results[0].type, [_read(handle, value_type)])]


def _is_initialized(_op: ir.OpView) -> list[ir.Value]:
    attribute = ir.DenseElementsAttr.get(np.array(True))  # every variable of a converted model is initialized
    return [tensor_constant(attribute)]


def _update(binary: str) -> Callable[[ir.OpView], list[ir.Value]]:
    def decompose(op: ir.OpView) -> list[ir.Value]:
        handle, delta = op.operands
        value = _read(handle, delta.type)  # the op demands that both have the same shape
        assign_variable(handle, create_value(binary, value.type, [value, delta]))
        return []

    return decompose


def _scatter(scatter: str, *, nd: bool) -> Callable[[ir.OpView], list[ir.Value]]:
    def decompose(op: ir.OpView) -> list[ir.Value]:
        handle, indices, updates = op.operands
        value = _read(handle, _unranked(updates))
        if not nd:  # ResourceScatterX indexes the first dimension; TensorScatterX takes index vectors
            kind = ir.ShapedType(indices.type)
            indices = create_value(
                "tf.ExpandDims",
                ir.RankedTensorType.get([*kind.shape, 1], kind.element_type),
                [indices, int32_constant(-1)],
            )
        assign_variable(handle, create_value(scatter, value.type, [value, indices, updates]))
        return []

    return decompose


def _read_and_skip(op: ir.OpView) -> list[ir.Value] | None:
    """Decomposes a Philox generator's read: its state is a counter of 128 bits, the lower half first, and a fixed key.

    The counter advances by 256 for each number that is drawn: two halves in int64, of which the second takes the carry
    of the first.

    Source: tensorflow/core/kernels/stateful_random_ops.cc and rng_alg.h.
    """
    handle, _, delta = op.operands
    kind = resource_value_type(handle)
    if kind is not None and kind.has_rank and kind.shape != [3]:
        return None  # the state of another algorithm
    int64 = ir.IntegerType.get_signless(64)
    whole, part = (ir.RankedTensorType.get([size], int64) for size in (3, 1))
    bits = ir.RankedTensorType.get([1], ir.IntegerType.get_signless(1))
    cast = producer(delta, "tf.Cast")
    source = delta if cast is None else cast.operands[0]
    count = create_value("tf.Cast", ir.RankedTensorType.get([], int64), [source])
    state = _read(handle, whole)
    halves = [create_value("tf.Slice", part, [state, _numbers([place], 32), _numbers([1], 32)]) for place in (0, 1, 2)]
    low, high, key = halves
    added = create_value("tf.AddV2", part, [low, create_value("tf.Mul", part, [count, _numbers([_SKIPPED], 64)])])
    # Treated as unsigned, the sum is smaller than the operand if it overflowed.
    sign = _numbers([np.iinfo(np.int64).min], 64)
    unsigned = [create_value("tf.BitwiseXor", part, [value, sign]) for value in (added, low)]
    carry = create_value("tf.Cast", part, [create_value("tf.Less", bits, unsigned)])
    axis = int32_constant(0)
    parts = [added, create_value("tf.AddV2", part, [high, carry]), key, axis]
    assign_variable(handle, create_value("tf.ConcatV2", whole, parts))
    return [state]


def _numbers(values: Sequence[int], bits: int) -> ir.Value:
    attribute = ir.DenseElementsAttr.get(np.array(values, f"int{bits}"))
    return tensor_constant(attribute)


def _update_slice(op: ir.OpView) -> list[ir.Value]:
    handle, *slices, update = op.operands
    value = _read(handle, _unranked(update))
    attributes = {name: op.attributes[name] for name in op.attributes if name.endswith("_mask")}
    assign_variable(
        handle, create_value("tf.TensorStridedSliceUpdate", value.type, [value, *slices, update], attributes)
    )
    return []


_DECOMPOSITIONS: Mapping[str, Visitor] = {
    "tf.AssignAddVariableOp": _update("tf.AddV2"),
    "tf.AssignSubVariableOp": _update("tf.Sub"),
    "tf.ResourceGather": _gather,
    "tf.ResourceGatherNd": _gather_nd,
    "tf.ResourceScatterAdd": _scatter("tf.TensorScatterAdd", nd=False),
    "tf.ResourceScatterMax": _scatter("tf.TensorScatterMax", nd=False),
    "tf.ResourceScatterMin": _scatter("tf.TensorScatterMin", nd=False),
    "tf.ResourceScatterNdAdd": _scatter("tf.TensorScatterAdd", nd=True),
    "tf.ResourceScatterNdMax": _scatter("tf.TensorScatterMax", nd=True),
    "tf.ResourceScatterNdMin": _scatter("tf.TensorScatterMin", nd=True),
    "tf.ResourceScatterNdSub": _scatter("tf.TensorScatterSub", nd=True),
    "tf.ResourceScatterNdUpdate": _scatter("tf.TensorScatterUpdate", nd=True),
    "tf.ResourceScatterSub": _scatter("tf.TensorScatterSub", nd=False),
    "tf.ResourceScatterUpdate": _scatter("tf.TensorScatterUpdate", nd=False),
    "tf.ResourceStridedSliceAssign": _update_slice,
    "tf.RngReadAndSkip": _read_and_skip,
    "tf.VarIsInitializedOp": _is_initialized,
    "tf.VariableShape": _shape,
}
