"""What inference found, written into the module: types, constants, and ops that change nothing."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np

from litefuse.engine.mlir import ir
from litefuse.passes.call_graph import update_function_type
from litefuse.shapes.combining import broadcast_shapes
from litefuse.shapes.dims import Dim, Formula
from litefuse.shapes.facts import Shape, ShapeError, Tensor, Values, known
from litefuse.shapes.graph import INTEGERS, Function, Node
from litefuse.shapes.inference import Inference
from litefuse.shapes.rules.elementwise import BROADCASTING
from litefuse.shapes.values import VALUES

__all__ = ["rewrite"]

_DTYPES = {"i1": "?", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8"}

# LiteRT's elementwise ops broadcast so many dimensions.
_MAX_BROADCAST_RANK = 4

_EXPANDING = frozenset({"BroadcastTo", "Fill", "Tile"})
_ARITHMETIC = frozenset({*VALUES, *_EXPANDING, "Const"})


def rewrite(inference: Inference) -> bool:
    """Writes what was found into the functions that something runs; returns whether anything changed."""
    modified = False
    for function in inference.visited.values():
        modified |= _FunctionRewriter(inference, function).run()
    return modified


class _FunctionRewriter:
    def __init__(self, inference: Inference, function: Function) -> None:
        self._inference = inference
        self._graph = inference.graph
        self._function = function
        self._values: dict[int, ir.Value] = {}  # what took the place of a value
        self._producers: dict[int, Node] = {}
        self._constants: dict[Hashable, ir.Value] = {}
        self._computed: dict[Hashable, ir.Value] = {}
        self._modified = False

    def run(self) -> bool:
        for value in self._function.arguments:
            self._refine(value)
        self._place_argument_constants()
        left: list[Node] = []
        for node in self._function.nodes:
            if not self._rewrite(node):
                left.append(node)
        if self._modified:
            for node in reversed(left):
                if node.name in _ARITHMETIC and all(next(iter(each.uses), None) is None for each in node.op.results):
                    node.op.operation.erase()
            update_function_type(self._function.op)
        return self._modified

    def _tensor(self, value: int) -> Tensor:
        return self._inference.tensor(value)

    def _value(self, value: int) -> ir.Value:
        return self._values.get(value, self._graph.values[value])

    def _refine(self, value: int) -> None:
        """Gives a value the type that was found."""
        sizes = known(self._tensor(value).shape)
        if sizes is None or sizes == self._graph.declared[value].shape:
            return
        self._graph.values[value].set_type(self._graph.ranked_type(value, sizes))
        self._modified = True

    def _place_argument_constants(self) -> None:
        """Puts constants in the place of arguments that always have one value, where the body computes with them."""
        block = self._function.op.entry_block
        for number in self._function.arguments:
            values = self._tensor(number).values
            argument = self._graph.values[number]
            if values is None or not _is_known(values):
                continue
            # What a loop hands on unchanged stays to be seen as such.
            uses = [use for use in argument.uses if use.owner.name != "func.return"]
            if uses:
                constant = self._constant(number, values, ir.InsertionPoint.at_block_begin(block), argument.location)
                for use in uses:
                    use.owner.operands[use.operand_number] = constant
                self._modified = True

    def _rewrite(self, node: Node) -> bool:
        """Refines or replaces an op; returns whether it is gone."""
        if node.name == "Const":
            return False
        if len(node.results) == 1 and node.name in VALUES and self._replace_by_values(node):
            return True
        for value in node.results:
            self._refine(value)
        simplify = _SIMPLIFICATIONS.get(node.name)
        if simplify is not None:
            source = simplify(self, node)
            if source is not None:
                self._replace(node, self._value(source))
                return True
        if node.name in BROADCASTING:
            self._drop_expansions(node)
        if node.name in _EXPANDING:
            self._producers[node.results[0]] = node
        return False

    def _replace(self, node: Node, value: ir.Value) -> None:
        (result,) = node.results
        self._values[result] = value
        self._graph.values[result].replace_all_uses_with(value)
        node.op.operation.erase()
        self._modified = True

    def _replace_by_values(self, node: Node) -> bool:
        """Replaces an op whose result's elements are known, or have been computed before."""
        (result,) = node.results
        tensor = self._tensor(result)
        if tensor.values is None or tensor.dtype not in INTEGERS:
            return False
        if _is_known(tensor.values):
            point = ir.InsertionPoint(node.op)
            self._replace(node, self._constant(result, tensor.values, point, node.op.location))
            return True
        key = (tensor.dtype, tensor.values.shape, tuple(tensor.values.reshape(-1)))
        if key in self._computed:
            self._replace(node, self._computed[key])
            return True
        self._computed[key] = self._graph.values[result]
        return False

    def _constant(self, like: int, values: Values, point: ir.InsertionPoint, location: ir.Location) -> ir.Value:
        """A constant of the element type of a value."""
        dtype = self._tensor(like).dtype
        key = (dtype, values.shape, tuple(values.reshape(-1)))
        if key not in self._constants:
            array = np.array(values.tolist(), _DTYPES[dtype]).reshape(values.shape)
            attribute = ir.DenseElementsAttr.get(array)
            operation = ir.Operation.create(
                "tf.Const", results=[attribute.type], attributes={"value": attribute}, loc=location, ip=point
            )
            self._constants[key] = operation.result
        return self._constants[key]

    def same_shape(self, node: Node) -> int | None:
        """The first operand, if the result has its shape."""
        source, result = self._tensor(node.operands[0]), self._tensor(node.results[0])
        alike = source.shape is not None and source.shape == result.shape and source.dtype == result.dtype
        return node.operands[0] if alike else None

    def whole_slice(self, node: Node) -> int | None:
        """The operand of a slice that takes all of it, in order."""
        masks = ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
        if node.name == "StridedSlice":
            strides = self._tensor(node.operands[3]).values
            if any(node.attributes.get(mask) for mask in masks[1:]) or strides is None or not np.all(strides == 1):
                return None
        return self.same_shape(node)

    def identity_permutation(self, node: Node) -> int | None:
        """The operand of a transposition that moves nothing."""
        order = self._tensor(node.operands[1]).values
        return node.operands[0] if order is not None and order.tolist() == list(range(order.size)) else None

    def only_part(self, node: Node) -> int | None:
        """The only operand of a concatenation that has elements."""
        result = self._tensor(node.results[0]).shape
        alike = [value for value in node.operands[:-1] if self._tensor(value).shape == result]
        return alike[0] if result is not None and (len(node.operands) == 2 or 0 not in result) and alike else None

    def same_dtype(self, node: Node) -> int | None:
        """The operand of a conversion to its own type, which inlining leaves between types of different shapes."""
        return node.operands[0] if self._tensor(node.operands[0]).dtype == self._tensor(node.results[0]).dtype else None

    def reshape(self, node: Node) -> int | None:
        """As ``same_shape``; otherwise makes the shape a constant, with -1 for the one size that is open."""
        shape = self._tensor(node.results[0]).shape
        source = self.same_shape(node)
        if source is not None or shape is None:
            return source
        stated = self._tensor(node.operands[1]).values
        sizes = [-1 if isinstance(size, Formula) else size for size in shape]
        if sizes.count(-1) > 1 or (-1 in sizes and 0 in sizes) or (stated is not None and stated.tolist() == sizes):
            return None
        values: Values = np.array(sizes, object)
        constant = self._constant(node.operands[1], values, ir.InsertionPoint(node.op), node.op.location)
        node.op.operands[1] = constant
        self._modified = True
        return None

    def _drop_expansions(self, node: Node) -> None:
        """Lets an elementwise op broadcast by itself what was expanded for it."""
        result = self._tensor(node.results[0]).shape
        if result is None:
            return
        operands = list(node.operands)
        for position, value in enumerate(operands):
            producer = self._producers.get(value)
            source = None if producer is None else self._expanded(producer)
            if source is None:
                continue
            operands[position] = source
            shapes = [shape for shape in (self._tensor(each).shape for each in operands) if shape is not None]
            if len(shapes) == len(operands) and _broadcast(shapes) == result and _is_cheap(shapes[position], result):
                node.op.operands[position] = self._value(source)
                self._modified = True
            else:
                operands[position] = value

    def _expanded(self, node: Node) -> int | None:
        """What an op repeats along dimensions of size 1."""
        if node.name == "Fill":
            return node.operands[1]
        source = self._tensor(node.operands[0]).shape
        if node.name == "Tile" and source is not None:
            result = self._tensor(node.results[0]).shape
            if result is None or any(a not in {1, b} for a, b in zip(source, result, strict=True)):
                return None
        return node.operands[0]


