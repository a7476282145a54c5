# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
"""litefuse.compat.TFLiteConverter beside tf.lite.TFLiteConverter: the same calls, and the same numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from ai_edge_litert.interpreter import Interpreter

from litefuse.support.options.names_elsewhere import TFLITE, TFLITE_1, name_elsewhere
from litefuse.tools.cli.app import app
from litefuse.tools.compat.settings import MAPPED, NEEDLESS, NEEDLESS_1, REFUSED, REFUSED_1
from tests.tensorflow.checking import op_counts
from tests.tensorflow.compat_scenarios import SCENARIOS, convert_both, keras_with_two_inputs, lists_of_one_shape
from tests.tensorflow.process import TensorFlow

# How much farther quantized outputs may be from those of floats than the reference's, and by how many steps of int8.
FACTOR, STEPS = 1.5, 1.0


def opened(model: bytes) -> Interpreter:
    interpreter = Interpreter(model_content=model)
    interpreter.allocate_tensors()
    return interpreter


def interface(model: bytes) -> dict[str, Any]:
    """The signatures, with names, dtypes and shapes of inputs, and names and dtypes of outputs."""
    interpreter = Interpreter(model_content=model)
    found: dict[str, Any] = {}
    for key in interpreter.get_signature_list():
        runner = interpreter.get_signature_runner(key)
        inputs, outputs = runner.get_input_details(), runner.get_output_details()
        found[key] = (
            {
                name: (np.dtype(each["dtype"]).kind + str(np.dtype(each["dtype"]).itemsize), _shape(each))
                for name, each in inputs.items()
            },
            {name: np.dtype(each["dtype"]) for name, each in outputs.items()},
        )
    return found


def _shape(detail: Any) -> list[int]:
    return [int(size) for size in (detail["shape_signature"] if len(detail["shape_signature"]) else detail["shape"])]


def drawn(model: bytes, seed: int = 0) -> dict[str, dict[str, Any]]:
    """Inputs for each signature of a model of floats; open sizes are 2."""
    random = np.random.default_rng(seed)
    interpreter, found = Interpreter(model_content=model), {}
    for key in interpreter.get_signature_list():
        details = interpreter.get_signature_runner(key).get_input_details()
        found[key] = {name: _array(random, each) for name, each in sorted(details.items())}
    return found


def _array(random: np.random.Generator, detail: Any) -> Any:
    shape, dtype = [2 if size < 0 else size for size in _shape(detail)], np.dtype(detail["dtype"])
    if dtype.kind in "SOU":
        return random.choice(np.array([b"a", b"b", b"c"], object), shape)
    if dtype.kind == "b":
        return np.asarray(random.integers(0, 2, shape), bool)
    return np.asarray(random.integers(0, 9, shape) if dtype.kind in "iu" else random.normal(size=shape), dtype)


def outputs(model: bytes, inputs: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """The outputs of two calls of each signature, of floats; inputs and outputs of integers go through their scales."""
    interpreter, found = opened(model), []
    for key, values in inputs.items():
        runner = interpreter.get_signature_runner(key)
        details = runner.get_input_details()
        given = {name: _quantized(value, details[name]) for name, value in values.items()}
        for _ in range(2):
            results = runner(**given)
            found.append(
                {name: _dequantized(np.array(results[name]), runner.get_output_details()[name]) for name in results}
            )
    return found


def _quantized(value: Any, detail: Any) -> Any:
    scale, zero = detail["quantization"]
    if not scale or value.dtype == detail["dtype"]:
        return value
    limits = np.iinfo(detail["dtype"])
    return np.clip(np.round(value / scale) + zero, limits.min, limits.max).astype(detail["dtype"])


def _dequantized(value: Any, detail: Any) -> Any:
    scale, zero = detail["quantization"]
    return (value.astype(np.float32) - zero) * scale if scale else value


def largest_error(found: list[dict[str, Any]], expected: list[dict[str, Any]]) -> float:
    """The largest mean difference of an output, relative to its largest element."""
    errors = [
        float(np.mean(np.abs(one[name] - other[name])) / max(float(np.max(np.abs(other[name]))), 1e-6))
        for one, other in zip(found, expected, strict=True)
        for name in other
    ]
    return max(errors)


@pytest.mark.parametrize("name", [*SCENARIOS])
def test_scenario(tensorflow: TensorFlow, name: str) -> None:
    made = SCENARIOS[name]
    stock, own, floats = tensorflow.call(convert_both, name)
    if made.outcome == "here" and isinstance(stock, bytes):
        with pytest.raises(RuntimeError):
            outputs(stock, drawn(stock))
    elif made.outcome in {"refused", "here"}:
        assert isinstance(stock, str), f"the reference converts {name}"
    else:
        assert isinstance(stock, bytes), stock
    if made.outcome in {"refused", "there"}:
        assert isinstance(own, str), f"litefuse converts {name}"
        assert made.words in own
        return
    assert isinstance(own, bytes), own
    if made.outcome == "here":
        assert outputs(own, drawn(own))
        return
    assert isinstance(stock, bytes)
    if made.outcome == "custom":
        assert custom_ops(own) == custom_ops(stock) != []
        return
    if interface(stock):  # the reference leaves frozen graphs without signatures
        assert interface(own) == interface(stock)
    reference = floats or stock
    inputs = drawn(reference if interface(reference) else own)
    results = outputs(own, inputs)
    expected = outputs(stock, inputs) if interface(stock) else positional(stock, inputs, own)
    assert [{k: v.shape for k, v in each.items()} for each in results] == [
        {k: v.shape for k, v in each.items()} for each in expected
    ]
    if made.outcome == "near":
        exact = outputs(floats, inputs) if interface(floats) else positional(floats, inputs, own)
        assert largest_error(results, exact) <= FACTOR * largest_error(expected, exact) + STEPS / 256
        assert len(own) <= 1.2 * len(stock) + 1000
    elif made.outcome == "equal":
        for one, other in zip(results, expected, strict=True):
            for key, value in other.items():
                if value.dtype.kind == "f":
                    np.testing.assert_allclose(one[key], value, rtol=1e-5, atol=1e-5)
                else:
                    np.testing.assert_array_equal(one[key], value)


def positional(model: bytes, inputs: dict[str, dict[str, Any]], named: bytes) -> list[dict[str, Any]]:
    """The outputs of a model without signatures, whose tensors have the names of another's inputs and outputs."""
    interpreter, found = opened(model), []
    names = {each["name"].removesuffix(":0"): each for each in interpreter.get_input_details()}
    (values,), (key,) = inputs.values(), inputs
    results = Interpreter(model_content=named).get_signature_list()[key]["outputs"]
    by_name = {each["name"].removesuffix(":0"): each for each in interpreter.get_output_details()}
    if len(values) == len(results) == 1:
        names, by_name = (
            dict(zip(values, names.values(), strict=True)),
            dict(zip(results, by_name.values(), strict=True)),
        )
    for _ in range(2):
        for name, value in values.items():
            interpreter.set_tensor(names[name]["index"], value)
        interpreter.invoke()
        found.append({name: interpreter.get_tensor(by_name[name]["index"]) for name in results})
    return found


