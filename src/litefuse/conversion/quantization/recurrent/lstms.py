"""Quantization of the recurrent ops of a model, which litert-quantizer does not know."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from litefuse.conversion.quantization.calibration import Ranges
from litefuse.conversion.quantization.litert_quantizer import read_model
from litefuse.conversion.quantization.recurrent.inner_ranges import InnerRanges, observed_ranges
from litefuse.conversion.quantization.recurrent.needless_conversions import drop_unused, join_integers
from litefuse.conversion.quantization.recurrent.operands import (
    CELL_STATE,
    INPUT,
    LSTMS,
    OUTPUT_STATE,
    cell_reads,
    is_copy,
    lstm_ops,
    reason_for_float,
)
from litefuse.conversion.quantization.recurrent.quantized_forms import (
    LARGEST_CELL,
    integer_source,
    make_hybrid,
    make_integers,
    shape_of_state,
    store_smaller,
)
from litefuse.conversion.quantization.samples import Calls
from litefuse.litert.export.editor import GraphEditor, editors_of
from litefuse.litert.runtime.flatbuffer import content_of
from litefuse.litert.runtime.model_reader import Model
from litefuse.support.options.forms import QuantizationForm

_CONVERSIONS = ("QUANTIZE", "DEQUANTIZE")
# The recurrent ops that LiteRT has no integer form of.
_OTHERS = frozenset({"BIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_RNN", "RNN", "UNIDIRECTIONAL_SEQUENCE_RNN"})
_NAMES = frozenset({"LSTM", "UNIDIRECTIONAL_SEQUENCE_LSTM", *_OTHERS})


# Results of DEQUANTIZE with a constant operand are in the memory of states, and computed once.
_LOST_WEIGHTS = "LiteRT loses weights that it dequantized when the states get another size: convert with rnn='loop'"


class FloatLayer(NamedTuple):
    """A recurrent op that stays in floating point."""

    name: str
    reason: str


class LstmOps:
    """The recurrent ops of a model in floating point."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @cached_property
    def present(self) -> bool:
        """Whether there are any."""
        with content_of(self._path) as content:
            return any(op.name in _NAMES for graph in Model(content).graphs for op in graph.ops)

    def kept_results(self) -> Iterator[str]:
        """Yields the names of results that litert-quantizer must leave: initial states, and reads of the last ones."""
        if not self.present:
            return
        model = read_model(self._path)
        for graph in editors_of(model):
            for op in lstm_ops(graph):
                yield from (graph.name(op.inputs[state]) for state in (OUTPUT_STATE, CELL_STATE))
                for reads in cell_reads(graph, op):
                    copies = [input_ for input_ in reads.inputs if is_copy(graph, graph.producer(input_))]
                    taken = [consumer.outputs[0] for consumer in graph.consumers(reads.outputs[0])]
                    yield from (graph.name(index) for index in (reads.outputs[0], *copies, *taken))

    def observed(self, calls: Calls) -> dict[str, InnerRanges]:
        """Returns the ranges inside the ops that have an integer form, by the names of their results."""
        if not self.present:
            return {}
        model = read_model(self._path)
        signatures = {
            signature.signatureKey.decode(): signature.subgraphIndex for signature in model.signatureDefs or ()
        }
        graphs = {number: GraphEditor(model, number) for number in {*signatures.values()}}
        ops = {
            number: [op for op in lstm_ops(graph) if reason_for_float(graph, op) is None]
            for number, graph in graphs.items()
        }
        return observed_ranges(self._path, ops, graphs, signatures, calls)

    def make_integers(
        self,
        model: Any,
        inner: Mapping[str, InnerRanges],
        ranges: Ranges,
        *,
        quantized_io: bool = False,
        kept: Collection[str] = (),
    ) -> list[FloatLayer]:
        """Rewrites the ops in the quantized model to their integer form.

        Args:
            model: The quantized model, an object of the schema.
            inner: The ranges inside the ops.
            ranges: The ranges of the other tensors.
            quantized_io: Whether the inputs and outputs are integers.
            kept: The names of results whose ops the user wants in floating point.

        Returns:
            The ops that stay in floating point though they are not kept.
        """
        if not self.present:
            return []
        left: list[FloatLayer] = []
        made = 0
        for number, graph in enumerate(editors_of(model)):
            signatures = [signature for signature in model.signatureDefs or () if signature.subgraphIndex == number]
            _agree_on_outputs(graph, signatures, quantized_io=quantized_io)
            changed = False
            for op in lstm_ops(graph):
                name = graph.name(op.outputs[0])
                if name in kept:
                    continue
                reason = reason_for_float(graph, op)
                if reason is None and name not in inner:
                    reason = "it is in a loop or a branch"
                elif reason is None and inner[name].cell > LARGEST_CELL:
                    reason = f"its cell state exceeds {LARGEST_CELL:g}, which LiteRT has no integer kernel for"
                if reason is not None:
                    left.append(FloatLayer(name, reason))
                    continue
                x = graph.name(integer_source(graph, int(op.inputs[INPUT])))  # of int16, beside other layers of that
                made += 1
                make_integers(graph, op, f"lstm{made}", inner[name], _ends(ranges, x), _ends(ranges, name))
                changed = True
            left += _others(graph)
            if changed:
                join_integers(graph)
        drop_unused(model)
        return left

    def make_smaller(
        self, model: Any, form: QuantizationForm, kept: Collection[str] = (), *, least: int = 0
    ) -> list[FloatLayer]:
        """Makes the weights of the ops in a model smaller; returns the ops whose weights stay float32.

        Args:
            model: The model, an object of the schema.
            form: The form of weights that are stored so; others are int8 in the op itself.
            kept: The names of results whose ops the user wants in floating point.
            least: The smallest number of weights that are stored in another form.
        """
        if not self.present:
            return []
        left: list[FloatLayer] = []
        made = 0
        for graph in editors_of(model):
            for op in [*lstm_ops(graph), *_simple_ops(graph)]:
                if graph.name(op.outputs[0]) in kept:
                    continue
                is_lstm = graph.kind(op) in LSTMS
                reason = reason_for_float(graph, op, hybrid=True) if is_lstm else None
                if form in {"float16", "weights"} and _has_open_states(graph):
                    reason = reason or _LOST_WEIGHTS
                if reason is not None:
                    left.append(FloatLayer(graph.name(op.outputs[0]), reason))
                    continue
                made += 1
                name = f"{'lstm' if is_lstm else 'rnn'}{made}"
                if form in {"float16", "weights"}:
                    store_smaller(graph, op, name, half=form == "float16", least=least)
                else:
                    make_hybrid(graph, op, name)
        drop_unused(model)
        return left

    def left_because(self, reason: str) -> list[FloatLayer]:
        """Returns all of the ops, for one reason."""
        if not self.present:
            return []
        model = read_model(self._path)
        graphs = editors_of(model)
        lstms = [FloatLayer(graph.name(op.outputs[0]), reason) for graph in graphs for op in lstm_ops(graph)]
        return [*lstms, *(other for graph in graphs for other in _others(graph))]


