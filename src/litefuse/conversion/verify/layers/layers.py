"""The result of comparing a model with the original layer by layer, as data and as sections of a report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from litefuse.support.report.json_form import json_form
from litefuse.support.report.sections import Judgement, Section, shape_text
from litefuse.support.report.shown import ShownInNotebooks

#: Why a tensor that the original does not know is not compared.
NO_NAME = "it has no name in the original"


@dataclass(frozen=True)
class Layer:
    """A tensor inside a LiteRT model, in the order of computation.

    Attributes:
        tensor: Its name in the file.
        op: The op that computes it: its name in LiteRT's schema, or that of a custom op or a composite.
        original: The node or tensor of the original that it is compared with; empty if there is none.
        output: The name of the signature's output that it is; empty if it is not an output.
        dtype: Its dtype in the file.
        original_dtype: That of the original; empty if it is not compared.
        shape: Its shape; None if it was not read.
        error: How far it is from the original's, as for outputs; None if it is not compared.
        added: By how much the error exceeds the largest error of its operands; None if it is not compared.
        differs: Whether the error is larger than the tolerance; in a quantized model, whether the op has a fault.
        reaches: Whether it differs, and so does what is computed from it, up to an output.
        through: If it differs, the ops between it and the nearest compared tensors: any of them may be wrong.
        change: How far the model's outputs moved when this tensor was read; 0 if they had the same bits.
        problem: Why it is not compared; may be empty.
        excess: How far the op of a quantized model is off, in what its quantization explains; None if it is not judged.
        fault: What is wrong with the op of a quantized model that differs by more than its quantization explains.
    """

    tensor: str
    op: str
    original: str = ""
    output: str = ""
    dtype: str = ""
    original_dtype: str = ""
    shape: tuple[int, ...] | None = None
    error: float | None = None
    added: float | None = None
    differs: bool = False
    reaches: bool = False
    through: tuple[str, ...] = ()
    change: float = 0.0
    problem: str = ""
    excess: float | None = None
    fault: str = ""

    @property
    def name(self) -> str:
        """The name to show: the original's, else its own; of several fused nodes, the first."""
        first, *others = (self.output or self.original or self.tensor).split(";")
        return f"{first} and {len(others)} more" if others else first

    def to_json(self) -> dict[str, Any]:
        """Returns a dictionary for ``json.dumps``; NaN and infinities are None."""
        return json_form(self)


@dataclass(frozen=True)
class Layers(ShownInNotebooks):
    """The layers of one call.

    Attributes:
        signature: The signature's key.
        call: The number of the call, from 1.
        layers: The tensors that the ops of the signature's main subgraph compute.
        unseen: The names of loops, conditions and the like: their results are compared, their insides are not.
        problem: Why the layers cannot be read; may be empty.
        judged: Whether ops are judged by their quantization.
        explained: The error that quantization explains of each output of a quantized model.
        clipped: The part of it that clipping makes.
        faulty: The first layer with a fault that each output is computed from.
    """

    _sections_by = "litefuse.conversion.verify.layers.layers:layer_sections"

    signature: str
    call: int
    layers: tuple[Layer, ...] = ()
    unseen: tuple[str, ...] = ()
    problem: str = ""
    judged: bool = False
    explained: Mapping[str, float] = field(default_factory=dict[str, float])
    clipped: Mapping[str, float] = field(default_factory=dict[str, float])
    faulty: Mapping[str, Layer] = field(default_factory=dict[str, Layer])

    @property
    def compared(self) -> tuple[Layer, ...]:
        return tuple(layer for layer in self.layers if layer.error is not None)

    @property
    def first(self) -> Layer | None:
        """The first layer that differs; if possible, one whose difference reaches an output."""
        differing = [layer for layer in self.layers if layer.differs]
        return next((layer for layer in differing if layer.reaches), differing[0] if differing else None)

    @property
    def largest_step(self) -> Layer | None:
        """The layer where the error grows most, if there is an error."""
        growing = [layer for layer in self.layers if layer.added is not None and layer.added > 0]
        return max(growing, key=lambda layer: layer.added or 0.0, default=None)

    def to_json(self) -> dict[str, Any]:
        """Returns dictionaries and lists for ``json.dumps``."""
        first, step = self.first, self.largest_step
        return {
            "signature": self.signature,
            "call": self.call,
            "problem": self.problem,
            "judged": self.judged,
            "explained": json_form(self.explained),
            "clipped": json_form(self.clipped),
            "faulty": {output: layer.to_json() for output, layer in self.faulty.items()},
            "compared": len(self.compared),
            "tensors": len(self.layers),
            "first": None if first is None else first.to_json(),
            "largest_step": None if step is None else step.to_json(),
            "unseen": list(self.unseen),
            "layers": [layer.to_json() for layer in self.layers],
        }


_HEADINGS = ("layer", "op", "dtype", "shape", "error", "added", "")

_LISTED = 6
_TIMES = 10  # from here on, not as percents


def layer_sections(layers: Layers, tolerance: float | None = None) -> list[Section]:
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
                _row(layer, "first" if layer is first else "most" if layer is step else "", judged=layers.judged)
                for layer in compared
            ],
            headings=_HEADINGS if not layers.judged else (*_HEADINGS[:5], "of explained", ""),
            right=frozenset({4, 5}),
            judgements=[_judgement(layer) for layer in compared],
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
    findings.append(("compared", _compared_count(layers)))
    if layers.problem:
        findings.append(("", layers.problem))
    if layers.unseen:
        findings.append(("not inside of", ", ".join(layers.unseen)))
    return findings


def _compared_count(layers: Layers) -> str:
    """Says how many tensors are compared, and why the others are not."""
    left = [layer for layer in layers.layers if layer.error is None]
    text = f"{len(layers.compared)} of {len(layers.layers)} tensors"
    unnamed = sum(layer.problem == NO_NAME for layer in left)
    if not left:
        return text
    if unnamed == len(left):
        return f"{text}; the others have no name in the original"
    some = f"; {unnamed} have no name in the original" if unnamed else ""
    return f"{text}{some}; {len(left) - unnamed} are steps, or have no values or shapes that can be compared"
