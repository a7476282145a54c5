"""Walks a program of StableHLO ops and emits TensorFlow ops."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from litefuse.errors import GraphError
from litefuse.ir.builder import Builder, MixedSize
from litefuse.ir.locations import node_name
from litefuse.ir.mlir import func, ir, stablehlo
from litefuse.ir.ops.dims import Shape
from litefuse.ir.tensorflow_op import NotDecomposed
from litefuse.ir.types import TensorType, element_type_of, ranked_tensor_type, tensor_type_of
from litefuse.passes.stablehlo.sizes import KnownSizes, result_dims
from litefuse.passes.stablehlo.values import Elements, Value, elements_of, known_numbers

__all__ = ["Functions", "Result", "Rule", "Rules", "Translation"]

Result: TypeAlias = "ir.Value | Value"

Rule: TypeAlias = "Callable[[Any, Translation], Result | Sequence[Result]]"
"""Returns the results of an op. The op is a view by the StableHLO bindings, which name its operands and attributes.

A rule raises GraphError for a form of the op that it cannot translate.
"""

Rules: TypeAlias = "Mapping[str, Rule]"
"""The rules by the ops' names, such as ``stablehlo.add``."""


class Functions(Protocol):
    """The functions of the converted module, and those of the program."""

    def define(
        self, name: str, arguments: Sequence[ir.Type], body: Callable[[Sequence[ir.Value]], Sequence[ir.Value]]
    ) -> func.FuncOp:
        """Adds a private function under an unused symbol; ``body`` emits it and returns its results."""
        ...

    def program(self, symbol: str) -> func.FuncOp:
        """Returns a function of the program."""
        ...


