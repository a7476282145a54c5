"""The computations of a model's ops, as expressions of a value that they depend on."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.fusions.recognizers.layers.expressions import Expression, Expressions, TooLong
from litefuse.ir.attributes import attribute_value
from litefuse.ir.constants import integer_constant, stored
from litefuse.ir.defining_ops import constant_number, is_constant, source
from litefuse.ir.mlir import ir
from litefuse.ir.types import TensorType, tensor_type_of

#: The ops that change at most dtype, rank or repetition of a value.
FORWARDED = frozenset(
    f"tf.{name}"
    for name in (
        *("BroadcastTo", "Cast", "CheckNumerics", "EnsureShape", "ExpandDims", "Identity", "PreventGradient"),
        *("Reshape", "Snapshot", "Squeeze", "StopGradient"),
    )
)
_RESHAPES = frozenset({"tf.BroadcastTo", "tf.ExpandDims", "tf.Reshape", "tf.Squeeze", "tf.StridedSlice"})
_BINARY = {"tf.Add": 1.0, "tf.AddV2": 1.0, "tf.BiasAdd": 1.0, "tf.Sub": -1.0}
_QUOTIENTS = frozenset({"tf.RealDiv", "tf.Div"})
_POWERS = {"tf.Square": 2.0, "tf.Rsqrt": -0.5, "tf.Sqrt": 0.5, "tf.Reciprocal": -1.0, "tf.Inv": -1.0}
_ODD = {"tf.Erf": "erf", "tf.Tanh": "tanh"}
_ARITHMETIC = frozenset(
    {*_BINARY, *_QUOTIENTS, *_POWERS, *_ODD, "tf.Mul", "tf.Neg", "tf.Pow", "tf.SquaredDifference", "tf.AddN"}
) | {"tf.DivNoNan", "tf.Erfc", "tf.Sigmoid", "tf.Exp", "tf.Maximum", "tf.Relu"}
_REDUCTIONS = frozenset({"tf.Mean", "tf.Sum"})
_FILLED = {"tf.OnesLike": 1.0, "tf.ZerosLike": 0.0}
_SELECTIONS = frozenset({"tf.Select", "tf.SelectV2"})
_FOLLOWED = _ARITHMETIC | FORWARDED | _REDUCTIONS
_OF_FIRST = FORWARDED | _REDUCTIONS  # the others only say how
_DEEPEST = 24
_SMALL_FLOATS = frozenset({"float16", "bfloat16"})


@dataclass(frozen=True)
class _Computed:
    """An expression of a value, and the axes that a reduction dropped; None for a number, which fits all."""

    expression: Expression
    dropped: tuple[int, ...] | None = ()


@dataclass
class Algebra:
    """Expressions of what is computed from one value, x.

    Attributes:
        x: The value, which is an atom, whatever computes it.
        forms: The expressions.
        kinds: The dtypes and shapes of types that were met.
    """

    x: ir.Value
    forms: Expressions
    kinds: dict[ir.Type, TensorType]
    _known: dict[ir.Value, _Computed] = field(default_factory=dict[ir.Value, "_Computed"])
    _parameters: dict[ir.Value, bool] = field(default_factory=dict[ir.Value, bool])

    def __post_init__(self) -> None:
        self.kind = self.kind_of(self.x)
        self._known[self.x] = own = _Computed(self.forms.value(self.x))
        owner = self.x.owner
        if not isinstance(owner, ir.Block) and owner.name in {"tf.ExpandDims", "tf.Reshape"}:
            before = owner.operands[0]  # may stand for x where it is repeated anyway
            if _without_leading_ones(self.kind_of(before)) == _without_leading_ones(self.kind):
                self._known[before] = own

    def kind_of(self, value: ir.Value) -> TensorType:
        """Returns the dtype and the shape of a value."""
        kind = self.kinds.get(value.type)
        if kind is None:
            kind = self.kinds[value.type] = tensor_type_of(value)
        return kind

    def is_parameter(self, value: ir.Value) -> bool:
        """Whether a value is a weight, or computed from weights and constants alone."""
        if value not in self._parameters:
            self._parameters[value] = is_parameter(value)
        return self._parameters[value]

    def of(self, value: ir.Value, *, aligned: bool = True) -> Expression | None:
        """Returns a value as an expression.

        Args:
            value: The value.
            aligned: Whether it must have the axes of x; else a reduction may have dropped some.
        """
        computed = self._of(value, 0)
        return None if aligned and computed.dropped else computed.expression

    def known_as(self, expression: Expression) -> Iterator[ir.Value]:
        """Yields the values met so far that are equal to an expression."""
        for value, computed in self._known.items():
            if not computed.dropped and self.forms.equal(computed.expression, expression):
                yield value

    def _of(self, value: ir.Value, depth: int) -> _Computed:
        if value in self._known:
            return self._known[value]
        computed = None
        if depth < _DEEPEST:
            with contextlib.suppress(TooLong):
                computed = self._by_op(value, depth)
        self._known[value] = computed = computed or _Computed(self.forms.value(value))
        return computed

    def _by_op(self, value: ir.Value, depth: int) -> _Computed | None:
        op = value.owner
        if isinstance(op, ir.Block):
            return None
        name, forms = op.name, self.forms
        if name == "tf.Const":
            return self._constant(value)
        if name in _FILLED:
            return _Computed(forms.number(_FILLED[name]), None)
        if name in _SELECTIONS:
            chosen = _chosen(op)
            return None if chosen is None else self._of(chosen, depth + 1)
        if name in FORWARDED or _adds_axes(op):
            return self._forwarded(op, value, depth)
        if name in _REDUCTIONS:
            return self._reduced(op, depth)
        if name not in _ARITHMETIC:
            return None
        operands = [self._of(operand, depth + 1) for operand in op.operands]
        frames = {operand.dropped for operand in operands if operand.dropped is not None}
        if len(frames) > 1:
            return None
        first, *others = (operand.expression for operand in operands)
        made: Expression | None = None
        if name in _BINARY:
            made = forms.add(first, others[0], _BINARY[name])
        elif name == "tf.AddN":
            made = first
            for other in others:
                made = forms.add(made, other)
        elif name == "tf.Mul":
            made = forms.multiply(first, others[0])
        elif name == "tf.DivNoNan":  # by a number that is not 0, as of moments with weights
            made = forms.multiply(first, forms.power(others[0], -1.0)) if set(others[0]) == {()} else None
        elif name in _QUOTIENTS:
            made = forms.multiply(first, forms.power(others[0], -1.0))
        elif name == "tf.SquaredDifference":
            made = forms.power(forms.add(first, others[0], -1.0), 2.0)
        elif name in _POWERS:
            made = forms.power(first, _POWERS[name])
        elif name == "tf.Pow":
            exponent = constant_number(op.operands[1])
            made = None if exponent is None else forms.power(first, exponent)
        elif name == "tf.Neg":
            made = forms.add({}, first, -1.0)
        elif name in _ODD:
            made = forms.function(_ODD[name], first)
        elif name == "tf.Erfc":
            made = forms.add(forms.number(1.0), forms.function("erf", first), -1.0)
        elif name == "tf.Sigmoid":
            made = forms.sigmoid(first)
        elif name == "tf.Exp":
            made = forms.exp(first)
        elif name == "tf.Maximum":
            made = self._not_negative(first, others[0])
        elif name == "tf.Relu":
            made = self._not_negative(first, {})
        return None if made is None else _Computed(made, next(iter(frames), None))

    def _constant(self, value: ir.Value) -> _Computed | None:
        kind = self.kind_of(value)
        # A vector of equal elements is a parameter that is not trained yet, not a number of the formula.
        if kind.rank == 1 and kind.sizes[0] not in {1, None} and self.kind.sizes[-1:] == kind.sizes:
            return None
        number = constant_number(value)
        return None if number is None else _Computed(self.forms.number(number), None)

    def _forwarded(self, op: ir.Operation | ir.OpView, value: ir.Value, depth: int) -> _Computed | None:
        operand = op.operands[0]
        before, after = self.kind_of(operand), self.kind_of(value)
        if op.name == "tf.Cast" and not (before.dtype.rstrip("0123456789") in {"float", "bfloat"} and _is_float(after)):
            return None
        inner = self._of(operand, depth + 1)
        if before.shape is None or after.shape is None:
            return inner if before.shape == after.shape else None
        if inner.dropped is None or op.name not in _RESHAPES:
            return inner
        if inner.dropped and self.kind.shape is not None:
            return self._with_axes(inner, before, after)
        if op.name == "tf.BroadcastTo" or _without_leading_ones(before) == _without_leading_ones(after):
            return inner
        return None

    def _with_axes(self, inner: _Computed, before: TensorType, after: TensorType) -> _Computed | None:
        """Returns a reduced value whose axes are back with size 1, or repeated."""
        dropped = inner.dropped or ()
        rank = len(self.kind.sizes)
        if after.rank == before.rank:
            return inner if after.shape == before.shape else None
        if after.rank != rank:
            return None
        kept = [size for axis, size in enumerate(after.sizes) if axis not in dropped]
        fits = kept == [*before.sizes] and all(after.sizes[axis] in {1, self.kind.sizes[axis]} for axis in dropped)
        return _Computed(inner.expression) if fits else None

    def _reduced(self, op: ir.Operation | ir.OpView, depth: int) -> _Computed | None:
        axes = _reduced_axes(op)
        inner = self._of(op.operands[0], depth + 1)
        if axes is None or inner.dropped or self.kind_of(op.operands[0]).rank != self.kind.rank:
            return None
        mean = self.forms.mean(inner.expression, axes)
        if op.name == "tf.Sum":
            sizes = [self.kind_of(op.operands[0]).sizes[axis] for axis in axes]
            count = 1.0
            for size in sizes:
                if not size:
                    return None
                count *= size
            mean = self.forms.multiply(mean, self.forms.number(count))
        kept = ir.BoolAttr(op.attributes["keep_dims"]).value if "keep_dims" in op.attributes else False
        return _Computed(mean, () if kept else axes)

    def _not_negative(self, one: Expression, other: Expression) -> Expression | None:
        """Returns a variance that is kept from being less than 0 by rounding."""
        made = one if other == {} else other if one == {} else None
        if made is None or len(made) != 2 or {round(coefficient, 6) for coefficient in made.values()} != {1.0, -1.0}:
            return None
        atoms = [self.forms.atoms[number] for monomial in made for number, _ in monomial]
        return made if all(atom.name == "mean" for atom in atoms) else None


def _adds_axes(op: ir.Operation | ir.OpView) -> bool:
    """Whether a slice takes everything, and adds axes: ``x[..., None]``."""
    if op.name != "tf.StridedSlice" or not attribute_value(op.attributes["new_axis_mask"]):
        return False
    begin, end, strides = (integer_constant(source(operand)) for operand in list(op.operands)[1:])
    whole = isinstance(begin, list) and not any(begin) and begin == end and strides == [1] * len(begin)
    return whole and not attribute_value(op.attributes["shrink_axis_mask"])


def _chosen(op: ir.Operation | ir.OpView) -> ir.Value | None:
    """Returns what a selection always chooses, as JAX's variances do, which would be NaN of nothing."""
    condition = stored(source(op.operands[0]))
    if condition is None or not condition.is_splat:
        return None
    elements: npt.NDArray[Any] = np.array(condition)
    if not elements.size:
        return None
    chosen = op.operands[1 if elements.reshape(-1)[0] else 2]
    return chosen if tensor_type_of(chosen).shape == tensor_type_of(op.results[0]).shape else None


