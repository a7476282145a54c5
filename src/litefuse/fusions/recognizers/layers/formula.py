"""Formulas, as they are written for recognizers, in the canonical form of expressions."""

from __future__ import annotations

from collections.abc import Mapping

from litefuse.fusions.recognizers.layers.expressions import Expression, Expressions
from litefuse.fusions.recognizers.pattern import Number, Op, Pattern, Product, Sum

__all__ = ["expression_of"]

_POWERS = {"tf.Square": 2.0, "tf.Sqrt": 0.5, "tf.Rsqrt": -0.5}


def expression_of(formula: Pattern, known: Mapping[Pattern, Expression], forms: Expressions) -> Expression:
    """Returns a formula as an expression.

    Args:
        formula: The formula, made of numbers, sums, products, quotients, powers, and functions of each element.
        known: The expressions of its parameters.
        forms: The expressions.
    """
    if formula in known:
        return known[formula]
    match formula:
        case Number():
            return forms.number(formula.value)
        case Sum():
            made: Expression = {}
            for term in formula.terms:
                made = forms.add(made, expression_of(term, known, forms))
            return made
        case Product():
            made = forms.number(1.0)
            for factor in formula.terms:
                made = forms.multiply(made, expression_of(factor, known, forms))
            return made
        case Op():
            operands = [expression_of(operand, known, forms) for operand in formula.operands]
            return _applied(formula.name, operands, forms)
        case _:
            raise TypeError(formula)


def _applied(name: str, operands: list[Expression], forms: Expressions) -> Expression:
    first = operands[0]
    match name:
        case "tf.Sub":
            return forms.add(first, operands[1], -1.0)
        case "tf.RealDiv":
            return forms.multiply(first, forms.power(operands[1], -1.0))
        case "tf.Neg":
            return forms.add({}, first, -1.0)
        case "tf.Pow":
            return forms.power(first, operands[1].get((), 0.0))
        case "tf.Erf" | "tf.Tanh":
            return forms.function(name.removeprefix("tf.").lower(), first)
        case "tf.Exp":
            return forms.exp(first)
        case "tf.Sigmoid":
            return forms.sigmoid(first)
        case _ if name in _POWERS:
            return forms.power(first, _POWERS[name])
        case _:
            raise TypeError(name)