def _is_known(values: Values) -> bool:
    return not any(isinstance(element, Formula) for element in values.flat)


def _broadcast(shapes: Sequence[Shape]) -> Shape | None:
    try:
        return broadcast_shapes(shapes)
    except ShapeError:
        return None


def _is_cheap(source: Sequence[Dim], result: Shape) -> bool:
    return len(result) <= _MAX_BROADCAST_RANK or not source


_Simplification = Callable[[_FunctionRewriter, Node], "int | None"]

# Each returns an operand that is the result as well, or None.
_SIMPLIFICATIONS: dict[str, _Simplification] = {
    "BroadcastTo": _FunctionRewriter.same_shape,
    "Cast": _FunctionRewriter.same_dtype,
    "ConcatV2": _FunctionRewriter.only_part,
    "EnsureShape": _FunctionRewriter.same_shape,
    "Pad": _FunctionRewriter.same_shape,
    "PadV2": _FunctionRewriter.same_shape,
    "MirrorPad": _FunctionRewriter.same_shape,
    "Reshape": _FunctionRewriter.reshape,
    "Slice": _FunctionRewriter.whole_slice,
    "StridedSlice": _FunctionRewriter.whole_slice,
    "Tile": _FunctionRewriter.same_shape,
    "Transpose": _FunctionRewriter.identity_permutation,
}