def _is_float(kind: TensorType) -> bool:
    return kind.dtype.startswith(("float", "bfloat"))


def _without_leading_ones(kind: TensorType) -> tuple[int | None, ...]:
    sizes = kind.sizes
    first = next((axis for axis, size in enumerate(sizes) if size != 1), len(sizes))
    return sizes[first:]


def _reduced_axes(op: ir.Operation | ir.OpView) -> tuple[int, ...] | None:
    """Returns the axes of a reduction, in order and from the first; None if they are not known."""
    rank = tensor_type_of(op.operands[0]).rank
    axes = integer_constant(op.operands[1])
    if axes is None or rank is None or rank == 0:
        return None
    return tuple(sorted({axis % rank for axis in ([axes] if isinstance(axes, int) else axes)}))


def ancestors(value: ir.Value, steps: int) -> Iterator[ir.Value]:
    """Yields what a value is computed from by arithmetic and means, nearest first."""
    seen = {value}
    level = [value]
    for _ in range(steps):
        below: list[ir.Value] = []
        for reached in level:
            op = reached.owner
            if isinstance(op, ir.Block):
                continue
            if op.name in _SELECTIONS:
                chosen = _chosen(op)
                operands = [] if chosen is None else [chosen]
            elif _adds_axes(op):
                operands = [op.operands[0]]
            elif op.name in _FOLLOWED:
                operands = list(op.operands)[:1] if op.name in _OF_FIRST else list(op.operands)
            else:
                continue
            for operand in operands:
                if operand not in seen and not is_constant(operand):
                    seen.add(operand)
                    below.append(operand)
                    yield operand
        level = below


