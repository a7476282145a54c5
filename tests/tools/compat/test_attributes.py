"""Attributes of a converter become arguments of litefuse.convert, or errors that say what to do. Without TensorFlow."""

from __future__ import annotations

import enum
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ai_edge_litert.interpreter import Interpreter

import litefuse
from litefuse.errors import LitefuseError, SettingError, SignatureError
from litefuse.frontends.saved_model import DataType, TensorSpec
from litefuse.support.options.names_elsewhere import name_elsewhere
from litefuse.support.options.quantization import Quantization
from litefuse.tools.compat import OpsSet, Optimize, RepresentativeDataset, TargetSpec, TFLiteConverter, lite, v1
from litefuse.tools.compat.opened_model import OpenedModel
from litefuse.tools.compat.quantizing import dataset_of, quantization_of
from litefuse.tools.compat.settings import MAPPED, NEEDLESS, NEEDLESS_1, REFUSED, REFUSED_1
from litefuse.tools.compat.spec import dtype_name, members
from litefuse.tools.demo import SAVED_MODEL

INT16 = OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
DEFAULT = [Optimize.DEFAULT]


def converter(**attributes: Any) -> TFLiteConverter:
    """A converter of the demo with some attributes; those of the target in ``supported_*``."""
    made = TFLiteConverter.from_saved_model(SAVED_MODEL)
    for name, value in attributes.items():
        setattr(made.target_spec if name.startswith("supported") else made, name, value)
    return made


def samples() -> list[Any]:
    return [[np.ones([1, 8, 8, 3], np.float32)]]


@pytest.mark.parametrize(
    ("attributes", "trained", "expected"),
    [
        ({}, False, {}),
        ({"optimizations": DEFAULT}, False, {"quantize": Quantization("dynamic")}),
        ({"optimizations": {"OPTIMIZE_FOR_SIZE"}}, False, {"quantize": Quantization("dynamic")}),
        ({"optimizations": DEFAULT}, True, {"quantize": Quantization("qat")}),
        ({}, True, {}),
        (
            {"optimizations": DEFAULT, "supported_types": [np.float16]},
            False,
            {"quantize": Quantization("float16")},
        ),
        (
            {"optimizations": DEFAULT, "supported_types": ["float16", "int8"]},
            False,
            {"quantize": Quantization("dynamic")},
        ),
        ({"optimizations": DEFAULT, "supported_types": [np.dtype("float32")]}, False, {}),
        (
            {"optimizations": DEFAULT, "supported_types": ["float16"], "representative_dataset": samples},
            False,
            {"quantize": Quantization("float16")},
        ),
        (
            {"optimizations": DEFAULT, "representative_dataset": samples},
            False,
            {"quantize": Quantization("int8")},
        ),
        (
            {
                "optimizations": DEFAULT,
                "representative_dataset": samples,
                "supported_ops": [OpsSet.TFLITE_BUILTINS_INT8],
                "inference_input_type": np.uint8,
                "inference_output_type": "uint8",
            },
            False,
            {"quantize": Quantization("int8", require_integer=True, io="uint8"), "rnn": "fused"},
        ),
        (
            {"optimizations": DEFAULT, "representative_dataset": samples, "supported_types": ["int8"]},
            False,
            {"quantize": Quantization("int8", require_integer=True), "rnn": "fused"},
        ),
        (
            {
                "optimizations": DEFAULT,
                "representative_dataset": samples,
                "supported_ops": [OpsSet.TFLITE_BUILTINS_INT8, OpsSet.TFLITE_BUILTINS],
                "inference_input_type": "int8",
                "inference_output_type": "int8",
            },
            False,
            {"quantize": Quantization("int8", io=True)},
        ),
        (
            {"optimizations": DEFAULT, "representative_dataset": samples, "supported_ops": {INT16}},
            False,
            {"quantize": Quantization("int16", require_integer=True)},
        ),
        (
            {
                "optimizations": DEFAULT,
                "representative_dataset": samples,
                "supported_ops": {INT16, "TFLITE_BUILTINS"},
                "inference_input_type": "int16",
                "inference_output_type": "int16",
            },
            False,
            {"quantize": Quantization("int16", io=True)},
        ),
        (
            {"optimizations": DEFAULT, "representative_dataset": samples, "inference_input_type": "uint8"},
            False,
            {"quantize": Quantization("int8", io=("uint8", False))},
        ),
        (
            {"optimizations": DEFAULT, "_experimental_disable_per_channel": True},
            False,
            {"quantize": Quantization("dynamic", granularity="tensor")},
        ),
        (
            {"optimizations": DEFAULT, "supported_ops": ["TFLITE_BUILTINS_INT8"], "inference_input_type": None},
            True,
            {"quantize": Quantization("qat", require_integer=True)},
        ),
    ],
)
def test_a_form_of_quantization(attributes: dict[str, Any], trained: bool, expected: dict[str, Any]) -> None:
    assert quantization_of(converter(**attributes), trained=trained) == expected


