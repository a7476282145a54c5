"""Edits a function, tracks what is known of its values, including added ones, and writes inferred types."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from litefuse.ir.attributes import mlir_attribute
from litefuse.ir.call_graph import update_function_type
from litefuse.ir.mlir import ir
from litefuse.ir.op_creation import attribute_defaults, create_op
from litefuse.ir.ops.dims import Dim, Formula, Shape
from litefuse.ir.ops.facts import INTEGERS, Dims, ShapeError, Tensor, Values, array_of, elements, known, meet
from litefuse.ir.ops.numbers import Numbers
from litefuse.ir.ops.rules import RULES
from litefuse.ir.purity import is_pure
from litefuse.ir.shapes.graph import Function, Node
from litefuse.ir.shapes.inference import Inference

# Attributes are read one by one: to read all of an op takes ten times as long as to find that no other op is like it.
_Attributes: TypeAlias = Mapping[str, ir.Attribute] | ir.OpAttributeMap


def is_known(values: Values) -> bool:
    """Whether all elements are numbers."""
    return not any(isinstance(element, Formula) for element in elements(values))


def arithmetic_key(dtype: str, values: Values) -> Hashable:
    """Returns a key that is equal for values that hold the same sizes."""
    return (dtype, values.shape, tuple(elements(values)))


class Editor:
    """Edits one function. Values are numbers, as in the graph.

    Attributes:
        inference: What is known of the module's values.
        function: The function as it was read.
        modified: Whether anything was changed.
        unsettled: Whether the changes may enable more: there are new ops, or values with fewer uses.
        arithmetic: The values whose elements are computed from sizes, by type and elements.
        padded_sums: Sums of a padded tensor and a constant that is 0 where the tensor is not padded.
    """

    def __init__(self, inference: Inference, function: Function) -> None:
        self.function = function
        self.modified = False
        self.unsettled = False
        self.arithmetic: dict[Hashable, int] = {}
        self.padded_sums: set[int] = set()
        self.inference = inference
        self._graph = inference.graph
        self._replaced: dict[int, int] = {}
        self._producers: dict[int, Node] = {}
        self._constants: dict[Hashable, int] = {}
        self._constant_values: set[int] = set()
        self._contents: dict[int, Hashable] = {}
        self._computed: dict[Hashable, list[tuple[int, _Attributes]]] = {}
        self._visited: list[Node] = []

    def resolve(self, value: int) -> int:
        """Returns the replacement of a value; the value itself if there is none."""
        while value in self._replaced:
            value = self._replaced[value]
        return value

    def operands(self, node: Node) -> list[int]:
        """Returns an op's current operands."""
        return [self.resolve(value) for value in node.operands]

    def tensor(self, value: int) -> Tensor:
        return self.inference.tensor(value)

    def shape(self, value: int) -> Dims | None:
        return self.inference.tensor(value).shape

    def values(self, value: int) -> Values | None:
        return self.inference.tensor(value).values

    def value(self, value: int) -> ir.Value:
        """Returns the MLIR value of a number."""
        return self._graph.values[value]

    def producer(self, value: int, *names: str) -> Node | None:
        """Returns the defining op of a value, if it has one of these names and was visited."""
        node = self._producers.get(value)
        return node if node is not None and node.name in names else None

    def is_used_once(self, value: int) -> bool:
        """Whether a value has exactly one use."""
        uses: Iterator[ir.OpOperand] = iter(self.value(value).uses)
        return next(uses, None) is not None and next(uses, None) is None

    def produced(self, node: Node) -> None:
        """Records an op as the defining op of its results."""
        self._visited.append(node)
        for value in node.results:
            self._producers[value] = node
        if node.name == "Const":
            self._contents[node.results[0]] = node.op.attributes["value"]
        if node.name == "Const" or (node.operands and _is_pure(node.name) and self._of_constants(node)):
            self._constant_values.update(node.results)

    def nodes(self) -> list[Node]:
        """Returns the visited and added ops, the last one first."""
        return self._visited[::-1]

    def same_as_before(self, node: Node) -> int | None:
        """Returns the result of an equal earlier op with the same operands, if the op is pure and has one result."""
        if not _is_pure(node.name) or len(node.results) != 1:
            return None
        operands, attributes = self.operands(node), node.op.attributes
        before = self._computed_before(node.name, operands, attributes)
        (result,) = node.results
        if before is None:
            self._note_computed(node.name, operands, attributes, result)
            return None
        if (self.tensor(before).dtype, self.shape(before)) != (self.tensor(result).dtype, self.shape(result)):
            return None  # for example, casts to other types: their attributes need not tell
        return before

    def _computed_before(self, name: str, operands: Sequence[int], attributes: _Attributes) -> int | None:
        """Returns the result of an equal op with the same operands that has not been replaced."""
        for result, others in self._computed.get(self._computation(name, operands), ()):
            if result not in self._replaced and _are_equal(attributes, others):
                return result
        return None

    def _note_computed(self, name: str, operands: Sequence[int], attributes: _Attributes, result: int) -> None:
        self._computed.setdefault(self._computation(name, operands), []).append((result, attributes))

    def _computation(self, name: str, operands: Sequence[int]) -> Hashable:
        """Returns a key that is equal for ops that compute the same, apart from their attributes."""
        return (name, tuple(self._contents.get(value, value) for value in operands))

    def is_constant(self, value: int) -> bool:
        """Whether a value is computed from constants alone."""
        return value in self._constant_values

    def _of_constants(self, node: Node) -> bool:
        return all(self.resolve(value) in self._constant_values for value in node.operands)

    def refine(self, value: int) -> None:
        """Gives a value the inferred type."""
        sizes = known(self.shape(value))
        if sizes is None or sizes == self._graph.declared[value].shape:
            return
        self.value(value).set_type(self._graph.type_of(self.tensor(value).dtype, sizes))
        self.modified = True

    def replace(self, node: Node, value: int) -> None:
        """Replaces an op's only result by a value, and erases the op."""
        (result,) = node.results
        self._replaced[result] = value
        self.value(result).replace_all_uses_with(self.value(value))
        node.op.operation.erase()
        self.modified = True

    def erase(self, node: Node) -> None:
        """Erases an op without uses."""
        node.op.operation.erase()
        self.modified = self.unsettled = True

    def set_operand(self, node: Node, position: int, value: int) -> None:
        """Replaces an operand of an op."""
        node.op.operands[position] = self.value(value)
        self.modified = True

    def add(
        self,
        before: Node,
        name: str,
        operands: Sequence[int],
        tensor: Tensor,
        attributes: Mapping[str, Any],
    ) -> int:
        """Emits a ``tf`` op with one result before another one, with its location, and returns the result.

        An equal op that was computed before is reused.

        Args:
            before: The op to insert before.
            name: Its name without the dialect.
            operands: Its operands.
            tensor: What is known of its result, of an element type that occurs in the module.
            attributes: Its attributes, as Python values where possible; those that are left out have their defaults.
        """
        sizes = known(tensor.shape)
        assert sizes is not None
        attributes = {**attribute_defaults(name), **attributes}
        written = {
            key: value if isinstance(value, ir.Attribute) else mlir_attribute(value)
            for key, value in attributes.items()
        }
        computed = self._computed_before(name, operands, written)
        if computed is not None and self.shape(computed) == tensor.shape:
            return computed
        operation = create_op(
            name,
            [self._graph.type_of(tensor.dtype, sizes)],
            [self.value(value) for value in operands],
            written,
            location=before.op.location,
            point=ir.InsertionPoint(before.op),
        )
        result = self._note(operation.result, tensor, sizes)
        node = Node(operation.opview, name, tuple(operands), (result,), dict(attributes), ())
        self._note_computed(name, operands, written, result)
        self.produced(node)
        self.modified = self.unsettled = True
        return result

    def vector(self, before: Node, dims: Sequence[Dim], source: int) -> int | None:
        """Returns sizes as a vector: a computed one, or one from the shape of ``source`` if they are in it."""
        key = arithmetic_key("i32", array_of(dims, [len(dims)]))
        if key not in self.arithmetic:
            scalars = [self._scalar(before, dim, source) for dim in dims]
            present = [scalar for scalar in scalars if scalar is not None]
            if len(present) < len(scalars):
                return None
            values = array_of(dims, [len(dims)])
            self.arithmetic[key] = self.add(before, "Pack", present, Tensor("i32", (len(dims),), values), {"axis": 0})
        return self.resolve(self.arithmetic[key])

    def _scalar(self, before: Node, dim: Dim, source: int) -> int | None:
        if isinstance(dim, int):
            return self.integer(before, dim)
        values = array_of([dim], [])
        key = arithmetic_key("i32", values)
        if key not in self.arithmetic:
            sizes = self.shape(source)
            if sizes is None or dim not in sizes:
                return None
            shape = array_of(sizes, [len(sizes)])
            whole = arithmetic_key("i32", shape)
            if whole not in self.arithmetic:
                self.arithmetic[whole] = self.add(before, "Shape", [source], Tensor("i32", (len(sizes),), shape), {})
            ends = [self.integers(before, [number]) for number in (sizes.index(dim), sizes.index(dim) + 1, 1)]
            masks = dict.fromkeys(("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask"), 0)
            operands = [self.resolve(self.arithmetic[whole]), *ends]
            slicing = {**masks, "shrink_axis_mask": 1}
            self.arithmetic[key] = self.add(before, "StridedSlice", operands, Tensor("i32", (), values), slicing)
        return self.resolve(self.arithmetic[key])

    def add_reshape(self, before: Node, value: int, shape: Dims) -> int:
        """Emits a reshape to a shape with at most one dynamic dimension."""
        sizes = [size if isinstance(size, int) else -1 for size in shape]
        assert sizes.count(-1) < 2
        operands = [value, self.integers(before, sizes)]
        return self.add(before, "Reshape", operands, Tensor(self.tensor(value).dtype, shape), {})

    def integers(self, before: Node, numbers: Values | Sequence[Dim], dtype: str = "i32") -> int:
        """Returns a constant of integers before an op, with its location; see ``constant``."""
        values = numbers if isinstance(numbers, np.ndarray) else array_of(numbers, [len(numbers)])
        return self.constant(values, dtype, ir.InsertionPoint(before.op), before.op.location)

    def integer(self, before: Node, number: int) -> int:
        """Returns an int32 scalar before an op, with its location; see ``constant``."""
        return self.integers(before, array_of([number], []))

    def constant(self, values: Values, dtype: str, point: ir.InsertionPoint, location: ir.Location) -> int:
        """Returns a constant of integers or booleans, shared by all places that need the same."""
        key = (dtype, values.shape, tuple(elements(values)))
        if key not in self._constants:
            array = np.array(values.tolist(), INTEGERS[dtype]).reshape(values.shape)
            self._constants[key] = self._constant(
                ir.DenseElementsAttr.get(array), Tensor(dtype, values.shape, values), point, location
            )
        return self._constants[key]

    def numbers(self, before: Node, numbers: Numbers, dtype: str) -> int:
        """Returns a constant of floating point numbers before an op, shared by all places that need the same."""
        key = (dtype, numbers.shape, numbers.tobytes())
        if key not in self._constants:
            tensor = Tensor(dtype, numbers.shape, numbers=numbers)
            point = ir.InsertionPoint(before.op)
            self._constants[key] = self._constant(ir.DenseElementsAttr.get(numbers), tensor, point, before.op.location)
        return self._constants[key]

    def zeros(self, before: Node, like: int, shape: Sequence[int]) -> int:
        """Returns a constant of zeros of a value's floating point type."""
        kind = self._graph.type_of(self.tensor(like).dtype, shape)
        element = ir.ShapedType(kind).element_type
        attribute = ir.DenseElementsAttr.get_splat(kind, ir.FloatAttr.get(element, 0.0))
        point = ir.InsertionPoint(before.op)
        return self._constant(attribute, Tensor(self.tensor(like).dtype, tuple(shape)), point, before.op.location)

    def _constant(
        self, attribute: ir.DenseElementsAttr, tensor: Tensor, point: ir.InsertionPoint, location: ir.Location
    ) -> int:
        operation = ir.Operation.create(
            "tf.Const", results=[attribute.type], attributes={"value": attribute}, loc=location, ip=point
        )
        self.modified = True
        result = self._note(operation.result, tensor, known(tensor.shape))
        self.produced(Node(operation.opview, "Const", (), (result,), {}, ()))
        return result

    def _note(self, value: ir.Value, tensor: Tensor, sizes: Shape | None) -> int:
        number = self._graph.append(value, tensor.dtype, sizes)
        self.inference.tensors.append(tensor)
        return number


