"""Calls of the kernels in ``data/kernels``, with what they must give; a program too, for libraries with sanitizers.

python -m tests.litert.cpp.kernel_calls LIB.so
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from ai_edge_litert import interpreter as litert
from ai_edge_litert import schema_py_generated as schema

from litefuse.ir.custom_options import encode_options
from litefuse.kernels import PACK
from litefuse.litert.runtime.interpreter import Interpreter
from tests.litert.runtime.models import Graph, model

Open = Callable[[bytes], Any]
"""Opens a model in an interpreter that has the library."""

SIZES = [(3, 3), (1, 2)]
STRIDES = [(1, 1), (2, 3)]
RATES = [(1, 1), (2, 1)]


def in_stock(library: str) -> Open:
    """The stock interpreter, with the library as an external delegate."""
    return lambda content: litert.Interpreter(
        model_content=content, experimental_delegates=[litert.load_delegate(library)]
    )


def in_litefuse(library: str) -> Open:
    """litefuse's interpreter, whose own kernels come after the library's."""
    return lambda content: Interpreter(content, custom_ops=[library])


def check_all(open_model: Open) -> None:
    """Checks every kernel."""
    check_patches(open_model)
    check_gain(open_model)
    check_labels(open_model)


def check_patches(open_model: Open) -> None:
    """Compares with the pack's kernel in numpy, which is TensorFlow's op, over its parameters."""
    cases = itertools.product(SIZES, STRIDES, RATES, ("SAME", "VALID"))
    for number, ((ksizes, strides, rates, padding), dtype) in enumerate(
        zip(cases, itertools.cycle([np.float32, np.uint8, np.int32]), strict=False)
    ):
        options = {
            name: [1, *sizes, 1] for name, sizes in (("ksizes", ksizes), ("strides", strides), ("rates", rates))
        } | {"padding": padding}
        graph = Graph()
        x = graph.input("x", (2, 7, 6, 3), dtype, signature=[-1, -1, -1, 3])
        y = graph.output("y", (2, 7, 6, 27), dtype, signature=[-1, -1, -1, -1])
        graph.custom("ExtractImagePatches", [x], [y], encode_options(options))
        content = model(graph)
        both = [open_model(content), Interpreter(content, custom_ops=[PACK["ExtractImagePatches"]])]
        for shape in ((2, 7, 6, 3), (2, 7, 6, 3), (1, 9, 5, 3)):
            values = np.random.default_rng(number).integers(0, 255, shape).astype(dtype)
            found, expected = (_patches(each, values) for each in both)
            np.testing.assert_array_equal(found, expected, err_msg=str(options))
            assert found.size > 0


def _patches(interpreter: Any, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    interpreter.resize_tensor_input(0, values.shape)
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, values)
    interpreter.invoke()
    return interpreter.get_tensor(1)


def check_gain(open_model: Open) -> None:
    """Checks the two kernels of lambdas, in one model."""
    graph = Graph()
    x = graph.input("x", (4,), signature=[-1])
    factor = graph.tensor("factor", (1,), value=[2.0])
    louder, y = graph.tensor("louder", (4,), signature=[-1]), graph.output("y", (4,), signature=[-1])
    graph.custom("ClippedGain", [x, factor], [louder])
    graph.custom("Negate", [louder], [y])
    interpreter = open_model(model(graph))
    interpreter.allocate_tensors()
    for values in ([0.25, -0.75, 0.5, 0.0], [1.0, 0.0, -0.125, -8.0]):
        interpreter.set_tensor(x, np.array(values, np.float32))
        interpreter.invoke()
        np.testing.assert_array_equal(interpreter.get_tensor(y), -np.clip(2 * np.array(values, np.float32), -1, 1))


LABELS = [b"cat", b"dog", "löwe".encode(), b""]
WEIGHTS = [[3, -2, 127, 1]]
SCALES, SCALE_IN, ZERO_IN, SCALE_OUT, ZERO_OUT = [0.5, 0.25, 0.0078125, 7.3], 0.037, 5, 0.11, -3


def check_labels(open_model: Open) -> None:
    """Checks temporaries, strings and integers, call by call."""
    for relu in (True, False):
        interpreter = open_model(_labels_model(relu=relu))
        for rows in (3, 5, 0, 3):
            interpreter.resize_tensor_input(0, (rows, 4))
            interpreter.allocate_tensors()
            wins = [0] * 4
            for call in range(3):
                scores = np.random.default_rng(call).integers(-128, 128, (rows, 4)).astype(np.int8)
                interpreter.set_tensor(0, scores)
                interpreter.invoke()
                expected = _scaled(scores, relu=relu)
                if rows == 0:
                    continue
                np.testing.assert_array_equal(interpreter.get_tensor(3), expected)
                names: list[bytes] = []
                for row in expected:
                    best = int(np.argmax(row))
                    wins[best] += 1
                    names.append(LABELS[best] + b"#%d" % wins[best])
                assert interpreter.get_tensor(4).tolist() == names


def _labels_model(*, relu: bool) -> bytes:
    graph = Graph()
    scores = graph.input("scores", (3, 4), np.int8, signature=[-1, 4])
    weights = graph.tensor("weights", (1, 4), np.int8, value=WEIGHTS)
    labels = graph.tensor("labels", (4,), object, value=np.array(LABELS, object))
    scaled = graph.output("scaled", (3, 4), np.int8, signature=[-1, 4])
    names = graph.output("names", (3,), object, signature=[-1])
    for tensor, scale, zero in ((scores, [SCALE_IN], ZERO_IN), (weights, SCALES, 0), (scaled, [SCALE_OUT], ZERO_OUT)):
        quantization = schema.QuantizationParametersT()
        quantization.scale, quantization.zeroPoint = scale, [zero] * len(scale)
        quantization.quantizedDimension = 1 if len(scale) > 1 else 0
        graph.tensors[tensor][0].quantization = quantization
    graph.custom("RankLabels", [scores, weights, labels], [scaled, names], {"relu": relu})
    return model(graph)


def _scaled(scores: npt.NDArray[np.int8], *, relu: bool) -> npt.NDArray[np.int8]:
    result = np.zeros(scores.shape, np.int8)
    for row, column in itertools.product(*map(range, scores.shape)):
        real = float(np.float32(SCALE_IN)) * float(np.float32(SCALES[column])) / float(np.float32(SCALE_OUT))
        value = (
            multiplied((int(scores[row, column]) - ZERO_IN) * WEIGHTS[0][column], *quantized_multiplier(real))
            + ZERO_OUT
        )
        result[row, column] = min(max(value, ZERO_OUT if relu else -128), 127)
    return result


def quantized_multiplier(real: float) -> tuple[int, int]:
    """A positive number as an integer of 31 bits and the power of two that makes it so."""
    fraction, shift = math.frexp(real)
    fixed = math.floor(fraction * 2**31 + 0.5)
    return (2**30, shift + 1) if fixed == 2**31 else (fixed, shift) if shift >= -31 else (0, 0)


def multiplied(value: int, multiplier: int, shift: int) -> int:
    """The product, rounded twice, halves away from zero."""
    value <<= max(shift, 0)
    high = _nearest(value * multiplier, 2**31)
    return _nearest(high, 2 ** max(-shift, 0))


def _nearest(numerator: int, denominator: int) -> int:
    magnitude = (2 * abs(numerator) + denominator) // (2 * denominator)
    return magnitude if numerator >= 0 else -magnitude


if __name__ == "__main__":
    for open_in in (in_stock, in_litefuse):
        check_all(open_in(sys.argv[1]))
    sys.stdout.write("exact\n")
