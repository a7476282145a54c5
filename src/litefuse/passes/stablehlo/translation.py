"""Walks a program of StableHLO ops and emits TensorFlow ops."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, cast

import numpy.typing as npt

from litefuse.errors import GraphError
from litefuse.ir.builder import Builder, MixedSize
from litefuse.ir.locations import node_name
from litefuse.ir.mlir import func, ir, stablehlo
from litefuse.ir.ops.dims import Shape
from litefuse.ir.tensorflow_op import NotDecomposed
from litefuse.ir.tensors import Tensor
from litefuse.ir.types import TensorType, element_type_of, ranked_tensor_type, tensor_type_of
from litefuse.passes.stablehlo.values import (
    Elements,
    Value,
    constant_numbers,
    elements_of,
    known_numbers,
    number_of,
    repeated_number,
)

Result: TypeAlias = "ir.Value | Value"

KnownSizes: TypeAlias = "list[MixedSize | None]"
"""The sizes of a value as far as they are known without computing any; None is an unknown size."""

Rule: TypeAlias = "Callable[[Any, Translation], Result | Sequence[Result]]"
"""Returns the results of an op. The op is a view by the StableHLO bindings, which name its operands and attributes.

A rule raises GraphError for a form of the op that it cannot translate.
"""

Rules: TypeAlias = "Mapping[str, Rule]"
"""The rules by the ops' names, such as ``stablehlo.add``."""


class _Functions(Protocol):
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

    def __init__(self, rules: Rules, functions: _Functions, node: str) -> None:
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
                self.bind(argument, Value(value, elements=elements_of([Tensor(value)], [])))
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

    def value(self, value: ir.Value) -> Tensor:
        """Emits a value of the program as TensorFlow ops."""
        return Tensor(self._values[value].emit())

    def values(self, values: Sequence[ir.Value]) -> list[Tensor]:
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
        translated = self._values[value]
        while translated.spread is not None:
            translated = translated.spread.small
        if translated.constant is not None:
            return number_of(translated.constant.get_splat_value())
        numbers = known_numbers(translated.elements)
        if numbers is None:
            return repeated_number(value)
        different = set(numbers.reshape(-1).tolist())
        return different.pop() if len(different) == 1 else None

    def sizes(self, vector: ir.Value) -> list[MixedSize]:
        """Returns the sizes that a vector of the program holds."""
        elements = self.elements(vector)
        if elements is not None:
            return cast("list[MixedSize]", elements.tolist())
        value = self.value(vector)
        (count,) = self.b.shape(value)
        assert count is not None
        return self.b.sizes_in(value, [None] * count)

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
            broadcast = self._values[value].spread
            sizes = list(broadcast.dims) if broadcast is not None else self.b.sizes(self.value(value))
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

    def direction(self, compare: Any) -> str:
        """Returns the direction of a comparison, such as ``LT``."""
        return str(self.dialect.ComparisonDirectionAttr(compare.attributes["comparison_direction"]).value)

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
                dims = _result_dims(self, op, old)
                if dims is not None:
                    self.set_dims(old, dims)


def _check_dtypes(op: ir.OpView, name: str) -> None:
    """Raises a GraphError unless the dtypes of an op's results exist here, and can be computed with."""
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


def _result_dims(t: Translation, op: Any, result: ir.Value) -> KnownSizes | None:
    """Returns what is known of the sizes of an op's result."""
    name = op.operation.name.removeprefix("stablehlo.")
    rule = _RULES.get(name)
    if rule is not None:
        return rule(t, op, result)
    # Most other ops have results of their operands' shape.
    rank = len(t.shape(result))
    for operand in op.operands:
        if len(t.shape(operand)) == rank and name not in _OTHERS:
            return t.known_dims(operand)
    return None


# A result of these may have the rank of an operand and other sizes.
_OTHERS = frozenset({"case", "composite", "dynamic_slice", "fft", "if", "scatter", "slice"})


def _unknown(t: Translation, op: Any, _: ir.Value) -> KnownSizes:
    return [None] * len(t.shape(op.results[0]))


def _of_second(t: Translation, op: Any, _: ir.Value) -> KnownSizes:
    return t.known_dims(op.operands[1])


def _from_operand(position: int) -> Callable[[Translation, Any, ir.Value], KnownSizes]:
    def rule(t: Translation, op: Any, _: ir.Value) -> KnownSizes:
        elements = t.elements(op.operands[position])
        return _unknown(t, op, _) if elements is None else list(elements.tolist())

    return rule


def _transpose(t: Translation, op: Any, _: ir.Value) -> KnownSizes:
    dims = t.known_dims(op.operands[0])
    return [dims[axis] for axis in op.permutation]