@pytest.mark.parametrize(
    ("attributes", "trained", "words"),
    [
        ({"optimizations": ["EXPERIMENTAL_SPARSITY"]}, False, "stored densely"),
        ({"optimizations": ["FASTER"]}, False, "optimizations has no 'FASTER'"),
        ({"optimizations": "DEFAULT"}, False, "optimizations takes a list"),
        ({"optimizations": Optimize.DEFAULT}, False, "optimizations takes a list"),
        ({"supported_ops": [OpsSet.TFLITE_BUILTINS_INT8]}, False, "needs a representative_dataset"),
        ({"supported_types": ["int8"]}, False, "needs a representative_dataset"),
        ({"optimizations": DEFAULT, "supported_ops": [INT16]}, False, "need a representative_dataset"),
        ({"optimizations": DEFAULT, "supported_ops": [INT16]}, True, "int8 activations, not of int16"),
        ({"supported_ops": ["EXPERIMENTAL_STABLEHLO_OPS"]}, False, "no StableHLO ops"),
        ({"supported_ops": ["TFLITE_BUILTINS_INT8"], "supported_types": ["float16"]}, False, "only of int8"),
        ({"supported_types": ["bfloat16"]}, False, "supported_types has no 'bfloat16'"),
        ({"supported_types": ["int16"]}, False, "supported_types has no 'int16'"),
        ({"supported_types": "float16"}, False, "takes a list"),
        ({"supported_types": [object()]}, False, "is not a data type"),
        ({"inference_input_type": "int8"}, False, "inference_input_type must be float32"),
        ({"optimizations": DEFAULT, "inference_output_type": np.int8}, False, "inference_output_type must be float32"),
        (
            {"optimizations": DEFAULT, "representative_dataset": samples, "inference_input_type": "int16"},
            False,
            "must be float32, int8, uint8",
        ),
    ],
)
def test_what_is_refused_of_a_quantization(attributes: dict[str, Any], trained: bool, words: str) -> None:
    with pytest.raises(SettingError, match=words):
        quantization_of(converter(**attributes), trained=trained)


def test_members_of_another_enum_count_by_their_names() -> None:
    other = enum.Enum("Optimize", ["DEFAULT", "OTHER"])
    assert members(Optimize, [other.DEFAULT], "optimizations") == {Optimize.DEFAULT}
    with pytest.raises(SettingError, match="'OTHER'"):
        members(Optimize, [other.OTHER], "optimizations")


@pytest.mark.parametrize(
    "given",
    ["int8", np.int8, np.dtype("int8"), type("DType", (), {"name": "int8"})()],
    ids=["text", "type", "dtype", "other"],
)
def test_data_types_of_any_library(given: object) -> None:
    assert dtype_name(given, "inference_input_type") == "int8"


def test_every_attribute_has_an_answer_and_one_kind() -> None:
    kinds = [MAPPED, NEEDLESS, REFUSED, NEEDLESS_1, REFUSED_1]
    names = [name for each in kinds for name in each]
    assert len({*names}) == len(names)
    arguments = {"allow_custom_ops"}  # it has the same name
    assert [name for name in names if name_elsewhere(name) is None and name not in arguments] == []