def enclose_states(ranges: Ranges, inner: Mapping[str, InnerRanges]) -> Ranges:
    """Returns ranges in which those of ops' results enclose the initial states, because they have one scale.

    What follows takes the integers as they are, then. In a finer scale, they would be no more exact, and a step of the
    op, in which runtimes may differ, would be several.

    Args:
        ranges: The ranges of a model's tensors.
        inner: The ranges inside the ops that become integer ops, by the names of their results.
    """
    states = dict(ranges)
    for name, (_, (least, largest), *_) in inner.items():
        if name in states:
            one = states[name]
            states[name] = {
                "min": np.minimum(one["min"], np.float32(least)),
                "max": np.maximum(one["max"], np.float32(largest)),
            }
    return states


def _has_open_states(graph: GraphEditor) -> bool:
    """Whether a state has a dynamic size."""
    states = [index for index, tensor in enumerate(graph.graph.tensors) if tensor.isVariable]
    return any(-1 in shape_of_state(graph, state, graph.producer(state)) for state in states)


def _simple_ops(graph: GraphEditor) -> Iterator[Any]:
    """Yields the ops of simple cells whose weights are float32 constants."""
    for op in [*graph.ops]:
        if graph.kind(op) == "UNIDIRECTIONAL_SEQUENCE_RNN" and all(
            graph.is_type(op.inputs[position], "float32") and graph.constant(op.inputs[position]) is not None
            for position in (1, 2)
        ):
            yield op


def _others(graph: GraphEditor) -> list[FloatLayer]:
    others = [(graph.name(op.outputs[0]), graph.kind(op)) for op in graph.ops if graph.kind(op) in _OTHERS]
    return [FloatLayer(name, f"LiteRT's {op} takes integers only as weights") for name, op in others]


def _agree_on_outputs(graph: GraphEditor, signatures: Sequence[Any], *, quantized_io: bool) -> None:
    """Makes graph and signatures name the same outputs, of floating point or integers as asked.

    litert-quantizer changes one of the two where an output is also taken by an op of the other kind.
    """
    outputs = [int(output) for output in graph.graph.outputs]
    for entry in [entry for signature in signatures for entry in signature.outputs or ()]:
        named = int(entry.tensorIndex)
        if named in outputs:
            continue
        for place, index in enumerate(outputs):
            producer = graph.producer(index)
            if producer is None or graph.kind(producer) not in _CONVERSIONS or int(producer.inputs[0]) != named:
                continue
            if graph.is_type(index, "float32") == quantized_io:
                outputs[place] = named
            else:
                entry.tensorIndex = index
    graph.graph.outputs = outputs


def _ends(ranges: Ranges, name: str) -> tuple[float, float]:
    range_ = ranges.get(name)
    return (0.0, 0.0) if range_ is None else (float(range_["min"][0]), float(range_["max"][0]))
