"""Quantization with litert-quantizer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from litefuse.options.forms import INTEGER_ACTIVATIONS, Quantization
from litefuse.options.quantization import QuantizationOptions, QuantizedIo
from litefuse.quantization.applying import apply_recipe, read_model
from litefuse.quantization.calibration import check_finite, ranges_of
from litefuse.quantization.dataset import Samples
from litefuse.quantization.difference import Difference
from litefuse.quantization.edited_file import edit_file
from litefuse.quantization.effect import CalibrationObserver, measured_effect
from litefuse.quantization.integer_custom_ops import make_custom_ops_integer
from litefuse.quantization.masks import masked_tensors, tensor_name
from litefuse.quantization.model_facts import check_named, facts_of, kept_results
from litefuse.quantization.open_shapes import restore_open_shapes
from litefuse.quantization.recipe import recipe_of
from litefuse.quantization.recurrent.lstms import FloatLayer, LstmOps
from litefuse.quantization.samples import calls_of
from litefuse.quantization.shared_outputs import mend_shared_outputs
from litefuse.quantization.shared_ranges import share_ranges

__all__ = ["quantize_model"]

# Why LSTM ops stay in floating point in forms that quantize activations otherwise.
_NO_INTEGER_LSTM: dict[Quantization, str] = {
    "int16": "LiteRT has no LSTM of int16 inputs and outputs",
    "recipe": "litert-quantizer's recipes know no LSTM",
}


def quantize_model(
    path: Path,
    target: Path,
    form: Quantization,
    samples: Samples | None = None,
    *,
    quantized_io: QuantizedIo = False,
    options: QuantizationOptions | None = None,
    left: list[FloatLayer] | None = None,
    layers: bool = False,
    announce: Callable[[str], None] = lambda _: None,
) -> Difference:
    """Quantizes the ops that litert-quantizer supports.

    Args:
        path: A LiteRT model.
        target: The file for the quantized model.
        form: The form of weights and activations.
        samples: Inputs to calibrate the ranges of activations, for the forms that need them.
        quantized_io: Whether the inputs and outputs are quantized too, in these forms, and to which integers.
        options: What users choose beyond the form.
        left: Filled with the recurrent ops that stay in floating point, though the form is of integers.
        layers: Whether the difference is also measured inside the model.
        announce: Called with the progress.

    Raises:
        InterpreterError: The samples are not for this model, or it does not run on them.
        LitefuseError: An expression or a kind of op names no op of the model, litert-quantizer rejects it, or LiteRT
            does not run the result.
    """
    chosen = options or QuantizationOptions()
    facts = facts_of(path)
    check_named(path, chosen)
    kept = kept_results(path, chosen)
    calls = None if samples is None else calls_of(samples, path)
    lstms = LstmOps(path)
    float_layers = left if left is not None else []
    observation = CalibrationObserver(calls or {}, announce)
    masked = set[str]()
    edits: list[Callable[[Any], bool]] = [restore_open_shapes]
    if calls is None:
        apply_recipe(path, target, recipe_of(form, chosen, facts, quantized_io=quantized_io))
        if form == "dynamic":
            float_layers += lstms.make_hybrid(target, kept=kept)
    else:
        ranges = ranges_of(path, calls, observation)
        model = read_model(path)
        masked = masked_tensors(model, ranges)
        check_finite(ranges, masked)
        # The subgraphs of loops, branches and composites must have the types of their op, which is not quantized.
        facts = replace(facts, real=masked.union(_inner_tensors(model), lstms.kept_results() if form == "int8" else ()))
        ranges = share_ranges(model, ranges)
        apply_recipe(path, target, recipe_of(form, chosen, facts, quantized_io=quantized_io), ranges)
        if form == "int8":
            integer_io = quantized_io is not False
            float_layers += lstms.make_integers(target, calls, ranges, quantized_io=integer_io, kept=kept)
        else:
            float_layers += lstms.left_because(_NO_INTEGER_LSTM[form])
        if form in INTEGER_ACTIVATIONS:
            found = {name: each for name, each in ranges.items() if name not in masked}
            edits.insert(0, partial(make_custom_ops_integer, bits=INTEGER_ACTIVATIONS[form], ranges=found))
        edits.insert(0, mend_shared_outputs)
    edit_file(target, *edits)
    return measured_effect(
        path,
        target,
        form,
        calls,
        masked=masked,
        kept=kept,
        reasons=dict(float_layers),
        observation=observation,
        layers=layers,
    )


def _inner_tensors(model: Any) -> Iterator[str]:
    """Yields the names of tensors in subgraphs that are not signatures: litert-quantizer identifies ops by names."""
    signatures = {each.subgraphIndex for each in model.signatureDefs or ()}
    for index, subgraph in enumerate(model.subgraphs):
        if index not in signatures:
            yield from (tensor_name(tensor) for tensor in subgraph.tensors)
