"""Finds composites without loops: values of a function that are computed by a recognizer's formula."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from litefuse.errors import FusionError
from litefuse.fusions.recognizers.matching import ADDITIONS, PRODUCTS, Match, Mismatch, match
from litefuse.fusions.recognizers.pattern import OneOf, Op, Pattern, Product, Sum, Variable
from litefuse.fusions.recognizers.recognizer import Recognizer
from litefuse.fusions.recognizers.recurrent.cells import number
from litefuse.fusions.recognizers.regions import outline_ops, value_name
from litefuse.ir.defining_ops import constant_number
from litefuse.ir.mlir import func, ir
from litefuse.ir.types import tensor_type_of
from litefuse.support.plug_ins.entry_points import place_of, third_party_code

# A mismatch before these many parts matched is not a near miss: most of a model computes something else.
_NEAR = 3


@dataclass
class FormulaSearch:
    """The search for one recognizer's formula in one model.

    Attributes:
        recognizer: The recognizer.
        arguments: The formula's arguments.
        numbers: The attributes that are constant numbers of the model.
        results: The formula's results.
        places: The names of the nodes where it was found.
        closest: The number of matching parts and a description of the nearest miss; None if there is none.
    """

    recognizer: Recognizer
    arguments: tuple[Variable, ...]
    numbers: Mapping[str, Variable]
    results: tuple[Pattern, ...]
    places: list[str]
    closest: tuple[int, str] | None = None

    def outline_all(self, module: ir.Module, function: func.FuncOp) -> bool:
        """Outlines each computation of the formula in a function; returns whether there is one."""
        names = _op_names(self.results[0])
        ops = list(function.entry_block.operations)
        index, modified = len(ops), False
        while index:
            index -= 1
            op = ops[index]
            if len(op.results) == 0 or (names is not None and op.name not in names):
                continue
            for result in op.results:
                if self._outline(module, function, result):
                    modified = True
                    ops = list(function.entry_block.operations)
                    index = min(index, len(ops))
                    break
        return modified

    def _outline(self, module: ir.Module, function: func.FuncOp, value: ir.Value) -> bool:
        matched = match(self.results[:1], [value])
        if isinstance(matched, Mismatch):
            self._remember(matched.matched, str(matched))
            return False
        unused = [str(argument) for argument in self.arguments if argument not in matched.values]
        if unused:
            self._remember(len(matched), f"{value_name(value)}: it is computed without {', '.join(unused)}")
            return False
        attributes = {
            **self.recognizer.attributes,
            **{name: _number(matched, variable) for name, variable in self.numbers.items()},
        }
        arguments = [matched[argument] for argument in self.arguments]
        reason = self._reason([tensor_type_of(argument) for argument in arguments], attributes)
        if reason is not None:
            self._remember(len(matched), f"{value_name(value)}: {reason}")
            return False
        self.places.append(value_name(value))
        outline_ops(
            module, function, self.recognizer.name, attributes, arguments, [matched[result] for result in self.results]
        )
        return True

    def _reason(self, kinds: Sequence[Any], attributes: Mapping[str, Any]) -> str | None:
        with third_party_code("the recognizer's check failed", _where(self.recognizer), FusionError):
            return self.recognizer.check(kinds, attributes)

    def _remember(self, matched: int, text: str) -> None:
        if matched >= _NEAR and (self.closest is None or matched > self.closest[0]):
            self.closest = matched, text


def formula_search(recognizer: Recognizer) -> FormulaSearch:
    """Prepares the search for a recognizer's formula.

    Raises:
        FusionError: The formula cannot be evaluated, computes nothing, or does not use one of its parameters.
    """
    arguments: list[Variable] = []
    numbers: dict[str, Variable] = {}
    for name, parameter in inspect.signature(recognizer.formula).parameters.items():
        if parameter.kind == inspect.Parameter.KEYWORD_ONLY:
            numbers[name] = number(name)
        else:
            arguments.append(Variable(name))
    try:
        with third_party_code("the recognizer's formula failed", _where(recognizer), FusionError):
            made: Any = recognizer.formula(*arguments, **numbers)
    except FusionError as error:
        error.hint = error.hint or "Formulas have operators, numbers, and functions of litefuse.fusions.recognizers."
        raise
    returned = list(cast("Sequence[Any]", made)) if isinstance(made, (list, tuple)) else [made]
    results = tuple(result for result in returned if isinstance(result, Pattern))
    if not results or len(results) < len(returned):
        raise FusionError(
            f"the formula gives {made!r}, which is not a pattern",
            where=_where(recognizer),
            hint="Return what it computes, or a tuple of it.",
        )
    if isinstance(results[0], Variable):
        raise FusionError("the formula computes nothing: it gives one of its parameters", where=_where(recognizer))
    used = set(_variables(results))
    unused = [argument.name for argument in arguments if argument not in used]
    if unused:
        raise FusionError(
            f"the formula does not use its parameter {unused[0]!r}",
            where=_where(recognizer),
            hint="Its parameters are the arguments of the composite, each of which it computes with.",
        )
    return FormulaSearch(recognizer, tuple(arguments), numbers, results, [])


def _variables(pattern: Any) -> Iterator[Variable]:
    if isinstance(pattern, Variable):
        yield pattern
    elif isinstance(pattern, tuple | Pattern):
        parts = vars(pattern).values() if isinstance(pattern, Pattern) else cast("tuple[Any, ...]", pattern)
        for part in parts:
            yield from _variables(part)


def _where(recognizer: Recognizer) -> str:
    formula = recognizer.formula
    return f"recognizer {recognizer.name!r}, {place_of(formula) or formula.__qualname__}"


def _number(matched: Match, variable: Variable) -> float:
    if variable in matched.numbers:
        return matched.numbers[variable]
    value = constant_number(matched[variable])
    assert value is not None
    return value


def _op_names(pattern: Pattern) -> frozenset[str] | None:
    """Returns the ops that may compute a pattern's result; None for any."""
    match pattern:
        case Op():
            return frozenset({pattern.name})
        case Sum():
            return ADDITIONS
        case Product():
            return PRODUCTS
        case OneOf():
            names = [_op_names(alternative) for alternative in pattern.alternatives]
            known = [name for name in names if name is not None]
            return frozenset[str]().union(*known) if len(known) == len(names) else None
        case _:
            return None