def _reduce(t: Translation, op: Any, _: ir.Value) -> KnownSizes:
    axes = list(op.attributes["dimensions"])
    return [dim for axis, dim in enumerate(t.known_dims(op.operands[0])) if axis not in axes]


def _dot_general(t: Translation, op: Any, _: ir.Value) -> KnownSizes:
    numbers = t.dialect.DotDimensionNumbers(op.dot_dimension_numbers)
    left, right = (t.known_dims(operand) for operand in op.operands)
    batching: list[int] = list(numbers.lhs_batching_dimensions)
    gone = {*batching, *numbers.lhs_contracting_dimensions}
    gone_right = {*numbers.rhs_batching_dimensions, *numbers.rhs_contracting_dimensions}
    dims: KnownSizes = [left[axis] for axis in batching] + [dim for axis, dim in enumerate(left) if axis not in gone]
    return dims + [dim for axis, dim in enumerate(right) if axis not in gone_right]


def _convolution(t: Translation, op: Any, result: ir.Value) -> KnownSizes:
    numbers = t.dialect.ConvDimensionNumbers(op.dimension_numbers)
    dims: KnownSizes = list(t.shape(result))
    if int(op.batch_group_count) == 1:
        dims[numbers.output_batch_dimension] = t.known_dims(op.operands[0])[int(numbers.input_batch_dimension)]
    return dims


def _concatenate(t: Translation, op: Any, _: ir.Value) -> KnownSizes:
    dims = list(t.known_dims(op.operands[0]))
    dims[int(op.dimension)] = None
    return dims


def _pad(t: Translation, op: Any, _: ir.Value) -> KnownSizes:
    amounts = zip(op.edge_padding_low, op.edge_padding_high, op.interior_padding, strict=True)
    dims = t.known_dims(op.operands[0])
    return [dim if not any(paddings) else None for dim, paddings in zip(dims, amounts, strict=True)]


def _real_dynamic_slice(t: Translation, op: Any, _: ir.Value) -> KnownSizes:
    begins, ends, strides = (t.elements(operand) for operand in op.operands[1:])
    if begins is None or ends is None or strides is None:
        return _unknown(t, op, _)
    return [
        end if isinstance(begin, int) and begin == 0 and isinstance(stride, int) and stride == 1 else None
        for begin, end, stride in zip(begins.tolist(), ends.tolist(), strides.tolist(), strict=True)
    ]


def _reduce_window(t: Translation, op: Any, _: ir.Value) -> KnownSizes:
    dims = t.known_dims(op.operands[0])
    return [dim if int(size) == 1 else None for dim, size in zip(dims, op.window_dimensions, strict=True)]


def _custom_call(t: Translation, op: Any, result: ir.Value) -> KnownSizes:
    if ir.StringAttr(op.attributes["call_target_name"]).value == "stablehlo.dynamic_reduce_window":
        return _dynamic_reduce_window(t, op)
    return list(t.shape(result))


def _dynamic_reduce_window(t: Translation, op: Any) -> KnownSizes:
    """Running combinations, and dimensions without windows, keep their sizes."""
    dims: KnownSizes = t.known_dims(op.operands[0])
    sizes, strides = (t.elements(vector) for vector in list(op.operands)[-5:-3])
    if sizes is None or strides is None:
        return [None] * len(dims)
    return [
        dim if stride == 1 and (size == 1 or (isinstance(dim, ir.Value) and size == dim)) else None
        for dim, size, stride in zip(dims, sizes.tolist(), strides.tolist(), strict=True)
    ]


def _of_same_position(t: Translation, op: Any, result: ir.Value) -> KnownSizes:
    return t.known_dims(op.operands[ir.OpResult(result).result_number])


_RULES: Mapping[str, Callable[[Translation, Any, ir.Value], KnownSizes]] = {
    "concatenate": _concatenate,
    "convolution": _convolution,
    "custom_call": _custom_call,
    "dot_general": _dot_general,
    "dynamic_broadcast_in_dim": _from_operand(1),
    "dynamic_conv": _convolution,
    "dynamic_iota": _from_operand(0),
    "dynamic_pad": _unknown,
    "dynamic_reshape": _from_operand(1),
    "dynamic_update_slice": _of_same_position,
    "gather": _unknown,
    "dynamic_gather": _unknown,
    "optimization_barrier": _of_same_position,
    "pad": _pad,
    "real_dynamic_slice": _real_dynamic_slice,
    "reduce": _reduce,
    "reduce_window": _reduce_window,
    "select": _of_second,
    "clamp": _of_second,
    "sort": _of_same_position,
    "transpose": _transpose,
    "while": _of_same_position,
}
