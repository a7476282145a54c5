"""Which values are the same tensor list at different moments, and what is known of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from litefuse.errors import ConversionError
from litefuse.ir.call_graph import call_operands, callees, is_call, operations, terminator_of
from litefuse.ir.constants import integer_constant
from litefuse.ir.locations import node_name
from litefuse.ir.mlir import func, ir
from litefuse.ir.ops.dims import Shape
from litefuse.ir.types import is_variant, ranked_type, tensor_type_of
from litefuse.passes.tensor_lists.list_ops import (
    GROWING,
    HOLDS_NOTHINGS,
    ITEM_RESULTS,
    ITEMS,
    PASSING,
    READERS,
    SHAPES,
    is_list_op,
    list_of,
    variant_items,
)


class SameValues:
    """Groups of values, which grow together as it becomes known that they hold the same.

    Args:
        by_symbol: The module's functions, each with at most one caller.
    """

    def __init__(self, by_symbol: Mapping[str, func.FuncOp]) -> None:
        self._by_symbol = by_symbol
        self._leaders: dict[ir.Value, ir.Value] = {}

    def leader(self, value: ir.Value) -> ir.Value:
        """The value that stands for the group of this one, which may be new."""
        while self._leaders.setdefault(value, value) != value:
            self._leaders[value] = self._leaders[self._leaders[value]]
            value = self._leaders[value]
        return value

    def join(self, one: ir.Value, other: ir.Value) -> None:
        """Makes one group of those of two values."""
        self._leaders[self.leader(other)] = self.leader(one)

    def join_in(self, list_op: ir.OpView) -> None:
        """Joins the lists that are the same before and after an op."""
        if list_op.name in PASSING:
            for value in list_op.operands if list_op.name == "tf.AddN" else list_op.operands[:1]:
                self.join(value, list_op.results[0])
        else:
            self.leader(list_of(list_op))

    def join_through(self, call: ir.OpView) -> None:
        """Joins the variants that a call hands over, on both sides."""
        for first, *others in self._handed_over(call):
            for value in others:
                self.join(first, value)

    def join_items(self, list_ops: Iterable[ir.OpView]) -> dict[ir.Value, ir.Value]:
        """Joins the items of each list that are variants; call it after all else is joined.

        Returns:
            One item for the leader of each list that has such items.
        """
        pairs = [(list_of(op), item) for op in list_ops for item in variant_items(op)]
        while True:  # to join items that are lists is to join their items
            items: dict[ir.Value, ir.Value] = {}
            joined = False
            for holder, item in pairs:
                first = items.setdefault(self.leader(holder), item)
                if self.leader(first) != self.leader(item):
                    self.join(first, item)
                    joined = True
            if not joined:
                return items

    def groups(self) -> list[list[ir.Value]]:
        """The groups, each with all of its values."""
        members: dict[ir.Value, list[ir.Value]] = {}
        for value in list(self._leaders):
            members.setdefault(self.leader(value), []).append(value)
        return list(members.values())

    def _handed_over(self, op: ir.OpView) -> Iterator[list[ir.Value]]:
        """For each variant what the call gives, what its functions get and return, and what it results in."""
        called = [self._by_symbol[symbol] for symbol in callees(op) if symbol in self._by_symbol]
        for position, operand in enumerate(call_operands(op)):
            if is_variant(operand):
                yield [operand, *(function.entry_block.arguments[position] for function in called)]
        # The condition of a loop returns none.
        returning = called[1:] if op.name == "tf.While" else called
        for position, result in enumerate(op.results):
            if is_variant(result):
                returned = [terminator_of(function.entry_block).operands[position] for function in returning]
                loop = [called[1].entry_block.arguments[position]] if op.name == "tf.While" else []
                yield [result, *returned, *loop]


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
        sized_by_first: Whether the first item that is written decides the size of all: until then it is 0.
        holds_nothings: Whether an item may stand for nothing: then its size may be 0, whatever that of the others is.
        holders: The ops of the lists that it is an item of.
    """

    values: list[ir.Value] = field(default_factory=list[ir.Value])
    ops: list[ir.OpView] = field(default_factory=list[ir.OpView])
    element: ir.Type | None = None
    item: Shape | None = None
    length: int | None = None
    guarded: bool = False
    sized_by_first: bool = False
    holds_nothings: bool = False
    holders: list[ir.OpView] = field(default_factory=list[ir.OpView])

    @property
    def dtype(self) -> str:
        return tensor_type_of(self.type).dtype

    @property
    def type(self) -> ir.Type:
        """The type of the dense tensor ``[length, *item]``; the rank of the items must be known."""
        assert self.element is not None
        assert self.item is not None
        return ranked_type((self.length, *self.item), self.element)

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

    def learn_from(self, op: ir.OpView) -> None:
        """Adds what one of its ops says about the list.

        Raises:
            ConversionError: It contradicts what is known.
        """
        if "element_dtype" in op.attributes:
            element = ir.TypeAttr(op.attributes["element_dtype"]).value
            if self.element is not None and element != self.element:
                raise unsupported(op, f"its items are of different types: {self.element} and {element}")
            self.element = element
        self.holds_nothings |= HOLDS_NOTHINGS in op.attributes
        if op.name in SHAPES:
            self.learn(_constant_shape(op.operands[SHAPES[op.name]]), op)
        if op.name == "tf.TensorListSplit":  # along the first dimension
            shape = tensor_type_of(op.operands[0]).shape
            self.learn(None if shape is None else (None, *shape[1:]), op)
        for table, values in ((ITEMS, op.operands), (ITEM_RESULTS, op.results)):
            if op.name in table:
                position, leading = table[op.name]
                shape = tensor_type_of(values[position]).shape
                self.learn(None if shape is None else shape[leading:], op)


