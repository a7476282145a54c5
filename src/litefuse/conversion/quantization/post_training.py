"""Post-training quantization with litert-quantizer: of weights alone, or with the ranges that samples give."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from litefuse.conversion.quantization.adjusted_ranges import avoid_powers_of_two, share_ranges
from litefuse.conversion.quantization.calibration import (
    Ranges,
    check_finite,
    ranges_of,
    ranges_of_empty_tensors,
    read_once,
    with_ends_of_rank,
)
from litefuse.conversion.quantization.dataset import Samples
from litefuse.conversion.quantization.difference import Difference
from litefuse.conversion.quantization.effect import CalibrationObserver, measured_effect
from litefuse.conversion.quantization.float_ops import quantizable_ops
from litefuse.conversion.quantization.integer_ops import (
    hand_ranges_on,
    make_ops_integer,
    signature_graphs,
    sources_of_scales,
)
from litefuse.conversion.quantization.integer_rules import rule_of
from litefuse.conversion.quantization.limited_masks import limit_masks
from litefuse.conversion.quantization.litert_quantizer import apply_recipe, read_model
from litefuse.conversion.quantization.lookup_tables import TableFunction, table_functions
from litefuse.conversion.quantization.mixed_precision import mix_precision
from litefuse.conversion.quantization.moved_constants import move_integers
from litefuse.conversion.quantization.ops_left_in_float import (
    COMPUTES_DIVISOR,
    PREPARES,
    lacking_ops,
    masked_tensors,
    withheld_ops,
)
from litefuse.conversion.quantization.quantizer_mends import (
    halve_biases,
    mend_rotations,
    mend_shared_outputs,
    mend_unread_results,
    restore_open_shapes,
    share_buffers,
)
from litefuse.conversion.quantization.recipe import ModelFacts, Recipe, check_named, facts_of, kept_results, recipe_of
from litefuse.conversion.quantization.recurrent.lstms import FloatLayer, LstmOps, enclose_states
from litefuse.conversion.quantization.runtime_forms import flatten_products, separate_activations
from litefuse.conversion.quantization.samples import Calls, calls_of
from litefuse.errors import LitefuseError
from litefuse.litert.export.edited_file import Edit, complete_file, edit_file
from litefuse.litert.runtime.schema_objects import op_name, tensor_name
from litefuse.support.options.forms import INTEGER_ACTIVATIONS, QuantizationForm
from litefuse.support.options.quantization import QuantizationOptions, QuantizedIo, types_of_io
from litefuse.support.report.quantized import MixedPrecision

# Why LSTM ops stay in floating point in forms that quantize activations otherwise.
_NO_INTEGER_LSTM: dict[QuantizationForm, str] = {
    "int16": "LiteRT has no LSTM of int16 inputs and outputs",
    "recipe": "litert-quantizer's recipes know no LSTM",
}
_TOO_SENSITIVE = "in any smaller form it costs too much of the outputs' accuracy"


def quantize_model(
    path: Path,
    target: Path,
    form: QuantizationForm,
    samples: Samples | None = None,
    *,
    quantized_io: QuantizedIo = False,
    options: QuantizationOptions | None = None,
    max_error: float = 0.0,
    left: list[FloatLayer] | None = None,
    layers: bool = False,
    announce: Callable[[str], None] = lambda _: None,
) -> Difference:
    """Quantizes a model.

    Args:
        path: A LiteRT model.
        target: The file for the quantized model.
        form: The form of weights and activations.
        samples: Inputs to calibrate the ranges of activations, for the forms that need them; with ``auto``, what the
            error is measured on.
        quantized_io: Whether the inputs and outputs are quantized too, in these forms, and to which integers.
        options: What users choose beyond the form.
        max_error: The error up to which ``auto`` makes the model smaller.
        left: Filled with the recurrent ops that stay in floating point, though the form is of integers.
        layers: Whether the difference is also measured inside the model.
        announce: Called with the progress.

    Raises:
        InterpreterError: The samples are not for this model, or it does not run on them.
        LitefuseError: An expression or a kind of op names no op of the model, litert-quantizer rejects it, or LiteRT
            does not run the result.
    """
    options = options or QuantizationOptions()
    check_named(path, options)
    calls = None if samples is None else calls_of(samples, path)
    task = _Task(path, target, form, options, quantized_io, kept_results(path, options), announce)
    task.float_layers = left if left is not None else []
    if form == "auto":
        task.mix(max_error, calls)
    elif calls is None:
        task.quantize_weights()
    else:
        task.quantize_all(calls)
    effect = measured_effect(
        path,
        target,
        form,
        calls,
        masked=task.masked,
        kept=task.kept,
        reasons=task.reasons | dict(task.float_layers),
        observation=task.observation or CalibrationObserver({}, announce),
        layers=layers,
    )
    return effect._replace(mixed=task.mixed)


@dataclass
class _Task:
    """A quantization, in one of three ways.

    Attributes:
        path: The model.
        target: The file for the quantized one.
        form: The form.
        options: What users choose beyond it.
        quantized_io: The types of inputs and outputs.
        kept: The names of results whose ops the user wants in floating point.
        announce: Called with the progress.
        masked: The names of tensors that stay in floating point for their masks.
        reasons: Why ops stay in floating point, by the names of their results.
        float_layers: The recurrent ops that stay so.
        observation: What was observed during the calibration.
        mixed: The forms that were chosen.
    """

    path: Path
    target: Path
    form: QuantizationForm
    options: QuantizationOptions
    quantized_io: QuantizedIo
    kept: set[str]
    announce: Callable[[str], None]
    masked: set[str] = field(default_factory=set[str])
    reasons: dict[str, str] = field(default_factory=dict[str, str])
    float_layers: list[FloatLayer] = field(default_factory=list[FloatLayer])
    observation: CalibrationObserver | None = None
    mixed: MixedPrecision | None = None

    def mix(self, max_error: float, calls: Calls | None) -> None:
        """Gives the weights of each layer a form of their own."""
        self.mixed = mix_precision(self.path, self.target, max_error, calls, kept=self.kept, announce=self.announce)
        self.reasons = {layer.layer: _TOO_SENSITIVE for layer in self.mixed.layers if layer.form == "float32"}
        complete_file(self.target, separate_activations, halve_biases, restore_open_shapes)

    def quantize_weights(self) -> None:
        """Quantizes weights alone."""
        facts = facts_of(self.path)
        if self.form in {"float16", "weights"}:
            self.reasons = dict.fromkeys(facts.returned, "its weights are an output of the model")
        apply_recipe(self.path, self.target, self._recipe(facts))
        edits: list[Edit] = [share_buffers, mend_rotations, separate_activations, halve_biases, restore_open_shapes]
        if self.form == "dynamic":
            edits.insert(0, self._make_hybrid)
        complete_file(self.target, *edits)

    def _make_hybrid(self, model: Any) -> bool:
        lstms = LstmOps(self.path)
        self.float_layers += lstms.make_hybrid(model, kept=self.kept)
        return lstms.present

    def quantize_all(self, calls: Calls) -> None:
        """Quantizes activations as well, with the ranges that they have in calls."""
        self.observation = CalibrationObserver(calls, self.announce)
        ranges = ranges_of(self.path, calls, self.observation)
        limited = self.target.with_name(self.target.name + ".limited")
        bits = INTEGER_ACTIVATIONS.get(self.form)
        try:
            if bits is not None and self._limit_masks(limited, ranges, bits):
                self._quantize_ranges(limited, calls, ranges_of(limited, calls))
            else:
                self._quantize_ranges(self.path, calls, ranges)
        finally:
            limited.unlink(missing_ok=True)

    def _limit_masks(self, path: Path, ranges: Ranges, bits: int) -> bool:
        """Writes the model with masks that integers can represent, if it has masks that can be so."""
        if not masked_tensors(read_model(self.path), ranges):
            return False
        shutil.copyfile(self.path, path)
        return edit_file(path, lambda model: limit_masks(model, ranges, bits, self.kept))

    def _quantize_ranges(self, path: Path, calls: Calls, ranges: Ranges) -> None:
        """Quantizes a model whose tensors have these ranges in calls."""
        if not ranges:
            raise LitefuseError("the model computes nothing in float32 that could become integers")
        model = read_model(path)
        ranges = ranges_of_empty_tensors(model) | ranges
        self.masked = masked_tensors(model, ranges)
        check_finite(ranges, self.masked)
        lstms = LstmOps(path)
        # The subgraphs of loops, branches and composites must have the types of their op, which is not quantized.
        real = self.masked.union(_inner_tensors(model), lstms.kept_results() if self.form == "int8" else ())
        bits = INTEGER_ACTIVATIONS.get(self.form)  # None for a recipe, which may have several
        sources: Mapping[str, str] = {}
        functions, looked_up = list[TableFunction](), set[str]()
        if bits is not None:
            self.reasons = withheld_ops(model, ranges, bits) | lacking_ops(model, bits, self.options.no_integers)
            real |= self.reasons.keys()
            prepare = {name for name, reason in self.reasons.items() if reason == PREPARES}
            functions = self._table_functions(model, ranges, bits, real - self.reasons.keys() | prepare)
            looked_up = {name for function in functions for name in function.results}
            self.reasons = {name: reason for name, reason in self.reasons.items() if name not in looked_up}
            sources = sources_of_scales(model, bits, real | looked_up | self.kept)
            real |= looked_up
        inner = lstms.observed(calls) if self.form == "int8" else {}
        integers = {name: inside for name, inside in inner.items() if name not in self.kept}
        ranges = share_ranges(model, enclose_states(ranges, integers), sources, read_once(path), limits=bits == 8)
        ranges = hand_ranges_on(ranges, sources)
        if bits == 16:
            ranges = avoid_powers_of_two(ranges)
        # litert-quantizer writes the ranges of ops with a fixed scale into these; other tensors must not share them.
        ranges = with_ends_of_rank(0, ranges)
        apply_recipe(path, self.target, self._recipe(replace(facts_of(path), real=real, later=looked_up)), ranges)
        ranges = with_ends_of_rank(1, ranges)

        def make_integers(model: Any) -> bool:
            _, of_outputs = types_of_io(self.quantized_io)
            self.float_layers += lstms.make_integers(
                model, inner, ranges, quantized_io=bool(of_outputs), kept=self.kept
            )
            return lstms.present

        edits: list[Edit] = [share_buffers, mend_unread_results, mend_shared_outputs]
        if self.form == "int8":
            edits.insert(0, make_integers)
        else:
            self.float_layers += lstms.left_because(_NO_INTEGER_LSTM[self.form])
        if bits is not None:
            finite = {name: range_ for name, range_ in ranges.items() if name not in self.masked}
            edits.append(restore_open_shapes)  # of what QUANTIZE makes, which ops will make themselves
            edits.append(partial(move_integers, kept=self.kept | self.masked))
            kept = (real | self.kept) - looked_up
            edits.append(partial(make_ops_integer, bits=bits, ranges=finite, kept=kept, functions=functions))
        edits += [flatten_products, separate_activations, halve_biases, restore_open_shapes]
        complete_file(self.target, *edits)

    def _table_functions(self, model: Any, ranges: Ranges, bits: int, real: Collection[str]) -> list[TableFunction]:
        """Returns what is looked up in tables."""

        def lacks(op: Any) -> bool:
            kind = op_name(model.operatorCodes[op.opcodeIndex])
            if tensor_name(graph.tensors[op.outputs[0]]) in self.reasons:
                return True
            return rule_of(model, op, bits) is None and kind not in quantizable_ops()

        functions: list[TableFunction] = []
        for number in signature_graphs(model):
            graph = model.subgraphs[number]
            functions += table_functions(model, number, ranges, lacks, {*real, *self.masked, *self.kept})
        return [
            function
            for function in functions
            if self.reasons.get(function.result) != COMPUTES_DIVISOR
            and f"GATHER {f'int{bits}' if function.is_real else 'bool'}" not in self.options.no_integers
        ]

    def _recipe(self, facts: ModelFacts) -> Recipe:
        return recipe_of(self.form, self.options, facts, quantized_io=self.quantized_io)


def _inner_tensors(model: Any) -> Iterator[str]:
    """Yields the names of tensors in subgraphs that are not signatures: litert-quantizer identifies ops by names."""
    signatures = {signature.subgraphIndex for signature in model.signatureDefs or ()}
    for index, subgraph in enumerate(model.subgraphs):
        if index not in signatures:
            yield from (tensor_name(tensor) for tensor in subgraph.tensors)
