"""What each op gets: bits, granularity, rotation, what stays in floating point, and recipes of the user's own."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from ai_edge_litert import schema_py_generated as schema

import litefuse
from litefuse.conversion.quantization.dataset import Samples
from litefuse.conversion.quantization.float_ops import ops_by_kind
from litefuse.conversion.quantization.litert_quantizer import read_model
from litefuse.conversion.quantization.option_checks import check_quantization, needs_ranges
from litefuse.conversion.quantization.post_training import quantize_model
from litefuse.conversion.quantization.recipe import ModelFacts, kept_results, recipe_of
from litefuse.errors import LitefuseError
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.litert.runtime.scales import dequantized, quantized
from litefuse.litert.runtime.schema_objects import tensor_name
from litefuse.support.options.forms import QuantizationForm
from litefuse.support.options.quantization import QuantizedIo, check_combination
from litefuse.support.report.quantized import OpKinds
from tests.conversion.quantization.models import dense, saved, take_samples
from tests.litert.runtime.models import Graph

RANDOM = np.random.default_rng(1)
WEIGHTS = RANDOM.normal(size=(32, 64)).astype(np.float32)
ENTRY: dict[str, Any] = {
    "regex": ".*",
    "operation": "FULLY_CONNECTED",
    "algorithm_key": "min_max_uniform_quantize",
    "op_config": {
        "weight_tensor_config": {"num_bits": 4, "symmetric": True, "granularity": "CHANNELWISE", "dtype": "INT"},
        "compute_precision": "INTEGER",
        "explicit_dequantize": False,
    },
}


def layers(*widths: int) -> Graph:
    """Fully connected layers with random weights and biases, of one row; their results are ``layer0`` to ``y``."""
    graph = Graph()
    x = graph.input("x", [1, widths[0]])
    for number, (width, units) in enumerate(itertools.pairwise(widths)):
        w = graph.tensor(f"w{number}", [units, width], value=RANDOM.normal(size=(units, width)))
        b = graph.tensor(f"b{number}", [units], value=RANDOM.normal(size=units))
        last = number == len(widths) - 2
        y = graph.output("y", [1, units]) if last else graph.tensor(f"layer{number}", [1, units])
        graph.builtin("FULLY_CONNECTED", [x, w, b], [y])
        x = y
    return graph


def samples(width: int = 64) -> Samples:
    random = np.random.default_rng(2)
    return take_samples([{"x": random.normal(size=(1, width)).astype(np.float32)} for _ in range(8)])


def weights_of(path: Path) -> dict[str, tuple[int, int]]:
    """The type of each layer's weights, and how many scales they have."""
    (graph,) = read_model(path).subgraphs
    tensors = {tensor_name(each): each for each in graph.tensors}
    found = {name: each for name, each in tensors.items() if re.fullmatch(r"w\d*", name)}
    return {name: (each.type, _scales(each.quantization)) for name, each in found.items()}


def _scales(quantization: Any) -> int:
    return 0 if quantization is None or quantization.scale is None else len(quantization.scale)


FLOAT32, INT8, INT4 = 0, 9, 17


def outputs(path: Path, x: npt.NDArray[np.float32]) -> list[npt.NDArray[Any]]:
    """The output of two calls, dequantized."""
    runner = Interpreter(path).get_signature_runner("serve")
    takes, gives = runner.get_input_details()["x"], runner.get_output_details()["y"]
    return [np.array(dequantized(runner(x=quantized(x, takes))["y"], gives)) for _ in range(2)]


def check(tmp_path: Path, graph: Graph, form: QuantizationForm, tolerance: float, **choices: Any) -> Path:
    """Quantizes a model and compares it with the one before, twice in a row."""
    before, after = saved(tmp_path / "before.tflite", graph), tmp_path / "after.tflite"
    options = litefuse.Quantization(None if form == "recipe" else form, **choices)
    check_combination(options)
    given = samples() if form in {"int8", "int16"} or any(map(needs_ranges, options.entries)) else None
    quantize_model(before, after, options, given)
    x = np.random.default_rng(2).normal(size=(1, 64)).astype(np.float32)
    expected = outputs(before, x)[0]
    for found in outputs(after, x):
        np.testing.assert_allclose(found, expected, atol=tolerance * np.abs(expected).max())
        assert form == "recipe" or not np.array_equal(found, expected)
    return after


