"""The SavedModel reader against what TensorFlow and Keras write, and what TensorFlow itself reads from it."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from litefuse.frontends.saved_model import (
    Asset,
    Constant,
    DataType,
    SavedModel,
    Table,
    TensorBundle,
    Variable,
    load,
    op_registry,
)
from litefuse.frontends.saved_model.messages import OpDef
from tests.every import every

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from tests.tensorflow.process import TensorFlow


# What TensorFlow says


def facts(tf: Any, path: str) -> dict[str, dict[str, Any]]:
    """Return for each signature the names in order, and the values of what it captures, as TensorFlow restores them."""
    model = tf.saved_model.load(path)
    found: dict[str, dict[str, Any]] = {}
    for key, function in model.signatures.items():
        captures: list[Any] = []
        variables = {id(variable.handle): variable for variable in function.graph.variables}
        for outer, _ in function.graph.captures:
            variable = variables.get(id(outer))
            value = variable if variable is not None else outer
            captures.append(None if value.dtype == tf.resource else value.numpy())
        found[key] = {
            "inputs": [tensor.name.partition(":")[0] for tensor in function.inputs[: -len(captures) or None]],
            "outputs": sorted(function.structured_outputs),
            "captures": captures,
        }
    return found


def check_against_tensorflow(tensorflow: TensorFlow, path: Path) -> SavedModel:
    """Compare names, order and captured values of every signature; return the model."""
    model = load(path)
    expected = tensorflow.call(facts, str(path))
    assert sorted(model.signatures) == sorted(expected)
    for key, signature in model.signatures.items():
        wanted = expected[key]
        body = model.functions[signature.function].signature
        assert len(signature.inputs) + len(signature.captures) == len(body.input_arg)
        places = [signature.input_indices.index(place) for place in range(len(signature.inputs))]
        assert [signature.inputs[place].name for place in places] == [
            name.removeprefix(f"{key}_") for name in wanted["inputs"]
        ], key
        assert sorted(spec.name for spec in signature.outputs) == wanted["outputs"]
        assert len(signature.captures) == len(wanted["captures"])
        for capture, value in zip(signature.captures, wanted["captures"], strict=True):
            if isinstance(capture, Variable | Constant):
                np.testing.assert_array_equal(capture.read(), value)
            elif isinstance(capture, Asset):
                assert Path(value.decode()).read_bytes() == capture.read()
            else:
                assert value is None
    return model


# Modules


def several_signatures(tf: Any) -> Any:
    module = tf.Module()
    module.weight = tf.Variable(np.array([[0, 1, 2], [3, 4, 5]], np.float32), name="w")
    module.bias = tf.Variable(1.0, trainable=False)
    constant = tf.constant([0.0, 1.0, 2.0])

    def affine(x: Any, a: Any) -> Any:
        product = x @ module.weight + module.bias
        return {"y": product, "a2": a + constant, "same": product}

    def many(p: Any, q: Any, r: Any, s: Any) -> Any:
        return p + 1, q + 2, r, s

    def spec(name: str, *shape: int | None) -> Any:
        return tf.TensorSpec(shape, tf.float32, name=name)

    def no_input() -> Any:
        return module.bias * 2

    module.affine = tf.function(affine, input_signature=[spec("x", None, 2), spec("a")])
    module.many = tf.function(
        many, input_signature=[spec("input_10", 2), spec("input_2", 3), tf.TensorSpec(None, name="z"), spec("a", 4)]
    )
    module.text = tf.function(tf.strings.length, input_signature=[tf.TensorSpec([None], tf.string, name="words")])
    module.no_input = tf.function(no_input, input_signature=[])
    return module, {name: getattr(module, name) for name in ("affine", "many", "text", "no_input")}


def test_several_signatures(tensorflow: TensorFlow) -> None:
    model = check_against_tensorflow(tensorflow, tensorflow.save(several_signatures))
    assert list(model.signatures) == ["affine", "many", "no_input", "text"]
    affine = model.signature("affine")
    assert [(spec.name, str(spec.dtype), spec.shape) for spec in affine.inputs] == [
        ("x", "float32", (None, 2)),
        ("a", "float32", ()),
    ]
    assert {spec.name: spec.shape for spec in affine.outputs} == {"a2": (3,), "same": (None, 3), "y": (None, 3)}
    variables = [capture for capture in affine.captures if isinstance(capture, Variable)]
    assert [(variable.name, variable.trainable) for variable in variables] == [("weight", True), ("bias", False)]
    assert [spec.name for spec in model.signature("many").inputs] == ["input_10", "input_2", "z", "a"]
    assert [spec.shape for spec in model.signature("many").inputs] == [(2,), (3,), None, (4,)]
    assert model.signature("no_input").inputs == ()
    assert model.signature("text").inputs[0].dtype == DataType.STRING
    assert model.tensorflow_version.startswith("2.")


def nested_inputs(tf: Any) -> Any:
    module = tf.Module()
    module.v = tf.Variable([1.0, 2.0])
    module.alias = module.v

    def serve(d: Any) -> Any:
        scaled = d["b"] * module.v + module.alias
        return {"o1": scaled, "o2": scaled, "k": d["a"]}

    spec = {"b": tf.TensorSpec([2]), "a": tf.TensorSpec([2], tf.float64)}
    module.serve = tf.function(serve, input_signature=[spec])
    return module, module.serve


def test_nested_inputs_and_a_variable_under_two_names(tensorflow: TensorFlow) -> None:
    model = check_against_tensorflow(tensorflow, tensorflow.save(nested_inputs))
    signature = model.signature("serving_default")
    assert [(spec.name, str(spec.dtype)) for spec in signature.inputs] == [("d", "float64"), ("d_1", "float32")]
    assert sorted(spec.name for spec in signature.outputs) == ["k", "o1", "o2"]
    assert len(model.variables) == 1
    assert [capture.name for capture in signature.captures if isinstance(capture, Variable)] == ["v"]


def tables_and_assets(tf: Any, folder: str) -> Any:
    vocabulary = Path(folder) / "vocabulary.txt"
    vocabulary.write_text("a\nb\nc\n")
    module = tf.Module()
    module.asset = tf.saved_model.Asset(str(vocabulary))
    lookup = tf.lookup
    initializer = lookup.TextFileInitializer(
        module.asset, tf.string, lookup.TextFileIndex.WHOLE_LINE, tf.int64, lookup.TextFileIndex.LINE_NUMBER
    )
    module.words = lookup.StaticHashTable(initializer, -1)
    module.numbers = lookup.StaticHashTable(lookup.KeyValueTensorInitializer([1, 2], [3, 4]), -1)

    def serve(words: Any) -> Any:
        text = tf.io.read_file(module.asset)
        return {"ids": module.words.lookup(words), "text": text, "n": module.numbers.lookup(tf.constant([1, 5]))}

    module.serve = tf.function(serve, input_signature=[tf.TensorSpec([None], tf.string)])
    return module, module.serve


def test_tables_and_assets(tensorflow: TensorFlow, tmp_path: Path) -> None:
    model = check_against_tensorflow(tensorflow, tensorflow.save(tables_and_assets, str(tmp_path)))
    captures = model.signature("serving_default").captures
    tables = {capture.name: capture for capture in captures if isinstance(capture, Table)}
    assert sorted(tables) == ["numbers", "words"]
    keys, values = tables["words"].read()
    assert (keys.tolist(), values.tolist()) == ([b"a", b"b", b"c"], [0, 1, 2])
    assert (tables["words"].key_dtype, tables["words"].value_dtype) == (DataType.STRING, DataType.INT64)
    keys, values = tables["numbers"].read()
    assert (keys.tolist(), values.tolist()) == ([1, 2], [3, 4])
    assert (tables["numbers"].key_dtype, tables["numbers"].value_dtype) == (DataType.INT32, DataType.INT32)
    assert [asset.filename for asset in model.assets.values()] == ["vocabulary.txt"]
    assert not model.resources


def every_type(tf: Any) -> Any:
    module = tf.Module()
    names = [
        "bool",
        "int8",
        "uint8",
        "int16",
        "uint16",
        "int32",
        "uint32",
        "int64",
        "uint64",
        "float16",
        "bfloat16",
        "float32",
        "float64",
        "complex64",
        "complex128",
    ]
    for name in names:
        value = tf.cast(tf.constant([[0, 1], [1, 0], [1, 1]]), name)
        setattr(module, name, tf.Variable(value, name=f"the_{name}"))
    module.string = tf.Variable([b"one", b"", b"\xff\0"])
    module.scalar = tf.Variable(3.5)
    module.empty = tf.Variable(tf.zeros([0, 3]))
    module.partly_known = tf.Variable([1.0, 2.0], shape=[None])
    module.unused = tf.Variable([1], name="unused")

    def serve() -> Any:
        return {name: tf.identity(getattr(module, name)) for name in [*names, "string", "scalar", "empty"]}

    module.serve = tf.function(serve, input_signature=[])
    return module, module.serve


def test_every_type(tensorflow: TensorFlow) -> None:
    model = check_against_tensorflow(tensorflow, tensorflow.save(every_type))
    variables = {variable.name: variable for variable in model.variables.values()}
    assert every(variable.has_value for variable in variables.values())
    for name, variable in variables.items():
        if str(variable.dtype) == name and name != "string":
            value = variable.read()
            assert value.astype(np.complex128).tolist() == [[0, 1], [1, 0], [1, 1]]
            assert not value.flags.owndata
    assert variables["string"].read().tolist() == [b"one", b"", b"\xff\0"]
    assert variables["empty"].read().shape == (0, 3)
    assert variables["partly_known"].shape == (None,)
    assert variables["partly_known"].read().tolist() == [1, 2]


def without_signatures(tf: Any) -> Any:
    module = tf.Module()
    module.v = tf.Variable(1.0)
    return module


def test_module_without_signatures(tensorflow: TensorFlow) -> None:
    model = load(tensorflow.save(without_signatures))
    assert model.signatures == {}
    assert [variable.name for variable in model.variables.values()] == ["v"]


# Keras


def keras_with_two_inputs(tf: Any) -> Any:
    keras = tf.keras
    first, another = keras.Input((4,), name="first"), keras.Input((4,), name="another")
    shared = keras.layers.Dense(3, name="shared", bias_initializer="random_normal")
    a, b = shared(first), shared(another)
    joined = keras.layers.BatchNormalization(name="norm", gamma_initializer="random_normal")(
        keras.layers.Concatenate()([a, b])
    )
    return keras.Model([first, another], {"z": keras.layers.Dense(2, name="out")(joined), "b": a})


def test_keras_export_with_several_inputs_and_outputs(tensorflow: TensorFlow) -> None:
    model = check_against_tensorflow(tensorflow, tensorflow.save(keras_with_two_inputs))
    signature = model.signature("serving_default")
    assert [spec.name for spec in signature.inputs] == ["first", "another"]
    assert [spec.name for spec in signature.outputs] == ["b", "z"]
    names = [capture.name for capture in signature.captures if isinstance(capture, Variable)]
    assert sorted(names) == sorted(
        [
            "shared/kernel",
            "shared/bias",
            "norm/gamma",
            "norm/beta",
            "norm/moving_mean",
            "norm/moving_variance",
            "out/kernel",
            "out/bias",
        ]
    )


def keras_saved_with_a_function(tf: Any) -> Any:
    keras = tf.keras
    model = keras.Sequential([keras.Input((5, 3)), keras.layers.LSTM(4), keras.layers.Dense(2)])
    model.compile("adam", "mse")

    def serve(x: Any) -> Any:
        return {"out": model(x)}

    return model, tf.function(serve, input_signature=[tf.TensorSpec([None, 5, 3], tf.float32, name="x")])


def test_keras_model_saved_with_a_function(tensorflow: TensorFlow) -> None:
    model = check_against_tensorflow(tensorflow, tensorflow.save(keras_saved_with_a_function))
    captures = model.signature("serving_default").captures
    assert every(isinstance(capture, Variable) and capture.has_value for capture in captures)
    assert len({capture.name for capture in captures if isinstance(capture, Variable)}) == 5


def keras_2_trained(tf: Any, path: str) -> None:
    del tf
    keras: Any = importlib.import_module("tf_keras")
    model = keras.Sequential([keras.layers.Input((5, 3)), keras.layers.LSTM(4), keras.layers.Dense(2)])
    model.compile("adam", "mse")
    model.fit(np.ones((2, 5, 3)), np.ones((2, 2)), verbose=0)
    model.save(path, save_format="tf")


def test_keras_2_with_optimizer(tensorflow: TensorFlow, tmp_path: Path) -> None:
    path = tmp_path / "model"
    tensorflow.call(keras_2_trained, str(path))
    model = check_against_tensorflow(tensorflow, path)
    assert every(variable.has_value for variable in model.variables.values())
    assert "lstm/lstm_cell/recurrent_kernel" in {variable.name for variable in model.variables.values()}


# Checkpoints


def save_slices(tf: Any, prefix: str, whole: NDArray[Any], words: list[bytes]) -> None:
    rows, columns = whole.shape
    tf.raw_ops.SaveV2(
        prefix=prefix,
        tensor_names=["rows", "rows", "columns", "columns", "words", "words", "whole"],
        shape_and_slices=[
            f"{rows} {columns} 0,100:-",
            f"{rows} {columns} 100,{rows - 100}:-",
            f"{rows} {columns} -:0,1",
            f"{rows} {columns} -:1,{columns - 1}",
            f"{len(words)} 0,1",
            f"{len(words)} 1,{len(words) - 1}",
            "",
        ],
        tensors=[
            whole[:100],
            whole[100:],
            whole[:, :1],
            whole[:, 1:],
            tf.constant(words[:1]),
            tf.constant(words[1:]),
            whole,
        ],
    )


def test_partitioned_variables(tensorflow: TensorFlow, tmp_path: Path) -> None:
    (tmp_path / "variables").mkdir()
    whole = np.random.default_rng(0).standard_normal((20_000, 7)).astype(np.float32)
    tensorflow.call(save_slices, str(tmp_path / "variables/variables"), whole, [b"a", b"bb", b""])
    bundle = TensorBundle.open(tmp_path)
    assert list(bundle.keys()) == ["columns", "rows", "whole", "words"]
    for key in ("rows", "columns", "whole"):
        np.testing.assert_array_equal(bundle.read(key), whole)
    assert bundle.read("words").tolist() == [b"a", b"bb", b""]


def save_in_shards(tf: Any, prefix: str, values: Mapping[str, NDArray[Any]]) -> None:
    parts: list[str] = []
    for i, (name, value) in enumerate(values.items()):
        part = f"{prefix}_part{i}"
        tf.raw_ops.SaveV2(prefix=part, tensor_names=[name], shape_and_slices=[""], tensors=[value])
        parts.append(part)
    tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=parts, destination_prefix=prefix)


def test_merged_shards(tensorflow: TensorFlow, tmp_path: Path) -> None:
    (tmp_path / "variables").mkdir()
    values = {f"v{i}": np.arange(i, dtype=np.int64) for i in range(4)}
    tensorflow.call(save_in_shards, str(tmp_path / "variables/variables"), values)
    bundle = TensorBundle.open(tmp_path)
    assert bundle.num_shards == 4
    for key, value in values.items():
        np.testing.assert_array_equal(bundle.read(key), value)


# Ops


def op_definitions(tf: Any, names: list[str]) -> list[bytes]:
    del tf
    registry: Any = importlib.import_module("tensorflow.python.framework.op_def_registry")
    return [registry.get(name).SerializeToString() for name in names]


def test_registry_agrees_with_tensorflow(tensorflow: TensorFlow) -> None:
    names = ["MatMul", "Conv2D", "While", "TensorListReserve", "FusedBatchNormV3", "StridedSlice", "CudnnRNNV3"]
    for name, data in zip(names, tensorflow.call(op_definitions, names), strict=True):
        expected = OpDef.FromString(data)
        found = op_registry().get(name)
        assert found is not None
        assert [argument.name for argument in found.input_arg] == [argument.name for argument in expected.input_arg]
        assert {attr.name: attr.default_value for attr in found.attr} == {
            attr.name: attr.default_value for attr in expected.attr
        }
        assert found.is_stateful == expected.is_stateful
