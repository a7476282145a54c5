"""Finds GELU, and activations that gate another value: SwiGLU and GeGLU."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from litefuse.fusions.recognizers.layers.algebra import Algebra, ancestors, is_parameter, precision, successors
from litefuse.fusions.recognizers.layers.expressions import Expressions, expression_of
from litefuse.fusions.recognizers.layers.layer import Graph, NamedLayer, NearMiss, Reference, where
from litefuse.fusions.recognizers.pattern import Pattern, Variable, erf, sigmoid, tanh
from litefuse.fusions.recognizers.regions import NotRecognized
from litefuse.ir.builder import Builder
from litefuse.ir.defining_ops import source
from litefuse.ir.mlir import ir
from litefuse.ir.tensors import Tensor
from litefuse.ir.types import tensor_type_of

# Constants that differ by so much at most are meant to be the same.
_NEAR = 0.25

GELU, SWIGLU, GEGLU = "GELU", "SwiGLU", "GeGLU"


def gelu(x: Pattern) -> Pattern:
    """GELU (Hendrycks and Gimpel, 2016): x times the normal distribution function of x."""
    return 0.5 * x * (1 + erf(x / 2**0.5))


def gelu_by_tanh(x: Pattern) -> Pattern:
    """The approximation of GELU in the same paper."""
    return 0.5 * x * (1 + tanh((2 / math.pi) ** 0.5 * (x + 0.044715 * x**3)))


def silu(x: Pattern) -> Pattern:
    """SiLU, or swish."""
    return x * sigmoid(x)


class _Formula(NamedTuple):
    """An activation.

    Attributes:
        formula: What it computes.
        anchors: The op that is only in it.
        name: The name of its composite; None if it counts only as a gate.
        gated: The kind of layer in which it gates a value, and the name of that composite.
        attributes: The attributes.
    """

    formula: Callable[[Pattern], Pattern]
    anchors: frozenset[str]
    name: str | None
    gated: tuple[str, str]
    attributes: Mapping[str, Any]


_FORMULAS = (
    _Formula(
        gelu, frozenset({"tf.Erf", "tf.Erfc"}), "litefuse.gelu", (GEGLU, "litefuse.geglu"), {"approximate": False}
    ),
    _Formula(gelu_by_tanh, frozenset({"tf.Tanh"}), "litefuse.gelu", (GEGLU, "litefuse.geglu"), {"approximate": True}),
    _Formula(silu, frozenset({"tf.Sigmoid", "tf.Exp"}), None, (SWIGLU, "litefuse.swiglu"), {}),
)


class Activations:
    """Finds activations by their formulas, and the products in which they gate another value::

    GELU:    0.5 * x * (1 + erf(x / sqrt(2))), or its approximation by tanh
    SwiGLU:  x * sigmoid(x) * up
    GeGLU:   gelu(x) * up
    """

    def find(self, graph: Graph) -> Iterator[NamedLayer | NearMiss]:
        for formula in _FORMULAS:
            for op in graph.named(*formula.anchors):
                if not is_parameter(op.operands[0]):
                    yield from _find(graph, formula, op.results[0])


def _find(graph: Graph, entry: _Formula, anchor: ir.Value) -> Iterator[NamedLayer | NearMiss]:
    owner = anchor.owner
    assert not isinstance(owner, ir.Block)
    shape = graph.kind(anchor).shape
    operand = owner.operands[0]
    # The nearest that fits: the argument of a sigmoid itself, or what that of erf and tanh is computed from.
    for x in [operand, *ancestors(operand, 6)][:8]:
        if graph.kind(x).shape != shape:
            continue
        activated = _activated(graph, entry, x, anchor)
        if activated is None:
            continue
        gated = list(_gated(graph, entry, x, activated, anchor))
        yield from gated
        if not gated and entry.name is not None:
            reference = _reference(entry, gated=False)
            attributes = dict(entry.attributes)
            yield NamedLayer(entry.name, GELU, [x], [activated], attributes, reference, core=anchor)
        return
    if entry.name is not None:
        near = _near(graph, entry, operand, anchor)
        if near is not None:
            yield near


def _activated(graph: Graph, entry: _Formula, x: ir.Value, anchor: ir.Value) -> ir.Value | None:
    """Returns the activation of x that an anchor is in."""
    algebra = Algebra(x, Expressions(precision(graph.kind(x))), graph.kinds)
    variable = Variable("x")
    expected = expression_of(entry.formula(variable), {variable: algebra.forms.value(x)}, algebra.forms)
    atoms = algebra.forms.numbers_of(expected)

    def is_part(value: ir.Value) -> bool:
        expression = algebra.of(value)
        return expression is not None and all(number in atoms for monomial in expression for number, _ in monomial)

    for value in successors(anchor, 6, is_part):
        if graph.kind(value).shape != algebra.kind.shape:
            continue
        expression = algebra.of(value)
        if expression is not None and algebra.forms.equal(expression, expected):
            try:
                graph.region([x], [value])
            except NotRecognized:
                continue
            return value
    return None


def _gated(graph: Graph, entry: _Formula, x: ir.Value, activated: ir.Value, anchor: ir.Value) -> Iterator[NamedLayer]:
    """Yields the products of an activation with another value of its shape."""
    kind, name = entry.gated
    for use in activated.uses:
        op = use.owner
        if op.name != "tf.Mul":
            continue
        other = op.operands[1 - use.operand_number]
        same_shape = tensor_type_of(other).shape == tensor_type_of(activated).shape
        if not same_shape or is_parameter(other) or source(other) in {source(x), source(activated)}:
            continue
        try:
            region = graph.region([x, other], [op.results[0]])
        except NotRecognized:
            continue
        # What gates is computed from x alone.
        if graph.order[activated] in region.inside:
            reference = _reference(entry, gated=True)
            yield NamedLayer(name, kind, [x, other], [op.results[0]], dict(entry.attributes), reference, core=anchor)


def _near(graph: Graph, entry: _Formula, operand: ir.Value, anchor: ir.Value) -> NearMiss | None:
    """Returns how a product with an anchor is nearly the activation: the same terms with other numbers."""
    for x in [operand, *ancestors(operand, 6)][:8]:
        algebra = Algebra(x, Expressions(_NEAR), graph.kinds)
        variable = Variable("x")
        expected = expression_of(entry.formula(variable), {variable: algebra.forms.value(x)}, algebra.forms)
        for value in successors(anchor, 4, lambda _: True):
            expression = algebra.of(value)
            if expression is None or len(expression) != len(expected):
                continue
            if algebra.forms.equal(expression, expected):
                return NearMiss(GELU, where(value), "its constants are others", 2)
    return None


def _reference(entry: _Formula, *, gated: bool) -> Reference:
    def build(b: Builder, arguments: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
        x = arguments[0]
        if entry.name is None:
            y = x * b.unary("Sigmoid", x)
        else:
            if attributes["approximate"]:
                cube = x * (x * x) * 0.044715
                inner = b.unary("Tanh", (x + cube) * (2 / math.pi) ** 0.5)
            else:
                inner = b.unary("Erf", x * 2**-0.5)
            y = x * 0.5 * (inner + 1.0)
        return [y * arguments[1] if gated else y]

    return build