@pytest.mark.parametrize(
    ("form", "choices", "expected"),
    [
        ("dynamic", {"weight_bits": 4}, (INT4, 32)),
        ("dynamic", {"weight_bits": 4, "granularity": "tensor"}, (INT4, 1)),
        ("dynamic", {"granularity": "tensor"}, (INT8, 1)),
        ("weights", {"weight_bits": 4}, (INT4, 32)),
        ("weights", {"granularity": "tensor"}, (INT8, 1)),
        ("int8", {"weight_bits": 4}, (INT4, 32)),
        ("int8", {"granularity": "tensor"}, (INT8, 1)),
        ("int16", {"weight_bits": 4, "granularity": "tensor"}, (INT4, 1)),
        ("int16", {"granularity": "tensor"}, (INT8, 1)),
        ("dynamic", {"rotate": "hadamard"}, (INT8, 32)),
        ("weights", {"rotate": "hadamard", "weight_bits": 4}, (INT4, 32)),
    ],
)
def test_weights(tmp_path: Path, form: QuantizationForm, choices: dict[str, Any], expected: tuple[int, int]) -> None:
    after = check(tmp_path, layers(64, 32), form, 0.25 if "weight_bits" in choices else 0.03, **choices)
    assert weights_of(after)["w0"] == expected


def test_blocks_where_they_fit(tmp_path: Path) -> None:
    graph = layers(64, 40, 32)  # 40 is no multiple of 32: those weights have a scale for each channel
    after = check(tmp_path, graph, "dynamic", 0.3, weight_bits=4, granularity="block:32")
    assert weights_of(after) == {"w0": (INT4, 0), "w1": (INT4, 32)}
    assert ops_by_kind(after, integer=False) == (OpKinds(0, 2, 0), ())


def test_odd_rows_are_not_rotated(tmp_path: Path) -> None:
    after = check(tmp_path, layers(64, 45, 32), "dynamic", 0.05, rotate="hadamard")
    assert weights_of(after) == {"w0": (INT8, 45), "w1": (INT8, 32)}


@pytest.mark.parametrize(("smallest", "expected"), [(None, FLOAT32), (0, INT8), (640, INT8), (641, FLOAT32)])
def test_small_weights_stay(tmp_path: Path, smallest: int | None, expected: int) -> None:
    after = check(tmp_path, layers(64, 64, 10), "dynamic", 0.03, min_weight_elements=smallest)
    assert {name: kind for name, (kind, _) in weights_of(after).items()} == {"w0": INT8, "w1": expected}


@pytest.mark.parametrize("form", ["dynamic", "weights", "float16", "int8", "int16"])
@pytest.mark.parametrize("quantized_io", [False, True])
def test_layers_stay_in_floating_point(tmp_path: Path, form: QuantizationForm, quantized_io: bool) -> None:
    if quantized_io and form not in {"int8", "int16"}:
        return
    graph = layers(64, 64, 64, 32)
    after = check(tmp_path, graph, form, 0.06, keep_float=["^layer1;", "^y"], io=quantized_io)
    kinds = {name: kind for name, (kind, _) in weights_of(after).items()}
    assert kinds["w0"] != FLOAT32 or form == "float16"
    assert (kinds["w1"], kinds["w2"]) == (FLOAT32, FLOAT32)
    details = Interpreter(after).get_signature_runner("serve").get_output_details()["y"]
    assert np.dtype(details["dtype"]).name == (form if quantized_io else "float32")


