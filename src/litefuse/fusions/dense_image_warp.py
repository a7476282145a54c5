"""Images warped by a flow field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.fusions.fusion import Fusion, fusion

if TYPE_CHECKING:
    from litefuse.fusions.builder import Builder
    from litefuse.fusions.composite import Composite
    from litefuse.ir.mlir import ir

__all__ = ["DenseImageWarp"]


@fusion("addons:DenseImageWarp")
class DenseImageWarp(Fusion):
    """TensorFlow Addons' dense_image_warp becomes the custom op DenseImageWarp, whose kernel litefuse has.

    ``f(image [batch, rows, cols, depth], flow [batch, rows, cols, 2]) -> [batch, rows, cols, depth]``, all float32,
    with at least 2 rows and columns.
    Definition: https://www.tensorflow.org/addons/api_docs/python/tfa/image/dense_image_warp.
    """

    def verify(self, composite: Composite) -> str | None:
        if len(composite.args) != 2:
            return f"it has {len(composite.args)} arguments, not 2 (image, flow)"
        if len(composite.result_types) != 1:
            return f"it has {len(composite.result_types)} results, not 1"
        image, flow = composite.arg_types
        (result,) = composite.result_tensor_types
        for name, kind in (("image", image), ("flow", flow), ("the result", result)):
            if kind.dtype != "float32" or kind.rank != 4:
                return f"{name} is {kind}; DenseImageWarp takes and gives float32 of rank 4"
        assert image.shape is not None
        assert flow.shape is not None
        assert result.shape is not None
        if any(size is not None and size < 2 for size in image.shape[1:3]):
            return f"image is {image}; DenseImageWarp takes images of 2 rows and columns or more"
        if flow.shape[3] not in {2, None}:
            return f"flow is {flow}; a flow vector has 2 components (y, x)"
        if not _agree(image.shape[:3], flow.shape[:3]):
            return f"image is {image} and flow {flow}: each pixel has one vector"
        if not _agree(image.shape, result.shape):
            return f"the result is {result}, that of DenseImageWarp {image}"
        if composite.attributes.keys() - {"tfl_fusable_op"}:
            return f"DenseImageWarp has no attributes, and it has {sorted(composite.attributes)}"
        return None

    def rewrite(self, composite: Composite, b: Builder) -> Sequence[ir.Value]:
        return b.custom("DenseImageWarp", composite.args, composite.result_types, b"")

    def check_inputs(
        self, composite: Composite, size: int, random: np.random.Generator
    ) -> Sequence[npt.NDArray[Any]] | None:
        image, flow = composite.arg_types
        assert image.shape is not None
        assert flow.shape is not None
        # An image has at least 2 rows and columns; the flow must also point outside it.
        known = [one or other for one, other in zip(image.shape[:3], flow.shape[:3], strict=True)]
        batch, rows, cols = known[0] or size, known[1] or size + 4, known[2] or size + 3
        return [
            random.normal(0, 1, (batch, rows, cols, image.shape[3] or size)).astype(np.float32),
            random.normal(0, 2, (batch, rows, cols, 2)).astype(np.float32),
        ]


def _agree(one: Sequence[int | None], other: Sequence[int | None]) -> bool:
    """Whether two shapes of the same rank are compatible."""
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))
