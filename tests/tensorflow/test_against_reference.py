"""The same annotated models converted by litefuse and by the reference: the same fused ops, except for its faults.

Each fault that shows here is named in docs/explanation/differences.md.
"""

from __future__ import annotations

import importlib
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

import litefuse
from tests.tensorflow.checking import check, custom_options, normal, op_counts, run_calls

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

    from tests.tensorflow.process import TensorFlow

DETECTION = 'name: "TFLite_Detection_PostProcess" ' + "".join(
    f'attr {{ key: "{name}" value {{ {value} }} }} '
    for name, value in {
        "max_detections": "i: 6",
        "max_classes_per_detection": "i: 1",
        "num_classes": "i: 3",
        "nms_score_threshold": "f: 0.3",
        "nms_iou_threshold": "f: 0.5",
        "y_scale": "f: 10.0",
        "x_scale": "f: 8.0",
        "h_scale": "f: 5.0",
        "w_scale": "f: 4.0",
    }.items()
)
REGULAR = 'attr { key: "use_regular_nms" value { b: true } } '
FUSABLE = 'name: "my_op" attr { key: "tfl_fusable_op" value { b: true } } '
UNPOOLING = (
    'name: "addons:MaxUnpooling2D" attr { key: "pool_size" value { list { i: 2 i: 3 } } } '
    'attr { key: "strides" value { list { i: 2 i: 3 } } } attr { key: "padding" value { s: "VALID" } }'
)


@dataclass(frozen=True)
class Op:
    """An op of a model.

    Attributes:
        options: The builtin options.
        custom: The custom options.
        constants: The operands that are constants, by position.
        outputs: The shapes of the results.
    """

    options: Mapping[str, Any]
    custom: bytes
    constants: Mapping[int, npt.NDArray[Any]]
    outputs: list[list[int]]


def ops(model: bytes, name: str) -> list[Op]:
    """The ops of that name, a builtin's or a custom op's."""
    schema: Any = importlib.import_module("ai_edge_litert.schema_py_generated")
    root = schema.ModelT.InitFromObj(schema.Model.GetRootAs(model, 0))
    found: list[Op] = []
    for graph in root.subgraphs:
        for op in graph.operators or ():
            code = root.operatorCodes[op.opcodeIndex]
            builtin = max(code.builtinCode, code.deprecatedBuiltinCode)
            if name not in {(code.customCode or b"").decode(), *_names(schema, builtin)}:
                continue
            constants = {
                position: value
                for position, index in enumerate(op.inputs)
                if index >= 0 and (value := _constant(schema, root, graph.tensors[index])) is not None
            }
            options = cast("dict[str, Any]", {} if op.builtinOptions is None else vars(op.builtinOptions))
            custom = b"" if op.customOptions is None else bytes(bytearray(op.customOptions))
            outputs = [list(map(int, () if shape is None else shape)) for shape in _shapes(graph, op.outputs)]
            found.append(Op(options, custom, constants, outputs))
    return found


def _names(schema: Any, builtin: int) -> list[str]:
    numbers = cast("dict[str, int]", vars(schema.BuiltinOperator))
    return [name for name, value in numbers.items() if value == builtin]


def _shapes(graph: Any, indices: Any) -> list[Any]:
    return [graph.tensors[index].shape for index in indices]


def _constant(schema: Any, root: Any, tensor: Any) -> npt.NDArray[Any] | None:
    data = root.buffers[tensor.buffer].data
    if data is None or not len(data):
        return None
    dtypes = {schema.TensorType.FLOAT32: np.float32, schema.TensorType.INT32: np.int32}
    values = cast("npt.NDArray[Any]", np.frombuffer(bytes(bytearray(data)), dtypes[tensor.type]))
    return values.reshape(tuple(map(int, tensor.shape)))


def random(*shape: int) -> npt.NDArray[Any]:
    return np.random.default_rng(sum(shape)).normal(0, 0.7, shape).astype(np.float32)


