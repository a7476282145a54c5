from __future__ import annotations

from litefuse.frontends.saved_model import DataType, op_registry
from litefuse.frontends.saved_model.messages import AttrValue, OpDef


def test_registry_is_read_once() -> None:
    assert op_registry() is op_registry()


def test_registry_holds_all_of_tensorflow() -> None:
    registry = op_registry()
    assert len(registry) > 1500
    assert list(registry) == sorted(registry)
    assert registry.tensorflow_version.startswith("2.")
    for name in (
        "TensorListGetItem",
        "Less",
        "LogicalAnd",
        "While",
        "StatefulPartitionedCall",
        "LookupTableFindV2",
        "TFText>NgramsStringJoin",
    ):
        assert name in registry
    assert "NoSuchOp" not in registry
    assert registry.get("NoSuchOp") is None


def test_arguments_and_attributes() -> None:
    matmul = op_registry().get("MatMul")
    assert matmul is not None
    assert [argument.name for argument in matmul.input_arg] == ["a", "b"]
    assert [argument.type_attr for argument in matmul.output_arg] == ["T"]
    assert {attr.name: attr.type for attr in matmul.attr} == {
        "transpose_a": "bool",
        "transpose_b": "bool",
        "T": "type",
        "grad_a": "bool",
        "grad_b": "bool",
    }
    split = op_registry().get("SplitV")
    assert split is not None
    assert split.output_arg[0].number_attr == "num_split"


def test_statefulness() -> None:
    stateful = {name: getattr(op_registry().get(name), "is_stateful", None) for name in ("RandomUniform", "AddV2")}
    assert stateful == {"RandomUniform": True, "AddV2": False}


def test_defaults() -> None:
    registry = op_registry()
    conv = registry.defaults("Conv2D")
    assert conv["data_format"].s == b"NHWC"
    assert list(conv["dilations"].list.i) == [1, 1, 1, 1]
    assert conv["use_cudnn_on_gpu"].b
    assert "strides" not in conv
    assert registry.defaults("ArgMax")["output_type"].type == DataType.INT64
    assert registry.defaults("NoSuchOp") == {}
    assert registry.defaults("Conv2D") is conv


def test_definitions_of_other_libraries() -> None:
    known = op_registry()
    other = OpDef(name="TFText>Other", attr=[OpDef.AttrDef(name="n", type="int", default_value=AttrValue(i=3))])
    registry = known.with_others([other, OpDef(name="MatMul", is_stateful=True)])
    assert registry.get("TFText>Other") == other
    assert registry.defaults("TFText>Other")["n"].i == 3
    assert registry.get("MatMul") is known.get("MatMul")  # TensorFlow's own
    assert len(registry) == len(known) + 1
    assert "TFText>Other" not in known
    assert known.with_others([OpDef(name="MatMul")]) is known


def test_documentation_is_left_out() -> None:
    registry = op_registry()
    ops = [registry.get(name) for name in registry]
    assert not any(op.summary or op.description or any(attr.description for attr in op.attr) for op in ops if op)