def test_kinds_of_ops_stay_in_floating_point(tmp_path: Path) -> None:
    graph = dense(WEIGHTS)
    before = saved(tmp_path / "before.tflite", graph)
    options = litefuse.Quantization("int8", keep_float_ops=["FULLY_CONNECTED"])
    assert quantize_model(before, tmp_path / "after.tflite", options, samples()).error == 0


def test_inputs_and_outputs_of_uint8(tmp_path: Path) -> None:
    after = check(tmp_path, layers(64, 32), "int8", 0.05, io="uint8")
    runner = Interpreter(after).get_signature_runner("serve")
    for details in (runner.get_input_details()["x"], runner.get_output_details()["y"]):
        assert np.dtype(details["dtype"]) == np.uint8
        assert details["quantization"][1] > 64  # of numbers on both sides of zero
    assert weights_of(after)["w0"] == (INT8, 32)


@pytest.mark.parametrize(
    ("form", "quantized_io", "types"),
    [
        ("int8", ("uint8", False), ("uint8", "float32")),
        ("int8", (False, True), ("float32", "int8")),
        ("int8", ("uint8", True), ("uint8", "int8")),
        ("int16", (True, False), ("int16", "float32")),
        ("int8", (False, False), ("float32", "float32")),
    ],
    ids=str,
)
def test_inputs_and_outputs_of_different_types(
    tmp_path: Path, form: QuantizationForm, quantized_io: QuantizedIo, types: tuple[str, str]
) -> None:
    after = check(tmp_path, layers(64, 32), form, 0.05, io=quantized_io)
    runner = Interpreter(after).get_signature_runner("serve")
    details: list[dict[str, Any]] = [runner.get_input_details()["x"], runner.get_output_details()["y"]]
    assert tuple(str(np.dtype(each["dtype"])) for each in details) == types


def test_recipe(tmp_path: Path) -> None:
    file = tmp_path / "recipe.json"
    others = {"regex": "^y;", "operation": "*", "algorithm_key": "no_quantize"}
    file.write_text(json.dumps([ENTRY, others]))
    after = check(tmp_path, layers(64, 64, 32), "recipe", 0.3, recipe=file)
    assert weights_of(after) == {"w0": (INT4, 64), "w1": (FLOAT32, 0)}


def test_recipe_with_integer_activations(tmp_path: Path) -> None:
    static = {"num_bits": 8, "symmetric": False, "granularity": "TENSORWISE", "dtype": "INT"}
    entry = {**ENTRY, "operation": "*", "op_config": {**ENTRY["op_config"], "activation_tensor_config": static}}
    after = check(tmp_path, layers(64, 32), "recipe", 0.3, recipe=[entry])
    assert weights_of(after)["w0"] == (INT4, 32)
    details = Interpreter(after).get_signature_runner("serve").get_input_details()["x"]
    assert np.dtype(details["dtype"]) == np.int8  # the recipe's * is of inputs and outputs, too


