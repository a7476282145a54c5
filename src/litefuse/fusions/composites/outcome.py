"""Outcomes of composites that the pass reports, and the terms and results of its self-check."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

from litefuse.ir.mlir import func, ir

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
        counts: By the index of a result that is defined up to a count, the index of the result with the count.
        ids_in_range: Whether out-of-range ids are left out.
        kernel: The custom op whose kernel stands for the body, by the author's or the user's word; empty for others.
    """

    tolerance: float
    inputs: InputsOfSize | None = None
    open_results: Collection[int] = ()
    counts: Mapping[int, int] = {}
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
        layers: The layers that call it, as far as the names of nodes tell.
        better_inlined: Whether its body is kept because it is better than the fused op.
        symbol: The function's symbol, which is in the locations of its fused ops; empty if it has none of its own.
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
    layers: tuple[str, ...] = ()
    better_inlined: bool = False
    symbol: str = ""
