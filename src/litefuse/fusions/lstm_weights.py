"""Weights of recognized LSTM layers, in the form of LiteRT's op."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from litefuse.fusions.lstm import Gates, LstmWeights, split_gates
from litefuse.fusions.lstm_arguments import gate_letters, gate_order, layer_arguments
from litefuse.ir.mlir import ir

if TYPE_CHECKING:
    from litefuse.fusions.builder import Builder
    from litefuse.fusions.composite import Composite

__all__ = ["layer_weights"]


def layer_weights(composite: Composite, b: Builder) -> LstmWeights:
    """Returns the weights of an ``lstm_loop``."""
    attributes = composite.attributes
    arguments = layer_arguments(composite)
    given = {argument.name: value for argument, value in zip(arguments, composite.args, strict=True)}
    outputs, units = arguments[1].shape[1], arguments[2].shape[1]
    assert outputs is not None
    assert units is not None
    kernels = [value for name, value in given.items() if name.endswith("kernel") and "recurrent" not in name]
    recurrents = [value for name, value in given.items() if name.endswith("recurrent kernel")]
    if attributes.get("joint_kernel"):
        kernels, recurrents = _halves(kernels, outputs, bool(attributes.get("h_first")), b)
    kernel, recurrent = _gates(kernels, attributes, b), _gates(recurrents, attributes, b)
    bias = _bias([value for name, value in given.items() if name.endswith("bias")], units, attributes, b)
    if "forget_bias" in attributes:
        added = b.constant(np.full(units, attributes["forget_bias"], np.float32))
        bias = Gates(bias.input, b.add(bias.forget, added), bias.cell, bias.output)
    names = [f"the peephole of the {gate} gate" for gate in ("input", "forget", "output")]
    projection = given.get("the projection")
    return LstmWeights(
        kernel,
        recurrent,
        bias,
        projection=None if projection is None else b.transpose(projection, (1, 0)),
        peepholes=[given.get(name) for name in names] if attributes.get("peepholes") else None,
    )


def _halves(
    kernels: Sequence[ir.Value], outputs: int, h_first: bool, b: Builder
) -> tuple[list[ir.Value], list[ir.Value]]:
    """Splits joint kernels into the rows for the inputs and those for the outputs."""
    of_inputs: list[ir.Value] = []
    of_outputs: list[ir.Value] = []
    for kernel in kernels:
        rows, columns = ir.ShapedType(kernel.type).shape
        inputs = rows - outputs
        of_inputs.append(b.slice(kernel, [outputs if h_first else 0, 0], [inputs, columns]))
        of_outputs.append(b.slice(kernel, [0 if h_first else inputs, 0], [outputs, columns]))
    return of_inputs, of_outputs


def _gates(kernels: Sequence[ir.Value], attributes: Mapping[str, Any], b: Builder) -> Gates:
    """Returns kernels as the op needs them: one per gate, with a row for each output."""
    if not attributes.get("matrix_per_gate"):
        return split_gates(b, kernels[0], gate_order(attributes), axis=0 if attributes.get("outputs_first") else 1)
    of = dict(zip(gate_letters(attributes), (b.transpose(kernel, (1, 0)) for kernel in kernels), strict=True))
    return Gates(of.get("i"), of["f"], of["c"], of["o"])


def _bias(biases: Sequence[ir.Value], units: int, attributes: Mapping[str, Any], b: Builder) -> Gates:
    letters = gate_letters(attributes)
    if not attributes.get("matrix_per_gate"):
        bias = biases[0] if biases else b.constant(np.zeros(len(letters) * units, np.float32))
        for other in biases[1:]:
            bias = b.add(bias, other)
        return split_gates(b, bias, gate_order(attributes))
    of = dict(zip(letters, biases or [b.constant(np.zeros(units, np.float32))] * len(letters), strict=True))
    return Gates(of.get("i"), of["f"], of["c"], of["o"])
