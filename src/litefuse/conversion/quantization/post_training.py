"""Post-training quantization with litert-quantizer: of weights alone, or with the ranges that samples give."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from litefuse.conversion.quantization.adjusted_ranges import (
    MARGIN_INT16,
    avoid_powers_of_two,
    center_factors,
    share_ranges,
)
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
from litefuse.conversion.quantization.integer_loops import carried_ranges, integer_bodies, make_loops_integer
from litefuse.conversion.quantization.integer_ops import (
    hand_ranges_on,
    integer_graphs,
    make_ops_integer,
    sources_of_scales,
)
from litefuse.conversion.quantization.integer_rules import rule_of
from litefuse.conversion.quantization.limited_masks import limit_masks
from litefuse.conversion.quantization.litert_quantizer import apply_recipe, read_model
from litefuse.conversion.quantization.lookup_tables import TableFunction, table_functions
from litefuse.conversion.quantization.mixed_activations import mix_activations
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
    fit_biases,
    halve_biases,
    mend_rotations,
    mend_shared_outputs,
    mend_unread_results,
    restore_open_shapes,
    share_buffers,
    share_conversions,
)
from litefuse.conversion.quantization.recipe import ModelFacts, Recipe, check_named, facts_of, kept_results, recipe_of
from litefuse.conversion.quantization.recurrent.lstms import FloatLayer, LstmOps, enclose_states
from litefuse.conversion.quantization.runtime_forms import flatten_products, separate_activations
from litefuse.conversion.quantization.samples import Calls, calls_of
from litefuse.conversion.quantization.states.integer_variables import make_variables_integer
from litefuse.conversion.quantization.states.state_ranges import tie_states
from litefuse.conversion.quantization.states.sums import summing_states
from litefuse.errors import LitefuseError
from litefuse.litert.export.edited_file import Edit, complete_file, edit_file
from litefuse.litert.runtime.schema_objects import op_name, tensor_name
from litefuse.litert.targets import TargetTraits, traits_of
from litefuse.support.options.forms import INTEGER_ACTIVATIONS, QuantizationForm
from litefuse.support.options.quantization import Quantization
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
    quantization: QuantizationForm | Quantization,
    samples: Samples | None = None,
    *,
    traits: TargetTraits | None = None,
    left: list[FloatLayer] | None = None,
    announce: Callable[[str], None] = lambda _: None,
) -> Difference:
    """Quantizes a model.

    Args:
        path: A LiteRT model.
        target: The file for the quantized model.
        quantization: The form, or what users choose.
        samples: Inputs to calibrate the ranges of activations, for the forms that need them; with ``auto``, what the
            error is measured on.
        traits: What the target runs; None: LiteRT on a CPU.
        left: Filled with the recurrent ops that stay in floating point, though the form is of integers.
        announce: Called with the progress.

    Raises:
        InterpreterError: The samples are not for this model, or it does not run on them.
        LitefuseError: An expression or a kind of op names no op of the model, litert-quantizer rejects it, or LiteRT
            does not run the result.
    """
    options = Quantization.of(quantization)
    assert options.scheme is not None
    check_named(path, options)
    calls = None if samples is None else calls_of(samples, path)
    task = _Task(
        path, target, options.scheme, options, traits or traits_of("cpu"), kept_results(path, options), announce
    )
    task.float_layers = left if left is not None else []
    if options.scheme == "auto":
        task.mix(options.allowed_error, calls)
    elif calls is None:
        task.quantize_weights()
    else:
        task.quantize_all(calls)
    effect = measured_effect(
        path,
        target,
        options.scheme,
        calls,
        masked=task.masked,
        kept=task.kept,
        reasons=task.reasons | dict(task.float_layers),
        observation=task.observation or CalibrationObserver({}, announce),
        layers=options.measure_layers,
    )
    return effect._replace(mixed=task.mixed)


@dataclass
class _Task:
    """A quantization, in one of three ways.

    Attributes:
        path: The model.
        target: The file for the quantized one.
        form: The form.
        options: What users choose.
        traits: What the target runs.
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
    options: Quantization
    traits: TargetTraits
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
        apply_recipe(self.path, self.target, self.recipe(facts))
        edits: list[Edit] = [self.shrink_lstms, share_buffers, mend_rotations, separate_activations, halve_biases]
        complete_file(self.target, *edits, restore_open_shapes)

    def shrink_lstms(self, model: Any) -> bool:
        """Makes the weights of LSTM ops smaller; returns whether the model has such ops."""
        lstms, least = LstmOps(self.path), self.options.min_weight_elements or 0
        self.float_layers += lstms.make_smaller(model, self.form, self.kept, least=least)
        return lstms.present

    def quantize_all(self, calls: Calls) -> None:
        """Quantizes activations as well, with the ranges that they have in calls."""
        self.observation = CalibrationObserver(calls, self.announce)
        ranges = ranges_of(self.path, calls, self.observation)
        limited = self.target.with_name(self.target.name + ".limited")
        bits = INTEGER_ACTIVATIONS.get(self.form)
        try:
            if bits is not None and self._limit_masks(limited, ranges, bits):
                _RangedModel(self, limited, calls, ranges_of(limited, calls)).quantize()
            else:
                _RangedModel(self, self.path, calls, ranges).quantize()
        finally:
            limited.unlink(missing_ok=True)

    def _limit_masks(self, path: Path, ranges: Ranges, bits: int) -> bool:
        """Writes the model with masks that integers can represent, if it has masks that can be so."""
        if not masked_tensors(read_model(self.path), ranges):
            return False
        shutil.copyfile(self.path, path)
        return edit_file(path, lambda model: limit_masks(model, ranges, bits, self.kept))

    def recipe(self, facts: ModelFacts) -> Recipe:
        """Returns the recipe for a model."""
        return recipe_of(self.options, replace(facts, lookups_of_one_scale=not self.traits.mixed))


