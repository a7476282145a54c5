"""The custom ops that LiteRT's interpreter runs by itself.

Found by running ai-edge-litert 2.3, and by its sources: ``tflite/core/kernels/register.cc`` and, for XNNPACK,
``tflite/delegates/xnnpack/xnnpack_delegate.cc``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from litefuse.litert.runtime.flatbuffer import content_of

__all__ = ["READERS_OF_OPTIONS", "RESOLVED_OPS", "XNNPACK_OPS", "by_kernel", "ops_that_run_in_litert", "runs_in_litert"]

READERS_OF_OPTIONS = frozenset({"AudioSpectrogram", "Mfcc", "NumericVerify", "TFLite_Detection_PostProcess"})
"""Those whose kernels read their options as a flexbuffer without a check."""

RESOLVED_OPS = READERS_OF_OPTIONS
"""The ops that the interpreter has kernels of its own for."""

XNNPACK_OPS = frozenset(
    {
        *("Convolution2DTransposeBias", "MaxPoolingWithArgmax2D", "MaxUnpooling2D"),  # MediaPipe's
        *("moe", "odml.scaled_dot_product_attention"),
    }
)
"""The ops that XNNPACK runs, where it takes their forms."""


def runs_in_litert(op: str, dtypes: Iterable[str]) -> bool:
    """Whether LiteRT's interpreter runs a custom op without another's kernel.

    Args:
        op: The op's name.
        dtypes: The dtypes of the operands and results of its nodes: XNNPACK takes float32 only.
    """
    return op in RESOLVED_OPS or (op in XNNPACK_OPS and {*dtypes} == {"float32"})


def ops_that_run_in_litert(content: Any) -> frozenset[str]:
    """Returns the custom ops of a model that LiteRT's interpreter runs without another's kernel, in all their nodes.

    Args:
        content: The content of the ``.tflite`` file: bytes or a memory map.
    """
    from litefuse.litert.runtime.model_reader import Model  # few models have custom ops

    model, runs = Model(content), dict[str, bool]()
    for graph in model.graphs if any(code.custom for code in model.codes) else ():
        for op in graph.ops:
            if op.custom:
                dtypes = [graph.dtype_name(index) for index in (*op.inputs, *op.outputs) if index >= 0]
                runs[op.name] = runs_in_litert(op.name, dtypes) and runs.get(op.name, True)
    return frozenset(name for name, is_run in runs.items() if is_run)


def by_kernel(custom_ops: Sequence[str], path: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns those of a file's custom ops that need kernels, and those that LiteRT runs by itself."""
    if not custom_ops:
        return (), ()
    with content_of(path) as content:
        own = ops_that_run_in_litert(content)
    return tuple(name for name in custom_ops if name not in own), tuple(name for name in custom_ops if name in own)