def model(tf: Any, body: Callable[..., Any], *shapes: tuple[int | None, ...], variables: Sequence[Any] = ()) -> Any:
    """A model with the inputs x0, x1... of these shapes, float32, and the outputs y0, y1..."""

    def serve(*inputs: Any) -> Any:
        found = body(*inputs)
        listed = cast("Sequence[Any]", found) if isinstance(found, (list, tuple)) else [found]
        return {f"y{index}": value for index, value in enumerate(listed)}

    specs = [tf.TensorSpec(shape, tf.float32, name=f"x{index}") for index, shape in enumerate(shapes)]
    module = tf.Module()
    module.weights = list(variables)
    module.serve = tf.function(serve, input_signature=specs, autograph=False)
    return module, {"serving_default": module.serve}


def embedding(tf: Any, dtype: str = "int32") -> Any:
    def lookup(table: Any, ids: Any) -> Any:
        return tf.gather(table, ids)

    function = tf.function(lookup, experimental_implements="embedding_matmul")

    def body(x: Any) -> Any:
        return function(tf.constant(random(10, 4)), tf.cast(x, dtype))

    return model(tf, body, (3,))


def suppression(tf: Any) -> Any:
    def body(boxes: Any, scores: Any) -> Any:
        return tf.image.non_max_suppression_padded(boxes, scores, 5, 0.4, 0.3, pad_to_max_output_size=True)

    return model(tf, body, (20, 4), (20,))


def detection(tf: Any, attributes: str) -> Any:
    def body(encodings: Any, scores: Any, anchors: Any) -> Any:
        del encodings, scores, anchors
        return tuple(tf.zeros(shape) for shape in ([1, 6, 4], [1, 6], [1, 6], [1]))

    function = tf.function(body, experimental_implements=DETECTION + attributes)
    return model(tf, function, (1, 40, 4), (1, 40, 3), (40, 4))


