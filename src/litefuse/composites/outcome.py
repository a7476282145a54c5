"""The outcomes that the pass reports, and the interface of its self-check."""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol

from litefuse.composites.check_result import CheckResult, CheckTerms
from litefuse.ir.mlir import func, ir

__all__ = ["Check", "Outcome"]


class Check(Protocol):
    """Compares a composite with its replacement, see ``litefuse.verify.self_check``."""

    def __call__(
        self,
        module: ir.Module,
        composite: func.FuncOp,
        replacement: func.FuncOp,
        terms: CheckTerms,
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
    """

    name: str
    function: str
    call_sites: int
    kind: Literal["fused", "inlined"]
    fused_into: str | None = None
    reason: str | None = None
    error: float | None = None
    unchecked: str | None = None
