"""What a configuration of Keras's may name, and how large it may be."""

from __future__ import annotations

import base64
import functools
import json
import marshal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litefuse.errors import LitefuseError
from litefuse.frontends.keras_config import MAX_CONFIG_BYTES, MAX_DEPTH, check_config, parse_config
from litefuse.frontends.keras_functions import is_harmless_function, is_own_class, is_own_function

function: Any = eval("lambda x: x + 1")
BYTECODE = base64.b64encode(marshal.dumps(function.__code__)).decode()


def refusal(config: Any) -> str:
    """The message about a configuration; nothing if it is accepted."""
    try:
        check_config(config, "model.keras", "load it")
    except LitefuseError as error:
        return error.message
    return ""


def layer(class_name: str = "Lambda", module: Any = "keras.layers", /, **config: Any) -> dict[str, Any]:
    return {"class_name": class_name, "module": module, "config": {"name": "mine", **config}}


@pytest.mark.parametrize("key", ["function", "mask", "output_shape", "residual_fn", "anything"])
@pytest.mark.parametrize(
    "code",
    [
        {"class_name": "__lambda__", "config": {"code": "whatever"}},
        {"class_name": "__lambda__", "config": {"value": BYTECODE}},
        [BYTECODE, None, None],
        ["\n" + "\n".join(BYTECODE), None, None],
        [marshal.dumps(function.__code__).decode("latin-1"), None, None],
    ],
)
def test_bytecode_under_any_key(key: str, code: Any) -> None:
    found = refusal({"config": {"layers": [layer("TimeDistributed", layer=layer(**{key: code}))]}})
    assert "brings Python code along, in" in found
    assert "of 'mine' (Lambda), which is not run" in found


@pytest.mark.parametrize("key", ["function", "mask", "output_shape", "dropout_fn"])
def test_what_keras_2_says_to_be_bytecode(key: str) -> None:
    found = refusal(layer("Lambda", None, **{key: ["unreadable"], f"{key}_type": "lambda"}))
    assert f"brings Python code along, in {key!r} of 'mine' (Lambda)" in found


def test_the_error() -> None:
    config = layer(mask={"class_name": "__lambda__", "config": {}})
    with pytest.raises(LitefuseError) as raised:
        check_config({"config": {"layers": [config]}}, "model.keras", "Load it.")
    assert str(raised.value) == (
        "model.keras: the file brings Python code along, in 'mask' of 'mine' (Lambda), which is not run\n"
        "Replace it with a Keras layer or a class of yours. If you trust it: Load it."
    )


@pytest.mark.parametrize("registered", ["Mine>Own", "Own", None, "", ["Own"], "Other"])
def test_classes_of_named_code(registered: Any) -> None:
    """Keras 2 would import the module of a class whose registered name it does not know."""
    config = [layer("Own", "any.module") | {"registered_name": registered}]
    check = functools.partial(check_config, config, "model.keras", "Load it.")
    if registered in ("Mine>Own", "Own"):
        check({"Own", "Mine>Own"})
        return
    with pytest.raises(
        LitefuseError, match=r"class any\.module\.Own.*its code is not in the file(?s:.*)--plug-in FILE"
    ):
        check({"Own", "Mine>Own"})
    with pytest.raises(LitefuseError, match=r"not in the file; other\.py was read, but without a definition of it"):
        check({}, ["other.py"])


@pytest.mark.parametrize("name", ["TFSMLayer", "TorchModuleWrapper", "JaxLayer", "FlaxLayer", "Any>TFSMLayer"])
@pytest.mark.parametrize("module", ["keras.layers", None, "keras.src.export.tfsm_layer"])
def test_layers_that_are_programs(name: str, module: str | None) -> None:
    assert "brings a program along, or loads one" in refusal([layer(name, module)])


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("os", "System"),
        ("builtins", "Exception"),
        ("keras_hub.models", "Backbone"),
        ("keras.utils", "Sequence"),
        ("keras.src.saving.saving_lib", "H5IOStore"),
        ("keras.layers", "deserialize"),
        ("keras.layers", "Dense.from_config"),
        ("keras.layers\n", "Dense "),
        ("kerasx.layers", "Dense"),
        ("tf_keras.src.applications.resnet", "ResNet50"),
        ("__main__", "Own"),
    ],
)
def test_classes_that_are_not_of_keras_models(module: str, name: str) -> None:
    assert not is_own_class(module, name)
    assert f"is of the class {module}.{name}, which is not one of Keras's own" in refusal(layer(name, module))


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("os", "system"),
        ("keras.utils", "get_file"),
        ("keras.applications", "ResNet50"),
        ("keras.models", "load_model"),
        ("keras.saving", "load_model"),
        ("keras.config", "enable_unsafe_deserialization"),
        ("tf_keras.src.utils.generic_utils", "func_load"),
        ("keras", "activations.relu"),
        ("tensorflow", "load_library"),
    ],
)
def test_functions_that_do_more_than_compute(module: str, name: str) -> None:
    assert not is_own_function(module, name)
    found = refusal(layer(function={"class_name": "function", "module": module, "config": name}))
    assert f"'mine' (Lambda) has {module}.{name} as its 'function'" in found