class _RangedModel:
    """A model in floating point whose tensors have ranges, of which activations become integers, too.

    Args:
        task: The quantization.
        path: The model, as its masks are limited.
        calls: Calls of its signatures.
        ranges: The ranges of its tensors in these calls.
    """

    def __init__(self, task: _Task, path: Path, calls: Calls, ranges: Ranges) -> None:
        if not ranges:
            raise LitefuseError("the model computes nothing in float32 that could become integers")
        self._task, self._path, self._calls = task, path, calls
        self._model = model = read_model(path)
        self._bits = bits = INTEGER_ACTIVATIONS.get(task.form)  # None for a recipe, which may have several
        ranges = ranges_of_empty_tensors(model) | ranges
        has_loops = bits is not None and task.traits.integer_loops
        self._bodies = integer_bodies(model, ranges, task.kept) if has_loops else set[int]()
        ranges = carried_ranges(model, self._bodies, ranges, bits or 8)
        task.masked = masked_tensors(model, ranges, self._bodies)
        check_finite(ranges, task.masked)
        self._lstms = LstmOps(path)
        self._inner = self._lstms.observed(calls) if task.form == "int8" else {}
        # The subgraphs of branches and composites must have the types of their op, which is not quantized.
        self._real = task.masked.union(
            _inner_tensors(model, self._bodies), self._lstms.kept_results() if task.form == "int8" else ()
        )
        self._functions, self._looked_up = list[TableFunction](), set[str]()
        self._sources: Mapping[str, str] = {}
        self._states_apart = task.kept | task.masked  # variables of which they are stay in floating point
        if bits is not None:
            self._choose_ops(ranges, bits)
        self._ranges = self._integer_ranges(ranges)
        carried = _carried(model, self._bodies)
        self._facts = replace(facts_of(path), real=self._real, later=self._looked_up, carried=carried)

    def _choose_ops(self, ranges: Ranges, bits: int) -> None:
        """Chooses what stays in floating point, and why, what is looked up in tables, and what takes scales on."""
        task, model = self._task, self._model
        sums = summing_states(model) if bits == 8 else {}
        self._states_apart |= sums.keys()
        task.reasons = withheld_ops(model, ranges, bits) | lacking_ops(model, bits, task.traits.no_integers) | sums
        prepare = {name for name, reason in task.reasons.items() if reason == PREPARES}
        apart = (self._real - task.reasons.keys()) | prepare | sums.keys()
        self._real |= task.reasons.keys()
        self._functions = self._table_functions(ranges, bits, apart)
        self._looked_up = {name for function in self._functions for name in function.results}
        task.reasons = {name: reason for name, reason in task.reasons.items() if name not in self._looked_up}
        self._real |= self._looked_up
        self._sources = sources_of_scales(model, bits, self._real | task.kept, self._bodies)

    def _integer_ranges(self, ranges: Ranges) -> Ranges:
        """Returns the ranges that LiteRT's kernels take: one where integers pass from one tensor to the other."""
        task, model, bits = self._task, self._model, self._bits
        integers = {name: inside for name, inside in self._inner.items() if name not in task.kept}
        ranges = enclose_states(ranges, integers)
        if bits is not None:
            ranges = tie_states(model, ranges, self._sources, bits, self._real | task.kept, self._states_apart)
        ranges = center_factors(model, ranges) if bits == 8 and task.traits.xnnpack else ranges
        ranges = share_ranges(model, ranges, self._sources, read_once(self._path), limits=bits == 8)
        ranges = hand_ranges_on(ranges, self._sources)
        ranges = carried_ranges(model, self._bodies, ranges, bits or 8)  # some of these have another one now
        if bits == 8 and not task.options.has_mixed_activations:
            return ranges
        return avoid_powers_of_two(ranges, MARGIN_INT16 if bits == 16 else 1.0)

    def quantize(self) -> None:
        """Writes the quantized model."""
        task = self._task
        if task.options.has_mixed_activations:
            allowed = task.options.allowed_error
            task.mixed = mix_activations(self._path, task.target, self._write, allowed, self._calls, task.announce)
        else:
            self._write(())

    def _write(self, wide: Collection[str]) -> None:
        """Writes the model with int16 in the place of int8 for these tensors."""
        task = self._task
        # litert-quantizer writes the ranges of ops with a fixed scale into these; others must not share them.
        scales = with_ends_of_rank(0, self._ranges)
        task.target.unlink(missing_ok=True)
        apply_recipe(self._path, task.target, task.recipe(replace(self._facts, wide=wide)), scales)
        complete_file(task.target, *self._edits(with_ends_of_rank(1, scales)))

    def _edits(self, ranges: Ranges) -> Iterator[Edit]:
        """Yields the changes of the file that litert-quantizer writes."""
        task, lstms, of_outputs = self._task, self._lstms, bool(self._task.options.io[1])
        task.float_layers.clear()

        def make_lstms_integer(model: Any) -> bool:
            task.float_layers += lstms.make_integers(
                model, self._inner, ranges, quantized_io=of_outputs, kept=task.kept
            )
            return lstms.present

        if task.form == "int8":
            yield make_lstms_integer
        else:
            task.float_layers += lstms.left_because(_NO_INTEGER_LSTM[task.form])
        if task.form == "int16":
            yield task.shrink_lstms
        yield partial(fit_biases, real=self._model)
        yield from (share_buffers, mend_unread_results, partial(mend_shared_outputs, integers=of_outputs))
        if self._bits is not None:
            yield restore_open_shapes  # of what QUANTIZE makes, which ops will make themselves
            yield from self._integer_edits(ranges, self._bits)
            yield share_conversions
        yield from (flatten_products, separate_activations, halve_biases, restore_open_shapes)

    def _integer_edits(self, ranges: Ranges, bits: int) -> Iterator[Edit]:
        """Yields those that make integers of what litert-quantizer leaves in floating point."""
        task, bodies, apart = self._task, self._bodies, (self._real | self._task.kept) - self._looked_up
        finite = {name: range_ for name, range_ in ranges.items() if name not in task.masked}
        move = partial(move_integers, kept=task.kept | task.masked)
        yield partial(make_loops_integer, bodies=bodies, ranges=ranges, bits=bits)
        yield move
        yield partial(make_ops_integer, bits=bits, ranges=finite, kept=apart, functions=self._functions, bodies=bodies)
        yield partial(make_variables_integer, bits=bits, ranges=ranges, reasons=task.reasons, apart=self._states_apart)
        yield move

    def _table_functions(self, ranges: Ranges, bits: int, real: Collection[str]) -> list[TableFunction]:
        """Returns what is looked up in tables."""
        task, model = self._task, self._model

        def lacks(op: Any) -> bool:
            kind = op_name(model.operatorCodes[op.opcodeIndex])
            if tensor_name(graph.tensors[op.outputs[0]]) in task.reasons:
                return True
            return rule_of(model, op, bits) is None and kind not in quantizable_ops()

        functions: list[TableFunction] = []
        for number in integer_graphs(model, self._bodies):
            graph = model.subgraphs[number]
            functions += table_functions(model, number, ranges, lacks, {*real, *task.masked, *task.kept})
        return [
            function
            for function in functions
            if task.reasons.get(function.result) != COMPUTES_DIVISOR
            and f"GATHER {f'int{bits}' if function.is_real else 'bool'}" not in task.traits.no_integers
        ]


def _inner_tensors(model: Any, bodies: Collection[int]) -> Iterator[str]:
    """Yields the names of tensors in subgraphs that are neither signatures nor bodies of integers.

    litert-quantizer identifies ops by names.
    """
    signatures = {signature.subgraphIndex for signature in model.signatureDefs or ()}
    for index, subgraph in enumerate(model.subgraphs):
        if index not in signatures and index not in bodies:
            yield from (tensor_name(tensor) for tensor in subgraph.tensors)


def _carried(model: Any, bodies: Collection[int]) -> set[str]:
    """Returns the names by which recipes know what these bodies take and give."""
    graphs = [model.subgraphs[body] for body in bodies]
    firsts = [(graph, ends[0]) for graph in graphs for ends in (graph.inputs, graph.outputs) if len(ends)]
    return {tensor_name(graph.tensors[index]) for graph, index in firsts}
