"""Which values are the same tensor list at different moments, and what is known of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from litefuse.engine.locations import node_name
from litefuse.engine.mlir import func, ir
from litefuse.errors import ConversionError
from litefuse.fusions.composite import tensor_type_of
from litefuse.passes.call_graph import call_operands, callees, is_call, operations
from litefuse.passes.integer_constants import constant
from litefuse.passes.tensor_lists.list_ops import CREATORS, GROWING, LIST_OPERANDS, PASSING, READERS, is_variant

__all__ = [
    "Shape",
    "Web",
    "find_webs",
    "node",
    "resizes",
    "unsupported",
]

Shape: TypeAlias = "tuple[int | None, ...]"

# The operands that are items, or hold items along their first dimension.
_ITEMS = {
    "tf.TensorListPushBack": (1, 0),
    "tf.TensorListSetItem": (2, 0),
    "tf.TensorListFromTensor": (0, 1),
    "tf.TensorListScatterV2": (0, 1),
    "tf.TensorListScatterIntoExistingList": (1, 1),
}
# The results that are the same.
_ITEM_RESULTS = {
    "tf.TensorListGather": (0, 1),
    "tf.TensorListGetItem": (0, 0),
    "tf.TensorListPopBack": (1, 0),
    "tf.TensorListStack": (0, 1),
}
# The operands that say what shape an item has.
_SHAPES = {
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


@dataclass
class Web:
    """The values that hold one list, or lists that are alike: as made, through loops and branches, after each change.

    Attributes:
        values: The values.
        ops: The list ops that make, change or read it.
        element: The items' element type.
        item: The items' shape as far as types say; None for an unknown rank.
        length: The list's length when it is known and never changes.
        guarded: Whether the items' size was not proven to stay: then one of another size is an error at run time.
    """

    values: list[ir.Value] = field(default_factory=list[ir.Value])
    ops: list[ir.OpView] = field(default_factory=list[ir.OpView])
    element: ir.Type | None = None
    item: Shape | None = None
    length: int | None = None
    guarded: bool = False

    @property
    def dtype(self) -> str:
        """The items' dtype."""
        return tensor_type_of(self.type).dtype

    @property
    def type(self) -> ir.Type:
        """The type of the dense tensor ``[length, *item]``; the rank of the items must be known."""
        assert self.element is not None
        assert self.item is not None
        open_size = ir.ShapedType.get_dynamic_size()
        sizes = [open_size if size is None else size for size in (self.length, *self.item)]
        return ir.RankedTensorType.get(sizes, self.element)

    @property
    def is_read(self) -> bool:
        """Whether anything is ever taken out of the list."""
        return any(op.name in READERS or op.name == "tf.TensorListPopBack" for op in self.ops)

    @property
    def changes_length(self) -> bool:
        """Whether the list is not always as long as it was made."""
        return any(op.name in GROWING or resizes(op) for op in self.ops)

    def learn(self, shape: Shape | None, op: ir.OpView) -> None:
        """Adds what an op says about the shape of the items.

        Raises:
            ConversionError: It contradicts what is known.
        """
        if shape is None:
            return
        if self.item is None:
            self.item = shape
            return
        if len(self.item) != len(shape) or any(
            a is not None and b is not None and a != b for a, b in zip(self.item, shape, strict=True)
        ):
            raise unsupported(op, f"the items have different shapes: {_text(self.item)} and {_text(shape)}")
        self.item = tuple(b if a is None else a for a, b in zip(self.item, shape, strict=True))


