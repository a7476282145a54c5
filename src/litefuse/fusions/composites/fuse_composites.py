"""The pass that replaces composites by what their fusions build, its outcomes, and the terms of its self-check."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

from litefuse.fusions.fusion import Fusion, find_fusion
from litefuse.ir.annotations import Annotation, read_annotation, remove_annotation
from litefuse.ir.call_graph import callees, functions, is_public, operations, original_name
from litefuse.ir.mlir import func, ir
from litefuse.support.options.forms import CompositeForms

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

#: Returns the inputs for a size of the dynamic dimensions; None if any random values will do.
InputsOfSize: TypeAlias = "Callable[[int, np.random.Generator], Sequence[npt.NDArray[Any]] | None]"


class CheckTerms(NamedTuple):
    """A fusion's terms for the comparison with the composite.

    Attributes:
        tolerance: The largest allowed error of an element of a float result, see ``CheckResult``; others must be equal.
        inputs: Returns the inputs, if the composite is not defined for any random values.
        open_results: The indices of results of which only shape and dtype are compared.
        ids_in_range: Whether out-of-range ids are left out.
        kernel: The custom op whose kernel stands for the body, by the author's or the user's word; empty for others.
    """

    tolerance: float
    inputs: InputsOfSize | None = None
    open_results: Collection[int] = ()
    ids_in_range: bool = False
    kernel: str = ""


class CheckResult(NamedTuple):
    """The result of a self-check.

    Attributes:
        error: The largest error of an element of a float result, relative to the element, or to what the operations
            behind it were relative to; None if nothing could be compared.
        problem: Why the fused op is not equivalent to the composite; None if it is, or if nothing could be compared.
        unchecked: Why nothing could be compared.
        note: The first harmless difference: where the composite's result or its arguments are NaN or infinite, or
            constants are not those of its calls.
    """

    error: float | None = None
    problem: str | None = None
    unchecked: str | None = None
    note: str | None = None


class Check(Protocol):
    """Compares a composite with its replacement, see ``litefuse.conversion.verify.self_check``."""

    def __call__(
        self, module: ir.Module, composite: func.FuncOp, replacement: func.FuncOp, terms: CheckTerms
    ) -> CheckResult: ...


class Outcome(NamedTuple):
    """The outcome for one annotated function.

    Attributes:
        name: The composite's name.
        function: The function's name in the model.
        call_sites: How many ops call it.
        kind: ``fused`` or ``inlined``.
        fused_into: The fused ops, for ``fused``.
        reason: Why it was not fused, for ``inlined``.
        error: The largest relative difference that the self-check found between fused op and body.
        unchecked: Why there was no self-check.
        note: What else the self-check found, see ``CheckResult``.
    """

    name: str
    function: str
    call_sites: int
    kind: Literal["fused", "inlined"]
    fused_into: str | None = None
    reason: str | None = None
    error: float | None = None
    unchecked: str | None = None
    note: str | None = None


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
            outcome = Outcome(annotation.name, original_name(function), calls[symbol], "inlined")
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
                )
            self.outcomes.append(reported._replace(call_sites=remaining[symbol]))
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


def _calls(by_symbol: Mapping[str, func.FuncOp]) -> Counter[str]:
    """Counts the ops that call each function, in functions that are exported or called themselves."""
    calls: Counter[str] = Counter()
    waiting = [symbol for symbol, function in by_symbol.items() if is_public(function)]
    seen = set(waiting)
    while waiting:
        for op in operations(by_symbol[waiting.pop()]):
            for symbol in callees(op):
                calls[symbol] += 1
                if symbol in by_symbol and symbol not in seen:
                    seen.add(symbol)
                    waiting.append(symbol)
    return calls
