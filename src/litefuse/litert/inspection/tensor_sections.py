"""Sections of a report about the tensors of a LiteRT model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from litefuse.litert.inspection.facts import QuantizationFacts, StoredTensor
from litefuse.support.report.sections import Section, count_of, shape_text

__all__ = ["quantization_text", "tensor_sections"]

# How many quantized tensors are listed, unless all are asked for.
_LISTED = 12


def tensor_sections(tensors: Sequence[StoredTensor], *, everything: bool = False) -> list[Section]:
    """Returns the sections: the tensors of each dtype, and those that are quantized.

    Args:
        tensors: The tensors.
        everything: Whether to list all quantized tensors.
    """
    if not tensors:
        return []
    counts = Counter(tensor.dtype for tensor in tensors)
    sizes = Counter[str]()
    for tensor in tensors:
        sizes[tensor.dtype] += tensor.size
    sections = [
        Section(
            f"Tensors: {len(tensors):,}",
            [(f"{count:,}", dtype, f"{sizes[dtype]:,}") for dtype, count in counts.most_common()],
            headings=("tensors", "dtype", "bytes of constants"),
            right=frozenset({0, 2}),
        )
    ]
    found = [(tensor, tensor.quantization) for tensor in tensors if tensor.quantization is not None]
    if found:
        listed = found if everything else found[:_LISTED]
        left = len(found) - len(listed)
        sections.append(
            Section(
                f"Quantized tensors: {len(found):,}",
                [_row(*each) for each in listed],
                headings=("tensor", "dtype", "scale", "zero point", "scales"),
                note=f"and {count_of(left, 'tensor')} more; --all lists them" if left else "",
            )
        )
    return sections


def quantization_text(quantization: QuantizationFacts) -> str:
    """Describes scales and zero points, such as ``scale 0.1 to 0.3, zero point 0 (48 scales, along axis 0)``."""
    scale = _range(*(f"{each:.6g}" for each in quantization.scale))
    zero_point = _range(*map(str, quantization.zero_point))
    count = "" if quantization.count == 1 else f" (scales: {_scales(quantization)})"
    return f"scale {scale}, zero point {zero_point}{count}"


def _row(tensor: StoredTensor, quantization: QuantizationFacts) -> tuple[str, ...]:
    constant = ", constant" if tensor.size else ""
    return (
        tensor.name,
        f"{tensor.dtype} {shape_text(tensor.shape)}{constant}",
        _range(*(f"{each:.6g}" for each in quantization.scale)),
        _range(*map(str, quantization.zero_point)),
        _scales(quantization),
    )


def _range(least: str, largest: str) -> str:
    return least if least == largest else f"{least} to {largest}"


def _scales(quantization: QuantizationFacts) -> str:
    count = f"{quantization.count:,}"
    if quantization.block is not None:
        return f"{count}, one for each block of {quantization.block}"
    return count if quantization.axis is None else f"{count}, along axis {quantization.axis}"
