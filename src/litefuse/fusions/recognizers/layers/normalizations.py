"""Finds layer, group and RMS normalizations."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from litefuse.fusions.recognizers.layers.algebra import (
    FORWARDED,
    Algebra,
    ancestors,
    is_parameter,
    precision,
    successors,
)
from litefuse.fusions.recognizers.layers.expressions import Atom, Expression, Expressions
from litefuse.fusions.recognizers.layers.layer import Graph, NamedLayer, NearMiss, where
from litefuse.fusions.recognizers.regions import NotRecognized
from litefuse.ir.attributes import attribute_value
from litefuse.ir.builder import Builder
from litefuse.ir.defining_ops import constant_number, source
from litefuse.ir.mlir import ir
from litefuse.ir.tensors import Tensor, rsqrt
from litefuse.ir.types import tensor_type_of

LAYER, GROUP, RMS = "layer normalization", "group normalization", "RMS normalization"

_ROOTS = frozenset({"tf.Rsqrt", "tf.Sqrt", "tf.Pow"})
_REDUCTIONS = frozenset({"tf.Mean", "tf.Sum"})
_CANDIDATES = 12


@dataclass(frozen=True)
class _Divisor:
    """Divisor of a normalization: the root of a mean, plus epsilon; the mean of x is None for an RMS normalization."""

    algebra: Algebra
    root: int
    mean: int | None
    axes: tuple[int, ...]
    epsilon: float


@dataclass(frozen=True)
class _Normalized:
    """A normalization with what it is scaled and shifted by."""

    result: ir.Value
    scale: ir.Value | None
    offset: ir.Value | None


class Normalizations:
    """Finds what is divided by the root of its own variance, or of the mean of its squares, plus epsilon::

    layer:  (x - mean(x)) / sqrt(mean((x - mean(x))**2) + epsilon) * scale + offset
    RMS:    x / sqrt(mean(x**2) + epsilon) * scale
    group:  the same as layer, over all axes but the first and the groups of channels
    """

    def find(self, graph: Graph) -> Iterator[NamedLayer | NearMiss]:
        for op in graph.named(*_ROOTS):
            if is_parameter(op.operands[0]):
                continue
            yield from _find(graph, op.results[0])


def _find(graph: Graph, root: ir.Value) -> Iterator[NamedLayer | NearMiss]:
    owner = root.owner
    assert not isinstance(owner, ir.Block)
    misses: list[NearMiss] = []
    divisors: list[_Divisor] = []
    for x in _candidates(graph, root):
        divisor = _divisor(graph, x, owner.operands[0])
        if isinstance(divisor, NearMiss):
            misses.append(divisor)
        elif divisor is not None:
            divisors.append(divisor)
            if divisor.mean is not None:
                break
    # What is centered before the squares are taken is a layer normalization of what it was before.
    for divisor in sorted(divisors, key=lambda divisor: divisor.mean is None):
        results = _normalized(graph, divisor, root)
        if results:
            for result in results:
                yield replace(_named(graph, divisor, result), core=root)
            return
        kind = RMS if divisor.mean is None else LAYER
        without = "" if divisor.epsilon else ", without an epsilon,"
        reason = f"what is divided by the root{without} is not what the root is of"
        misses.append(NearMiss(kind, where(root), reason, 1))
    if misses:
        yield max(misses, key=lambda miss: miss.matched)


def _candidates(graph: Graph, root: ir.Value) -> list[ir.Value]:
    """Returns the values that may be x: those that means on the way to a root are of, and what these are made of."""
    candidates: list[ir.Value] = []
    for value in ancestors(root, 10):
        op = value.owner
        if isinstance(op, ir.Block) or op.name not in _REDUCTIONS:
            continue
        shape = graph.kind(op.operands[0]).shape
        for ancestor in (op.operands[0], *ancestors(op.operands[0], 6)):
            if ancestor not in candidates and graph.kind(ancestor).shape == shape and len(candidates) < _CANDIDATES:
                candidates.append(ancestor)
    return candidates


def _divisor(graph: Graph, x: ir.Value, value: ir.Value) -> _Divisor | NearMiss | None:
    """Returns a divisor of x, if a value is the variance of x, or the mean of its squares, plus a number."""
    algebra = Algebra(x, Expressions(precision(graph.kind(x))), graph.kinds)
    forms = algebra.forms
    expression = algebra.of(value, aligned=False)
    if expression is None:
        return None
    own = forms.value(x)
    axes = {atom.axes for atom in forms.atoms_of(expression) if atom.name == "mean"}
    if len(axes) != 1:
        return None
    (over,) = axes
    epsilon = expression.get((), 0.0)
    rest = {monomial: coefficient for monomial, coefficient in expression.items() if monomial}
    squares = forms.mean(forms.power(own, 2.0), over)
    mean = forms.mean(own, over)
    variance = forms.add(squares, forms.power(mean, 2.0), -1.0)
    for expected, kind in ((variance, LAYER), (squares, RMS)):
        if forms.equal(rest, expected):
            root = forms.atom(Atom("power", argument=expression))
            ((((number, _),), _),) = mean.items()
            return _Divisor(algebra, root, number if kind == LAYER else None, over, epsilon)
        factors = forms.factor_between(rest, expected)
        if factors is not None:
            what = "the variance" if kind == LAYER else "the mean of squares"
            matched = 3 if kind == LAYER else 2
            return NearMiss(kind, where(value), f"it divides by the root of {factors:.6g} times {what}", matched)
    return None


def _normalized(graph: Graph, divisor: _Divisor, root: ir.Value) -> list[_Normalized]:
    """Returns the results of a normalization, with the parameters that are in them.

    There are several where layers with other parameters have the same input.
    """
    algebra = divisor.algebra
    shape = algebra.kind.shape
    own = {algebra.x, None}

    def is_part(value: ir.Value) -> bool:
        expression = algebra.of(value, aligned=False)
        for monomial in expression or {}:
            of_root = any(number == divisor.root for number, _ in monomial)
            for number, _ in monomial:
                atom = algebra.forms.atoms[number].value
                if not (of_root and (atom in own)) and (atom is None or not algebra.is_parameter(atom)):
                    return False
        return expression is not None

    normalized: list[_Normalized] = []
    for value in successors(root, 10, is_part):
        # What is copied or cast may have other users, which are users of the layer.
        if graph.kind(value).shape != shape or _is_copy(value):
            continue
        expression = algebra.of(value)
        parts = None if expression is None else _parts(divisor, expression)
        if parts is None:
            continue
        weights = _parameters(algebra, *parts)
        if weights is None:
            continue
        made = _Normalized(value, *weights)
        try:
            sources = (algebra.x, _behind_reshape(algebra.x), made.scale, made.offset)
            region = graph.region([parameter for parameter in sources if parameter is not None], [value])
        except NotRecognized:
            continue
        # Of what is a part of another, only the whole.
        normalized = [other for other in normalized if graph.order[other.result] not in region.inside]
        normalized.append(made)
    return normalized


def _is_copy(value: ir.Value) -> bool:
    owner = value.owner
    return not isinstance(owner, ir.Block) and owner.name in FORWARDED


def _parts(divisor: _Divisor, expression: Expression) -> tuple[Expression, Expression] | None:
    """Returns scale and offset of a normalization."""
    forms, algebra = divisor.algebra.forms, divisor.algebra
    ((((x, _),), _),) = forms.value(algebra.x).items()
    scale: Expression = {}
    means: Expression = {}
    offset: Expression = {}
    for monomial, coefficient in expression.items():
        powers = dict(monomial)
        root = powers.pop(divisor.root, None)
        if root is None:
            if any(atom.name != "value" or atom.value == algebra.x for atom in forms.atoms_of({monomial: 1.0})):
                return None
            offset[monomial] = coefficient
            continue
        of_x = powers.pop(x, None)
        of_mean = None if divisor.mean is None else powers.pop(divisor.mean, None)
        if root != -0.5 or {of_x, of_mean} != {None, 1.0}:
            return None
        (scale if of_mean is None else means)[tuple(sorted(powers.items()))] = coefficient
    opposite = {monomial: -coefficient for monomial, coefficient in means.items()}
    if not scale or (divisor.mean is not None and not forms.equal(scale, opposite)):
        return None
    if any(atom.name != "value" or atom.value == algebra.x for atom in forms.atoms_of(scale)):
        return None
    return (scale, offset) if divisor.mean is not None or not offset else None


def _parameters(
    algebra: Algebra, scale: Expression, offset: Expression
) -> tuple[ir.Value | None, ir.Value | None] | None:
    """Returns the weights that are equal to expressions, or None for 1 and 0; None if one is not a weight."""
    parameters: list[ir.Value | None] = []
    for expression, neutral in ((scale, 1.0), (offset, 0.0)):
        if algebra.forms.equal(expression, algebra.forms.number(neutral)):
            parameters.append(None)
            continue
        weights = [value for value in algebra.known_as(expression) if algebra.is_parameter(value)]
        if not weights or expression.keys() == {()}:  # a number is what comes next in the model
            return None
        parameters.append(min(weights, key=lambda value: abs((algebra.kind_of(value).rank or 0) - 1)))
    return parameters[0], parameters[1]


# From here on: names.


def _named(graph: Graph, divisor: _Divisor, found: _Normalized) -> NamedLayer:
    x = divisor.algebra.x
    kind = tensor_type_of(x)
    rank = len(kind.sizes)
    sizes = [kind.sizes[axis] for axis in divisor.axes]
    parameters = [parameter for parameter in (found.scale, found.offset) if parameter is not None]
    vectors = frozenset(range(1, 1 + len(parameters)))
    last = divisor.axes == (rank - 1,)
    fits = all(_size(parameter) == sizes[0] for parameter in parameters) if last else False
    in_order = found.offset is None or found.scale is not None
    attributes: dict[str, Any] = {"epsilon": divisor.epsilon}
    if divisor.mean is None:
        if last and fits and 2 <= rank <= 4:
            return NamedLayer("odml.rms_norm", RMS, (x, *parameters), [found.result], attributes, rms_norm, vectors)
        attributes["axes"] = list(divisor.axes)
        return NamedLayer("litefuse.rms_norm", RMS, (x, *parameters), [found.result], attributes)
    grouped = _grouped(graph, divisor, found)
    if grouped is not None:
        return grouped
    if last and fits and in_order and rank <= 4:
        attributes |= {"num_groups": 1, "channel_axis": rank - 1, "sub_type": 1}
        return NamedLayer("odml.group_norm", LAYER, (x, *parameters), [found.result], attributes, layer_norm, vectors)
    attributes["axes"] = list(divisor.axes)
    return NamedLayer("litefuse.layer_norm", LAYER, (x, *parameters), [found.result], attributes)


def _size(value: ir.Value) -> int | None:
    sizes = tensor_type_of(value).sizes
    return None if None in sizes else math.prod(size for size in sizes if size is not None)


def _grouped(graph: Graph, divisor: _Divisor, found: _Normalized) -> NamedLayer | None:
    """Returns the group normalization that a layer normalization over all axes but the first and one of groups is."""
    x = divisor.algebra.x
    rank = len(tensor_type_of(x).sizes)
    attributes: dict[str, Any] = {"epsilon": divisor.epsilon}
    spatial = tuple(range(1, rank - 1))
    if rank in {3, 4} and divisor.axes in {spatial, (*spatial, rank - 1)}:
        channels = tensor_type_of(x).sizes[-1]
        groups = channels if divisor.axes == spatial else 1
        result, scale, offset, source = found.result, found.scale, found.offset, x
    elif rank > 2 and divisor.axes == tuple(axis for axis in range(1, rank) if axis != rank - 2):
        source = _behind_reshape(x)
        result = _reshaped_back(found.result, source) if source is not None else None
        if source is None or result is None:
            return None
        groups, channels = tensor_type_of(x).sizes[-2], tensor_type_of(source).sizes[-1]
        scale, offset = found.scale, found.offset
        if scale is None and offset is None:
            result, scale, offset = scaled(graph, source, result)
    else:
        return None
    parameters = [parameter for parameter in (scale, offset) if parameter is not None]
    if (
        groups is None
        or (offset is not None and scale is None)
        or any(_size(parameter) != channels for parameter in parameters)
    ):
        return None
    out = len(tensor_type_of(source).sizes)
    if out > 4:
        return None
    attributes |= {"num_groups": groups, "channel_axis": out - 1, "sub_type": 0}
    vectors = frozenset(range(1, 1 + len(parameters)))
    return NamedLayer("odml.group_norm", GROUP, (source, *parameters), [result], attributes, group_norm, vectors)


def _behind_reshape(x: ir.Value) -> ir.Value | None:
    """Returns what channels are split into groups of."""
    op = x.owner
    if isinstance(op, ir.Block) or op.name != "tf.Reshape":
        return None
    before, after = tensor_type_of(op.operands[0]).sizes, tensor_type_of(x).sizes
    if len(after) != len(before) + 1 or before[:-1] != after[:-2] or None in (*after[-2:], *before[-1:]):
        return None
    return op.operands[0]


def _reshaped_back(result: ir.Value, source: ir.Value) -> ir.Value | None:
    shape = tensor_type_of(source).shape
    for use in result.uses:
        op = use.owner
        if op.name == "tf.Reshape" and tensor_type_of(op.results[0]).shape == shape:
            return op.results[0]
    return None


def scaled(graph: Graph, x: ir.Value, result: ir.Value) -> tuple[ir.Value, ir.Value | None, ir.Value | None]:
    """Returns a normalized value with the scale and the offset that follow it."""
    algebra = Algebra(result, Expressions(precision(graph.kind(result))), graph.kinds)
    ((own, _),) = algebra.forms.value(result).items()
    best: tuple[ir.Value, ir.Value | None, ir.Value | None] = (result, None, None)
    for value in successors(result, 3, lambda _: True):
        expression = algebra.of(value)
        if expression is None or tensor_type_of(value).shape != tensor_type_of(result).shape:
            continue
        scale = {
            tuple(factor for factor in monomial if factor != own[0]): coefficient
            for monomial, coefficient in expression.items()
            if own[0] in monomial
        }
        offset = {monomial: coefficient for monomial, coefficient in expression.items() if own[0] not in monomial}
        weights = _parameters(algebra, scale, offset)
        if weights is None or (weights[0] is None and weights[1] is not None):
            continue
        made = value, *weights
        try:
            graph.region([operand for operand in (x, *made[1:]) if operand is not None], [value])
        except NotRecognized:
            continue
        best = made
    return best


class FusedBatchNorms:
    """Finds batch normalizations of one sample, whose channels are all vectors of x::

    y, ... = FusedBatchNormV3(reshape(x, [1, n, d, 1]), ones, zeros, data_format=NCHW, is_training)
    reshape(y, shape(x)) * scale + offset
    """

    def find(self, graph: Graph) -> Iterator[NamedLayer | NearMiss]:
        for op in graph.named("tf.FusedBatchNormV3"):
            layer = _found_batch_norm(graph, op)
            if layer is not None:
                yield layer


def _found_batch_norm(graph: Graph, op: ir.OpView) -> NamedLayer | NearMiss | None:
    image = op.operands[0]
    reshape = image.owner
    if isinstance(reshape, ir.Block) or reshape.name != "tf.Reshape":
        return None
    if not attribute_value(op.attributes["is_training"]) or attribute_value(op.attributes["data_format"]) != "NCHW":
        return None
    x = reshape.operands[0]
    kind = graph.kind(x)
    size = kind.sizes[-1] if kind.sizes else None
    back = _back_in_shape(graph, op.results[0], x)
    vectors = graph.kind(image).sizes
    if back is None or size is None or len(vectors) != 4 or (vectors[0], *vectors[2:]) != (1, size, 1):
        return None
    if _filled(op.operands[1]) != 1 or _filled(op.operands[2]) != 0:
        return NearMiss(LAYER, where(back), "the batch normalization that computes it has a scale or an offset", 2)
    result, scale, offset = scaled(graph, x, back)
    parameters = [parameter for parameter in (scale, offset) if parameter is not None]
    if (offset is not None and scale is None) or any(
        graph.kind(parameter).sizes != (size,) for parameter in parameters
    ):
        result, parameters = back, []
    if len(kind.sizes) > 4:
        attributes = {"epsilon": attribute_value(op.attributes["epsilon"]), "axes": [len(kind.sizes) - 1]}
        return NamedLayer("litefuse.layer_norm", LAYER, (x, *parameters), [result], attributes)
    attributes = {
        "epsilon": attribute_value(op.attributes["epsilon"]),
        "num_groups": 1,
        "channel_axis": len(kind.sizes) - 1,
        "sub_type": 1,
    }
    return NamedLayer("odml.group_norm", LAYER, (x, *parameters), [result], attributes, layer_norm, core=op.results[0])


def _back_in_shape(graph: Graph, value: ir.Value, x: ir.Value) -> ir.Value | None:
    for use in value.uses:
        op = use.owner
        if op.name == "tf.Reshape" and graph.kind(op.results[0]).shape == graph.kind(x).shape:
            return op.results[0]
    return None


def _filled(value: ir.Value) -> float | None:
    """Returns the number that all elements of a value are."""
    op = source(value).owner
    if not isinstance(op, ir.Block) and op.name == "tf.Fill":
        return constant_number(op.operands[1])
    return constant_number(value)


def _mean(b: Builder, x: Tensor, axes: Sequence[int]) -> Tensor:
    kind = tensor_type_of(x)
    shape = [1 if axis in axes else size for axis, size in enumerate(kind.sizes)]
    return b.op("Mean", [x, b.constant(list(axes), "int32")], shape, kind.dtype, keep_dims=True)


def _inverse_root(value: Tensor, epsilon: float) -> Tensor:
    return rsqrt(value + epsilon)


def rms_norm(b: Builder, arguments: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    """Builds RMS normalization over the last axis: ``odml.rms_norm``."""
    x, *scale = arguments
    axis = len(tensor_type_of(x).sizes) - 1
    y = x * _inverse_root(_mean(b, x * x, [axis]), attributes["epsilon"])
    return [y * scale[0] if scale else y]


def layer_norm(b: Builder, arguments: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    """Builds layer normalization over the last axis: ``odml.group_norm`` with ``sub_type`` 1."""
    axis = len(tensor_type_of(arguments[0]).sizes) - 1
    return [_affine(_standardized(b, arguments[0], [axis], attributes["epsilon"]), arguments[1:])]


def group_norm(b: Builder, arguments: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    """Builds group normalization, channels last: ``odml.group_norm`` with ``sub_type`` 0."""
    x = arguments[0]
    sizes = tensor_type_of(x).sizes
    groups, channels = attributes["num_groups"], sizes[-1] or 0
    whole = b.sizes(x)
    split = b.reshape(x, [*whole[:-1], groups, channels // groups])
    axes = [*range(1, len(sizes) - 1), len(sizes)]
    y = b.reshape(_standardized(b, split, axes, attributes["epsilon"]), whole)
    return [_affine(y, arguments[1:])]


def _standardized(b: Builder, x: Tensor, axes: Sequence[int], epsilon: float) -> Tensor:
    centered = x - _mean(b, x, axes)
    return centered * _inverse_root(_mean(b, centered * centered, axes), epsilon)


def _affine(x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
    y = x * parameters[0] if parameters else x
    return y + parameters[1] if len(parameters) > 1 else y
