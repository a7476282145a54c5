"""How RowStandardize is converted. litefuse imports this module: it is an entry point."""

from typing import Any

import litefuse
from litefuse.fusions.recognizers.pattern import op, sqrt, square


# EDIT: the arguments of the function that is annotated with this name, and its attributes by keyword.
@litefuse.fusion("RowStandardize")
def fused(b: Any, x: "float32", *, epsilon: float = 1e-3):  # noqa: F821
    """x [...] float32 becomes the custom op RowStandardize."""
    return b.custom("RowStandardize", [x], [x.type], {"epsilon": epsilon})


# EDIT: the same formula in models that do not annotate it. Remove this if yours all do.
@litefuse.recognizer("RowStandardize")
def formula(x: Any, *, epsilon: Any):
    centered = x - op("Mean", x, -1, keep_dims=True)
    return centered / (sqrt(op("Mean", square(centered), -1, keep_dims=True)) + epsilon)