def custom_ops(model: bytes) -> list[str]:
    from ai_edge_litert import schema_py_generated as schema

    codes: Any = schema.ModelT.InitFromPackedBuf(bytearray(model)).operatorCodes
    return sorted(code.customCode.decode() for code in codes if code.customCode)


def test_the_comparison_tells_models_apart(tensorflow: TensorFlow) -> None:
    stock, own, _ = tensorflow.call(convert_both, "function_of_variables")
    other, _, _ = tensorflow.call(convert_both, "keras_sequential")
    assert interface(own) == interface(stock) != interface(other)
    exact = outputs(own, drawn(own))
    assert largest_error(outputs(own, drawn(own, seed=1)), exact) > 0.01
    assert largest_error(outputs(stock, drawn(own)), exact) == 0


def integers(tf: Any) -> tuple[bytes, bytes]:
    """A Keras model whose samples are lists of two arrays of one shape; and an LSTM of integers alone."""
    from litefuse.tools.compat import lite

    listed = keras_with_two_inputs(tf, lite)
    lists_of_one_shape(tf, lite, listed)
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Input((6, 3), 1, name="x"), layers.LSTM(4), layers.Dense(2)])
    recurrent = lite.TFLiteConverter.from_keras_model(model)
    recurrent.optimizations = [lite.Optimize.DEFAULT]
    random = np.random.default_rng(0)
    recurrent.representative_dataset = lambda: ([random.normal(size=(1, 6, 3)).astype(np.float32)] for _ in range(8))
    recurrent.target_spec.supported_ops = [lite.OpsSet.TFLITE_BUILTINS_INT8]
    return listed.convert(), recurrent.convert()


