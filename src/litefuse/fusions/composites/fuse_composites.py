"""The pass that replaces composites by what their fusions build."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

from litefuse.fusions.composites.outcome import Check, Outcome
from litefuse.fusions.fusion import Fusion, find_fusion
from litefuse.ir.annotations import Annotation, read_annotation, remove_annotation
from litefuse.ir.call_graph import callees, functions, is_public, operations, original_name
from litefuse.ir.locations import layer_name
from litefuse.ir.mlir import func, ir
from litefuse.support.options.forms import CompositeForms

# What the name of a call's node has behind that of its layer.
_OF_CALL = re.compile(r"(?:^|/)(?:Stateful)?PartitionedCall(?:_\d+)?$")
# Of a composite's calls, so many name their layers: a report tells fewer.
_LAYERS = 20

FindFusion: TypeAlias = Callable[[Annotation], "Fusion | None"]


def registered_fusion(annotation: Annotation) -> Fusion | None:
    """Returns the fusion that is registered for an annotation."""
    return find_fusion(annotation.name, by_prefix=annotation.by_prefix)


class FuseComposites(NamedTuple):
    """Replaces the bodies of annotated functions by fused ops.

    The function keeps its name, arguments and results, so its call sites need no change; inlining moves the fused op
    there. A new body is built next to the old one, which is given up only when the new one is valid.

    Attributes:
        outcomes: Filled with one entry for each annotated function.
        check: The self-check that a fusion must pass; None for none.
        find: Returns the fusion for an annotation; None if there is none.
        forms: The forms of the composites.
        check_custom_ops: Whether to compare kernels even with bodies that look like placeholders.

    Raises:
        FusionError: A ``tfl_fusable_op`` composite has an attribute that custom options cannot hold, or conversion code
            failed in an unexpected way.
    """

    name = "fuse-composites"
    outcomes: list[Outcome]
    check: Check | None = None
    find: FindFusion = registered_fusion
    forms: CompositeForms = CompositeForms()
    check_custom_ops: bool = False

    def run(self, module: ir.Module) -> bool:
        by_symbol = functions(module)
        annotated = {
            symbol: annotation
            for symbol, function in by_symbol.items()
            if (annotation := read_annotation(function)) is not None
        }
        if not annotated:
            return False
        # Most models have no composites, and do not need the code that builds fused ops.
        from litefuse.fusions.composites.replace import Replacer

        replacer = Replacer(self.check, self.find, self.forms, check_custom_ops=self.check_custom_ops)
        calls = _calls(by_symbol)
        callers = _callers(by_symbol)
        outcomes: dict[str, Outcome] = {}
        for symbol, annotation in annotated.items():
            function = by_symbol[symbol]
            layers = tuple(filter(None, calls[symbol]))
            outcome = Outcome(
                annotation.name, original_name(function), calls[symbol].total(), "inlined", layers=layers[:_LAYERS]
            )
            inner = self._chosen_within(symbol, by_symbol, annotated)
            if inner is None:
                outcomes[symbol] = replacer.replace(module, function, annotation, outcome)
            else:
                outcomes[symbol] = outcome._replace(reason=f"it holds {inner!r}, whose form was chosen to be custom")
            remove_annotation(function)
        remaining = _calls(by_symbol)
        for symbol, outcome in outcomes.items():
            reported = outcome
            if calls[symbol] and not remaining[symbol]:  # all its callers were fused, with it inside
                around = max(_around(symbol, callers, outcomes), key=_checked_least, default=outcome)
                reported = outcome._replace(
                    kind="fused",
                    fused_into="the composite around it",
                    reason=None,
                    error=around.error,
                    unchecked=around.unchecked,
                    symbol="",
                )
            self.outcomes.append(reported._replace(call_sites=remaining[symbol].total()))
        return True

    def _chosen_within(
        self, symbol: str, by_symbol: Mapping[str, func.FuncOp], annotated: Mapping[str, Annotation]
    ) -> str | None:
        """Returns the composite that a function calls, and that is a custom op by the user's choice.

        None if there is none, if the form of the function is chosen as well, or if it keeps its body.
        """
        own = annotated[symbol].name
        if not self.forms.by_name or self.forms.names(own) or self.forms[own] in {"keep", "inline"}:
            return None
        waiting, seen = [symbol], {symbol}
        while waiting:
            inner = waiting.pop()
            name = annotated[inner].name if inner in annotated else ""
            if inner != symbol and name and self.forms.names(name) and self.forms[name] == "custom":
                return name
            called: set[str] = set()
            if inner in by_symbol:
                called = {callee for op in operations(by_symbol[inner]) for callee in callees(op)}
            waiting += called - seen
            seen |= called
        return None


def _callers(by_symbol: Mapping[str, func.FuncOp]) -> Mapping[str, set[str]]:
    """Returns the functions that call each function."""
    callers: defaultdict[str, set[str]] = defaultdict(set)
    for symbol, function in by_symbol.items():
        for op in operations(function):
            for called in callees(op):
                callers[called].add(symbol)
    return callers


def _around(symbol: str, callers: Mapping[str, set[str]], found: Mapping[str, Outcome]) -> Iterator[Outcome]:
    """Yields the outcomes of the composites that were fused with a function inside."""
    waiting, seen = [symbol], {symbol}
    while waiting:
        for caller in callers.get(waiting.pop(), set()) - seen:
            seen.add(caller)
            if caller in found and found[caller].kind == "fused":
                yield found[caller]
            else:
                waiting.append(caller)


def _checked_least(outcome: Outcome) -> tuple[bool, float]:
    return outcome.error is None, outcome.error or 0.0


def _calls(by_symbol: Mapping[str, func.FuncOp]) -> defaultdict[str, Counter[str]]:
    """Counts the ops that call each function, by their layers, in functions that are exported or called themselves."""
    calls: defaultdict[str, Counter[str]] = defaultdict(Counter)
    waiting = [symbol for symbol, function in by_symbol.items() if is_public(function)]
    seen = set(waiting)
    while waiting:
        for op in operations(by_symbol[waiting.pop()]):
            for symbol in callees(op):
                calls[symbol][_OF_CALL.sub("", layer_name(op))] += 1
                if symbol in by_symbol and symbol not in seen:
                    seen.add(symbol)
                    waiting.append(symbol)
    return calls
