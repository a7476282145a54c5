"""Images of other sizes."""

from __future__ import annotations

from collections.abc import Sequence

from litefuse.kernels.generator.body import BodyOp
from litefuse.kernels.generator.graph import Graph, NotGenerated, rule
from litefuse.kernels.generator.nodes import Counted, Node
from litefuse.kernels.generator.rules.gathers import picked
from litefuse.kernels.generator.sizes import LARGEST_DIMENSION, Size


@rule("RESIZE_NEAREST_NEIGHBOR", takes="xi", options="ResizeNearestNeighborOptions")
def _nearest(graph: Graph, op: BodyOp) -> Node:
    source = graph.of_rank(op.inputs[0], 4, 4)
    height, width = graph.sizes_of(op.inputs[1], "the size of an image", 2)
    rows = _nearest_places(graph, op, source.shape[1], height)
    columns = _nearest_places(graph, op, source.shape[2], width)
    return picked(graph, picked(graph, source, rows, 1), columns, 2)


def _require_pixels(graph: Graph, size: Size) -> None:
    if not graph.sizes.require_range(size, 1, LARGEST_DIMENSION, "an image without pixels is resized"):
        raise NotGenerated("an image without pixels is resized")


def _scale(op: BodyOp, size: Size, target: Size) -> str:
    """Returns how far apart samples are, as C++."""
    if op.options.alignCorners:
        return f"Spacing(({size}) - 1, ({target}) - 1, {target})"
    return f"Spacing({size}, {target}, {target})"


def _nearest_places(graph: Graph, op: BodyOp, size: Size, target: Size) -> Node:
    """Returns which row each row of the result is."""
    _require_pixels(graph, size)
    counted = Counted("INT32", (target,), label="row", number=graph.next_number())
    half = "0.5f" if op.options.halfPixelCenters else "0.0f"
    rounded = "std::round" if op.options.alignCorners else "std::floor"
    scale = _scale(op, size, target)
    return graph.computed(
        "INT32",
        [counted],
        lambda t: f"Within({rounded}((static_cast<float>({t[0]}) + {half}) * {scale}), {size})",
        label="nearest",
    )


@rule("RESIZE_BILINEAR", takes="xi", options="ResizeBilinearOptions")
def _bilinear(graph: Graph, op: BodyOp) -> Node:
    source = graph.of_rank(op.inputs[0], 4, 4)
    if source.dtype != "FLOAT32":
        raise NotGenerated(f"RESIZE_BILINEAR of {source.dtype}")
    height, width = graph.sizes_of(op.inputs[1], "the size of an image", 2)
    across = _blended(graph, op, source, 2, width)
    return _blended(graph, op, across, 1, height)


def _blended(graph: Graph, op: BodyOp, source: Node, axis: int, target: Size) -> Node:
    """Returns an image of another size along an axis, linear between its pixels."""
    size = source.shape[axis]
    _require_pixels(graph, size)
    counted = Counted("INT32", (target,), label="row", number=graph.next_number())
    scale = _scale(op, size, target)

    def where(texts: Sequence[str]) -> str:
        if op.options.halfPixelCenters:
            return f"((static_cast<float>({texts[0]}) + 0.5f) * {scale} - 0.5f)"
        return f"(static_cast<float>({texts[0]}) * {scale})"

    at = graph.computed("FLOAT32", [counted], where, label="at", costly=True)
    lower = graph.computed("INT32", [at], lambda t: f"Within(std::floor({t[0]}), {size})", label="lower")
    upper = graph.computed("INT32", [at], lambda t: f"Within(std::floor({t[0]}) + 1.0f, {size})", label="upper")
    part = graph.computed("FLOAT32", [at, lower], lambda t: f"({t[0]} - static_cast<float>({t[1]}))", label="part")
    parts = graph.with_axes(part, [own for own in range(len(source.shape)) if own != axis])
    first, second = (picked(graph, source, places, axis) for places in (lower, upper))
    return graph.computed(
        "FLOAT32",
        [first, second, parts, parts],
        lambda t: f"({t[0]} * (1.0f - {t[2]}) + {t[1]} * {t[2]})",
        label="blended",
    )