@pytest.mark.parametrize(
    ("form", "choices", "message"),
    [
        ("dynamic", {"weight_bits": 2}, "weight_bits is 2\nChoose from 8, 4"),
        ("dynamic", {"granularity": "block:48"}, "granularity is 'block:48'"),
        ("dynamic", {"rotate": "left"}, "rotate is 'left'\nChoose from hadamard"),
        ("dynamic", {"min_weight_elements": -1}, "min_weight_elements must be a number of at least 0"),
        ("dynamic", {"granularity": "block:32"}, "weight_bits=4 goes with it"),
        ("weights", {"granularity": "block:32", "weight_bits": 4}, "only for 'dynamic'"),
        ("int8", {"granularity": "block:32", "weight_bits": 4}, "only for 'dynamic'"),
        ("int8", {"rotate": "hadamard"}, "rotated weights take float32 activations"),
        ("int16", {"min_weight_elements": 9}, "no op of integer activations and float32 weights"),
        ("float16", {"weight_bits": 4}, "float16 numbers have no scales"),
        ("recipe", {"weight_bits": 4, "recipe": [ENTRY]}, "the recipe says it all"),
        ("dynamic", {"keep_float": ["("]}, "is not a regular expression"),
        ("dynamic", {"keep_float": 3}, "takes a list of names"),
        (None, {"weight_bits": 4}, "no form of quantization"),
        ("recipe", {"recipe": "absent.json"}, "no such file or folder"),
        ("recipe", {"recipe": {"regex": ".*"}}, "a recipe is a list of entries"),
        ("recipe", {"recipe": []}, "the recipe has no entries"),
        ("recipe", {"recipe": [ENTRY, 5]}, "recipe, entry 2: an entry is an object, not a int"),
        ("recipe", {"recipe": [{**ENTRY, "regex": "["}]}, "recipe, entry 1: '\\[' is not a regular expression"),
        ("recipe", {"recipe": [{"regex": ".*", "operation": "*"}]}, "it lacks algorithm_key, op_config"),
        ("recipe", {"recipe": [{**ENTRY, "bits": 4}]}, "unknown keys: bits"),
        ("recipe", {"recipe": [{**ENTRY, "op_config": None}]}, "recipe, entry 1: op_config is an object, not None"),
        ("recipe", {"recipe": [{**ENTRY, "op_config": {"weight_tensor_config": 5}}]}, "is an object, not 5"),
        *(
            (
                "recipe",
                {"recipe": [{**ENTRY, "op_config": {"activation_tensor_config": {"num_bits": bits}}}]},
                "num_bits of activation_tensor_config is a number from 1 to 32",
            )
            for bits in (0, -1, 10**30, 1.5, "8", True, None)
        ),
    ],
)
def test_what_is_refused_before_it_begins(form: QuantizationForm | None, choices: dict[str, Any], message: str) -> None:
    with pytest.raises(LitefuseError, match=message):
        check_quantization(litefuse.Quantization(None if form == "recipe" else form, **choices), ("cpu",))


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        (
            {"keep_float": ("layer", "z{7}")},
            "keep_float: the regular expression 'z\\{7}' matches the name of no result",
        ),
        ({"keep_float_ops": ("CONV_2D",)}, "the model has no op 'CONV_2D'"),
        ({"recipe": ({**ENTRY, "operation": "DENSE"},)}, "recipe, entry 1: litert-quantizer does not take it"),
        (
            {"recipe": (ENTRY, {**ENTRY, "algorithm_key": "GUESS"})},
            "recipe, entry 2: litert-quantizer does not take it",
        ),
        ({"recipe": (ENTRY, {**ENTRY, "regex": "dense"})}, "recipe, entry 2: the regular expression 'dense' matches"),
        ({"recipe": ({**ENTRY, "operation": "CONV_2D"},)}, "recipe, entry 1: the model has no op 'CONV_2D'"),
    ],
)
def test_what_the_model_does_not_have(tmp_path: Path, choices: dict[str, Any], message: str) -> None:
    before = saved(tmp_path / "before.tflite", layers(64, 64, 32))
    form: QuantizationForm | None = None if "recipe" in choices else "dynamic"
    with pytest.raises(LitefuseError, match=message):
        quantize_model(before, tmp_path / "after.tflite", litefuse.Quantization(form, **choices))
    assert not (tmp_path / "after.tflite").exists()


def test_names_that_are_not_ascii(tmp_path: Path) -> None:
    graph = Graph()
    hidden = graph.tensor("größe(1)", [1, 32])  # the first tensor of the file
    x, y = graph.input("x", [1, 64]), graph.output("y", [1, 32])
    w = graph.tensor("w", [32, 64], value=WEIGHTS)
    graph.builtin("FULLY_CONNECTED", [x, w, -1], [hidden])
    graph.builtin("ADD", [hidden, hidden], [y])
    before = saved(tmp_path / "before.tflite", graph)
    options = litefuse.Quantization("dynamic", keep_float=["größe"])
    assert kept_results(before, options) == {"größe(1)"}
    quantize_model(before, tmp_path / "after.tflite", options)
    assert weights_of(tmp_path / "after.tflite")["w"] == (FLOAT32, 0)


