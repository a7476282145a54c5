"""Einstein summation, whose equation stays with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from litefuse.fusions.fusion import Fusion, fusion

if TYPE_CHECKING:
    from litefuse.engine.mlir import ir
    from litefuse.fusions.builder import Builder
    from litefuse.fusions.composite import Composite

__all__ = ["Einsum"]


@fusion("einsum", "tf.einsum")
class Einsum(Fusion):
    """Einstein summation becomes the composite op ``tf.einsum``, which keeps its equation and carries its body.

    ``f(*tensors) -> tensor``. The annotation's attribute ``equation`` (a string) is that of ``tf.einsum``, with as many
    parts before ``->`` as there are arguments. LiteRT runs the body; a kernel or accelerator that knows the equation can
    claim the op.
    Definition: https://www.tensorflow.org/api_docs/python/tf/einsum.
    """

    def verify(self, composite: Composite) -> str | None:
        equation = composite.attributes.get("equation")
        if not isinstance(equation, str):
            return f"it needs the attribute equation (a string); it has {dict(composite.attributes)}"
        if len(composite.attributes) > 1:
            return f"it has the attributes {', '.join(sorted(composite.attributes))}; known is equation"
        if len(composite.result_types) != 1:
            return f"it has {len(composite.result_types)} results, not 1"
        subscripts = equation.replace(" ", "").partition("->")[0].split(",")
        if len(subscripts) != len(composite.args):
            return (
                f"the equation {equation!r} is of {len(subscripts)} tensors, and it has {len(composite.args)} arguments"
            )
        for subscript, kind in zip(subscripts, composite.arg_types, strict=True):
            if "..." not in subscript and kind.rank not in {len(subscript), None}:
                return f"the equation {equation!r} has {subscript!r} for an argument of {kind}"
        return None

    def rewrite(self, composite: Composite, b: Builder) -> Sequence[ir.Value]:
        return b.composite(
            "tf.einsum", composite.args, composite.result_types, {"equation": composite.attributes["equation"]}
        )
