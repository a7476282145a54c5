"""Files for GPUs compute what TensorFlow does, in the forms of ops that LiteRT's GPU accelerator takes."""

from __future__ import annotations

import importlib
import inspect
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.errors import ConversionError
from litefuse.litert.inspection.litert_model import inspect_litert_model
from tests.tensorflow.checking import check, check_calls
from tests.tensorflow.test_transformers import BACKBONES, LENGTH, backbone, draw, input_shapes

if TYPE_CHECKING:
    from pathlib import Path

    from tests.tensorflow.process import TensorFlow


def refused(model: bytes) -> list[str]:
    """What the accelerator would refuse of the forms that have a plainer one."""
    found: list[str] = []
    for op, shapes, options in forms(model):
        ranks = [len(shape) for shape in shapes]
        if max(ranks, default=0) > 4:
            found.append(f"{op} of rank {max(ranks)}")
        if op in {"BITCAST", "IMAG", "REAL", "ZEROS_LIKE"}:
            found.append(op)
        if op == "GATHER" and ranks[1] != 1:
            found.append(f"GATHER by ids of rank {ranks[1]}")
        if op == "SELECT_V2" and any(shape not in {(), (1,), shapes[-1]} for shape in shapes[1:3]):
            found.append("SELECT_V2 that broadcasts")
        if op == "STRIDED_SLICE" and (options["shrink"] or options["new"] or options["ellipsis"]):
            found.append("STRIDED_SLICE that drops or adds axes")
        if op == "STRIDED_SLICE" and options["version"] > 2:
            found.append(f"STRIDED_SLICE of version {options['version']}")
    return found


def forms(model: bytes) -> list[tuple[str, list[tuple[int, ...]], dict[str, int]]]:
    """The ops of a file, with the shapes of their operands and results, and the masks of slices."""
    schema: Any = importlib.import_module("ai_edge_litert.schema_py_generated")
    tree = schema.ModelT.InitFromObj(schema.Model.GetRootAs(model, 0))
    members: list[tuple[str, Any]] = inspect.getmembers(schema.BuiltinOperator)
    names = {code: name for name, code in members if not name.startswith("_")}
    found: list[tuple[str, list[tuple[int, ...]], dict[str, int]]] = []
    for graph in tree.subgraphs:
        for op in graph.operators:
            code = tree.operatorCodes[op.opcodeIndex]
            tensors = [graph.tensors[index] for index in [*op.inputs, *op.outputs] if index >= 0]
            shapes = [tuple(map(int, [] if each.shape is None else each.shape)) for each in tensors]
            options: dict[str, int] = {"version": code.version}
            name = names[max(code.builtinCode, code.deprecatedBuiltinCode)]
            if name == "STRIDED_SLICE":
                masks = op.builtinOptions
                options |= {"shrink": masks.shrinkAxisMask, "new": masks.newAxisMask, "ellipsis": masks.ellipsisMask}
            found.append((name, shapes, options))
    return found


def module(tf: Any, functions: str) -> Any:
    made = tf.Module()
    made.serve = tf.function(
        FUNCTIONS[functions](tf), input_signature=[tf.TensorSpec([2, 60], tf.float32), tf.TensorSpec([2, 3], tf.int32)]
    )
    return made, {"serving_default": made.serve}


def gathers(tf: Any) -> Any:
    table = tf.constant(np.random.default_rng(0).standard_normal([6, 5]), tf.float32)

    def serve(x: Any, ids: Any) -> dict[str, Any]:
        cube = tf.reshape(x, [2, 6, 10])
        return {
            "rows": tf.gather(table, ids),
            "wide": tf.gather(table, tf.cast(ids, tf.int64)),
            "one": tf.gather(cube, ids[1, 2], axis=1),
            "columns": tf.gather(cube, ids, axis=-1),
            "constant": tf.gather(cube, [[5, 0], [0, 3]], axis=1),
        }

    return serve


def slices(tf: Any) -> Any:
    def serve(x: Any, ids: Any) -> dict[str, Any]:
        cube = tf.reshape(x, [2, 3, 4, 5])
        mask = cube > 0
        return {
            "last": cube[:, -1] + cube[:, 0],
            "added": cube[:, tf.newaxis, ..., 2],
            "strided": cube[:, ::2, 1::2],
            "both": cube[1, :, ::3],
            "counted": cube[-1, 1:3, -3:-1],
            "mask": tf.cast(mask[:, 1:, tf.newaxis, :, 3], tf.float32),
            "whole": tf.cast(mask[:, :, :, :], tf.float32),
            "number": ids[1, 2] + 3,
            "beyond": cube[:, :99, -99:2],
        }

    return serve