@pytest.mark.parametrize(("form", "expected"), [("int8", "INT32"), ("int16", "INT64")])
def test_types_of_biases(tmp_path: Path, form: QuantizationForm, expected: str) -> None:
    after = check(tmp_path, layers(64, 32), form, 0.05)
    (graph,) = read_model(after).subgraphs
    (bias,) = (each for each in graph.tensors if tensor_name(each) == "b0")
    assert bias.type == getattr(schema.TensorType, expected)


@pytest.mark.parametrize(
    ("form", "quantized_io", "message"),
    [
        ("dynamic", True, "io is only for the quantizations 'int8', 'int16', 'qat' and 'auto'"),
        ("float16", "uint8", "io is only for the quantizations 'int8', 'int16', 'qat' and 'auto'"),
        ("int16", "uint8", "uint8 inputs and outputs require int8 activations, not 'int16'"),
        ("qat", "uint8", "uint8 inputs and outputs require int8 activations, not 'qat'"),
        ("int8", "int4", "io is 'int4'"),
        ("int8", ("uint8",) * 3, "or two, for inputs and outputs"),
        ("int8", (True, 1.0), "or two, for inputs and outputs"),
        ("int16", ("uint8", True), "uint8 inputs and outputs require int8 activations, not 'int16'"),
        ("qat", (True, False), "the quantization 'qat' has inputs and outputs of one type"),
        ("recipe", True, "io cannot be combined with a recipe"),
    ],
)
def test_types_of_inputs_that_are_refused(form: QuantizationForm, quantized_io: QuantizedIo, message: str) -> None:
    recipe = [ENTRY] if form == "recipe" else None
    with pytest.raises(LitefuseError, match=message):
        check_quantization(litefuse.Quantization(None if recipe else form, recipe=recipe, io=quantized_io), ("cpu",))


def test_samples_that_are_lacking() -> None:
    with pytest.raises(LitefuseError, match=r"the quantization 'int8' needs samples\n.*, a folder of images,"):
        check_quantization(litefuse.Quantization("int8"), ("cpu",))


@pytest.mark.parametrize("form", ["int8", "auto"])
def test_a_function_for_images_without_images(form: QuantizationForm) -> None:
    limit = 0.1 if form == "auto" else None
    with pytest.raises(LitefuseError, match="preprocess requires a folder of images"):
        check_quantization(litefuse.Quantization(form, preprocess=str, max_error=limit), ("cpu",))


def test_refusals_name_the_options_as_they_are_given() -> None:
    with pytest.raises(LitefuseError, match="so rotate has no effect"):
        check_combination(litefuse.Quantization("float16", rotate="hadamard"))


@pytest.mark.parametrize("target", ["micro", "ethos-u"])
@pytest.mark.parametrize(
    ("form", "choices", "message"),
    [
        ("dynamic", {}, "has no float32 ops with smaller weights"),
        ("float16", {}, "has no float32 ops with smaller weights"),
        ("auto", {}, "has no float32 ops with smaller weights"),
        ("int8", {"weight_bits": 4}, "weight_bits=4 is not for the target"),
        ("weights", {"weight_bits": 4, "granularity": "tensor"}, "weight_bits=4 is not for the target"),
    ],
)
def test_forms_that_a_target_does_not_run(form: QuantizationForm, choices: Any, message: str, target: str) -> None:
    given: dict[str, Any] = {"max_error": 0.1} if form == "auto" else {"samples": []} if form == "int8" else {}
    quantization = litefuse.Quantization(form, **choices, **given)
    check_quantization(quantization, ("cpu",))
    with pytest.raises(LitefuseError, match=message):
        check_quantization(quantization, (target,))


def test_int4_weights_for_microcontrollers_have_one_scale() -> None:
    quantization = litefuse.Quantization("int8", samples=[], weight_bits=4, granularity="tensor")
    check_quantization(quantization, ("micro",))
    with pytest.raises(LitefuseError, match="Vela takes no int4 weights"):
        check_quantization(quantization, ("ethos-u",))


