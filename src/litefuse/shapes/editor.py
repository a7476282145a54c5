"""A function that is being rewritten, with what is known of its values, those that were added included."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from litefuse.ir.attributes import mlir_attribute
from litefuse.ir.mlir import ir
from litefuse.ops.dims import Dim, Formula, Shape
from litefuse.ops.facts import INTEGERS, Dims, Tensor, Values, array_of, elements, known
from litefuse.ops.numbers import Numbers
from litefuse.ops.rules import RULES
from litefuse.shapes.graph import Function, Node
from litefuse.shapes.inference import Inference

__all__ = ["Editor", "arithmetic_key", "is_known"]

# Random numbers are others in every call, and a table may have been written in between.
_IMPURE = ("LookupTable", "Multinomial", "Normal", "Random", "tfl.")
_PURE = frozenset(name for name in RULES if not any(part in name for part in _IMPURE))


# As they are looked up one by one: to read all of an op takes ten times as long as to find that no other op is like it.
_Attributes: TypeAlias = Mapping[str, ir.Attribute] | ir.OpAttributeMap


def is_known(values: Values) -> bool:
    """Whether all elements are numbers."""
    return not any(isinstance(element, Formula) for element in elements(values))


def arithmetic_key(dtype: str, values: Values) -> Hashable:
    """What two values have in common that hold the same sizes."""
    return (dtype, values.shape, tuple(elements(values)))


class Editor:
    """Changes one function. Values are numbers, as in the graph.

    Attributes:
        inference: What is known of the module's values.
        function: The function as it was read.
        modified: Whether anything was changed.
        unsettled: Whether what was changed may make way for more: there are new ops, or values with fewer uses.
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
        """The value that took the place of a value; itself, if none did."""
        while value in self._replaced:
            value = self._replaced[value]
        return value

    def operands(self, node: Node) -> list[int]:
        """An op's operands as they are now."""
        return [self.resolve(value) for value in node.operands]

    def tensor(self, value: int) -> Tensor:
        """What is known of a value."""
        return self.inference.tensor(value)

    def shape(self, value: int) -> Dims | None:
        """A value's shape."""
        return self.inference.tensor(value).shape

    def values(self, value: int) -> Values | None:
        """A value's elements."""
        return self.inference.tensor(value).values

    def value(self, value: int) -> ir.Value:
        """The value itself."""
        return self._graph.values[value]

    def producer(self, value: int, *names: str) -> Node | None:
        """The op that computes a value, if it has one of these names and was visited."""
        node = self._producers.get(value)
        return node if node is not None and node.name in names else None

    def is_used_once(self, value: int) -> bool:
        """Whether a value has exactly one use."""
        uses: Iterator[ir.OpOperand] = iter(self.value(value).uses)
        return next(uses, None) is not None and next(uses, None) is None

    def produced(self, node: Node) -> None:
        """Notes that an op computes its results."""
        self._visited.append(node)
        for value in node.results:
            self._producers[value] = node
        if node.name == "Const":
            self._contents[node.results[0]] = node.op.attributes["value"]
        if node.name == "Const" or (node.operands and node.name in _PURE and self._of_constants(node)):
            self._constant_values.update(node.results)

    def nodes(self) -> list[Node]:
        """The ops that were visited or added, the last one first."""
        return self._visited[::-1]

    def same_as_before(self, node: Node) -> int | None:
        """The result of an earlier op that does the same to the same operands, if the op is pure and has one result."""
        if node.name not in _PURE or len(node.results) != 1:
            return None
        operands, attributes = self.operands(node), node.op.attributes
        before = self._computed_before(node.name, operands, attributes)
        (result,) = node.results
        if before is None:
            self._note_computed(node.name, operands, attributes, result)
            return None
        if (self.tensor(before).dtype, self.shape(before)) != (self.tensor(result).dtype, self.shape(result)):
            return None  # a cast need not say to what
        return before

    def _computed_before(self, name: str, operands: Sequence[int], attributes: _Attributes) -> int | None:
        """The result of an op that did the same to the same operands, and is still there."""
        for result, others in self._computed.get(self._computation(name, operands), ()):
            if result not in self._replaced and _are_equal(attributes, others):
                return result
        return None

    def _note_computed(self, name: str, operands: Sequence[int], attributes: _Attributes, result: int) -> None:
        self._computed.setdefault(self._computation(name, operands), []).append((result, attributes))

    def _computation(self, name: str, operands: Sequence[int]) -> Hashable:
        """What two ops have in common, but for their attributes, that compute the same."""
        return (name, tuple(self._contents.get(value, value) for value in operands))

    def is_constant(self, value: int) -> bool:
        """Whether a value is computed of constants alone."""
        return value in self._constant_values

    def _of_constants(self, node: Node) -> bool:
        return all(self.resolve(value) in self._constant_values for value in node.operands)

    def refine(self, value: int) -> None:
        """Gives a value the type that was found."""
        sizes = known(self.shape(value))
        if sizes is None or sizes == self._graph.declared[value].shape:
            return
        self.value(value).set_type(self._graph.type_of(self.tensor(value).dtype, sizes))
        self.modified = True

    def replace(self, node: Node, value: int) -> None:
        """Puts a value in the place of an op's only result, and erases the op."""
        (result,) = node.results
        self._replaced[result] = value
        self.value(result).replace_all_uses_with(self.value(value))
        node.op.operation.erase()
        self.modified = True

    def set_operand(self, node: Node, position: int, value: int) -> None:
        """Gives an op another operand."""
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
        """Emits a ``tf`` op with one result before another one, in its name, and returns the result.

        What was computed before is not computed again.

        Args:
            before: The op before which it comes.
            name: Its name without the dialect.
            operands: Its operands.
            tensor: What is known of its result, of an element type that occurs in the module.
            attributes: Its attributes, as Python values where there are such.
        """
        sizes = known(tensor.shape)
        assert sizes is not None
        written = {
            key: value if isinstance(value, ir.Attribute) else mlir_attribute(value)
            for key, value in attributes.items()
        }
        computed = self._computed_before(name, operands, written)
        if computed is not None and self.shape(computed) == tensor.shape:
            return computed
        operation = ir.Operation.create(
            f"tf.{name}",
            results=[self._graph.type_of(tensor.dtype, sizes)],
            operands=[self.value(value) for value in operands],
            attributes=written,
            loc=before.op.location,
            ip=ir.InsertionPoint(before.op),
        )
        result = self._note(operation.result, tensor, sizes)
        node = Node(operation.opview, name, tuple(operands), (result,), dict(attributes), ())
        self._note_computed(name, operands, written, result)
        self.produced(node)
        self.modified = self.unsettled = True
        return result

    def vector(self, before: Node, dims: Sequence[Dim], source: int) -> int | None:
        """Sizes as a vector: one that was computed before, or else of the shape of ``source``, if they are in it."""
        key = arithmetic_key("i32", array_of(dims, [len(dims)]))
        if key not in self.arithmetic:
            scalars = [self._scalar(before, dim, source) for dim in dims]
            found = [scalar for scalar in scalars if scalar is not None]
            if len(found) < len(scalars):
                return None
            values = array_of(dims, [len(dims)])
            self.arithmetic[key] = self.add(before, "Pack", found, Tensor("i32", (len(dims),), values), {"axis": 0})
        return self.resolve(self.arithmetic[key])

    def _scalar(self, before: Node, dim: Dim, source: int) -> int | None:
        point, location = ir.InsertionPoint(before.op), before.op.location
        values = array_of([dim], [])
        if isinstance(dim, int):
            return self.constant(values, "i32", point, location)
        key = arithmetic_key("i32", values)
        if key not in self.arithmetic:
            sizes = self.shape(source)
            if sizes is None or dim not in sizes:
                return None
            shape = array_of(sizes, [len(sizes)])
            whole = arithmetic_key("i32", shape)
            if whole not in self.arithmetic:
                self.arithmetic[whole] = self.add(before, "Shape", [source], Tensor("i32", (len(sizes),), shape), {})
            ends = [
                self.constant(array_of([number], [1]), "i32", point, location)
                for number in (sizes.index(dim), sizes.index(dim) + 1, 1)
            ]
            masks = dict.fromkeys(("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask"), 0)
            operands = [self.resolve(self.arithmetic[whole]), *ends]
            slicing = {**masks, "shrink_axis_mask": 1}
            self.arithmetic[key] = self.add(before, "StridedSlice", operands, Tensor("i32", (), values), slicing)
        return self.resolve(self.arithmetic[key])

    def add_reshape(self, before: Node, value: int, shape: Dims) -> int:
        """Emits a reshape to a shape with at most one size that is not known."""
        sizes = [size if isinstance(size, int) else -1 for size in shape]
        assert sizes.count(-1) < 2
        stated = self.constant(array_of(sizes, [len(sizes)]), "i32", ir.InsertionPoint(before.op), before.op.location)
        return self.add(before, "Reshape", [value, stated], Tensor(self.tensor(value).dtype, shape), {})

    def constant(self, values: Values, dtype: str, point: ir.InsertionPoint, location: ir.Location) -> int:
        """A constant of integers or booleans, one for all places that need the same."""
        key = (dtype, values.shape, tuple(elements(values)))
        if key not in self._constants:
            array = np.array(values.tolist(), INTEGERS[dtype]).reshape(values.shape)
            self._constants[key] = self._constant(
                ir.DenseElementsAttr.get(array), Tensor(dtype, values.shape, values), point, location
            )
        return self._constants[key]

    def numbers(self, numbers: Numbers, dtype: str, point: ir.InsertionPoint, location: ir.Location) -> int:
        """A constant of floating point numbers, one for all places that need the same."""
        key = (dtype, numbers.shape, numbers.tobytes())
        if key not in self._constants:
            tensor = Tensor(dtype, numbers.shape, numbers=numbers)
            self._constants[key] = self._constant(ir.DenseElementsAttr.get(numbers), tensor, point, location)
        return self._constants[key]

    def zeros(self, before: Node, like: int, shape: Sequence[int]) -> int:
        """A constant of zeros of a value's floating point type."""
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


def _are_equal(one: _Attributes, other: _Attributes) -> bool:
    names = sorted(one)
    return names == sorted(other) and all(one[name] == other[name] for name in names)
