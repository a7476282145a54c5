"""A treemap of the bytes of a file by layer, as SVG."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from litefuse.litert.inspection.facts import LayerSize
from litefuse.support.report.html import escaped
from litefuse.tools.page.tables import anchor

_WIDTH, _HEIGHT = 1200, 420
# Smaller areas cannot be seen: they are one.
_MOST = 160
_COLORS = {
    "float32": "#8fb8f0", "float16": "#8fdad0", "bfloat16": "#8fdad0", "int8": "#f2c078", "int16": "#e8a3a3",
    "int32": "#b9c48a", "int64": "#b9c48a", "int4": "#f0e08a", "uint8": "#f2c078", "string": "#cfb3e8",
}  # fmt: skip
_OTHER = "#c3c9d2"
# Width of a letter, and what a label needs beside it.
_LETTER, _MARGIN, _LINE = 6.2, 8, 15


def treemap(sizes: Sequence[LayerSize]) -> str:
    """Returns a drawing in which each layer's constants of a dtype have an area as large as their share of the bytes.

    Args:
        sizes: The sizes, the largest first.

    Returns:
        An ``svg`` element, whose areas have the layer's name in ``data-layer``; empty without bytes.
    """
    layers = [size for size in sizes if size.bytes > 0]
    rest = sum(layer.bytes for layer in layers[_MOST:])
    shown = layers[:_MOST]
    areas: list[Any] = [float(layer.bytes) for layer in shown] + ([float(rest)] if rest else [])
    if not areas:
        return ""
    package: Any = importlib.import_module("squarify")
    order = sorted(range(len(areas)), key=lambda number: -areas[number])
    scaled = package.normalize_sizes([areas[number] for number in order], _WIDTH, _HEIGHT)
    parts = [f'<svg class="treemap" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="group" aria-label="Bytes by layer">']
    for number, area in zip(order, package.squarify(scaled, 0, 0, _WIDTH, _HEIGHT), strict=True):
        if number < len(shown):
            layer = shown[number]
            name, color = layer.layer, _COLORS.get(layer.dtype, _OTHER)
            told = f"{layer.layer or 'of no layer'}, {layer.dtype}: {layer.bytes:,} bytes"
        else:
            name, color, told = "", _OTHER, f"{len(layers) - _MOST} smaller ones: {rest:,} bytes"
        link = f' data-layer="{escaped(name)}" href="{anchor(name)}"' if name else ""
        x, y, width, height = (round(area[key], 1) for key in ("x", "y", "dx", "dy"))
        parts.append(
            f'<a{link}><rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{color}">'
            f"<title>{escaped(told)}</title></rect>{_label(name or told, x, y, width, height)}</a>"
        )
    return "".join([*parts, "</svg>"])


def _label(name: str, x: float, y: float, width: float, height: float) -> str:
    letters = int((width - _MARGIN) / _LETTER)
    last = name.rpartition("/")[2]
    if letters < 4 or height < _LINE:
        return ""
    text = last if len(last) <= letters else last[: letters - 1] + "…"
    return f'<text x="{x + 4}" y="{y + _LINE - 3}">{escaped(text)}</text>'


def legend(sizes: Sequence[LayerSize]) -> list[tuple[str, str, int]]:
    """Returns the dtypes with their colors and bytes, the largest first."""
    totals: dict[str, int] = {}
    for layer in sizes:
        totals[layer.dtype] = totals.get(layer.dtype, 0) + layer.bytes
    ordered = sorted(totals.items(), key=lambda entry: -entry[1])
    return [(dtype, _COLORS.get(dtype, _OTHER), size) for dtype, size in ordered if size]