@pytest.mark.parametrize("form", ["dynamic", "weights", "float16", "int8"])
def test_weights_that_are_outputs(tmp_path: Path, form: QuantizationForm) -> None:
    graph = dense(WEIGHTS)
    graph.outputs.append(next(index for index, (each, _) in enumerate(graph.tensors) if each.name == "weights"))
    before, after = saved(tmp_path / "before.tflite", graph), tmp_path / "after.tflite"
    rows = [{"x": RANDOM.normal(size=(1, 64)).astype(np.float32)} for _ in range(8)]
    found = quantize_model(before, after, form, take_samples(rows) if form == "int8" else None)
    stayed = {each.reason for each in found.floats}
    assert stayed == ({"its weights are an output of the model"} if form in {"weights", "float16"} else set())
    original, runner = (Interpreter(each).get_signature_runner() for each in (before, after))
    for _ in range(2):
        expected = {name: np.array(value) for name, value in original(**rows[0]).items()}
        for name, value in runner(**rows[0]).items():
            np.testing.assert_allclose(value, expected[name], atol=0.05 * np.abs(expected[name]).max())


def test_one_scale_for_fully_connected_layers_alone(tmp_path: Path) -> None:
    """As ``_experimental_disable_per_channel_quantization_for_dense_layers`` of TFLiteConverter gives."""
    graph = Graph()
    x, hidden = graph.input("x", [1, 64]), graph.tensor("hidden", [1, 1, 1, 64])
    graph.builtin("RESHAPE", [x, graph.tensor("shape", [4], np.int32, value=[1, 1, 1, 64])], [hidden])
    w0 = graph.tensor("w0", [16, 1, 1, 64], value=RANDOM.normal(size=(16, 1, 1, 64)))
    bias, convolved = graph.tensor("bias", [16], value=RANDOM.normal(size=16)), graph.tensor("convolved", [1, 1, 1, 16])
    options = {"strideW": 1, "strideH": 1, "dilationWFactor": 1, "dilationHFactor": 1}
    graph.builtin("CONV_2D", [hidden, w0, bias], [convolved], **options)
    w1 = graph.tensor("w1", [8, 16], value=RANDOM.normal(size=(8, 16)))
    graph.builtin("FULLY_CONNECTED", [convolved, w1, -1], [graph.output("y", [1, 8])])
    static = {"num_bits": 8, "symmetric": False, "granularity": "TENSORWISE", "dtype": "INT"}
    by_channel = {"num_bits": 8, "symmetric": True, "granularity": "CHANNELWISE", "dtype": "INT"}
    config = {**ENTRY["op_config"], "activation_tensor_config": static, "weight_tensor_config": by_channel}
    whole = {**config, "weight_tensor_config": {**by_channel, "granularity": "TENSORWISE"}}
    recipe = [
        {**ENTRY, "operation": "*", "op_config": config},
        {**ENTRY, "regex": "^", "operation": "FULLY_CONNECTED", "op_config": whole},
    ]
    after = check(tmp_path, graph, "recipe", 0.05, recipe=recipe)
    assert weights_of(after) == {"w0": (INT8, 16), "w1": (INT8, 1)}


def test_one_scale_reaches_what_stays_in_floating_point() -> None:
    """As in loops, whose weights alone become integers: older runtimes refuse products with a scale for each row."""
    recipe = recipe_of(litefuse.Quantization("int8", granularity="tensor"), ModelFacts(real=["state"]))
    configs = [(entry["operation"], entry.get("op_config")) for entry in recipe]
    weights = {(op, config["weight_tensor_config"]["granularity"]) for op, config in configs if config is not None}
    # LiteRT reads a scale for each channel of this op there.
    assert {op for op, granularity in weights if granularity != "TENSORWISE"} == {"DEPTHWISE_CONV_2D"}