@pytest.mark.parametrize("name", [*REFUSED, *REFUSED_1])
def test_an_attribute_that_only_has_its_default(name: str) -> None:
    made = v1.TFLiteConverter.from_saved_model(SAVED_MODEL)
    setattr(made, name, getattr(made, name))
    setattr(made, name, "changed")
    with pytest.raises(SettingError) as raised:
        made.convert()
    entry = name_elsewhere(name)
    assert entry is not None
    assert entry.python in raised.value.hint


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("optimisations", "Did you mean optimizations?"),
        ("post_training_quantize", 'quantize="dynamic"'),
        ("quantize", "convert_options"),
        ("inference_type", 'quantize="int8"'),
    ],
)
def test_an_attribute_that_is_not_there(name: str, words: str) -> None:
    with pytest.raises(SettingError) as raised:
        setattr(converter(), name, True)
    assert words in raised.value.hint


def test_needless_attributes_may_have_any_value() -> None:
    made = converter(**dict.fromkeys(NEEDLESS, "anything"))
    assert made.convert() == converter().convert()


def test_the_result_and_its_report() -> None:
    made = converter()
    with pytest.raises(SettingError, match="nothing has been converted"):
        made.report  # noqa: B018
    model = made.convert()
    assert made.result is not None
    assert made.result.model_bytes == model == litefuse.convert(SAVED_MODEL).model_bytes
    assert made.report.source == str(SAVED_MODEL)
    assert made.report.source_size > 0
    first = made.result
    made.convert()
    assert made.result is not first


def test_signatures() -> None:
    made = TFLiteConverter.from_saved_model(str(SAVED_MODEL), signature_keys=["embed"])
    assert [*Interpreter(model_content=made.convert()).get_signature_list()] == ["embed"]
    assert {*Interpreter(model_content=converter().convert()).get_signature_list()} == {"embed", "serving_default"}
    with pytest.raises(SignatureError, match="nope"):
        TFLiteConverter.from_saved_model(SAVED_MODEL, ["nope"]).convert()
    with pytest.raises(LitefuseError, match="list of names"):
        TFLiteConverter.from_saved_model(SAVED_MODEL, "embed").convert()
    with pytest.raises(SignatureError, match="tagged"):
        TFLiteConverter.from_saved_model(SAVED_MODEL, tags={"train"}).convert()
    one = v1.TFLiteConverter.from_saved_model(SAVED_MODEL).convert()
    assert [*Interpreter(model_content=one).get_signature_list()] == ["serving_default"]


def test_samples_of_several_signatures() -> None:
    def pairs() -> Any:
        for _ in range(2):
            yield "serving_default", {"image": np.ones([1, 8, 8, 3], np.float32)}
            yield "embed", {"ids": np.ones([2], np.int32)}

    for dataset in (pairs, RepresentativeDataset(pairs), list(pairs())):
        made = converter(optimizations=DEFAULT, representative_dataset=dataset)
        made.convert_options = {"composites": "inline"}
        made.convert()
        assert made.report.quantization is not None
        assert made.report.quantization.form == "int8"


def test_samples_without_optimizations_are_warned_of() -> None:
    made = converter(representative_dataset=samples)
    with pytest.warns(UserWarning, match="optimizations is empty"):
        made.convert()
    assert made.report.quantization is None


def test_arguments_of_convert() -> None:
    made = converter()
    made.convert_options = {"composites": "inline", "batch": 2}
    made.convert()
    assert made.report.op_counts.get("my_custom_fused_op") is None
    made.convert_options = {"optimizations": []}
    with pytest.raises(TypeError, match="convert has no argument 'optimizations'"):
        made.convert()


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("target_spec", None, "target_spec is None"),
        ("optimizations", None, "takes a list, not None\nSet it to \\[\\] for none"),
        ("optimizations", 1, "takes a list, not 1\nPut it into a list"),
        ("allow_custom_ops", "Nope", "the model has no op 'Nope'"),
        ("allow_custom_ops", ["Nope"], "the model has no op 'Nope'"),
        ("convert_options", {"allow_custom_ops": ["Nope"]}, "the model has no op 'Nope'"),
    ],
)
def test_values_that_are_wrong(name: str, value: object, words: str) -> None:
    made = converter()
    setattr(made, name, value)
    with pytest.raises(LitefuseError, match=words):
        made.convert()