def find_webs(by_symbol: Mapping[str, func.FuncOp]) -> dict[ir.Value, Web]:
    """The webs of the lists of a module whose items are tensors; other lists may have these as items.

    Args:
        by_symbol: The module's functions, each with at most one caller.

    Raises:
        ConversionError: A list is used by an op that is not known, or the shapes of its items differ.
    """
    same = SameValues(by_symbol)
    list_ops: list[ir.OpView] = []
    for function in by_symbol.values():
        for op in operations(function):
            if is_list_op(op):
                list_ops.append(op)
                same.join_in(op)
            elif is_call(op):
                same.join_through(op)
            elif op.name != "func.return":
                for value in [*op.operands, *op.results]:
                    if is_variant(value):
                        raise unsupported(op, "no more is known of this op than that it takes or makes variants")
    items = same.join_items(list_ops)
    webs: dict[ir.Value, Web] = {}
    for values in same.groups():
        if same.leader(values[0]) not in items:
            webs |= dict.fromkeys(values, Web(values))
    for op in list_ops:
        item = items.get(same.leader(list_of(op)))
        if item is None:
            webs[list_of(op)].ops.append(op)
            webs[list_of(op)].learn_from(op)
        elif item in webs:
            webs[item].holders.append(op)
    if list_ops and not webs:
        raise unsupported(list_ops[0], "its items are lists that it is an item of")
    return webs


def _constant_shape(value: ir.Value) -> Shape | None:
    """Returns the shape in a constant operand: -1 is an unknown dimension, a scalar -1 an unknown rank."""
    sizes = integer_constant(value)
    if sizes is None:
        kind = ir.ShapedType(value.type)
        if not kind.has_rank or kind.rank != 1 or kind.is_dynamic_dim(0):
            return None
        return (None,) * kind.shape[0]
    return None if isinstance(sizes, int) else tuple(None if size < 0 else size for size in sizes)


def resizes(op: ir.OpView) -> bool:
    """Whether an op writes behind the end of a list by making it longer."""
    name = "resize_if_index_out_of_bounds"
    return op.name == "tf.TensorListSetItem" and name in op.attributes and ir.BoolAttr(op.attributes[name]).value


def node(op: ir.OpView) -> str:
    """The name of the node that an op comes from."""
    return f"node {node_name(op.location) or op.location} ({op.name.removeprefix('tf.')})"


def unsupported(op: ir.OpView, what: str) -> ConversionError:
    """The error that a list op cannot be converted."""
    where = node(op)
    if "/pfor/" in where:
        hint = "tf.vectorized_map makes lists of lists for a loop in what it maps: use tf.map_fn."
    elif "Ragged" in op.name:
        hint = (
            "LiteRT has no ragged tensors: let the function that tf.map_fn maps take and return dense ones, padded to "
            "one size."
        )
    else:
        hint = (
            "A TensorArray is converted when its items have one shape, which does not change while it is filled. "
            "Pad the items to one size, give tf.TensorArray an element_shape, or export the model with fixed sizes."
        )
    return ConversionError(f"the tensor list cannot become a dense tensor: {what}", where=where, hint=hint)


def _text(shape: Shape) -> str:
    return f"[{', '.join('?' if size is None else str(size) for size in shape)}]"