def successors(value: ir.Value, steps: int, follow: Callable[[ir.Value], bool]) -> Iterator[ir.Value]:
    """Yields what is computed from a value by arithmetic, nearest first.

    Args:
        value: The value.
        steps: How many ops may be in between.
        follow: Whether to go on to what is computed from a value; if not, it is not yielded either.
    """
    seen = {value}
    level = [value]
    for _ in range(steps):
        above: list[ir.Value] = []
        for reached in level:
            for use in reached.uses:
                op = use.owner
                if op.name not in _ARITHMETIC and op.name not in FORWARDED and not _adds_axes(op):
                    continue
                result = op.results[0]
                if result not in seen:
                    seen.add(result)
                    if follow(result):
                        above.append(result)
                        yield result
        level = above


def is_parameter(value: ir.Value, depth: int = 8) -> bool:
    """Whether a value is a weight, or computed from weights and constants alone."""
    op = value.owner
    if isinstance(op, ir.Block):  # a weight that a loop hands on: a vector is not a batch of data
        return tensor_type_of(value).rank == 1
    if op.name in {"tf.Const", "tf.ReadVariableOp"}:
        return True
    return (
        depth > 0
        and (op.name in _ARITHMETIC or op.name in FORWARDED)
        and all(is_parameter(operand, depth - 1) for operand in op.operands)
    )


def precision(kind: TensorType) -> float:
    """Returns how much the numbers of a formula may differ where a model computes with a dtype."""
    return 4e-3 if kind.dtype in _SMALL_FLOATS else 1e-5