class Translation:
    """Translates one function, or one region, at the current insertion point.

    Attributes:
        b: Emits the ops.
        functions: Holds the functions of loops, branches and composites.
        dialect: The bindings of StableHLO, whose classes read its attributes.
    """

    def __init__(self, rules: Rules, functions: Functions, node: str) -> None:
        self.b = Builder()
        self.functions = functions
        self.dialect = stablehlo()
        self._rules = rules
        self._node = node
        self._values: dict[ir.Value, Value] = {}
        self._dims: dict[ir.Value, KnownSizes] = {}

    def inner(self) -> Translation:
        """Returns a translation of a part of the program in a function of its own."""
        return Translation(self._rules, self.functions, self._node)

    def block(
        self, block: ir.Block, arguments: Sequence[Result], *, without: Collection[ir.Operation] = ()
    ) -> list[Value]:
        """Translates the ops of a block.

        Args:
            block: The block; values that it uses from outside must be bound.
            arguments: Its arguments.
            without: Ops in it whose results are bound as well.

        Returns:
            The operands of its terminator.

        Raises:
            GraphError: No rule for an op, or not for this form of it.
        """
        for argument, value in zip(block.arguments, arguments, strict=True):
            if isinstance(value, ir.Value) and self.dtype(argument) == "int32" and not self.shape(argument):
                self.bind(argument, Value(value, elements=elements_of([value], [])))
            else:
                self.bind(argument, value)
        *ops, last = block.operations
        for op in ops:
            if op.operation not in without:
                self.translate(op)
        return [self.lazy(value) for value in last.operands]

    def bind(self, value: ir.Value, translated: Result) -> None:
        """Binds a value of the program to its translation."""
        self._values[value] = translated if isinstance(translated, Value) else Value(translated)

    # For rules.

    def lazy(self, value: ir.Value) -> Value:
        """Returns a value of the program, emitted or not."""
        return self._values[value]

    def value(self, value: ir.Value) -> ir.Value:
        """Emits a value of the program as TensorFlow ops."""
        return self._values[value].emit()

    def values(self, values: Sequence[ir.Value]) -> list[ir.Value]:
        """Emits several values as TensorFlow ops."""
        return [self.value(value) for value in values]

    def elements(self, value: ir.Value) -> Elements | None:
        """Returns the elements of a small tensor of integers."""
        return self._values[value].elements

    def numbers(self, value: ir.Value) -> npt.NDArray[Any] | None:
        """Returns a constant of the program, or a small tensor of integers all of which are known."""
        numbers = known_numbers(self.elements(value))
        return constant_numbers(value) if numbers is None else numbers

    def number(self, value: ir.Value) -> float | None:
        """Returns the number that all elements of a value are; None if they differ or are unknown."""
        found = self._values[value]
        while found.spread is not None:
            found = found.spread.small
        if found.constant is not None:
            return number_of(found.constant.get_splat_value())
        numbers = known_numbers(found.elements)
        if numbers is None:
            return repeated_number(value)
        different = set(numbers.reshape(-1).tolist())
        return float(different.pop()) if len(different) == 1 else None

    def sizes(self, vector: ir.Value) -> list[MixedSize]:
        """Returns the sizes that a vector of the program holds."""
        elements = self.elements(vector)
        if elements is not None:
            return cast("list[MixedSize]", elements.tolist())
        value = self.value(vector)
        (count,) = self.b.shape(value)
        assert count is not None
        return [self.b.cast(self.b.element(value, i), "int32") for i in range(count)]

    def shape(self, value: ir.Value) -> Shape:
        """Returns the shape that the program declares."""
        shape = tensor_type_of(value).shape
        if shape is None:
            raise GraphError("a value is of unknown rank")
        return shape

    def known_dims(self, value: ir.Value) -> KnownSizes:
        """Returns the sizes of a value as far as they are known without computing any."""
        declared = self.shape(value)
        dim = self._dims.get(value)
        return list(declared) if dim is None or None not in declared else list(dim)

    def set_dims(self, value: ir.Value, dims: KnownSizes) -> None:
        """Sets the sizes of a value; those that its type declares take precedence."""
        declared = self.shape(value)
        self._dims[value] = [dim if size is None else size for dim, size in zip(dims, declared, strict=True)]

    def dims(self, value: ir.Value) -> list[MixedSize]:
        """Returns the sizes of a value; unknown ones are computed."""
        known = self.known_dims(value)
        if any(dim is None for dim in known):
            found = self._values[value].spread
            sizes = list(found.dims) if found is not None else self.b.sizes(self.value(value))
            known = [size if dim is None else dim for dim, size in zip(known, sizes, strict=True)]
            self._dims[value] = [*known]
        return cast("list[MixedSize]", known)

    def dims_of_type(self, value: ir.Value) -> list[MixedSize]:
        """Returns the sizes of a value with a static type.

        Raises:
            GraphError: Its type is not static.
        """
        shape = self.shape(value)
        if None in shape:
            raise GraphError("a size is open that must be known")
        return list(cast("tuple[int, ...]", shape))

    def dtype(self, value: ir.Value) -> str:
        """Returns the dtype that the program declares."""
        return tensor_type_of(value).dtype

    def translate(self, op: ir.OpView) -> None:
        """Translates one op, whose operands are translated."""
        kind = op.operation.name  # the name of a composite's view is that of the composite
        rule = self._rules.get(kind)
        name = kind.removeprefix("stablehlo.")
        where = node_name(op.location)
        try:
            if rule is None:
                raise GraphError(f"the StableHLO op {name} is not supported", hint=_HINTS.get(name, ""))
            _check_dtypes(op, name)
            with op.location if not where else ir.Location.name(where):
                answer = rule(op, self)
        except (GraphError, NotDecomposed) as error:
            # The builder refuses too: a value of the model may be of unknown rank where the program declares one.
            reason = error if isinstance(error, GraphError) else GraphError(str(error))
            place = f"node {self._node} (XlaCallModule), {name}" + (f" at {where}" if where else "")
            raise GraphError(reason.message, where=reason.where or place, hint=reason.hint) from error
        results: Sequence[Result] = [answer] if isinstance(answer, (ir.Value, Value)) else answer
        for old, new in zip(op.results, results, strict=True):
            if isinstance(new, ir.Value):
                refine(new, tensor_type_of(old))
            self.bind(old, new)
            if None in self.shape(old):
                dims = result_dims(self, op, old)
                if dims is not None:
                    self.set_dims(old, dims)