@functools.cache
def _is_pure(name: str) -> bool:
    """Whether an op of a graph's node that there is a rule for is pure."""
    return name in RULES and is_pure(name if "." in name else f"tf.{name}")


def _are_equal(one: _Attributes, other: _Attributes) -> bool:
    names = sorted(one)
    return names == sorted(other) and all(one[name] == other[name] for name in names)


def set_types(inference: Inference) -> bool:
    """Writes the inferred types into the reachable functions; returns whether any changed."""
    modified = False
    for function in inference.visited.values():
        editor = Editor(inference, function)
        for value in function.arguments:
            editor.refine(value)
        for node in function.nodes:
            if not contradicts_dead_branch(editor, node):
                for value in node.results:
                    editor.refine(value)
        if editor.modified:
            update_function_type(function.op)
        modified |= editor.modified
    return modified


def contradicts_dead_branch(editor: Editor, node: Node) -> bool:
    """Whether the branch that an ``If`` never takes returns other shapes: until it is folded away, both must fit."""
    taken = editor.inference.branch_taken(node)
    if taken is None:
        return False
    left = editor.inference.graph.functions.get(node.callees[1 - taken])
    if left is None:
        return False
    try:
        for result, returned in zip(node.results, left.returned, strict=True):
            meet(known(editor.shape(result)), editor.inference.graph.declared[returned].shape)
    except ShapeError:
        return True
    return False