def ranks(tf: Any) -> Any:
    weights = np.random.default_rng(0).standard_normal([5, 7]).astype(np.float32)

    def serve(x: Any, ids: Any) -> dict[str, Any]:
        five = tf.reshape(x, [2, 3, 2, 2, 5])
        six = tf.reshape(x, [2, 1, 3, 2, 2, 5])
        column = tf.cast(tf.reshape(ids, [2, 3, 1, 1, 1]), tf.float32)
        return {
            name: tf.reshape(value, [-1])
            for name, value in {
                "repeated": tf.repeat(tf.reshape(x, [2, 6, 5, 2]), 3, axis=2),
                "tiled": tf.tile(five, [1, 2, 1, 3, 1]),
                "broadcast": five * column + five[0, 0, 0, 0] - 0.5,
                "chosen": tf.where(five > column - 1.0, five, tf.constant(-1e9)),
                "moved": tf.transpose(five, [0, 2, 3, 1, 4]),
                "moved six": tf.transpose(six, [0, 3, 1, 2, 4, 5]),
                "softmax": tf.nn.softmax(five),
                "sum": tf.reduce_sum(five, [1, -1], keepdims=True),
                "mean": tf.reduce_mean(six, [1, 2, 3]),
                "largest": tf.reduce_max(five, axis=3),
                "joined": tf.concat([five, five * 2.0], axis=3),
                "packed": tf.stack([tf.reshape(x, [2, 3, 4, 5]), tf.reshape(-x, [2, 3, 4, 5])], axis=-1),
                "unpacked": tf.unstack(five, axis=2)[1],
                "split": tf.split(five, 3, axis=1)[2],
                "gathered": tf.gather(five, [1, 0, 1], axis=2),
                "part": five[:, 1:, :, 1:2],
                "padded": tf.pad(five, [[0, 0], [1, 0], [0, 0], [0, 2], [0, 0]]),
                "product": tf.matmul(five, tf.transpose(five, [0, 1, 2, 4, 3])),
                "dense": tf.tensordot(five, weights, 1),
                "summed": tf.cumsum(five, axis=1),
            }.items()
        }

    return serve


def operands(tf: Any) -> Any:
    matrices = np.random.default_rng(0).standard_normal([2, 7, 6]).astype(np.float32)

    def serve(x: Any, ids: Any) -> dict[str, Any]:
        cube = tf.reshape(x, [2, 6, 10])
        wide = tf.concat([ids, ids * 3 - 7, ids], axis=1)
        return {
            "chosen": tf.where(cube[:1] > 0, cube[:, :, :1], cube[:, :1]),
            "constants": tf.where(cube > 0, tf.constant(np.arange(10, dtype=np.float32)), tf.constant(2.0)),
            "product": tf.matmul(matrices, cube),
            "transposed": tf.matmul(tf.constant(matrices.transpose(0, 2, 1)), cube, transpose_a=True),
            "both": tf.matmul(tf.constant(matrices[:1]), tf.reshape(x, [2, 10, 6]), transpose_b=True),
            "sums": tf.cumsum(wide, axis=1),
            "backward": tf.cumsum(wide, axis=-1, reverse=True),
            "exclusive": tf.cumsum(wide, axis=0, exclusive=True),
            "exclusive backward": tf.cumsum(wide, axis=1, exclusive=True, reverse=True),
            "batched": tf.gather(cube, tf.constant([[5, 0], [0, 3]]), axis=1, batch_dims=1),
        }

    return serve


def transforms(tf: Any) -> Any:
    def serve(x: Any, ids: Any) -> dict[str, Any]:
        numbers = tf.complex(tf.reshape(x, [2, 6, 10]), tf.reshape(-x, [2, 6, 10]) * tf.cast(ids[0, 0], tf.float32))
        both = tf.signal.fft2d(numbers)
        return {
            "real": tf.math.real(both),
            "imaginary": tf.math.imag(tf.reshape(both, [3, 40])),
            "conjugate": tf.math.imag(tf.math.conj(numbers)),
            "lines": tf.math.real(tf.signal.fft(tf.complex(x, tf.zeros_like(x)))),
        }

    return serve


FUNCTIONS = {"gathers": gathers, "slices": slices, "ranks": ranks, "operands": operands, "transforms": transforms}


def inputs(ids: int) -> dict[str, Any]:
    random = np.random.default_rng(ids)
    return {
        "x": random.standard_normal([2, 60]).astype(np.float32),
        "ids": random.integers(0, ids, [2, 3]).astype(np.int32),
    }


@pytest.mark.parametrize("functions", FUNCTIONS)
def test_forms(tensorflow: TensorFlow, functions: str) -> None:
    path = tensorflow.save(module, functions)
    assert refused(litefuse.convert(path).model_bytes)  # there is something to do
    result = check(tensorflow, path, [inputs(6), inputs(5)], target="gpu", allow_custom_ops="never")
    assert refused(result.model_bytes) == []
    assert result.report.target == "gpu"