def _check_dtypes(op: ir.OpView, name: str) -> None:
    """Checks that the dtypes of an op's results exist here, and can be computed with.

    Raises:
        GraphError: They do not.
    """
    for value in (*op.operands, *op.results):
        kind = tensor_type_of(value)
        try:
            element_type_of(kind.dtype)
        except ValueError:
            raise GraphError(
                f"the dtype {kind.dtype} is not supported",
                hint="Narrow ones are bfloat16, float16, float8_e4m3fn, float8_e5m2, int8, uint8 and int4.",
            ) from None
        if name in _COMPUTING and kind.dtype == "int4":
            raise GraphError(
                "arithmetic of int4 is not supported",
                hint="Compute in a wider dtype, x.astype('int8'), and convert the result.",
            )


# What to do about an op that has no rule.
_HINTS = {"rng_bit_generator": 'Use the default generator: jax.config.update("jax_default_prng_impl", "threefry2x32").'}

# Of int4, LiteRT only converts the numbers.
_COMPUTING = frozenset(
    {
        *("abs", "add", "and", "clamp", "compare", "convolution", "divide", "exponential", "logistic", "maximum"),
        *("minimum", "multiply", "negate", "not", "or", "power", "reduce", "remainder", "sign", "subtract", "tanh"),
        "xor",
    }
)


def refine(value: ir.Value, declared: TensorType) -> None:
    """Adds the sizes that the program declares to a value whose own type lacks them."""
    own = tensor_type_of(value)
    if own.shape is None or declared.shape is None or None not in own.shape or isinstance(value.owner, ir.Block):
        return
    if len(own.shape) == len(declared.shape):
        sizes = tuple(known if mine is None else mine for mine, known in zip(own.shape, declared.shape, strict=True))
        value.set_type(ranked_tensor_type(TensorType(own.dtype, sizes)))


def constant_numbers(value: ir.Value) -> npt.NDArray[Any] | None:
    """Returns the value of a constant of the program; None for any other value, and for dtypes that numpy lacks."""
    attribute = _constant_attribute(value)
    if attribute is None:
        return None
    if attribute.is_splat:
        number = number_of(attribute.get_splat_value())
        return None if number is None else np.broadcast_to(np.array(number), ir.ShapedType(attribute.type).shape)
    try:
        return np.array(attribute)
    except (TypeError, ValueError):  # of bfloat16, for example
        return None


def repeated_number(value: ir.Value) -> float | None:
    """Returns the number that all elements of a value are, through broadcasts and conversions; None if none."""
    converted: list[str] = []
    while not isinstance(value.owner, ir.Block) and value.owner.operation.name in _REPEATING:
        if value.owner.operation.name == "stablehlo.convert":
            converted.append(tensor_type_of(value).dtype)
        value = value.owner.operands[0]
    attribute = _constant_attribute(value)
    if attribute is None or not attribute.is_splat:
        return None
    number = number_of(attribute.get_splat_value())
    # Conversions that would round the number are left to the model.
    return number if all(dtype in {"float32", "float64"} for dtype in converted) else None


def number_of(attribute: ir.Attribute) -> float | None:
    """Returns a number, or 0 or 1 for a condition; None for any other attribute, such as a complex number."""
    if isinstance(attribute, (ir.BoolAttr, ir.IntegerAttr, ir.FloatAttr)):
        return float(attribute.value)
    return None


def _constant_attribute(value: ir.Value) -> ir.DenseElementsAttr | None:
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "stablehlo.constant":
        return None
    if isinstance(ir.ShapedType(value.type).element_type, ir.ComplexType):
        return None  # the bindings cannot read them
    attribute = owner.attributes["value"]
    return attribute if isinstance(attribute, ir.DenseElementsAttr) else None


_REPEATING = frozenset({"stablehlo.broadcast_in_dim", "stablehlo.convert", "stablehlo.dynamic_broadcast_in_dim"})