def unpooling(tf: Any) -> Any:
    def unpool(updates: Any, mask: Any) -> Any:
        b, _, _, c = tf.meshgrid(tf.range(1), tf.range(2), tf.range(2), tf.range(1), indexing="ij")
        return tf.scatter_nd(tf.stack([b, mask // 6, mask % 6, c], -1), updates, [1, 4, 6, 1])

    function = tf.function(unpool, experimental_implements=UNPOOLING)

    def body(x: Any, mask: Any) -> Any:
        return function(x, tf.cast(mask, tf.int32))

    return model(tf, body, (1, 2, 2, 1), (1, 2, 2, 1))


def warping(tf: Any) -> Any:
    def body(image: Any, flow: Any) -> Any:
        return image + 0.0 * tf.reduce_sum(flow)

    function = tf.function(body, experimental_implements="addons:DenseImageWarp")
    return model(tf, function, (1, 4, 5, 2), (1, 4, 5, 2))


def fusable(tf: Any, attributes: str) -> Any:
    def body(x: Any) -> Any:
        return tf.nn.relu(x)

    return model(tf, tf.function(body, experimental_implements=FUSABLE + attributes), (3,))


def keras_lstm(
    tf: Any, batch: int | None, *, initial: str = "", all_results: bool = False, time_major: bool = False
) -> Any:
    import tf_keras  # pyright: ignore[reportMissingTypeStubs, reportMissingImports]

    keras: Any = tf_keras
    layer = keras.layers.LSTM(
        5, bias_initializer=keras.initializers.RandomNormal(seed=3), return_state=True, time_major=time_major
    )

    def body(x: Any, c: Any) -> Any:
        states: dict[str, Any] = {"input": [tf.tanh(c), c], "same": [c, c], "constant": [tf.ones([1, 5])] * 2}
        found = layer(x, initial_state=states.get(initial))
        return found if all_results else found[0]

    shape = (4, batch, 3) if time_major else (batch, 4, 3)
    layer.build(shape)
    return model(tf, body, shape, (batch, 5), variables=layer.variables)


def both(tensorflow: TensorFlow, path: Path, **options: Any) -> tuple[bytes, bytes]:
    """The model of litefuse and that of the reference."""
    reference = tensorflow.stock_convert(path)
    assert isinstance(reference, bytes), reference
    ours: Any = litefuse.convert
    return ours(path, **{"require_fused": True, **options}).model_bytes, reference


def assert_same_constants(ours: Op, reference: Op) -> None:
    assert ours.constants.keys() == reference.constants.keys()
    for position, value in ours.constants.items():
        np.testing.assert_array_equal(value, reference.constants[position])


def test_embedding(tensorflow: TensorFlow) -> None:
    ours, reference = (ops(each, "EMBEDDING_LOOKUP")[0] for each in both(tensorflow, tensorflow.save(embedding)))
    assert_same_constants(ours, reference)
    np.testing.assert_array_equal(ours.constants[1], random(10, 4))
    assert ours.options == reference.options == {}
    assert ours.outputs == reference.outputs == [[3, 4]]


def test_embedding_of_long_ids(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(embedding, "int64")
    assert "embedding_lookup" in str(tensorflow.stock_convert(path))  # fails, for the op takes no such ids
    result = check(tensorflow, path, {"x0": np.array([1, 9, 3], np.float32)})
    assert op_counts(result.model_bytes)["GATHER"] == 1


def test_suppression(tensorflow: TensorFlow) -> None:
    ours, reference = (
        ops(each, "NON_MAX_SUPPRESSION_V4")[0] for each in both(tensorflow, tensorflow.save(suppression))
    )
    # The scores are positions here, from 0 up, in their order.
    assert [ours.constants[position].item() for position in (2, 3, 4)] == pytest.approx([5, 0.4, 0.0])
    assert [reference.constants[position].item() for position in (2, 3, 4)] == pytest.approx([5, 0.4, 0.3])
    assert ours.options == reference.options
    assert [len(shape) for shape in ours.outputs] == [1, 0]
    assert [len(shape) for shape in reference.outputs] == [2, 0]  # which the kernel's result is not


def test_detection(tensorflow: TensorFlow) -> None:
    name = "TFLite_Detection_PostProcess"
    path = tensorflow.save(detection, REGULAR)
    converted = both(tensorflow, path)
    ours, reference = (ops(each, name)[0] for each in converted)
    assert ours.outputs == reference.outputs == [[1, 6, 4], [1, 6], [1, 6], [1]]
    ours, reference = (custom_options(each)[name][0] for each in converted)
    assert repr(ours) == repr(reference)  # True is not 1
    path = tensorflow.save(detection, REGULAR + 'attr { key: "detections_per_class" value { i: 4 } }')
    ours, reference = (custom_options(each)[name][0] for each in both(tensorflow, path))
    assert ours.pop("detections_per_class") == 4
    assert ours == reference
    path = tensorflow.save(detection, "")
    assert isinstance(tensorflow.stock_convert(path), str)
    assert custom_options(litefuse.convert(path).model_bytes)[name][0]["use_regular_nms"] == 0


def test_unpooling(tensorflow: TensorFlow) -> None:
    ours, reference = both(tensorflow, tensorflow.save(unpooling))
    (found,), (expected,) = ops(ours, "MaxUnpooling2D"), ops(reference, "MaxUnpooling2D")
    assert found.outputs == expected.outputs == [[1, 4, 6, 1]]
    assert found.custom == expected.custom
    assert struct.unpack("<10i", found.custom) == (2, 3, 2, 3, 2, 0, 0, 0, 0, 0)


def test_warping(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(warping)
    ours, reference = both(tensorflow, path, checks=litefuse.Checks(fusions=False))
    (found,), (expected,) = ops(ours, "DenseImageWarp"), ops(reference, "DenseImageWarp")
    assert found.custom == expected.custom == b""
    assert found.outputs == expected.outputs
    (composite,) = litefuse.convert(path).report.composites  # whose body does not warp
    assert "it computes something else" in str(composite.reason)


def test_fusable_op(tensorflow: TensorFlow) -> None:
    attributes = (
        'attr { key: "size" value { i: -3 } } attr { key: "scale" value { f: 0.3 } } '
        'attr { key: "mode" value { s: "sharp" } } '
    )
    both_models = both(tensorflow, tensorflow.save(fusable, attributes), allow_custom_ops=True)
    ours, reference = (ops(each, "my_op")[0] for each in both_models)
    assert ours.custom == reference.custom
    flag = 'attr { key: "flag" value { b: true } }'
    both_models = both(tensorflow, tensorflow.save(fusable, flag), allow_custom_ops=True)
    ours, reference = (custom_options(each)["my_op"] for each in both_models)
    assert repr(ours) == "[{'flag': True}]"
    assert repr(reference) == "[{'flag': -1}]"
    path = tensorflow.save(fusable, 'attr { key: "sizes" value { list { i: 1 i: 2 } } }')
    assert isinstance(tensorflow.stock_convert(path), str)
    assert custom_options(litefuse.convert(path, allow_custom_ops=True).model_bytes)["my_op"] == [{"sizes": [1, 2]}]


SEQUENCE = "UNIDIRECTIONAL_SEQUENCE_LSTM"


@pytest.mark.parametrize("time_major", [False, True])
def test_keras_lstm(tensorflow: TensorFlow, time_major: bool) -> None:
    path = tensorflow.save(keras_lstm_of_layout, time_major)
    ours, reference = (ops(each, SEQUENCE)[0] for each in both(tensorflow, path))
    assert ours.options == {**reference.options, "cellClip": 0.0}
    assert reference.options["cellClip"] == 10.0
    assert_same_constants(ours, reference)
    assert sorted(ours.constants) == [*range(1, 9), *range(12, 16)]
    assert ours.outputs == reference.outputs


def keras_lstm_of_layout(tf: Any, time_major: bool) -> Any:
    return keras_lstm(tf, 1, time_major=time_major)


def test_keras_lstm_has_no_cell_clip(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(keras_lstm_from, "input")
    (inputs,) = normal({"x0": (1, 4, 3), "x1": (1, 5)}, batches=(1,))
    inputs["x1"] *= 30
    result = check(tensorflow, path, inputs, require_fused=True)
    (expected,) = run_calls(result.model_bytes, [("serving_default", inputs)])
    reference = cast("bytes", tensorflow.stock_convert(path))
    assert op_counts(reference)[SEQUENCE] == 1
    (found,) = run_calls(reference, [("serving_default", inputs)])
    assert np.abs(found["y0"] - expected["y0"]).max() > 1e-3


def test_keras_lstm_whose_states_begin_alike(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(keras_lstm_from, "same")
    assert "duplicate values for the stateful op" in str(tensorflow.stock_convert(path))
    result = check(tensorflow, path, normal({"x0": (1, 4, 3), "x1": (1, 5)}), require_fused=True)
    assert op_counts(result.model_bytes)[SEQUENCE] == 1


def test_keras_lstm_begins_with_its_constant_state(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(keras_lstm_from, "constant")
    (inputs,) = normal({"x0": (1, 4, 3), "x1": (1, 5)}, batches=(1,))
    result = check(tensorflow, path, inputs, require_fused=True)
    (expected,) = run_calls(result.model_bytes, [("serving_default", inputs)])
    reference = cast("bytes", tensorflow.stock_convert(path))
    assert op_counts(reference)[SEQUENCE] == 1
    (found,) = run_calls(reference, [("serving_default", inputs)])
    assert np.abs(found["y0"] - expected["y0"]).max() > 1e-3


def keras_lstm_from(tf: Any, initial: str) -> Any:
    return keras_lstm(tf, 1, initial=initial)


def test_keras_lstm_whose_state_is_used(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(keras_lstm_with_state)
    assert op_counts(cast("bytes", tensorflow.stock_convert(path)))[SEQUENCE] == 0
    result = check(tensorflow, path, normal({"x0": (1, 4, 3), "x1": (1, 5)}), require_fused=True)
    assert op_counts(result.model_bytes)[SEQUENCE] == 1


def keras_lstm_with_state(tf: Any) -> Any:
    return keras_lstm(tf, 1, all_results=True)


def test_keras_lstm_of_any_batch(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(keras_lstm, None)
    assert "TensorListReserve" in str(tensorflow.stock_convert(path))
    result = check(tensorflow, path, normal({"x0": (None, 4, 3), "x1": (None, 5)}), require_fused=True)
    assert op_counts(result.model_bytes)[SEQUENCE] == 1