def find_webs(by_symbol: Mapping[str, func.FuncOp]) -> dict[ir.Value, Web]:
    """The web of every list in the module; each function must have at most one caller.

    Raises:
        ConversionError: A list is used by an op that is not known, its items are lists, or their shapes differ.
    """
    leaders: dict[ir.Value, ir.Value] = {}

    def leader(value: ir.Value) -> ir.Value:
        while leaders.setdefault(value, value) != value:
            leaders[value] = leaders[leaders[value]]
            value = leaders[value]
        return value

    def join(one: ir.Value, other: ir.Value) -> None:
        leaders[leader(other)] = leader(one)

    list_ops: list[ir.OpView] = []
    for function in by_symbol.values():
        for op in operations(function):
            if op.name in CREATORS or op.name in LIST_OPERANDS:
                variant = op.name in CREATORS or is_variant(op.operands[0])
                if variant:
                    list_ops.append(op)
                if variant and op.name in PASSING:
                    for value in op.operands if op.name == "tf.AddN" else op.operands[:1]:
                        join(value, op.results[0])
                elif variant:
                    leader(op.results[0] if op.name in CREATORS else op.operands[0])
                if op.name in _ITEMS and is_variant(op.operands[_ITEMS[op.name][0]]):
                    raise unsupported(op, "its items are tensor lists themselves")
            elif is_call(op):
                for group in _same_lists(op, by_symbol):
                    for value in group[1:]:
                        join(group[0], value)
            elif op.name != "func.return":
                for value in [*op.operands, *op.results]:
                    if is_variant(value):
                        raise unsupported(op, "no more is known of this op than that it takes or makes variants")
    webs: dict[ir.Value, Web] = {}
    found: dict[ir.Value, Web] = {}
    for value in list(leaders):
        web = found.setdefault(leader(value), Web())
        web.values.append(value)
        webs[value] = web
    for op in list_ops:
        web = webs[op.results[0] if op.name in CREATORS else op.operands[0]]
        web.ops.append(op)
        _learn_from(web, op)
    return webs


def _same_lists(op: ir.OpView, by_symbol: Mapping[str, func.FuncOp]) -> Iterator[list[ir.Value]]:
    """The lists that a call hands over: what it gives, what its functions get and return, and what it results in."""
    called = [by_symbol[symbol] for symbol in callees(op) if symbol in by_symbol]
    for position, operand in enumerate(call_operands(op)):
        if is_variant(operand):
            yield [operand, *(function.entry_block.arguments[position] for function in called)]
    # The condition of a loop returns no list.
    returning = called[1:] if op.name == "tf.While" else called
    for position, result in enumerate(op.results):
        if is_variant(result):
            returned = [list(function.entry_block.operations)[-1].operands[position] for function in returning]
            loop = [called[1].entry_block.arguments[position]] if op.name == "tf.While" else []
            yield [result, *returned, *loop]


def _learn_from(web: Web, op: ir.OpView) -> None:
    if "element_dtype" in op.attributes and web.element is None:
        web.element = ir.TypeAttr(op.attributes["element_dtype"]).value
        if "!tf_type.variant" in str(web.element):
            raise unsupported(op, "its items are tensor lists themselves")
    if op.name in _SHAPES:
        web.learn(_constant_shape(op.operands[_SHAPES[op.name]]), op)
    if op.name == "tf.TensorListSplit":  # along the first dimension
        shape = tensor_type_of(op.operands[0]).shape
        web.learn(None if shape is None else (None, *shape[1:]), op)
    for table, values in ((_ITEMS, op.operands), (_ITEM_RESULTS, op.results)):
        if op.name in table:
            position, leading = table[op.name]
            shape = tensor_type_of(values[position]).shape
            web.learn(None if shape is None else shape[leading:], op)


def _constant_shape(value: ir.Value) -> Shape | None:
    """What a shape operand says when it is a constant: -1 is an unknown size, a scalar -1 an unknown rank."""
    sizes = constant(value)
    if sizes is None:
        kind = ir.ShapedType(value.type)
        if not kind.has_rank or kind.rank != 1 or kind.is_dynamic_dim(0):
            return None
        return (None,) * kind.shape[0]
    return None if np.ndim(sizes) == 0 else tuple(None if size < 0 else size for size in _integers(sizes))


def _integers(value: int | Sequence[int]) -> Sequence[int]:
    return [value] if isinstance(value, int) else value


def resizes(op: ir.OpView) -> bool:
    """Whether an op writes behind the end of a list by making it longer."""
    name = "resize_if_index_out_of_bounds"
    return op.name == "tf.TensorListSetItem" and name in op.attributes and ir.BoolAttr(op.attributes[name]).value


def node(op: ir.OpView) -> str:
    """The name of the node that an op comes from."""
    return f"node {node_name(op.location) or op.location} ({op.name.removeprefix('tf.')})"


def unsupported(op: ir.OpView, what: str) -> ConversionError:
    """The error that a list op cannot be converted."""
    return ConversionError(
        f"the tensor list cannot become a dense tensor: {what}",
        where=node(op),
        hint="A TensorArray is converted when its items have one shape, which does not change while it is filled. "
        "Give tf.TensorArray an element_shape, or export the model with fixed sizes.",
    )


def _text(shape: Shape) -> str:
    return f"[{', '.join('?' if size is None else str(size) for size in shape)}]"
