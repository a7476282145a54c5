"""Layers as sections of a report."""

from __future__ import annotations

from litefuse.conversion.verify.layers.layers import NO_NAME, Layer, Layers
from litefuse.support.report.sections import Judgement, Section, shape_text

__all__ = ["layer_sections"]

_HEADINGS = ("layer", "op", "dtype", "shape", "error", "added", "")

_LISTED = 6
_TIMES = 10  # from here on, not as percents


def layer_sections(layers: Layers, tolerance: float | None) -> list[Section]:
    """Returns the sections of layers: the first that differs, and the error of each that is compared.

    Args:
        layers: The layers.
        tolerance: The error above which a layer differs, for the text; None if it is not known.
    """
    title = f"Layers of call {layers.call}, {layers.signature}"
    if layers.problem and not layers.judged:
        return [Section(title, note=layers.problem)]
    first, step = layers.first, layers.largest_step
    compared = [layer for layer in layers.layers if layer.error is not None or layer.fault]
    return [
        Section(title, _findings(layers, tolerance)),
        Section(
            "Tensors",
            [
                _row(each, "first" if each is first else "most" if each is step else "", judged=layers.judged)
                for each in compared
            ],
            headings=_HEADINGS if not layers.judged else (*_HEADINGS[:5], "of explained", ""),
            right=frozenset({4, 5}),
            judgements=[_judgement(each) for each in compared],
        ),
    ][: 2 if compared else 1]


def _share(excess: float | None) -> str:
    return "" if excess is None else f"{excess:.0%}" if excess < _TIMES else f"{excess:.0f} times"


def _row(layer: Layer, mark: str, *, judged: bool) -> tuple[str, ...]:
    dtypes = [layer.dtype] if layer.dtype == layer.original_dtype else [layer.dtype, layer.original_dtype]
    remarks = [mark] if mark and not (judged and mark == "most") else []
    remarks += [layer.fault] if layer.fault else []
    if layer.differs and not layer.reaches:
        remarks.append("reaches no output")
    if layer.change:
        remarks.append(f"looking changes the outputs by {layer.change:.2g}")
    return (
        layer.name,
        layer.op,
        " / ".join(dtypes),
        shape_text(layer.shape or ()),
        "" if layer.error is None else f"{layer.error:.2g}",
        _share(layer.excess) if judged else f"{layer.added:.2g}" if layer.added else "",
        ", ".join(remarks),
    )


def _judgement(layer: Layer) -> Judgement:
    return None if layer.differs and not layer.reaches else "bad" if layer.differs else "good"


def _findings(layers: Layers, tolerance: float | None) -> list[tuple[str, str]]:
    first, step = layers.first, layers.largest_step
    findings = [("first that differs", "none" if tolerance is None else f"none by more than {tolerance:g}")]
    if layers.judged:
        findings = [("first that differs", "none by more than its quantization explains")]
    if first is not None:
        by = first.fault or f"by {first.error:.2g}"
        findings = [("first that differs", f"{first.name} ({first.op}), {by}")]
        if first.through:
            ways = "; ".join(first.through[:_LISTED])
            more = f" and {len(first.through) - _LISTED} more" if len(first.through) > _LISTED else ""
            findings.append(("or before it", f"{ways}{more}, which cannot be compared"))
        if not first.reaches:
            findings.append(("", "no output differs by it: its effect is lost, or it is another step of the node"))
    if step is not None and not (layers.judged and first is None):  # it grows everywhere
        findings.append(("error grows most", f"{step.name} ({step.op}), by {step.added:.2g}"))
    findings.append(("compared", _coverage(layers)))
    if layers.problem:
        findings.append(("", layers.problem))
    if layers.unseen:
        findings.append(("not inside of", ", ".join(layers.unseen)))
    return findings


def _coverage(layers: Layers) -> str:
    """Says how many tensors are compared, and why the others are not."""
    left = [layer for layer in layers.layers if layer.error is None]
    text = f"{len(layers.compared)} of {len(layers.layers)} tensors"
    unnamed = sum(each.problem == NO_NAME for each in left)
    if not left:
        return text
    if unnamed == len(left):
        return f"{text}; the others have no name in the original"
    some = f"; {unnamed} have no name in the original" if unnamed else ""
    return f"{text}{some}; {len(left) - unnamed} are steps, or have no values or shapes that can be compared"
