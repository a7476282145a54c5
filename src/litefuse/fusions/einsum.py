"""Einsums kept as one op."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from litefuse.fusions.fusable_op import KeptComposite
from litefuse.fusions.fusion import fusion

if TYPE_CHECKING:
    from litefuse.fusions.builder import Builder
    from litefuse.fusions.composite import Composite
    from litefuse.ir.mlir import ir
    from litefuse.ir.types import TensorType

__all__ = ["Einsum"]


@fusion("tf.einsum", "einsum")
class Einsum(KeptComposite):
    """A marked einsum becomes the builtin STABLEHLO_COMPOSITE ``tf.einsum``, which keeps its equation.

    ``f(operands...) -> result``, with the attribute ``equation`` (a string). It describes the body in the notation of
    https://www.tensorflow.org/api_docs/python/tf/einsum. LiteRT runs the body, which the op carries as batch matrix
    products; an accelerator with its own einsum uses the equation.
    """

    def verify(self, composite: Composite) -> str | None:
        equation = composite.attributes.get("equation")
        if not isinstance(equation, str):
            return f"it needs the attribute equation (a string); it has {dict(composite.attributes)}"
        if len(composite.result_types) != 1:
            return f"it has {len(composite.result_types)} results, not 1"
        inputs = equation.replace(" ", "").partition("->")[0].split(",")
        if len(inputs) != len(composite.args):
            return f"the equation {equation!r} is of {len(inputs)} operands, and it has {len(composite.args)}"
        for labels, kind in zip(inputs, composite.arg_types, strict=True):
            if not _fits(labels, kind):
                return f"the equation {equation!r} has {labels!r} for an operand that is {kind}"
        return None

    def rewrite(self, composite: Composite, b: Builder) -> Sequence[ir.Value]:
        equation = composite.attributes["equation"]
        return b.composite("tf.einsum", composite.args, composite.result_types, {"equation": equation})


def _fits(labels: str, kind: TensorType) -> bool:
    """Whether an operand has a dimension for each label; an ellipsis represents any number of dimensions."""
    named = len(labels.replace("...", ""))
    if kind.rank is None:
        return True
    return kind.rank >= named if "..." in labels else kind.rank == named
