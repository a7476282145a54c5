"""Unrolled layers are found whatever stands beside them, in a time that grows no faster than the number of steps."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeAlias

import numpy as np
import pytest

from litefuse.fusions.recognizers.recognize import RecognizeComposites
from litefuse.fusions.recognizers.recurrent.cells import simple_rnn_cells
from litefuse.fusions.recognizers.recurrent.chains import find_chains
from litefuse.fusions.recognizers.recurrent.gru import gru_cells
from litefuse.fusions.recognizers.recurrent.lstm import lstm_cells
from litefuse.ir.builder import Builder
from litefuse.ir.call_graph import functions
from litefuse.ir.mlir import func, ir, mlir_context
from litefuse.ir.types import TensorType, ranked_tensor_type

V: TypeAlias = Any  # ir.Value
Build: TypeAlias = Callable[[Builder, V], V]

UNITS = 4
CELLS = (*lstm_cells(), *simple_rnn_cells(), *gru_cells())
RANDOM = np.random.default_rng(0)


class Weights:
    """The kernels and the bias of a cell."""

    def __init__(self, b: Builder, gates: int) -> None:
        self.kernel, self.recurrent = (self._constant(b, UNITS, gates * UNITS) for _ in range(2))
        self.bias = self._constant(b, gates * UNITS)

    def _constant(self, b: Builder, *shape: int) -> V:
        return b.constant(RANDOM.normal(size=shape), "float32")

    def products(self, b: Builder, x: V, h: V) -> V:
        """The products of the input and of the state, with the bias."""
        terms = [product(b, x, self.kernel), product(b, h, self.recurrent)]
        return b.binary("AddV2", b.binary("AddV2", *terms), self.bias)


def product(b: Builder, x: V, kernel: V) -> V:
    return b.op("MatMul", [x, kernel], [b.shape(x)[0], b.shape(kernel)[1]], "float32")


def gate(b: Builder, total: V, index: int) -> V:
    return b.slice(total, 1, index * UNITS, (index + 1) * UNITS)


def rnn(b: Builder, w: Weights, x: V, h: V, activation: str = "Tanh") -> V:
    return b.unary(activation, w.products(b, x, h))


def gru(b: Builder, w: Weights, x: V, h: V) -> V:
    """A GRU in one of its usual forms, with the reset gate before the product."""
    of_x, of_h = product(b, x, w.kernel), product(b, h, b.slice(w.recurrent, 1, 0, 2 * UNITS))
    total = b.binary("AddV2", of_x, w.bias)
    z, r = (b.unary("Sigmoid", b.binary("AddV2", gate(b, total, index), gate(b, of_h, index))) for index in range(2))
    last = product(b, b.binary("Mul", r, h), b.slice(w.recurrent, 1, 2 * UNITS, 3 * UNITS))
    candidate = b.unary("Tanh", b.binary("AddV2", gate(b, total, 2), last))
    kept = b.binary("Mul", b.binary("Sub", 1.0, z), candidate)
    return b.binary("AddV2", b.binary("Mul", z, h), kept)


def unknown(b: Builder, w: Weights, x: V, h: V) -> V:
    """A cell of nobody's, which begins and ends as a GRU does."""
    total = w.products(b, x, h)
    z = b.unary("Sigmoid", gate(b, total, 0))
    new = b.binary("Mul", b.unary("Softplus", gate(b, total, 1)), z)
    kept = b.binary("Mul", b.binary("Sub", 1.0, z), b.binary("Mul", new, b.unary("Sin", h)))
    return b.binary("AddV2", b.binary("Mul", z, h), kept)


def unrolled(cell: Callable[[Builder, Weights, V, V], V], w: Weights, b: Builder, x: V, steps: int) -> V:
    h = b.constant(np.zeros([1, UNITS]), "float32")
    for step in range(steps):
        h = cell(b, w, b.reshape(b.slice(x, 1, step, step + 1), [1, UNITS]), h)
    return h


def lengths(build: Build) -> tuple[list[int], int]:
    """The lengths of the chains in a function of an input [1, 100, UNITS], and how many calls it took to find them."""
    calls = 0

    def count(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event == "call"

    with mlir_context(), ir.Location.unknown():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            kind = ranked_tensor_type(TensorType("float32", (1, 100, UNITS)))
            main = func.FuncOp("main", ir.FunctionType.get([kind], []))
        block = main.add_entry_block()
        with ir.InsertionPoint(block):
            result = build(Builder(), block.arguments[0])
            func.ReturnOp([result])
        main.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([kind], [result.type]))
        module.operation.verify()
        before = sys.getprofile()
        sys.setprofile(count)
        try:
            chains = find_chains(main, CELLS)
        finally:
            sys.setprofile(before)
        return [len(chain.steps) for chain in chains], calls