def test_integers(tensorflow: TensorFlow) -> None:
    listed, recurrent = tensorflow.call(integers)
    details = Interpreter(model_content=listed).get_signature_runner().get_input_details()
    for name, largest in (("zeta", 4), ("alpha", 1)):  # the order of the model, not that of the names
        scale = details[name]["quantization"][0] * 255 / 2
        assert 0.8 * largest < scale <= largest
    # LiteRT's loops compute in floating point: integers alone are possible in its op only.
    counts = op_counts(recurrent)
    assert counts["UNIDIRECTIONAL_SEQUENCE_LSTM"] == 1
    assert not counts["WHILE"]


def attributes_there(tf: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The attributes of both of TensorFlow's converters, with simple values as they are."""
    traced = tf.function(lambda x: x + 1.0).get_concrete_function(tf.TensorSpec([2]))
    two = tf.lite.TFLiteConverter.from_concrete_functions([traced])
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [1], "x")
        one = tf.compat.v1.lite.TFLiteConverter(graph.as_graph_def(), [x], [x + 1.0])
    plain = (bool, int, str, type(None))
    two_and_one = [
        {name: value if isinstance(value, plain) else str(value) for name, value in vars(each).items()}
        for each in (two, one)
    ]
    return two_and_one[0], two_and_one[1]


# What TFLiteConverter keeps for itself.
INTERNAL = {
    "_collected_converter_params",
    "_control_output_arrays",
    "_debug_info",
    "_debug_info_func",
    "_funcs",
    "_graph_def",
    "_input_arrays_with_shape",
    "_input_tensors",
    "_metadata",
    "_output_arrays",
    "_output_tensors",
    "_saved_model_exported_names",
    "_saved_model_tags",
    "_saved_model_version",
    "_tflite_metrics",
    "_trackable_obj",
    "saved_model_dir",
}


def test_every_attribute_of_the_reference_is_known(tensorflow: TensorFlow) -> None:
    two, one = tensorflow.call(attributes_there)
    known = {**MAPPED, **NEEDLESS, **REFUSED}
    assert {*two} - INTERNAL == {*known}
    assert {*one} - {*two} - INTERNAL - {*NEEDLESS_1, *REFUSED_1} == set()
    for name, default in {**NEEDLESS, **REFUSED}.items():
        assert two[name] == default or name == "model_origin_framework", name


def arguments_there(tf: Any) -> tuple[set[str], set[str]]:
    import inspect

    def of(converter: Any) -> set[str]:
        makers = [getattr(converter, name) for name in dir(converter) if "from_" in name and not name.startswith("_")]
        return {argument for each in [converter.__init__, *makers] for argument in inspect.signature(each).parameters}

    return of(tf.lite.TFLiteConverter) - {"self"}, of(tf.compat.v1.lite.TFLiteConverter) - {"self"}


def flags_there(tf: Any) -> set[str]:
    """The flags of tflite_convert, for both of its converters; and the attributes of a target."""
    import importlib

    module = importlib.import_module("tensorflow.lite.python.tflite_convert")
    parsers = [module._get_parser(use_v2_converter=two) for two in (True, False)]  # noqa: SLF001  no public way
    flags = {flag for parser in parsers for action in parser._actions for flag in action.option_strings}  # noqa: SLF001
    return {*flags, *vars(tf.lite.TargetSpec())} - {"-h", "--help"}


def test_every_flag_of_the_reference_is_answered(tensorflow: TensorFlow) -> None:
    convert = app.get_command(None, "convert")
    assert convert is not None
    own = {option for parameter in convert.params for option in parameter.opts}
    flags = tensorflow.call(flags_there)
    assert {"--saved_model_dir", "--quantize_to_float16", "supported_types"} <= flags
    assert [f for f in sorted(flags) if f.replace("_", "-") not in own and name_elsewhere(f) is None] == []


def test_every_argument_of_the_reference_is_answered(tensorflow: TensorFlow) -> None:
    own = {"model", "tags", "input_arrays", "output_arrays"}
    for names, of in zip(tensorflow.call(arguments_there), (TFLITE, TFLITE_1), strict=True):
        assert [name for name in sorted(names - own) if name_elsewhere(name) is None] == [], of