CASES = [case for case in BACKBONES if case.name in {"GemmaBackbone", "LlamaBackbone", "T5Backbone"}]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_transformers(tensorflow: TensorFlow, case: Any) -> None:
    """With an open batch, which is 1 for a GPU, or given."""
    arguments = (case.name, dict(case.options), LENGTH)
    path = tensorflow.save(backbone, *arguments)
    shapes = tensorflow.call(input_shapes, *arguments)
    for batch in (1, 2) if case.name == "GemmaBackbone" else (2,):
        options: dict[str, Any] = {} if batch == 1 else {"batch": batch}
        result = check(tensorflow, path, draw(shapes, batch), target="gpu", allow_custom_ops="never", **options)
        assert refused(result.model_bytes) == []
        assert result.report.batch_taken == (1 if batch == 1 else None)


def test_the_cpu_keeps_its_forms(tensorflow: TensorFlow, tmp_path: Path) -> None:
    path = tensorflow.save(module, "slices")
    assert litefuse.convert(path, target="cpu").model_bytes == litefuse.convert(path).model_bytes
    litefuse.convert(path).save(tmp_path / "cpu.tflite")
    assert inspect_litert_model(tmp_path / "cpu.tflite").op_counts["STRIDED_SLICE"] > 5


def recurrent(tf: Any, framework: str) -> Any:
    keras: Any = importlib.import_module(framework)
    keras.utils.set_random_seed(0)
    layers = [keras.layers.LSTM(5, return_sequences=True, bias_initializer="random_normal"), keras.layers.GRU(4)]
    model = keras.Sequential([keras.layers.Input((6, 3)), *layers])
    made = tf.Module()
    made.model = model

    @tf.function(input_signature=[tf.TensorSpec([None, 6, 3], tf.float32, "x")])
    def serve(x: Any) -> Any:
        return {"y": model(x, training=False)}

    made.serve = serve
    return made, {"serving_default": serve}


@pytest.mark.parametrize("framework", ["keras", "tf_keras"])
def test_recurrent_layers_have_no_states(tensorflow: TensorFlow, framework: str) -> None:
    """LiteRT's CompiledModel rejects the variable tensors of the fused op, whoever annotated the layer."""
    path = tensorflow.save(recurrent, framework)
    x = np.random.default_rng(0).standard_normal([2, 6, 3]).astype(np.float32)
    result = check(tensorflow, path, {"x": x}, target="gpu", batch=2, allow_custom_ops="never")
    assert refused(result.model_bytes) == []
    assert not {"UNIDIRECTIONAL_SEQUENCE_LSTM", "WHILE"} & result.report.op_counts.keys()
    if framework == "tf_keras":  # who asks for it gets it
        fused = litefuse.convert(path, target="gpu", batch=2, rnn="fused").report.op_counts
        assert fused["UNIDIRECTIONAL_SEQUENCE_LSTM"] == 1


def loops(tf: Any) -> Any:
    made = tf.Module()

    @tf.function(
        input_signature=[tf.TensorSpec([2, 3], tf.float32, "x"), tf.TensorSpec([], tf.int32, "n")], autograph=False
    )
    def serve(x: Any, n: Any) -> Any:
        def before(i: Any, _: Any) -> Any:
            return i < n

        def step(i: Any, y: Any) -> Any:
            return i + 1, y * 1.5

        return {"y": tf.while_loop(before, step, [0, x])[1]}

    made.serve = serve
    return made, {"serving_default": serve}


def test_a_loop_of_unknown_steps_is_an_error(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(loops)
    with pytest.raises(ConversionError, match="loops are not for the target gpu") as caught:
        litefuse.convert(path, target="gpu")
    assert "the accelerator refuses them" in str(caught.value)
    assert "WHILE" in litefuse.convert(path, target="gpu", rnn="loop").report.op_counts


def two_signatures(tf: Any) -> Any:
    table = tf.constant(np.random.default_rng(0).standard_normal([10, 4]), tf.float32)
    made = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.int32, "ids")])
    def rows(ids: Any) -> Any:
        return {"größe": tf.gather(table, ids)}

    @tf.function(input_signature=[tf.TensorSpec([2, 3, 4], tf.float32, "x")])
    def last(x: Any) -> Any:
        return {"y": x[:, -1]}

    made.rows, made.last = rows, last
    return made, {"rows": rows, "last": last}


def test_two_signatures(tensorflow: TensorFlow) -> None:
    """One of open batch, with a name that is no ASCII, and one that is fixed."""
    path = tensorflow.save(two_signatures)
    ids = np.array([[9, 0, 3]], np.int32)
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    calls: list[Any] = [("rows", {"ids": ids}), ("last", {"x": x})] * 2
    result = check_calls(tensorflow, path, calls, target="gpu")
    assert refused(result.model_bytes) == []
