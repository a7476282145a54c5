"""The ops of tensor lists."""

from __future__ import annotations

from litefuse.engine.mlir import func, ir
from litefuse.passes.call_graph import operations

__all__ = ["CREATORS", "GROWING", "LIST_OPERANDS", "PASSING", "READERS", "has_lists", "is_variant"]

#: The ops that make lists out of something else, and what each takes the items' shape from beside a shape operand.
CREATORS = frozenset(
    {
        "tf.EmptyTensorList",
        "tf.TensorListFromTensor",
        "tf.TensorListReserve",
        "tf.TensorListScatterV2",
        "tf.TensorListSplit",
    }
)
#: The ops whose first result is the list of their first operand, changed or not, or one like it.
PASSING = frozenset(
    {
        "tf.AddN",
        "tf.Identity",
        "tf.StopGradient",
        "tf.TensorListPopBack",
        "tf.TensorListPushBack",
        "tf.TensorListResize",
        "tf.TensorListScatterIntoExistingList",
        "tf.TensorListSetItem",
        "tf.ZerosLike",
    }
)
#: The ops that only look at the list that is their first operand.
READERS = frozenset(
    {
        "tf.TensorListConcatV2",
        "tf.TensorListElementShape",
        "tf.TensorListGather",
        "tf.TensorListGetItem",
        "tf.TensorListLength",
        "tf.TensorListStack",
    }
)
#: The ops after which a list has another length.
GROWING = frozenset(
    {
        "tf.TensorListPopBack",
        "tf.TensorListPushBack",
        "tf.TensorListResize",
        "tf.TensorListScatterIntoExistingList",
    }
)
LIST_OPERANDS = PASSING | READERS


def is_variant(value: ir.Value) -> bool:
    """Whether a value is a variant, which a tensor list is."""
    return "!tf_type.variant" in str(value.type)  # a left-out operand of a fused op has no shaped type


def has_lists(function: func.FuncOp) -> bool:
    """Whether any op of a function makes a tensor list, changes one or reads it."""
    return any(
        op.name in CREATORS or (op.name in LIST_OPERANDS and is_variant(op.operands[0])) for op in operations(function)
    )