@pytest.mark.parametrize(
    "symbol",
    [
        "io.write_file",
        "compat.v1.io.write_file",
        "io.read_file",
        "io.matching_files",
        "io.decode_proto",
        "random.fixed_unigram_candidate_sampler",
        "compat.v1.nn.fixed_unigram_candidate_sampler",
        "io.gfile.remove",
        "io.decode_png.__globals__",
        "compat.v1.write_file",
        "load_library",
        "load_op_library",
        "compat.v1.load_file_system_library",
        "print",
        "compat.v1.Print",
        "py_function",
        "numpy_function",
        "raw_ops.WriteFile",
        "saved_model.load",
        "train.load_checkpoint",
        "summary.create_file_writer",
        "debugging.experimental.enable_dump_debug_info",
        "keras.utils.get_file",
        "keras.models.load_model",
        "compat.v1.keras.models.load_model",
        "profiler.experimental.start",
        "",
        ".",
        "image",
    ],
)
@pytest.mark.parametrize("name", ["TFOpLambda", "SlicingOpLambda"])
def test_ops_that_do_more_than_compute(name: str, symbol: str) -> None:
    assert not is_harmless_function(symbol)
    assert f"calls {symbol!r}, which is not among" in refusal(layer(name, None, function=symbol))


@pytest.mark.parametrize(
    "config",
    [
        layer("TFOpLambda", None, function=["nn.relu"]),
        layer("TFOpLambda", None),
        {"class_name": "TFOpLambda", "config": None},
        layer("ClassMethod", None, cls_symbol="io.TFRecordWriter", method_name="write"),
        layer("ClassMethod", None, cls_symbol="RaggedTensor", method_name="__init__"),
        layer("InstanceMethod", None, attr_name="__reduce__"),
        layer("InstanceProperty", None, attr_name="graph.as_graph_def"),
        layer("Dense", 7),
        {"class_name": ["Lambda"], "config": {}},
        {"class_name": "__typespec__", "module": "os", "spec_name": "PathLike", "config": []},
        {"class_name": "__typespec__", "module": "tensorflow.io", "spec_name": "TFRecordWriter", "config": []},
    ],
)
def test_what_is_called_or_is_of_no_known_form(config: Any) -> None:
    assert refusal([config])


@pytest.mark.parametrize("key", ["vocabulary", "vocabulary_file", "vocab_file", "ckpt_to_load_from"])
def test_a_vocabulary_in_another_file(key: str) -> None:
    found = refusal(layer("StringLookup", **{key: "/etc/passwd"}))
    assert found == f"'mine' (StringLookup) reads its {key!r} from another file, '/etc/passwd', which is not opened"
    assert refusal(layer("StringLookup", **{key: ["/etc/passwd", "words"]})) == ""


MODELS: list[Any] = [
    layer("Dense", activation={"class_name": "function", "module": "builtins", "config": "relu"}),
    layer("Dense", "keras.src.layers.core.dense"),
    layer("Functional", "keras.src.models.functional"),
    layer("Functional", "tf_keras.src.engine.functional"),
    layer("Adam", "keras.optimizers"),
    layer("Policy", "keras.mixed_precision"),
    layer("Add", "keras.src.ops.numpy"),
    layer("TFOpLambda", None, function="math.multiply"),
    layer("TFOpLambda", None, function="__operators__.getitem"),
    layer("TFOpLambda", None, function="compat.v1.transpose"),
    layer("TFOpLambda", None, function="keras.backend.mean"),
    layer("TFOpLambda", None, function="io.decode_png"),
    layer("InstanceProperty", None, attr_name="values"),
    layer("ClassMethod", None, cls_symbol="RaggedTensor", method_name="from_row_splits"),
    layer("Lambda", None, function="relu", function_type="function", module="__main__"),
    {"class_name": "__tensor__", "config": {"value": 1.0, "dtype": "float32"}},
    {"class_name": "__typespec__", "module": "tensorflow.python.x", "spec_name": "TensorSpec", "config": []},
    {"name": "lambda", "words": ["4w", "code", "lambda", "Y" * 100, "A" * 100, "Y2" + "A" * 10]},
    [],
    None,
]


@pytest.mark.parametrize("config", MODELS)
def test_what_models_have(config: Any) -> None:
    assert refusal(config) == ""


def test_a_configuration_may_be_so_large() -> None:
    text = json.dumps("x" * (MAX_CONFIG_BYTES - 2))
    assert len(parse_config(text, "here")) == MAX_CONFIG_BYTES - 2
    with pytest.raises(LitefuseError, match="here: the model's configuration is too large: 33,554,433 bytes, at most"):
        parse_config(text + " ", "here")


def test_a_configuration_may_be_so_deep() -> None:
    assert refusal(json.loads("[" * MAX_DEPTH + "]" * MAX_DEPTH)) == ""
    with pytest.raises(LitefuseError, match=f"nested too deep: more than {MAX_DEPTH}"):
        check_config(json.loads("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1)), "here", "")
    with pytest.raises(LitefuseError, match=f"nested too deep: more than {MAX_DEPTH}"):
        parse_config('{"a":' * 500_000, "here")


KEYS = ["class_name", "config", "module", "registered_name", "spec_name", "name", "function", "mask_type", "vocabulary"]
WORDS = ["Lambda", "lambda", "__lambda__", "function", "TFOpLambda", "keras.layers", "a>b.c", "", "\x00", BYTECODE]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=25,
)


@given(VALUES)
def test_whatever_stands_in_a_configuration_is_accepted_or_refused(config: Any) -> None:
    text = json.dumps(config)
    found = refusal(parse_config(text, "here"))
    if BYTECODE in text:
        assert found
