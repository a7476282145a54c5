"""How one TensorFlow op is rewritten into others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.mlir import ir
    from litefuse.ir.tensorflow_op import TensorFlowOp

__all__ = ["Decomposition"]


class Decomposition:
    """An exact rewriting of a TensorFlow op into TensorFlow ops that LiteRT has."""

    #: The ops that it rewrites.
    names: ClassVar[tuple[str, ...]] = ()

    #: Whether a kernel of litefuse is faster: then the op becomes a composite, and this its decomposition.
    composite: ClassVar[bool] = False

    #: Whether it computes a constant, which is nothing to report.
    folds: ClassVar[bool] = False

    def before_lowering(self, op: TensorFlowOp) -> bool:  # noqa: ARG002
        """Whether an op that ``litefuse.legalize.early`` names must be rewritten before the engine sees it."""
        return True

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value | Sequence[ir.Value]:
        """Builds the op's results with ``b``.

        Returns:
            The results, of the dtypes of ``op.results``; one value alone for one result.

        Raises:
            NotDecomposed: It does not apply.
        """
        raise NotImplementedError
