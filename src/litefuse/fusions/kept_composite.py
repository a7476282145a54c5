"""Composites kept as one op that carries its body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from litefuse.fusions.fusion import Fusion

if TYPE_CHECKING:
    from litefuse.fusions.builder import Builder
    from litefuse.fusions.composite import Composite
    from litefuse.ir.mlir import ir

__all__ = ["KeptComposite"]


class KeptComposite(Fusion):
    """Any composite becomes the builtin STABLEHLO_COMPOSITE of its name and attributes, with its body in LiteRT ops.

    Any LiteRT runs its body; a kernel or an accelerator that knows the name computes it instead.
    """

    def verify(self, composite: Composite) -> str | None:
        return None if composite.args else "it has no arguments, and STABLEHLO_COMPOSITE must have some"

    def rewrite(self, composite: Composite, b: Builder) -> Sequence[ir.Value]:
        from litefuse.fusions.fusable_op import options  # commands that list fusions need no engine

        return b.composite(composite.name, composite.args, composite.result_types, options(composite))