@pytest.mark.parametrize(("cell", "gates", "expected"), [(rnn, 1, True), (gru, 3, True), (unknown, 2, False)])
def test_time_grows_with_the_number_of_steps(cell: Any, gates: int, expected: bool) -> None:
    def calls(steps: int) -> int:
        found, calls = lengths(lambda b, x: unrolled(cell, Weights(b, gates), b, x, steps))
        assert found == ([steps] if expected else [])
        return calls

    few, many = map(calls, (20, 60))
    # A cell that nobody knows is not looked for everywhere.
    assert many < (3.1 if expected else 1.5) * few


def test_layers_with_the_same_weights() -> None:
    def build(b: Builder, x: V) -> V:
        w = Weights(b, 1)
        return b.binary("Sub", unrolled(rnn, w, b, x, 5), unrolled(rnn, w, b, b.reverse(x, [1]), 7))

    assert sorted(lengths(build)[0]) == [5, 7]


def test_layers_one_on_the_other_and_a_product_of_each_output() -> None:
    def build(b: Builder, x: V) -> V:
        lower, upper, head = Weights(b, 1), Weights(b, 3), Weights(b, 1)
        h = state = b.constant(np.zeros([1, UNITS]), "float32")
        outputs: list[V] = []
        for step in range(6):
            h = rnn(b, lower, b.reshape(b.slice(x, 1, step, step + 1), [1, UNITS]), h)
            state = gru(b, upper, h, state)
            outputs.append(b.unary("Relu", product(b, state, head.kernel)))
        return b.concat(outputs, 1)

    assert lengths(build)[0] == [6, 6]


def test_other_steps_behind_a_layer() -> None:
    """As in a model whose last steps are written otherwise, such as those of a decoder."""

    def build(b: Builder, x: V) -> V:
        w = Weights(b, 1)
        h = unrolled(rnn, w, b, x, 9)
        for activation in ("Sin", "Cos"):
            h = rnn(b, w, h, h, activation)
        return b.unary("Relu", h)

    assert lengths(build)[0] == [9]


@pytest.mark.parametrize(
    ("shape", "axis", "order", "ops"),
    [
        ((2, None, UNITS), 0, [0, 1], []),
        ((2, None, UNITS), -3, [0, 1], []),
        ((2, None, UNITS), 0, [1, 0], ["tf.ReverseV2"]),
        ((None, 2, UNITS), 1, [0, 1], ["tf.Transpose"]),
        ((None, 2, UNITS), -2, [1, 0], ["tf.Transpose", "tf.ReverseV2"]),
        ((None, UNITS, 2), 2, [0, 1], ["tf.Unpack", "tf.Pack"]),
        ((None, UNITS, 2), -1, [0, 1], ["tf.Unpack", "tf.Pack"]),
        ((2, None, UNITS), 0, [0, 0], ["tf.Unpack", "tf.Pack"]),
        ((3, None, UNITS), 0, [0, 1], ["tf.Unpack", "tf.Pack"]),
        ((3, None, UNITS), 0, [0, 2, 1], ["tf.Unpack", "tf.Pack"]),
        (None, 0, [0, 1], ["tf.Unpack", "tf.Pack"]),
    ],
)
def test_inputs_of_a_layer_are_the_tensor_that_its_steps_take_in_turn(
    shape: tuple[int | None, ...] | None, axis: int, order: list[int], ops: list[str]
) -> None:
    count = 2 if shape is None else shape[axis]
    with mlir_context(), ir.Location.unknown():
        module = ir.Module.create()
        kind = ranked_tensor_type(TensorType("float32", shape)) if shape else ir.Type.parse("tensor<*xf32>")
        with ir.InsertionPoint(module.body):
            main = func.FuncOp("main", ir.FunctionType.get([kind], []))
        with ir.InsertionPoint(main.add_entry_block()):
            b = Builder()
            h, weights = b.constant(np.zeros([1, UNITS]), "float32"), Weights(b, 1)
            kinds = [((None, UNITS), "float32")] * (count or 0)
            steps = b.ops("Unpack", [main.entry_block.arguments[0]], kinds, axis=axis, num=count)
            for step in order:
                h = rnn(b, weights, steps[step], h)
            func.ReturnOp([h])
        main.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([kind], [h.type]))
        RecognizeComposites([], "fused").run(module)
        module.operation.verify()
        (call,) = (op for op in functions(module)["main"].entry_block.operations if "Call" in op.operation.name)
        made: list[str] = []
        value = call.operands[0]
        while not isinstance(value.owner, ir.Block):
            made.insert(0, value.owner.name)
            value = value.owner.operands[0]
        assert made == ops
