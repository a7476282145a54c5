"""Quantization with litert-quantizer."""

from __future__ import annotations

import importlib
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from litefuse.errors import LitefuseError
from litefuse.inputs.graph import Model
from litefuse.options.forms import INTEGER_ACTIVATIONS, Quantization
from litefuse.quantization.calibration import check_finite, ranges_of
from litefuse.quantization.dataset import Samples
from litefuse.quantization.difference import Difference, difference_on_random_inputs, difference_on_samples
from litefuse.quantization.masks import masked_tensors, tensor_name
from litefuse.quantization.samples import calls_of
from litefuse.runtime.flatbuffer import content_of

__all__ = ["quantize_model"]


def quantize_model(
    path: Path, target: Path, form: Quantization, samples: Samples | None = None, *, quantized_io: bool = False
) -> Difference:
    """Quantizes the ops that litert-quantizer supports.

    Args:
        path: A LiteRT model.
        target: The file for the quantized model.
        form: The form of weights and activations.
        samples: Inputs to calibrate the ranges of activations, for the forms that need them.
        quantized_io: Whether the inputs and outputs are quantized too, in these forms.

    Raises:
        InterpreterError: The samples are not for this model, or it does not run on them.
        LitefuseError: litert-quantizer rejects the model, or LiteRT does not run the result.
    """
    calls = None if samples is None else calls_of(samples, path)
    ranges = None if calls is None else ranges_of(path, calls)
    real = set[str]()  # the tensors that stay in floating point
    if ranges is not None:
        model = importlib.import_module("litert_quantizer.utils.tfl_flatbuffer_utils").read_model(str(path))
        masked = masked_tensors(model, ranges)
        check_finite(ranges, masked)
        real = masked.union(_inner_tensors(model))
    try:
        quantizer: Any = importlib.import_module("litert_quantizer.quantizer").Quantizer(str(path))
        if calls is None:
            _ask_for_weights(quantizer, form)
            if form == "dynamic":
                _leave(quantizer, _products_of_constants(path))
        else:
            _ask_for_integers(quantizer, INTEGER_ACTIVATIONS[form], real, quantized_io=quantized_io)
            # It would load the model in an interpreter without kernels of custom ops.
            quantizer._ensure_model_qsv_sufficient = _accept  # noqa: SLF001
        quantizer.quantize(
            ranges, serialize_to_path=str(target), enable_progress_bar=False, enable_progress_report=False
        )
    except Exception as error:
        raise LitefuseError(
            f"litert-quantizer refused the model: {error}",
            hint="Convert it without quantization, or try another form of it.",
        ) from error
    return difference_on_random_inputs(path, target) if calls is None else difference_on_samples(path, target, calls)


def _accept(_: Any) -> None:
    """Accepts any ranges, in place of the quantizer's check."""


def _everything() -> dict[str, Any]:
    return {"regex": ".*", "operation_name": importlib.import_module("litert_quantizer.qtyping").TFLOperationName("*")}


def _ask_for_weights(quantizer: Any, form: Quantization) -> None:
    if form == "dynamic":
        quantizer.add_dynamic_config(**_everything(), num_bits=8)
    elif form == "weights":
        quantizer.add_weight_only_config(**_everything(), num_bits=8)
    else:
        casting = importlib.import_module("litert_quantizer.algorithm_manager").AlgorithmName.FLOAT_CASTING
        quantizer.add_weight_only_config(**_everything(), num_bits=16, algorithm_key=casting)


def _ask_for_integers(quantizer: Any, bits: int, real: set[str], *, quantized_io: bool) -> None:
    names: Any = importlib.import_module("litert_quantizer.qtyping").TFLOperationName
    grains: Any = importlib.import_module("litert_quantizer.qtyping").QuantGranularity
    everything = {"operation_name": names.ALL_SUPPORTED}
    static = {"activation_num_bits": bits, "weight_num_bits": 8}
    # The last configuration that supports an op counts; a regular expression has one for all ops.
    quantizer.add_dynamic_config(".*", **everything, num_bits=8)
    quantizer.add_static_config("^", **everything, **static)
    # LiteRT reads only the scale of the first channel.
    quantizer.add_static_config("^", names.BATCH_MATMUL, **static, weight_granularity=grains.TENSORWISE)
    if not quantized_io:
        for boundary in (names.INPUT, names.OUTPUT):
            quantizer.update_quantization_recipe("^", boundary, algorithm_key="no_quantize")
    # The subgraphs of loops, branches and composites must have the types of their op, which is not quantized: there,
    # and where there are masks, only weights become integers.
    if real:
        quantizer.add_dynamic_config(f"(?:){_leave(quantizer, real)}", **everything, num_bits=8)


def _leave(quantizer: Any, results: Collection[str]) -> str:
    """Excludes the ops with these results from quantization; returns the regular expression for them."""
    regex = f"^(?:{'|'.join(map(re.escape, sorted(results)))});"
    if results:
        names: Any = importlib.import_module("litert_quantizer.qtyping").TFLOperationName
        everything = {"operation_name": names.ALL_SUPPORTED}
        quantizer.update_quantization_recipe(regex, **everything, algorithm_key="no_quantize")
    return regex


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
