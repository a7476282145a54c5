"""The ops of tensor lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from litefuse.ir.call_graph import operations
from litefuse.ir.constants import int32_constant
from litefuse.ir.mlir import func, ir
from litefuse.ir.types import is_variant

#: The op that makes an optional of nothing; after optionals were removed, an empty list that stands for nothing.
NONE = "tf.OptionalNone"
#: The ops that make lists out of something else, and what each takes the items' shape from beside a shape operand.
CREATORS = frozenset(
    {
        "tf.EmptyTensorList",
        NONE,  # of a list
        "tf.TensorListFromTensor",
        "tf.TensorListReserve",
        "tf.TensorListScatterV2",
        "tf.TensorListSplit",
    }
)
#: The ops that take any tensors, and of a list give one that is as long and has items of the same sizes.
COPYING = frozenset({"tf.AddN", "tf.Identity", "tf.StopGradient", "tf.ZerosLike"})
#: The ops after which a list has another length.
GROWING = frozenset(f"tf.TensorList{name}" for name in ("PopBack", "PushBack", "Resize", "ScatterIntoExistingList"))
#: The ops whose first result is the list of their first operand, changed or not, or one like it.
PASSING = COPYING | GROWING | {"tf.TensorListSetItem"}
#: The ops that only look at the list that is their first operand.
READERS = frozenset(
    f"tf.TensorList{name}" for name in ("ConcatV2", "ElementShape", "Gather", "GetItem", "Length", "Stack")
)
_LIST_OPERANDS = PASSING | READERS
#: The operands that are items, or hold items along their first dimension.
ITEMS = {
    "tf.TensorListPushBack": (1, 0),
    "tf.TensorListSetItem": (2, 0),
    "tf.TensorListFromTensor": (0, 1),
    "tf.TensorListScatterV2": (0, 1),
    "tf.TensorListScatterIntoExistingList": (1, 1),
}
#: The results that are the same.
ITEM_RESULTS = {
    "tf.TensorListGather": (0, 1),
    "tf.TensorListGetItem": (0, 0),
    "tf.TensorListPopBack": (1, 0),
    "tf.TensorListStack": (0, 1),
}
#: The operands that say what shape an item has.
SHAPES = {
    "tf.EmptyTensorList": 0,
    "tf.TensorListConcatV2": 1,
    "tf.TensorListFromTensor": 1,
    "tf.TensorListGather": 2,
    "tf.TensorListGetItem": 2,
    "tf.TensorListPopBack": 1,
    "tf.TensorListReserve": 0,
    "tf.TensorListScatterV2": 2,
    "tf.TensorListSplit": 1,
    "tf.TensorListStack": 1,
}
#: The ops of optionals, in which a branch hands what it computed to its gradient.
OPTIONALS = frozenset({"tf.OptionalFromValue", "tf.OptionalGetValue", NONE})
#: The attribute of the ops of lists whose items may stand for nothing.
HOLDS_NOTHINGS = "litefuse.holds_nothings"


def is_list_op(op: ir.OpView) -> bool:
    """Whether an op makes a tensor list, changes one or reads it."""
    return op.name in CREATORS or (op.name in _LIST_OPERANDS and is_variant(op.operands[0]))


def list_of(op: ir.OpView) -> ir.Value:
    """The list that a list op makes, changes or reads."""
    return op.results[0] if op.name in CREATORS else op.operands[0]


def variant_items(op: ir.OpView) -> Iterator[ir.Value]:
    """The items of a list that an op writes or reads, if they are lists or optionals themselves."""
    for table, values in ((ITEMS, op.operands), (ITEM_RESULTS, op.results)):
        if op.name in table:
            item = values[table[op.name][0]]
            if is_variant(item):
                yield item


def hold_tensors(list_ops: Iterable[ir.OpView], element: ir.Type, *, nothings: bool) -> None:
    """Makes lists of tensors, of any shape, of lists whose items were variants until now.

    Args:
        list_ops: The lists' ops; the items among their operands and results have the type of a tensor already.
        element: The element type of the tensors.
        nothings: Whether some of the tensors may stand for nothing.
    """
    for op in list_ops:
        if nothings:
            op.attributes[HOLDS_NOTHINGS] = ir.UnitAttr.get()
        if "element_dtype" in op.attributes:
            op.attributes["element_dtype"] = ir.TypeAttr.get(element)
        if op.name in SHAPES:  # that of a variant, which is a scalar
            with ir.InsertionPoint(op), op.location:
                op.operands[SHAPES[op.name]] = int32_constant(-1)


def has_lists(function: func.FuncOp) -> bool:
    """Whether a function has ops of tensor lists, or of optionals."""
    return any(op.name in OPTIONALS or is_list_op(op) for op in operations(function))
