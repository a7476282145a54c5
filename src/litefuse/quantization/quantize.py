"""Quantization with litert-quantizer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from litefuse.inputs.graph import Model
from litefuse.options.forms import INTEGER_ACTIVATIONS, Quantization
from litefuse.quantization.applying import apply_recipe, read_model
from litefuse.quantization.calibration import check_finite, ranges_of
from litefuse.quantization.dataset import Samples
from litefuse.quantization.difference import Difference
from litefuse.quantization.edited_file import edit_file
from litefuse.quantization.effect import CalibrationObserver, measured_effect
from litefuse.quantization.integer_custom_ops import make_custom_ops_integer
from litefuse.quantization.masks import masked_tensors, tensor_name
from litefuse.quantization.open_shapes import restore_open_shapes
from litefuse.quantization.recipe import integer_recipe, weight_recipe
from litefuse.quantization.recurrent.lstms import FloatLayer, LstmOps
from litefuse.quantization.samples import calls_of
from litefuse.runtime.flatbuffer import content_of

__all__ = ["quantize_model"]


def quantize_model(
    path: Path,
    target: Path,
    form: Quantization,
    samples: Samples | None = None,
    *,
    quantized_io: bool = False,
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
        quantized_io: Whether the inputs and outputs are quantized too, in these forms.
        left: Filled with the recurrent ops that stay in floating point, though the form is of integers.
        layers: Whether the difference is also measured inside the model.
        announce: Called with the progress.

    Raises:
        InterpreterError: The samples are not for this model, or it does not run on them.
        LitefuseError: litert-quantizer rejects the model, or LiteRT does not run the result.
    """
    calls = None if samples is None else calls_of(samples, path)
    lstms = LstmOps(path)
    float_layers = left if left is not None else []
    observation = CalibrationObserver(calls or {}, announce)
    masked = set[str]()
    edits: list[Callable[[Any], bool]] = [restore_open_shapes]
    if calls is None:
        apply_recipe(path, target, weight_recipe(form, _products_of_constants(path) if form == "dynamic" else ()))
        if form == "dynamic":
            float_layers += lstms.make_hybrid(target)
    else:
        ranges = ranges_of(path, calls, observation)
        model = read_model(path)
        masked = masked_tensors(model, ranges)
        check_finite(ranges, masked)
        # The subgraphs of loops, branches and composites must have the types of their op, which is not quantized.
        real = masked.union(_inner_tensors(model), lstms.kept_results() if form == "int8" else ())
        apply_recipe(path, target, integer_recipe(form, real, quantized_io=quantized_io), ranges)
        if form == "int16":
            float_layers += lstms.left_because("LiteRT has no LSTM of int16 inputs and outputs")
        else:
            float_layers += lstms.make_integers(target, calls, ranges, quantized_io=quantized_io)
        found = {name: each for name, each in ranges.items() if name not in masked}
        edits.insert(0, partial(make_custom_ops_integer, bits=INTEGER_ACTIVATIONS[form], ranges=found))
    edit_file(target, *edits)
    return measured_effect(
        path,
        target,
        form,
        calls,
        masked=masked,
        reasons=dict(float_layers),
        observation=observation,
        layers=layers,
    )


def _products_of_constants(path: Path) -> set[str]:
    """Returns the results of products with a constant first factor: LiteRT supports integer weights as the second."""
    with content_of(path) as content:
        return {
            graph.tensor(op.outputs[0]).name
            for graph in Model(content).graphs
            for op in graph.ops
            if op.name in {"BATCH_MATMUL", "FULLY_CONNECTED"} and graph.is_constant(op.inputs[0])
        }


def _inner_tensors(model: Any) -> Iterator[str]:
    """Yields the names of tensors in subgraphs that are not signatures: litert-quantizer identifies ops by names."""
    signatures = {each.subgraphIndex for each in model.signatureDefs or ()}
    for index, subgraph in enumerate(model.subgraphs):
        if index not in signatures:
            yield from (tensor_name(tensor) for tensor in subgraph.tensors)
