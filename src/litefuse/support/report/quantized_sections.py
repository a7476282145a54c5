"""Sections of a report about a quantized model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from litefuse.support.options.forms import INTEGER_FORMS
from litefuse.support.report.caveats import quantization_is_far
from litefuse.support.report.quantized import (
    FloatOp,
    LayerDifference,
    LayerForm,
    MixedPrecision,
    MovingRange,
    QuantizationReport,
)
from litefuse.support.report.sections import Column, Judgement, Section, count_of, table

# A report is read by people: of more rows than this, the first ones are listed.
_LISTED = 8
_NAMED = 3

_FAR_NOTE = (
    "The outputs are far from those before: try other samples or another form. --max-error turns this into an error."
)

_FORMS_OF_LAYERS = ("int4", "int8", "int16", "float16", "float32")
_FORMS_OF_QUANTIZATION = {
    "dynamic": "int8 weights, for products in int8",
    "weights": "int8 weights, for products in float32",
    "float16": "float16 weights, for products in float32",
    "int8": "int8, with int8 weights",
    "int16": "int16, with int8 weights",
    "qat": "int8, with the ranges that training found",
    "recipe": "by a recipe",
    "auto": "a weight type per layer, by its effect on the outputs",
}


def form_text(quantization: QuantizationReport) -> str:
    """Returns the form of a quantization in words, and how many ops stayed as they were."""
    form, floats = _form(quantization), len(quantization.floats)
    if not floats:
        return form
    ops = count_of(floats, "op")
    if quantization.form in INTEGER_FORMS:
        return f"{form}; {ops} stayed in floating point"
    return f"{form}; the weights of {ops} stayed as they were"


def _form(quantization: QuantizationReport) -> str:
    form = _FORMS_OF_QUANTIZATION[quantization.form]
    if quantization.form == "int8" and quantization.mixed is not None:
        form = "int8, and int16 where the outputs need it, with int8 weights"
    if quantization.weights.startswith("int4 "):
        form = form.replace("int8 weights", "int4 weights where LiteRT has kernels for them")
    return form


def quantization_sections(quantization: QuantizationReport, *, alone: bool = True) -> list[Section]:
    """Returns the sections about the quantization of a model.

    Args:
        quantization: The quantization.
        alone: Whether they stand alone; a conversion's report begins with form, sizes and difference.
    """
    effect = _effect_section(quantization, alone=alone)
    sections = [effect] if effect.rows else []
    if quantization.mixed is not None:
        sections.append(_mixed_section(quantization.mixed))
        if wide := [layer for layer in quantization.mixed.layers if layer.form == "int16"]:
            sections.append(_wide_section(wide))
    if quantization.floats:
        sections.append(_float_section(quantization))
    if quantization.layers:
        sections.append(_layer_section(quantization.layers))
    return sections


def _effect_section(quantization: QuantizationReport, *, alone: bool) -> Section:
    difference = "not measured"
    if quantization.error is not None:
        difference = f"{quantization.error:.1g} on {quantization.inputs}"
    rows = [("size", f"{count_of(quantization.size_before, 'byte')} before")] if alone else []
    if alone or quantization.unchecked or len(quantization.outputs) > 1:
        told = f"{difference}: {quantization.unchecked}" if quantization.unchecked else difference
        rows.append(("largest difference", told))
    rows += [("weights", quantization.weights)] if quantization.weights else []
    rows += [("chosen", quantization.instead)] if quantization.instead else []
    is_far = quantization_is_far(quantization)
    judgements: list[Judgement] = ["bad" if is_far and row[0] == "largest difference" else None for row in rows]
    rows += _output_rows(quantization)
    kinds = quantization.kinds
    if quantization.form in INTEGER_FORMS:
        counts = [
            f"{kinds.integer:,} in integers",
            *([f"{kinds.hybrid:,} with integer weights only"] if kinds.hybrid else []),
            *([f"{kinds.real:,} in floating point"] if kinds.real else []),
        ]
        rows.append(("ops", ", ".join(counts)))
    judgements.extend([None] * (len(rows) - len(judgements)))
    if quantization.samples:
        rows.append(("samples", f"{quantization.samples:,}{_growth_text(quantization.moving)}"))
        judgements.append("warn" if quantization.moving else None)
    return Section(
        f"Quantized: {_form(quantization)}",
        rows,
        judgements=judgements,
        note=_FAR_NOTE if is_far else "",
    )


def _output_rows(quantization: QuantizationReport) -> list[tuple[str, str]]:
    """Lists outputs if there are several, those that differ most first."""
    outputs = sorted(quantization.outputs, key=lambda output: -output.error)
    if len(outputs) < 2:
        return []
    signatures = {output.signature for output in outputs}
    rows = [
        (
            f"  {output.output}" if len(signatures) == 1 else f"  {output.signature}: {output.output}",
            f"{output.error:.1g}, mean {output.mean:.1g}",
        )
        for output in outputs[:_LISTED]
    ]
    if len(outputs) > _LISTED:
        rows.append(("", f"and {count_of(len(outputs) - _LISTED, 'output')} more"))
    return rows


def _growth_text(moving: Sequence[MovingRange]) -> str:
    if not moving:
        return ""
    named = ", ".join(f"{range_.tensor} by {range_.growth:.0%}" for range_ in moving[:_NAMED])
    more = f" and {len(moving) - _NAMED:,} more" if len(moving) > _NAMED else ""
    ranges = "a range" if len(moving) == 1 else f"{len(moving):,} ranges"
    return f", too few: {ranges} still grew in the last quarter of them ({named}{more})"


def _float_section(quantization: QuantizationReport) -> Section:
    """Lists the ops by name and reason, those with the most weights first."""
    groups: dict[tuple[str, str, str], list[FloatOp]] = {}
    for op in quantization.floats:
        groups.setdefault((op.op, op.reason, op.kind), []).append(op)
    ordered = sorted(groups.values(), key=lambda group: (-_weights(group), -len(group)))
    more = len(ordered) - _LISTED
    is_integer = quantization.form in INTEGER_FORMS
    return table(
        f"Stayed in floating point: {count_of(len(quantization.floats), 'op')}"
        if is_integer
        else f"Not quantized: the weights of {count_of(len(quantization.floats), 'op')}",
        ordered[:_LISTED],
        [
            Column("ops", lambda group: f"{len(group):,}", right=True),
            Column("op", lambda group: group[0].op),
            Column("result", lambda group: group[0].name + (f" and {len(group) - 1:,} more" if group[1:] else "")),
            Column("bytes of weights", lambda group: f"{_weights(group):,}", right=True),
            Column("why", lambda group: ("integer weights; " if group[0].kind == "hybrid" else "") + group[0].reason),
        ],
        note=f"and {count_of(more, 'kind')} more, in the report as JSON" if more > 0 else "",
    )


def _weights(ops: Sequence[FloatOp]) -> int:
    return sum(op.weights for op in ops)


def _mixed_section(mixed: MixedPrecision) -> Section:
    """Lists the curve of size against error."""
    forms = Counter(layer.form for layer in mixed.layers)
    return table(
        f"Mixed precision: {_forms_text(forms)}",
        mixed.curve,
        [
            Column("bytes", lambda point: f"{point.size:,}", right=True),
            Column("difference", lambda point: f"{point.error:.2g}", right=True),
            Column("layers", lambda point: _forms_text(point.forms)),
        ],
    )


def _wide_section(layers: Sequence[LayerForm]) -> Section:
    """Lists the layers of int16, those that need it most first."""
    ordered = sorted(layers, key=lambda layer: -layer.errors.get("int8", 0.0))
    more = len(ordered) - _LISTED
    return table(
        f"Layers in int16: {len(ordered):,}",
        ordered[:_LISTED],
        [
            Column("layer", lambda layer: layer.layer),
            Column("op", lambda layer: layer.op),
            Column("difference if in int8", lambda layer: f"{layer.errors['int8']:.2g}", right=True),
        ],
        note=f"and {more:,} more, in the report as JSON" if more > 0 else "",
    )


def _forms_text(forms: Mapping[str, int]) -> str:
    return ", ".join(f"{forms[form]:,} in {form}" for form in _FORMS_OF_LAYERS if forms.get(form))


def _layer_section(layers: Sequence[LayerDifference]) -> Section:
    """Lists the layers where the difference grows most."""
    ordered = sorted(layers, key=lambda layer: (-layer.added, -layer.error))[:_LISTED]
    more = len(layers) - len(ordered)
    return table(
        f"Layers, where the difference grows most: {len(layers):,} compared",
        ordered,
        [
            Column("tensor", lambda layer: layer.tensor),
            Column("op", lambda layer: layer.op),
            Column("dtype", lambda layer: layer.dtype),
            Column("difference", lambda layer: f"{layer.error:.2g}", right=True),
            Column("added", lambda layer: f"{layer.added:.2g}", right=True),
        ],
        note=f"and {more:,} more, in the report as JSON" if more else "",
    )
