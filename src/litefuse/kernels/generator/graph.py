"""Makes tensors of index functions of a decomposition's ops, by the rules of ``litefuse.kernels.generator.rules``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from litefuse.kernels.generator.body import Body, BodyOp, BodyTensor
from litefuse.kernels.generator.forms import Form, NotGenerated, in_form
from litefuse.kernels.generator.nodes import (
    CPP_TYPES,
    Computed,
    Joined,
    Literal,
    Moved,
    Node,
    Position,
    Reduction,
    Stored,
)
from litefuse.kernels.generator.sizes import ONE, Size, Sizes, number

__all__ = ["RULES", "Check", "Graph", "NotGenerated", "Rule", "Value", "literal", "rule"]

# A constant of more bytes stays in the model: the kernel's source would be too long.
_LARGEST_CONSTANT = 1 << 18
# Rows of as many elements are computed one by one.
_LONG_ROW = 64
# Integer tensors of more elements are not shapes.
_MOST_SIZES = 64
# More of them that are known are an array, not numbers in the code.
_FEW_SIZES = 4
# Bodies of more ops, in all turns of their loops, are none that one kernel is for.
_MOST_OPS = 1 << 13
# Larger integers are not sizes, not even of what is twice as large.
_LARGEST_SIZE = 1 << 61


@dataclass(frozen=True, eq=False)
class Check:
    """A condition that must be false for every element at run time.

    Attributes:
        node: A tensor of BOOL.
        message: The message where it is true.
    """

    node: Node
    message: str


#: A tensor, and the sizes that it consists of, if it is known in Prepare.
Value: TypeAlias = "tuple[Node, npt.NDArray[Any] | None]"

Rule: TypeAlias = "Callable[[Graph, BodyOp], Node | Sequence[Node]]"

#: The rules by the ops' names.
RULES: dict[str, Rule] = {}
#: What their ops take and give, which is checked before a rule is asked.
FORMS: dict[str, Form] = {}


def rule(*names: str, takes: str, gives: str = "x", options: str | None = None) -> Callable[[Rule], Rule]:
    """Registers a rule for ops; see ``Form`` for what they take and give."""

    def register(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, function))
        FORMS.update(dict.fromkeys(names, Form(takes, gives, options)))
        return function

    return register


def literal(value: Any, dtype: str) -> str:
    """Returns a number as C++."""
    kind = CPP_TYPES[dtype]
    if dtype == "BOOL":
        return "true" if value else "false"
    if dtype == "COMPLEX64":
        return f"{kind}({literal(np.real(value), 'FLOAT32')}, {literal(np.imag(value), 'FLOAT32')})"
    if dtype in ("FLOAT16", "BFLOAT16"):
        return f"{kind}({literal(value, 'FLOAT32')})"
    if dtype in ("FLOAT32", "FLOAT64"):
        real = float(value)
        if math.isnan(real):
            return f"std::numeric_limits<{kind}>::quiet_NaN()"
        if math.isinf(real):
            return f"{'-' if real < 0 else ''}std::numeric_limits<{kind}>::infinity()"
        text = str(np.float32(value)) if dtype == "FLOAT32" else repr(real)
        text = text if any(letter in text for letter in ".e") else f"{text}.0"
        return f"{text}f" if dtype == "FLOAT32" else text
    if dtype == "INT32" and int(value) > -(1 << 31):
        return str(int(value))
    if dtype.startswith("INT"):
        if int(value) == -(1 << 63):
            return "std::numeric_limits<int64_t>::min()"
        return f"{kind}({int(value)})"
    return f"{kind}({int(value)}u)" if dtype != "UINT64" else f"{kind}({int(value)}ull)"


@dataclass
class Graph:
    """The tensors of a body.

    Attributes:
        body: The body.
        sizes: The sizes of the kernel.
        inputs: The arguments, in their order.
        constants: The constants that are arrays, by their names in C++.
        checks: What must not hold.
    """

    body: Body
    sizes: Sizes
    inputs: list[Stored] = field(default_factory=list[Stored])
    constants: dict[str, tuple[Stored, npt.NDArray[Any]]] = field(
        default_factory=dict[str, "tuple[Stored, npt.NDArray[Any]]"]
    )
    checks: list[Check] = field(default_factory=list[Check])
    _nodes: dict[int, Node] = field(default_factory=dict[int, Node])
    _integers: dict[int, npt.NDArray[Any]] = field(default_factory=dict[int, "npt.NDArray[Any]"])
    _of_constants: dict[tuple[int, int], Node] = field(default_factory=dict[tuple[int, int], Node])
    _count: int = 0
    _applied: int = 0

    @classmethod
    def of(cls, body: Body) -> Graph:
        """Makes the tensors of a body.

        Raises:
            NotGenerated: No rule for an op, or for this form of it.
        """
        import litefuse.kernels.generator.rules  # noqa: F401  # pyright: ignore[reportUnusedImport]  registers the rules

        if len(set(body.inputs)) < len(body.inputs):
            raise NotGenerated("an argument is given twice")
        graph = cls(body, Sizes())
        for place, index in enumerate(body.inputs):
            graph._argument(place, index)
        for op in body.ops:
            graph._apply(op)
        return graph

    @property
    def outputs(self) -> list[Node]:
        return [self.node(index) for index in self.body.outputs]

    def _argument(self, place: int, index: int) -> None:
        tensor = self.body.tensors[index]
        if tensor.dtype not in CPP_TYPES:
            raise NotGenerated(f"argument {place} is of {tensor.dtype}")
        name = f"x{place}"
        shape = tuple(
            number(size)
            if size is not None
            else self.sizes.of_input(f"{name}_dim{axis}", f"node.input({place}).dim({axis})")
            for axis, size in enumerate(tensor.shape)
        )
        self.require_tensor(shape)
        made = Stored(tensor.dtype, shape, name=name, label=name, number=self.next_number())
        self._nodes[index] = made
        self.inputs.append(made)

    def _apply(self, op: BodyOp) -> None:
        apply = RULES.get(op.name)
        if apply is None:
            raise NotGenerated(f"no rule for {op.name}")
        self._applied += 1
        if self._applied > _MOST_OPS:
            raise NotGenerated(f"the body takes more than {_MOST_OPS:,} ops")
        op = in_form(op, FORMS[op.name], self.body.tensors)
        made = apply(self, op)
        nodes = [made] if isinstance(made, Node) else list(made)
        if len(nodes) != len(op.outputs):
            raise NotGenerated(f"{op.name} has {len(op.outputs)} results")
        for index, node in zip(op.outputs, nodes, strict=True):
            self._result(op, index, node)

    def _result(self, op: BodyOp, index: int, node: Node) -> None:
        tensor = self.body.tensors[index]
        if node.dtype != tensor.dtype:
            raise NotGenerated(f"{op.name} gives {tensor.dtype}, not {node.dtype}")
        self.require_tensor(node.shape)
        if len(node.shape) == len(tensor.shape):
            for size, known in zip(node.shape, tensor.shape, strict=True):
                if known is not None and size.known is not None and size.known != known:
                    raise NotGenerated(f"{op.name} gives a size of {known}, not {size.known}")
        if node.number < 0:
            node.number = self.next_number()
        if node.label == "value":
            node.label = op.name.lower()
        self._nodes[index] = node

    def next_number(self) -> int:
        """Returns a number for a new tensor."""
        self._count += 1
        return self._count

    # What rules ask for

    def tensor(self, index: int) -> BodyTensor:
        return self.body.tensors[index]

    def node(self, index: int) -> Node:
        """Returns a tensor.

        Raises:
            NotGenerated: It is absent, or a constant that is too large.
        """
        if index < 0:
            raise NotGenerated("an op lacks an operand")
        if index in self._nodes:
            return self._nodes[index]
        if index in self._integers:
            made = self._of_sizes(self._integers[index], self.tensor(index).dtype)
        else:
            made = self._constant(index)
        self._nodes[index] = made
        return made

    def _constant(self, index: int) -> Node:
        # A part of the body that is computed several times has its constants once.
        key = (id(self.body), index)
        if key not in self._of_constants:
            self._of_constants[key] = self._new_constant(index)
        return self._of_constants[key]

    def _new_constant(self, index: int) -> Node:
        tensor = self.body.tensors[index]
        value = tensor.value
        if value is None:
            raise NotGenerated(f"a constant is of {tensor.dtype}" if tensor.is_constant else "the body is not in order")
        return self.array(value, tensor.dtype)

    def array(self, value: npt.NDArray[Any], dtype: str) -> Node:
        """Returns a constant.

        Raises:
            NotGenerated: It is too large.
        """
        if value.nbytes > _LARGEST_CONSTANT:
            raise NotGenerated(f"a constant has {value.nbytes:,} bytes; up to {_LARGEST_CONSTANT:,} are written as C++")
        shape = tuple(map(number, value.shape))
        if value.size and (value == value.flat[0]).all():
            return Literal(dtype, shape, text=literal(value.flat[0], dtype), number=self.next_number())
        name = f"constant_{len(self.constants) + 1}"
        made = Stored(dtype, shape, name=name, label=name, number=self.next_number())
        self.constants[name] = (made, value)
        return made

    def _of_sizes(self, values: npt.NDArray[Any], dtype: str) -> Node:
        known = [cast("Size", size).known for size in values.ravel()]
        if len(known) > _FEW_SIZES and None not in known:
            return self.array(np.array(known, dtype.lower()).reshape(values.shape), dtype)
        shape = tuple(map(number, values.shape))
        if len(known) == 1:
            text = (
                literal(known[0], dtype)
                if known[0] is not None
                else f"static_cast<{CPP_TYPES[dtype]}>({values.item()})"
            )
            return Literal(dtype, shape, text=text, number=self.next_number())
        if not known:
            return Literal(dtype, shape, text=literal(0, dtype), number=self.next_number())
        axis = next(axis for axis, count in enumerate(values.shape) if count > 1)
        parts = tuple(self._of_sizes(part, dtype) for part in np.split(values, values.shape[axis], axis))
        return Joined(dtype, shape, axis=axis, parts=parts, label="sizes", number=self.next_number())

    def integers(self, index: int, what: str) -> npt.NDArray[Any]:
        """Returns an operand whose values are known in Prepare, as an array of sizes.

        Raises:
            NotGenerated: It depends on values of the inputs.
        """
        sizes = self.maybe_integers(index)
        if sizes is None:
            raise NotGenerated(f"{what} depends on the values of inputs")
        return sizes

    def maybe_integers(self, index: int) -> npt.NDArray[Any] | None:
        if index in self._integers:
            return self._integers[index]
        value = self.body.tensors[index].value if index >= 0 else None
        if value is None or value.dtype.kind not in "iub" or value.size > _MOST_SIZES:
            return None
        numbers = [int(cast("int", element)) for element in value.ravel()]
        if any(abs(integer) > _LARGEST_SIZE for integer in numbers):
            return None
        made = np.empty(value.shape, object)
        for place, integer in enumerate(numbers):
            made.flat[place] = number(integer)
        self._integers[index] = made
        return made

    def set_integers(self, index: int, values: npt.NDArray[Any]) -> None:
        """Says which sizes a result consists of. The kernel requires them to be integers of its type.

        Raises:
            NotGenerated: They cannot be.
        """
        limit = _LARGEST_SIZE if self.tensor(index).dtype == "INT64" else (1 << 31) - 1
        for size in cast("list[Size]", values.ravel().tolist()):
            if not self.sizes.require_range(size, -limit - 1, limit, "a size is beyond its type"):
                raise NotGenerated("a size is beyond its type")
        self._integers[index] = values

    def require_tensor(self, shape: Sequence[Size]) -> None:
        """Requires a shape to be that of a tensor.

        Raises:
            NotGenerated: It cannot be.
        """
        if not self.sizes.require_tensor(shape):
            raise NotGenerated("a tensor has a negative size, or more elements than can be counted")

    def numbers(self, index: int, what: str) -> list[int]:
        """Returns an operand that is a constant of integers.

        Raises:
            NotGenerated: It is none.
        """
        sizes = [size.known for size in self.integers(index, what).ravel()]
        known = [value for value in sizes if value is not None]
        if len(known) != len(sizes):
            raise NotGenerated(f"{what} depends on the sizes of inputs")
        return known

    def sizes_of(self, index: int, what: str, count: int) -> list[Size]:
        """Returns an operand of so many integers that are known in Prepare.

        Raises:
            NotGenerated: It depends on values of the inputs, or there are more or fewer.
        """
        sizes: list[Size] = self.integers(index, what).ravel().tolist()
        if len(sizes) != count:
            raise NotGenerated(f"{what} has {len(sizes)} numbers, not {count}")
        return sizes

    def axis_of(self, index: int, rank: int) -> int:
        """Returns an axis that is a constant operand.

        Raises:
            NotGenerated: It is none.
        """
        axes = self.numbers(index, "the axis")
        if len(axes) != 1:
            raise NotGenerated(f"the axis is {axes}")
        return self.axis(axes[0], rank)

    def of_rank(self, index: int, least: int, most: int | None = None) -> Node:
        """Returns a tensor.

        Raises:
            NotGenerated: It has fewer or more axes.
        """
        node = self.node(index)
        if not least <= len(node.shape) <= (len(node.shape) if most is None else most):
            raise NotGenerated(f"an op has an operand of rank {len(node.shape)}")
        return node

    def computed_part(self, part: Body, arguments: Sequence[Value]) -> list[Value]:
        """Computes a part of the body, such as one turn of a loop, from other arguments than the body's.

        Raises:
            NotGenerated: No rule for an op, or for this form of it.
        """
        outer = self.body, self._nodes, self._integers
        self.body, self._nodes, self._integers = part, {}, {}
        try:
            for index, (node, integers) in zip(part.inputs, arguments, strict=True):
                self._nodes[index] = node
                if integers is not None:
                    self._integers[index] = integers
            for op in part.ops:
                self._apply(op)
            return [(self.node(index), self.maybe_integers(index)) for index in part.outputs]
        finally:
            self.body, self._nodes, self._integers = outer

    def axis(self, value: int, rank: int) -> int:
        if not -rank <= value < rank:
            raise NotGenerated(f"an axis is {value}, of a tensor of rank {rank}")
        return value % rank

    def broadcast(self, *nodes: Node) -> tuple[Size, ...]:
        """Returns the shape of an elementwise op's result.

        Sizes that are not known either agree, or one of them is 1 and repeated. In short rows, which are computed
        together, they are required to agree.
        """
        rank = max((len(node.shape) for node in nodes), default=0)
        shape: list[Size] = []
        row = 1
        for axis in reversed(range(rank)):
            size = ONE
            for node in nodes:
                own = axis - rank + len(node.shape)
                if own < 0 or node.shape[own] == ONE:
                    continue
                other = node.shape[own]
                if size == ONE:
                    size = other
                elif row < _LONG_ROW or (size.known is not None and other.known is not None):
                    size = self.sizes.same(size, other, "sizes that are to be the same")
                else:
                    size = self.sizes.repeated(size, other)
            shape.insert(0, size)
            row *= max(size.factor, 1)
        return tuple(shape)

    def computed(
        self,
        dtype: str,
        args: Sequence[Node],
        text: Callable[[Sequence[str]], str],
        *,
        costly: bool = False,
        label: str = "value",
        shape: tuple[Size, ...] | None = None,
    ) -> Computed:
        shape = self.broadcast(*args) if shape is None else shape
        return Computed(
            dtype, shape, args=tuple(args), text=text, is_costly=costly, label=label, number=self.next_number()
        )

    def transposed(self, source: Node, order: Sequence[int]) -> Moved:
        shape = [source.shape[axis] for axis in order]
        places = [order.index(axis) for axis in range(len(order))]
        made = self.moved(source, shape, lambda _, position: tuple(position[place] for place in places))
        made.order = tuple(order)
        return made

    def moved(self, source: Node, shape: Sequence[Size], place: Callable[[Any, Position], Position]) -> Moved:
        self.require_tensor(shape)
        return Moved(
            source.dtype, tuple(shape), source=source, place=place, label=source.label, number=self.next_number()
        )

    def reduction(self, source: Node, axes: Sequence[int], kind: str, label: str = "value") -> Node:
        if not axes:
            return source
        shape = tuple(size for axis, size in enumerate(source.shape) if axis not in axes)
        return Reduction(
            source.dtype, shape, source=source, axes=frozenset(axes), kind=kind, label=label, number=self.next_number()
        )

    def with_axes(self, source: Node, axes: Sequence[int]) -> Node:
        """Returns a tensor with axes of size 1 put in, at these places of the result."""
        if not axes:
            return source
        rank = len(source.shape) + len(axes)
        sizes = iter(source.shape)
        shape = [ONE if axis in axes else next(sizes) for axis in range(rank)]
        return self.moved(
            source, shape, lambda _, position: tuple(index for axis, index in enumerate(position) if axis not in axes)
        )

    def constant(self, value: float, dtype: str) -> Literal:
        return Literal(dtype, (), text=literal(value, dtype), number=self.next_number())

    def check(self, node: Node, message: str) -> None:
        """Has the kernel fail where any element of a tensor of BOOL is true."""
        self.checks.append(Check(node, message))
