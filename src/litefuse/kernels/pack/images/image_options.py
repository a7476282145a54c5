"""Options of kernels for images: as C structs, which LiteRT's delegates read too, and their checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from litefuse.errors import KernelError

_PADDINGS = {1: "SAME", 2: "VALID"}  # TfLitePadding
_ACTIVATIONS = {0: "NONE", 1: "RELU", 2: "RELU_N1_TO_1", 3: "RELU6"}  # TfLiteFusedActivation


def pool_options(data: bytes) -> dict[str, Any] | None:
    """Reads a ``TfLitePoolParams``: int32 padding, strides and window of columns and rows, activation.

    What follows, where the runtime keeps what it computes, is ignored, and may be missing or as short as it once was.

    Args:
        data: The options of a node.

    Returns:
        ``padding``, ``strides`` and ``pool_size`` ([rows, columns]), ``activation``; None if this is another struct.
    """
    fields = None if 32 < len(data) < 40 else _integers(data, 5)
    if fields is None:
        return None
    padding, stride_cols, stride_rows, pool_cols, pool_rows, activation = (*fields, 0)[:6]
    return {
        "padding": _PADDINGS.get(padding, f"number {padding}"),
        "strides": [stride_rows, stride_cols],
        "pool_size": [pool_rows, pool_cols],
        "activation": _ACTIVATIONS.get(activation, f"number {activation}"),
    }


def transpose_conv_options(data: bytes) -> dict[str, Any] | None:
    """Reads a ``TfLiteTransposeConvParams``: int32 padding, strides of columns and rows; the rest is ignored.

    Args:
        data: The options of a node.

    Returns:
        ``padding`` and ``strides`` ([rows, columns]); None if this is another struct.
    """
    fields = _integers(data, 3)
    if fields is None:
        return None
    return {"padding": _PADDINGS.get(fields[0], f"number {fields[0]}"), "strides": [fields[2], fields[1]]}


def _integers(data: bytes, least: int) -> list[int] | None:
    """Returns a struct as int32; None for a flexbuffer, which ends with a width, and not with a zero byte."""
    if len(data) < 4 * least or len(data) % 4 or data[-1]:
        return None
    return np.frombuffer(data, "<i4").tolist()


def check_pairs(**options: Sequence[int]) -> None:
    """Checks that options are [rows, cols].

    Raises:
        KernelError: One is not.
    """
    for name, value in options.items():
        if len(value) != 2 or min(value) < 1:
            raise KernelError(f"{name} must be [rows, cols] with positive numbers, not {list(value)}")


def check_padding(padding: str | bytes) -> None:
    """Checks the option of this name.

    Raises:
        KernelError: It is neither SAME nor VALID.
    """
    if padding not in {"SAME", b"SAME", "VALID", b"VALID"}:
        raise KernelError(f"padding must be SAME or VALID, not {padding!r}")