def test_targets_and_select_ops(tmp_path: Path) -> None:
    made = converter()
    made.target_spec = TargetSpec(experimental_supported_backends=["NPU"])
    with pytest.raises(SettingError, match="NPU"):
        made.convert()
    made.target_spec = TargetSpec(experimental_select_user_tf_ops=["MyOp"])
    with pytest.raises(SettingError) as raised:
        made.convert()
    assert "allow_custom_ops" in raised.value.hint
    made.target_spec = TargetSpec(supported_ops=[OpsSet.TFLITE_BUILTINS, OpsSet.SELECT_TF_OPS])
    made.ir_dump_dir = tmp_path / "modules"
    made.convert()
    assert (tmp_path / "modules" / "index.txt").is_file()


def test_the_names_of_tensorflow() -> None:
    assert lite.TFLiteConverter is TFLiteConverter
    assert str(lite.Optimize.DEFAULT) == "DEFAULT"
    assert v1.constants.INT8 == "int8"
    with pytest.raises(AttributeError, match="litefuse inspect"):
        lite.experimental  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'Nope'"):
        lite.Nope  # noqa: B018
    assert {*lite.__all__} == {
        "Interpreter",
        "OpsSet",
        "Optimize",
        "RepresentativeDataset",
        "TFLiteConverter",
        "TargetSpec",
    }
    with pytest.raises(SettingError, match="concrete function"):
        TFLiteConverter([])


def test_attributes_of_tensorflow_1() -> None:
    made = v1.TFLiteConverter.from_saved_model(SAVED_MODEL)
    with pytest.warns(FutureWarning, match="optimizations"):
        made.post_training_quantize = True
    assert made.post_training_quantize
    with pytest.warns(FutureWarning, match="supported_ops"):
        made.target_ops = {OpsSet.TFLITE_BUILTINS}
    made.convert()
    assert made.report.quantization is not None
    with pytest.raises(SettingError, match="those of its signature"):
        v1.TFLiteConverter.from_saved_model(SAVED_MODEL, input_arrays=["image"])


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="is not there"):
        v1.TFLiteConverter.from_frozen_graph(tmp_path / "graph.pb", ["x"], ["y"])
    with pytest.raises(LitefuseError):
        TFLiteConverter.from_saved_model(tmp_path / "ünknown\n").convert()
    made = TFLiteConverter.from_saved_model(tmp_path)
    made.optimizations = DEFAULT
    with pytest.raises(LitefuseError):
        made.convert()


def test_a_dataset_that_fails_or_is_used_up() -> None:
    def failing() -> Any:
        yield "serving_default", {"image": np.ones([1, 8, 8, 3], np.float32)}
        raise ZeroDivisionError("in the middle")

    made = converter(optimizations=DEFAULT, representative_dataset=failing)
    made.convert_options = {"composites": "inline"}
    with pytest.raises(ZeroDivisionError, match="in the middle"):
        made.convert()
    assert made.result is None
    made.representative_dataset = iter(
        [("serving_default", {"image": np.ones([1, 8, 8, 3])}), ("embed", {"ids": np.ones([2], np.int32)})]
    )
    assert made.convert()
    with pytest.raises(LitefuseError, match="no samples were given"):
        made.convert()
    made.representative_dataset = {"image": np.ones([1, 8, 8, 3])}
    with pytest.raises(LitefuseError, match="not a sequence of samples"):
        made.convert()


