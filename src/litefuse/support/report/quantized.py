"""Facts about a quantized model: what stayed in floating point, what changed, and how far samples suffice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from litefuse.support.options.forms import QuantizationForm
from litefuse.support.records import Record
from litefuse.support.report.shown import ShownInNotebooks


class FloatOp(Record):
    """An op of a quantized model that does not compute in integers throughout.

    Attributes:
        op: Its name in LiteRT's schema, or that of a custom op or a composite.
        name: The name of its first result, which is that of the layer in most models.
        kind: ``float``: all of it is in floating point; ``hybrid``: its weights are integers, or float16 in the file.
        reason: Why it is.
        weights: The bytes of its weights and other constants of real numbers in the file.
    """

    op: str
    name: str
    kind: Literal["float", "hybrid"]
    reason: str
    weights: int = 0


class OpKinds(Record):
    """The number of ops of each kind; QUANTIZE, DEQUANTIZE and ops that compute with no real numbers do not count.

    Attributes:
        integer: Those whose real numbers are all quantized.
        hybrid: Those with such weights, or float16 ones, and activations in floating point.
        real: Those with neither.
    """

    integer: int = 0
    hybrid: int = 0
    real: int = 0


class OutputDifference(Record):
    """The effect of quantization on one output.

    Attributes:
        signature: The signature's key.
        output: The output's name.
        error: The largest difference, relative to the largest element of the output.
        mean: The mean difference, relative to the mean size of the output's elements.
    """

    signature: str
    output: str
    error: float
    mean: float


class LayerDifference(Record):
    """The effect of quantization on one tensor inside a model.

    Attributes:
        signature: The signature's key.
        tensor: The tensor's name, which is the same in both models.
        op: The op that computes it.
        dtype: Its dtype in the quantized model.
        error: The root of the mean square of the difference, relative to that of the tensor itself.
        added: By how much the error exceeds the largest one of the tensors that it is computed from.
    """

    signature: str
    tensor: str
    op: str
    dtype: str
    error: float
    added: float


class MovingRange(Record):
    """A tensor whose range still grew at the last samples.

    Attributes:
        tensor: Its name.
        growth: The part of its final range that only the last quarter of the samples added, from 0 to 1.
    """

    tensor: str
    growth: float


class CurvePoint(Record):
    """A point of the curve of size against error.

    Attributes:
        size: The size of the file, in bytes.
        error: The largest difference of an output, relative to its largest element.
        forms: The number of layers of each form.
    """

    size: int
    error: float
    forms: Mapping[str, int]


class LayerForm(Record):
    """The form of a layer's weights, or of its activations, and why it has it.

    Attributes:
        layer: The name of the layer's result.
        op: Its op.
        form: ``int4``, ``int8``, ``float16`` or ``float32``; of activations, ``int8`` or ``int16``.
        size: The bytes of its weights in float32.
        errors: The largest difference of an output if this layer alone has a form, by forms.
    """

    layer: str
    op: str
    form: str
    size: int
    errors: Mapping[str, float]


class MixedPrecision(Record):
    """The outcome of automatic mixed precision.

    Attributes:
        curve: Files that were measured, from the smallest to the largest, each better than those before.
        layers: The layers in the order of the model.
    """

    curve: tuple[CurvePoint, ...]
    layers: tuple[LayerForm, ...]


class QuantizationReport(ShownInNotebooks, Record):
    """The quantization of weights and activations.

    Attributes:
        form: Its form; see :data:`litefuse.support.options.forms.Quantization`.
        size_before: The output's size in bytes before quantization.
        error: The largest difference in the outputs, relative to the largest element of each; None if it was not
            measured.
        inputs: The inputs it was measured on: ``random inputs``, some for each signature; or ``samples``, the first
            ones given, or of a folder ``images`` with the range of their values.
        unchecked: Why it was not measured, or which outputs did not change with the inputs, so that nothing is known
            about them.
        outputs: The difference of each output, on the same inputs.
        kinds: The number of ops by the numbers that they compute with.
        floats: The ops that stayed in floating point, and the reasons; of a form that quantizes only weights, those
            whose weights stayed so.
        moving: The tensors whose ranges still grew at the last quarter of the samples: more samples are needed.
        samples: The number of samples; 0 if there were none.
        layers: The difference of each tensor inside, if that was requested.
        mixed: With ``auto``, the curve of size against error and the form of each layer.
        weights: What was chosen for weights beyond the form; empty for nothing.
        instead: Why this form was chosen in place of the one that was asked for; empty where it was not.
    """

    form: QuantizationForm
    size_before: int
    error: float | None
    inputs: str
    unchecked: str | None = None
    outputs: tuple[OutputDifference, ...] = ()
    kinds: OpKinds = field(default_factory=OpKinds)
    floats: tuple[FloatOp, ...] = ()
    moving: tuple[MovingRange, ...] = ()
    samples: int = 0
    layers: tuple[LayerDifference, ...] = ()
    mixed: MixedPrecision | None = None
    weights: str = ""
    instead: str = ""

    _sections_by = "litefuse.support.report.quantized_sections:quantization_sections"
