"""Ops that litert-quantizer leaves in floating point, in models of integers: by numbers, against the float model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from litefuse.conversion.quantization.equal_ops import write_equal_ops
from litefuse.conversion.quantization.float_ops import ops_by_kind
from litefuse.conversion.quantization.post_training import quantize_model
from litefuse.litert.export.edited_file import edit_file
from litefuse.litert.inspection.litert_model import inspect_litert_model
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.litert.targets import traits_of
from litefuse.support.options.quantization import Quantization
from tests.conversion.quantization.models import saved, take_samples
from tests.litert.runtime.models import Graph

SHAPE = [1, 4, 6, 4]
Body = Callable[[Graph, int], int]


def op(kind: str, shape: list[int] = SHAPE, *, dtype: Any = np.float32, **options: Any) -> Body:
    """An op of one operand, and its result."""

    def body(graph: Graph, x: int) -> int:
        return emitted(graph, kind, [x], shape, dtype=dtype, **options)

    return body


def with_numbers(kind: str, numbers: Any, shape: list[int] = SHAPE, *, dtype: Any = np.float32, **options: Any) -> Body:
    """An op whose second operand is a constant."""

    def body(graph: Graph, x: int) -> int:
        value = np.asarray(numbers)
        kept = np.float32 if value.dtype.kind == "f" else np.int32
        constant = graph.tensor(f"{kind} numbers", value.shape, kept, value=value)
        return emitted(graph, kind, [x, constant], shape, dtype=dtype, **options)

    return body


def emitted(
    graph: Graph, kind: str, operands: list[int], shape: list[int], *, dtype: Any = np.float32, **options: Any
) -> int:
    result = graph.tensor(f"{kind} {len(graph.tensors)}", shape, dtype, signature=[-1, *shape[1:]])
    graph.builtin(kind, operands, [result], **options)
    return result


def chain(*bodies: Body) -> Body:
    def body(graph: Graph, x: int) -> int:
        for part in bodies:
            x = part(graph, x)
        return x

    return body


def chosen(kind: str, other: Any = None) -> Body:
    """What a comparison with a constant, or with the square of a number, chooses of it and of another one."""

    def body(graph: Graph, x: int) -> int:
        second = op("SQUARE")(graph, x) if other is None else graph.tensor("other", np.shape(other), value=other)
        where = emitted(graph, kind, [x, second], SHAPE, dtype=np.bool_)
        return emitted(graph, "SELECT_V2", [where, x, graph.tensor("else", [], value=0.25)], SHAPE)

    return body


def top(graph: Graph, x: int) -> int:
    count = graph.tensor("count", [], np.int32, value=2)
    values, places = (
        graph.tensor(name, [*SHAPE[:-1], 2], kind) for name, kind in (("top", np.float32), ("at", np.int32))
    )
    graph.builtin("TOPK_V2", [x, count], [values, places])
    return values


def summed(graph: Graph, x: int) -> int:
    return emitted(graph, "ADD_N", [x, op("ABS")(graph, x), x], SHAPE)


REDUCED, TALL = [1, 4, 6], [1, 8, 6, 4]
POSITIVE = chain(op("ABS"), with_numbers("ADD", 1.0))
OPS: dict[str, Body] = {
    "ABS": op("ABS"),
    "ADD_N": summed,
    "ARG_MAX": with_numbers("ARG_MAX", 3, REDUCED, dtype=np.int32, outputType=2),
    "ARG_MIN": with_numbers("ARG_MIN", 3, REDUCED, dtype=np.int32, outputType=2),
    "CUMSUM": with_numbers("CUMSUM", 2),
    "DEPTH_TO_SPACE": op("DEPTH_TO_SPACE", [1, 8, 12, 1], blockSize=2),
    "ELU": op("ELU"),
    "EXP": op("EXP"),
    "EXPAND_DIMS": with_numbers("EXPAND_DIMS", 1, [1, 1, *SHAPE[1:]]),
    "GREATER": chosen("GREATER"),
    "GREATER, constant": chosen("GREATER", 0.3),
    "GREATER_EQUAL": chosen("GREATER_EQUAL"),
    "HARD_SWISH": op("HARD_SWISH"),
    "L2_NORMALIZATION": op("L2_NORMALIZATION"),
    "LEAKY_RELU": op("LEAKY_RELU", alpha=0.3),
    "LESS": chosen("LESS", np.full(SHAPE[-1:], 0.2)),
    "LESS_EQUAL": chosen("LESS_EQUAL"),
    "LOG": chain(POSITIVE, op("LOG")),
    "LOG_SOFTMAX": op("LOG_SOFTMAX"),
    "MINIMUM": lambda graph, x: emitted(graph, "MINIMUM", [x, op("SQUARE")(graph, x)], SHAPE),
    "MINIMUM, constant": with_numbers("MINIMUM", 0.4),
    "NEG": op("NEG"),
    "PRELU": with_numbers("PRELU", np.linspace(-0.5, 0.5, 4)),
    "REDUCE_MAX": with_numbers("REDUCE_MAX", [1, 2], [1, 4]),
    "REDUCE_MIN": with_numbers("REDUCE_MIN", [3], REDUCED),
    "REDUCE_PROD": with_numbers("REDUCE_PROD", [3], REDUCED),
    "RELU6": chain(with_numbers("MUL", 3.0), op("RELU6")),
    "RELU_N1_TO_1": op("RELU_N1_TO_1"),
    "REVERSE_V2": with_numbers("REVERSE_V2", [2]),
    "SPACE_TO_DEPTH": op("SPACE_TO_DEPTH", [1, 2, 3, 16], blockSize=2),
    "SQUARE": op("SQUARE"),
    "SQUARED_DIFFERENCE": with_numbers("SQUARED_DIFFERENCE", 0.3),
    "TILE": with_numbers("TILE", [1, 2, 1, 1], TALL),
    "TOPK_V2": top,
    # Looked up.
    "CEIL": chain(with_numbers("MUL", 2.0), op("CEIL")),
    "COS": op("COS"),
    "DIV": lambda graph, x: emitted(graph, "DIV", [graph.tensor("one", [], value=1.0), POSITIVE(graph, x)], SHAPE),
    "FLOOR": chain(with_numbers("MUL", 2.0), op("FLOOR")),
    "POW": chain(POSITIVE, with_numbers("POW", 1.7)),
    "ROUND": chain(with_numbers("MUL", 2.0), op("ROUND")),
    "SIGN": op("SIGN"),
    "SIN": op("SIN"),
    "a bool": chain(with_numbers("FLOOR_MOD", 0.7), with_numbers("GREATER", 0.2, dtype=np.bool_)),
}
RANDOM = np.random.default_rng(3)
SAMPLES = [RANDOM.normal(size=SHAPE).astype(np.float32) for _ in range(16)]
# In multiples of what one step of the result is of its range: where ops are several, or the function is steep.
_STEPS = {"DIV": 2.0, "EXP": 4.0, "LOG": 3.0, "LOG_SOFTMAX": 3.0, "REDUCE_PROD": 6.0, "L2_NORMALIZATION": 4.0}
_STEPS_OF_INT16 = {**_STEPS, "EXP": 24.0, "L2_NORMALIZATION": 8.0}  # LiteRT's own tables of int16 are coarse
_JUMPS = ("a bool", "ARG_", "CEIL", "FLOOR", "GREATER", "LESS", "ROUND", "SIGN")


def model_of(body: Body) -> Graph:
    graph = Graph()
    x = graph.input("x", SHAPE, signature=[-1, *SHAPE[1:]])
    result = body(graph, x)
    graph.outputs.append(result)
    return graph


def results(path: Path, rows: list[npt.NDArray[np.float32]]) -> list[npt.NDArray[np.float64]]:
    runner = Interpreter(path).get_signature_runner()
    return [next(iter(runner(x=row).values())).astype(np.float64) for row in rows]


@pytest.mark.parametrize("form", ["int8", "int16"])
@pytest.mark.parametrize("name", OPS)
def test_an_op_in_integers(tmp_path: Path, name: str, form: Any) -> None:
    """No op computes in floating point, and the results are those of the float model but for a few steps."""
    before, after = saved(tmp_path / "before.tflite", model_of(OPS[name])), tmp_path / "after.tflite"
    expected = results(before, SAMPLES)
    edit_file(before, lambda model: write_equal_ops(model, 8 if form == "int8" else 16, (), traits_of("cpu")))
    quantize_model(before, after, form, take_samples([{"x": x} for x in SAMPLES]))
    assert ops_by_kind(after, integer=True).floats == ()
    counts = (1, 3, 1)
    for count, y in zip(counts, results(after, [np.concatenate(SAMPLES[:count]) for count in counts]), strict=True):
        wanted = np.concatenate(expected[:count])
        assert y.shape == wanted.shape
        apart = np.abs(y - wanted)
        if name.startswith(_JUMPS):  # where an operand is a step away from a jump, the result is the other one
            assert (apart > 2 * np.abs(wanted).max() / (255 if form == "int8" else 32767)).mean() < 0.04
            continue
        steps, several = (255, _STEPS) if form == "int8" else (16000, _STEPS_OF_INT16)
        width = max(result.max() for result in expected) - min(0.0, *(result.min() for result in expected))
        assert apart.max() <= 2.5 * several.get(name, 1.0) * width / steps


@pytest.mark.parametrize("form", ["int8", "int16"])
@pytest.mark.parametrize("dtype", [np.bool_, np.int32, np.int64])
def test_integers_that_become_real_numbers(tmp_path: Path, dtype: Any, form: Any) -> None:
    """Such as the masks and lengths that models take."""
    graph = Graph()
    numbers, x = graph.input("numbers", [1, 4], dtype, signature=[-1, 4]), graph.input("x", [1, 4], signature=[-1, 4])
    real, y = graph.tensor("real", [1, 4], signature=[-1, 4]), graph.output("y", [1, 4], signature=[-1, 4])
    graph.builtin("CAST", [numbers], [real])
    graph.builtin("MUL", [real, x], [y])
    before, after = saved(tmp_path / "before.tflite", graph), tmp_path / "after.tflite"
    random = np.random.default_rng(5)
    calls = [
        {"numbers": random.integers(0, 12, (1, 4)).astype(dtype), "x": random.normal(size=(1, 4)).astype(np.float32)}
        for _ in range(16)
    ]
    assert quantize_model(before, after, form, take_samples(calls)).floats == ()
    runner = Interpreter(after).get_signature_runner()
    for call in (calls[0], {name: np.concatenate([call[name] for call in calls[:3]]) for name in calls[0]}, calls[1]):
        expected = call["numbers"] * call["x"]
        np.testing.assert_allclose(runner(**call)["y"], expected, atol=0.3 if form == "int8" else 0.003)


@pytest.mark.parametrize("form", ["int8", "int16"])
@pytest.mark.parametrize("kind", ["GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL"])
@pytest.mark.parametrize("behind", [True, False])
def test_integers_compare_with_a_constant_as_what_they_stand_for(
    tmp_path: Path, kind: str, form: Any, *, behind: bool
) -> None:
    graph = Graph()
    x, y = graph.input("x", [1, 400, 1]), graph.output("y", [1, 400, 6], np.bool_)
    limits = np.array([-1.9, -0.217, 0.0, 0.3, 0.308, 1.4], np.float32)
    constant = graph.tensor("limits", [6], value=limits)
    graph.builtin(kind, [x, constant] if behind else [constant, x], [y])
    before, after = saved(tmp_path / "before.tflite", graph), tmp_path / "after.tflite"
    samples = [{"x": np.linspace(-2, 1.5, 400, dtype=np.float32).reshape(1, 400, 1)}]
    quantize_model(before, after, Quantization(form, io=True), take_samples(samples))
    runner: Any = Interpreter(after).get_signature_runner()
    (details,) = runner.get_input_details().values()
    scale, zero = float(details["quantization"][0]), int(details["quantization"][1])
    least, most = (round(end / scale) + zero for end in (-2.0, 1.5))
    integers = np.linspace(least, most, 400).astype(details["dtype"]).reshape(1, 400, 1)
    real = (integers.astype(np.float64) - zero) * scale
    real = np.where(np.abs(real - limits) < 1e-3 * scale, limits, real)
    operands = (real, limits) if behind else (limits, real)
    np.testing.assert_array_equal(runner(x=integers)["y"], getattr(np, kind.lower())(*operands))


CHAIN = chain(*[op("SIN"), with_numbers("MUL", 1.5), with_numbers("ADD", 0.2), op("COS"), op("SQUARE")])


@pytest.mark.parametrize(("form", "io"), [("int8", True), ("int8", "uint8"), ("int16", True)])
def test_all_integers_are_looked_up(tmp_path: Path, form: Any, io: Any) -> None:
    """Each is the integer nearest to what the model computes of the number that it stands for."""
    before, after = saved(tmp_path / "before.tflite", model_of(CHAIN)), tmp_path / "after.tflite"
    found = quantize_model(before, after, Quantization(form, io=io), take_samples([{"x": x} for x in SAMPLES]))
    assert found.floats == ()
    counts = inspect_litert_model(after).op_counts
    assert counts == {"CAST": 1, "ADD": 1, "GATHER": 1} | ({"QUANTIZE": 2} if io == "uint8" else {})
    interpreter: Any = Interpreter(after)
    runner = interpreter.get_signature_runner()
    (x_of,), (y_of,) = runner.get_input_details().values(), runner.get_output_details().values()
    limits = np.iinfo(x_of["dtype"])
    integers = np.linspace(limits.min, limits.max, 960).astype(x_of["dtype"]).reshape(10, *SHAPE[1:])
    scale, zero = x_of["quantization"]
    (real,) = results(before, [((integers.astype(np.float64) - zero) * scale).astype(np.float32)])
    scale, zero = y_of["quantization"]
    limits = np.iinfo(y_of["dtype"])
    nearest = np.clip(np.rint(real / scale) + zero, limits.min, limits.max)
    (y,) = results(after, [integers])
    assert np.abs(y - nearest).max() <= (0 if form == "int8" else 1)  # a step of int16 is near that of float32


def test_a_function_of_which_an_op_is_kept(tmp_path: Path) -> None:
    before, after = saved(tmp_path / "before.tflite", model_of(CHAIN)), tmp_path / "after.tflite"
    options = Quantization("int8", keep_float=("^ADD",))
    kept = quantize_model(before, after, options, take_samples([{"x": x} for x in SAMPLES])).floats
    assert [(each.op, each.reason) for each in kept] == [("ADD", "kept in floating point, as requested")]
    wanted = np.concatenate(results(before, SAMPLES))
    np.testing.assert_allclose(np.concatenate(results(after, SAMPLES)), wanted, atol=0.05)


def test_a_function_that_is_infinite(tmp_path: Path) -> None:
    """A divisor of 0 gives the largest number that the samples gave."""
    inverse = chain(
        op("SQUARE"), lambda graph, x: emitted(graph, "DIV", [graph.tensor("one", [], value=1.0), x], SHAPE)
    )
    before, after = saved(tmp_path / "before.tflite", model_of(inverse)), tmp_path / "after.tflite"
    far = [np.sign(x) * (np.abs(x) + 1) for x in SAMPLES]
    assert quantize_model(before, after, "int8", take_samples([{"x": x} for x in far])).floats == ()
    (y,) = results(after, [np.zeros(SHAPE, np.float32)])
    assert y.max() == y.min() == pytest.approx(max(result.max() for result in results(before, far)), rel=0.02)