@pytest.mark.parametrize(
    ("sample", "found"),
    [
        ([np.ones([2, 3], np.float32), np.ones([2], np.int64)], {"a": 0, "b": 1}),
        ([np.ones([2], np.int64), np.ones([2, 3], np.float32)], {"a": 1, "b": 0}),
        ([np.ones([2, 3]), np.ones([2], np.int32)], {"a": 0, "b": 1}),
        ([np.ones([2, 3], np.float32)], None),
        ([np.ones([2, 3], np.float32)] * 2, None),
        ([np.ones([2], np.int64)] * 2, None),
    ],
    ids=["in_order", "in_another_order", "wider_floats", "too_few", "twice_the_same", "none_for_one"],
)
def test_arrays_of_a_list_are_told_apart(sample: list[Any], found: dict[str, int] | None) -> None:
    model = OpenedModel(
        False,
        {"serve": [TensorSpec("a", DataType.FLOAT32, (None, 3)), TensorSpec("b", DataType.INT64, (None,))]},
        order="hash",
    )
    named = dataset_of([sample], model)()
    if found is None:
        with pytest.raises(SettingError, match="sample 1 of representative_dataset"):
            list(named)
    else:
        (arrays,) = named
        assert {
            name: next(i for i, each in enumerate(sample) if each is array) for name, array in arrays.items()
        } == found


def test_arrays_that_only_fit_in_turn_and_those_in_order() -> None:
    """The first fits two inputs, and one of these is left for it."""
    specs = [
        TensorSpec("ä", DataType.FLOAT32, None),
        TensorSpec("b", DataType.FLOAT32, (2,)),
        TensorSpec("c", DataType.STRING, (2,)),
    ]
    sample = [np.ones(2, np.float32), np.array(["x", "y"]), np.ones([2, 2], np.float32)]
    (arrays,) = dataset_of([sample], OpenedModel(False, {"serve": specs}, order="hash"))()
    assert {name: array.shape for name, array in arrays.items()} == {"ä": (2, 2), "b": (2,), "c": (2,)}
    (arrays,) = dataset_of([sample], OpenedModel(False, {"serve": specs}, order="caller"))()
    assert [*arrays] == ["ä", "b", "c"]
    assert arrays["c"] is sample[2]


def test_arrays_of_one_shape_in_the_order_of_the_model() -> None:
    specs = [TensorSpec(name, DataType.FLOAT32, (2,)) for name in "zay"]
    sample = [np.full(2, number, np.float32) for number in range(3)]
    (arrays,) = dataset_of([sample], OpenedModel(False, {"serve": specs}, order="model"))()
    assert [(name, array[0]) for name, array in arrays.items()] == [("z", 0), ("a", 1), ("y", 2)]
    others = [*sample[:2], np.ones(3, np.float32)]
    with pytest.raises(SettingError, match="or in none"):
        list(dataset_of([others], OpenedModel(False, {"serve": specs}, order="model"))())


def test_many_inputs_of_one_shape_are_refused_at_once() -> None:
    specs = [TensorSpec(f"x{index}", DataType.FLOAT32, (1,)) for index in range(60)]
    model = OpenedModel(False, {"serve": specs}, order="hash")
    with pytest.raises(SettingError, match="several ways"):
        list(dataset_of([[np.ones(1, np.float32)] * 60], model)())


def test_several_at_once() -> None:
    made = [converter(), TFLiteConverter.from_saved_model(SAVED_MODEL, ["embed"])]
    alone = [each.convert() for each in made]
    with ThreadPoolExecutor(2) as pool:
        together = [*pool.map(TFLiteConverter.convert, made)]
    assert together == alone
    assert len({*alone}) == 2


def test_the_model_is_gone(tmp_path: Path) -> None:
    folder = shutil.copytree(SAVED_MODEL, tmp_path / "modèle")
    made = TFLiteConverter.from_saved_model(folder)
    first = made.convert()
    shutil.rmtree(folder)
    with pytest.raises(LitefuseError, match="modèle"):
        made.convert()
    assert made.result is not None
    assert made.result.model_bytes == first


def test_a_model_at_a_url() -> None:
    made = TFLiteConverter.from_saved_model(SAVED_MODEL.absolute().as_uri())
    assert made.convert() == converter().convert()


def test_metadata_of_the_file() -> None:
    made = TFLiteConverter.from_saved_model(SAVED_MODEL, ["embed"])
    made.convert_options = {"metadata": {"name": "Wörter", "description": "looks them up"}}
    assert b"TFLITE_METADATA" in made.convert()
    assert "Wörter".encode() in made.convert()
