from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np
import pytest

from litefuse.errors import CheckpointError, SavedModelError, SignatureError
from litefuse.frontends.saved_model import (
    Asset,
    Constant,
    DataType,
    ResourceObject,
    SavedModel,
    TensorSpec,
    Variable,
    load,
)
from litefuse.frontends.saved_model.messages import AttrValue, NodeDef, SavedObject, SavedUserObject, TensorProto
from tests.frontends.saved_model import model_writer
from tests.frontends.saved_model.model_writer import FUNCTION, WEIGHT

if TYPE_CHECKING:
    from pathlib import Path

    from litefuse.frontends.saved_model.messages import SavedModel as SavedModelProto
    from litefuse.frontends.saved_model.messages import TrackableObjectGraph


def test_everything_of_a_model(tmp_path: Path) -> None:
    model = load(model_writer.write(tmp_path))
    assert model.path == tmp_path.resolve()
    assert model.tags == {"serve"}
    assert model.tensorflow_version == "2.21.0"
    assert list(model.functions) == [FUNCTION, "__inference__initializer_8"]
    assert list(model.signatures) == ["serving_default"]
    signature = model.signature("serving_default")
    assert signature.function == FUNCTION
    assert signature.inputs == (
        TensorSpec("a", DataType.FLOAT32, ()),
        TensorSpec("x", DataType.FLOAT32, (None, 2)),
    )
    assert signature.input_tensors == ("serving_default_a:0", "serving_default_x:0")
    assert signature.outputs == (
        TensorSpec("b", DataType.FLOAT32, ()),
        TensorSpec("twin", DataType.FLOAT32, (None, 3)),
        TensorSpec("y", DataType.FLOAT32, (None, 3)),
    )
    assert signature.output_indices == (0, 1, 1)
    assert signature.output_tensors == ("Call:0", "Call:1", "Call:1")
    weight, constant, table = signature.captures
    assert isinstance(weight, Variable)
    assert (weight.name, weight.shared_name, weight.trainable, weight.shape) == ("w", "weight", True, (2, 3))
    np.testing.assert_array_equal(weight.read(), WEIGHT)
    assert isinstance(constant, Constant)
    assert constant.read().tolist() == [0.5, -1.5]
    assert isinstance(table, ResourceObject)
    assert (table.name, table.registered_name) == ("table", "tf.StaticHashTable")
    assert (table.creator, table.initializer) == ("__inference__creator_9", "__inference__initializer_8")
    asset, same_table = model.captures("__inference__initializer_8")
    assert isinstance(asset, Asset)
    assert asset.path == tmp_path.resolve() / "assets/vocabulary.txt"
    assert asset.read() == b"a\nb\n"
    assert same_table == table
    counter = model.variables[3]
    assert (counter.name, counter.checkpoint_key) == ("layers.0", "layers/0/.ATTRIBUTES/VARIABLE_VALUE")
    assert counter.read() == 7


def test_storage_finds_the_bytes_again(tmp_path: Path) -> None:
    storage = load(model_writer.write(tmp_path)).variables[1].storage()
    assert storage is not None
    mapped = np.memmap(storage.file, np.uint8, "r", storage.offset, (storage.nbytes,))
    assert mapped.tobytes() == WEIGHT.tobytes()


def test_unknown_signature_names_the_others(tmp_path: Path) -> None:
    model = load(model_writer.write(tmp_path))
    with pytest.raises(SignatureError, match="Did you mean 'serving_default'") as caught:
        model.signature("serving_defualt")
    assert caught.value.hint == "The signatures are 'serving_default'."


def test_model_without_signatures(tmp_path: Path) -> None:
    proto = model_writer.saved_model()
    del proto.meta_graphs[0].signature_def["serving_default"]
    model = load(model_writer.write(tmp_path, proto))
    assert model.signatures == {}
    with pytest.raises(SignatureError, match="has no signatures") as caught:
        model.signature("serving_default")
    assert "signatures=" in caught.value.hint


def test_captures_of_an_unknown_function(tmp_path: Path) -> None:
    with pytest.raises(SavedModelError, match="'g' is not in the object graph"):
        load(model_writer.write(tmp_path)).captures("g")


# Tags


def with_tags(folder: Path, *tag_sets: set[str]) -> Path:
    proto = model_writer.saved_model()
    for tags in tag_sets[1:]:
        proto.meta_graphs.add().CopyFrom(proto.meta_graphs[0])
        proto.meta_graphs[-1].meta_info_def.tags[:] = sorted(tags)
    proto.meta_graphs[0].meta_info_def.tags[:] = sorted(tag_sets[0])
    return model_writer.write(folder, proto)


def test_only_graph_is_taken_whatever_its_tags(tmp_path: Path) -> None:
    assert load(with_tags(tmp_path, {"serve", "gpu"})).tags == {"serve", "gpu"}


def test_graph_for_serving_is_the_default(tmp_path: Path) -> None:
    path = with_tags(tmp_path, {"train"}, {"serve", "tpu"}, {"serve"})
    assert load(path).tags == {"serve"}
    assert load(path, ["tpu", "serve"]).tags == {"serve", "tpu"}


@pytest.mark.parametrize("tags", [None, ["gpu"], ["serve"], []])
def test_no_graph_with_these_tags(tags: list[str] | None, tmp_path: Path) -> None:
    with pytest.raises(SignatureError, match="no graph is tagged") as caught:
        load(with_tags(tmp_path, {"train"}, {"serve", "tpu"}), tags)
    assert caught.value.hint == "The graphs are tagged: train; serve, tpu."


# Things that are not a SavedModel


def test_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(SavedModelError, match="no such file or folder"):
        load(tmp_path / "nothing")
    with pytest.raises(SavedModelError, match="null character"):
        load("a\0b")
    with pytest.raises(SavedModelError):
        load("x" * 5000)


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("model.keras", "a Keras file", "model.export"),
        ("model.h5", "HDF5", "model.export"),
        ("model.tflite", "LiteRT model already", "litefuse quantize"),
        ("model.onnx", "an ONNX model", "onnx2tf"),
        ("model.PT", "a PyTorch file", "litert-torch"),
        ("model.safetensors", "a PyTorch file", "litert-torch"),
        ("model.tar.gz", "an archive", "Unpack it"),
        ("model.xyz", "does not convert files of this kind", "folder of a SavedModel, a .keras or .h5 file"),
        ("frozen.pb", "not a frozen graph", "folder"),
        ("notes.txt", "does not convert files of this kind", "folder"),
        ("saved_model.pb", "a file of a SavedModel", "the folder that holds it"),
    ],
)
def test_file_instead_of_a_folder(name: str, message: str, hint: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("text")
    with pytest.raises(SavedModelError, match=message) as caught:
        load(tmp_path / name)
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (None, "holds no saved_model.pb"),
        ("saved_model.pbtxt", "text form"),
        ("saved_model.cpb", "in chunks"),
        ("checkpoint", "holds a checkpoint"),
        ("model.ckpt-10.index", "holds a checkpoint"),
    ],
)
def test_folder_without_the_file(name: str | None, message: str, tmp_path: Path) -> None:
    if name:
        (tmp_path / name).write_text("")
    with pytest.raises(SavedModelError, match=message):
        load(tmp_path)


@pytest.mark.parametrize("data", [b"", b"\x08\x01", b"PK\x03\x04 something else", b"\xff" * 100])
def test_other_data_in_the_file(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "saved_model.pb").write_bytes(data)
    with pytest.raises(SavedModelError, match=r"holds no graph|damaged"):
        load(tmp_path)


def test_file_that_is_no_regular_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "saved_model.pb")
    with pytest.raises(SavedModelError, match="not a regular file"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("target", "message"),
    [("/dev/zero", "outside the folder"), ("nowhere", "cannot be opened"), ("saved_model.pb", "saved_model.pb")],
)
def test_file_that_is_a_link(target: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "saved_model.pb").symlink_to(target)
    with pytest.raises(SavedModelError, match=message):
        load(tmp_path)


def test_folder_that_is_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(model_writer.write(tmp_path / "model"))
    assert load(tmp_path / "link").signature("serving_default").inputs[0].name == "a"


def tensorflow_1_model() -> SavedModelProto:
    proto = model_writer.saved_model()
    proto.meta_graphs[0].ClearField("object_graph_def")
    proto.meta_graphs[0].graph_def.ClearField("library")
    for node in proto.meta_graphs[0].graph_def.node:
        if node.op == "VarHandleOp":
            node.attr["dtype"].type = DataType.FLOAT32
        for key in ("key_dtype", "value_dtype") if node.op == "HashTableV2" else ():
            node.attr[key].type = DataType.INT64
    proto.meta_graphs[0].graph_def.node[-1].op = "MatMul"
    return proto


def test_tensorflow_1_model(tmp_path: Path) -> None:
    proto = tensorflow_1_model()
    model = load(model_writer.write(tmp_path, proto))
    signature = model.signature("serving_default")
    assert [spec.name for spec in signature.inputs] == ["a", "x"]
    assert [spec.name for spec in signature.outputs] == ["b", "twin", "y"]
    assert "MatMul" in {node.op for node in model.functions[signature.function].node_def}
    proto.meta_graphs[0].ClearField("signature_def")
    assert not load(model_writer.write(tmp_path, proto)).signatures


def constant_of_texts(name: str, *texts: bytes) -> NodeDef:
    tensor = TensorProto(dtype=DataType.STRING, tensor_shape=model_writer.shape(len(texts)), string_val=texts)
    return NodeDef(name=name, op="Const", attr={"value": AttrValue(tensor=tensor)})


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({}, "saved/second"),
        ({"set": ["weight_1", "i"]}, "saved/second"),
        ({"set": ["weight_1"]}, "weight_1"),
        ({"set": []}, "weight_1"),
        ({"set": ["weight_1", "elsewhere"]}, "weight_1"),
        ({"set": ["weight_1", "restore:2"]}, "weight_1"),
        ({"set": ["weight_1", "Const"]}, "weight_1"),
        ({"restore": ["file", "keys"]}, "weight_1"),
        ({"restore": ["file", "keys", "elsewhere"]}, "weight_1"),
    ],
)
def test_variable_of_tensorflow_1_has_the_key_that_restores_it(
    changes: dict[str, list[str]], key: str, tmp_path: Path
) -> None:
    proto = tensorflow_1_model()
    inputs = {"set": ["weight_1", "restore:1"], "restore": ["file", "keys", "slices"], **changes}
    proto.meta_graphs[0].graph_def.node.extend(
        [
            NodeDef(name="nothing", op="AssignVariableOp"),
            NodeDef(name="of nothing", op="AssignVariableOp", input=["hash_table", "elsewhere"]),
            NodeDef(name="of a constant", op="AssignVariableOp", input=["hash_table", "Const"]),
            NodeDef(name="set", op="AssignVariableOp", input=inputs["set"]),
            NodeDef(name="i", op="Identity", input=["restore:1"]),
            NodeDef(name="restore", op="RestoreV2", input=inputs["restore"]),
            constant_of_texts("file", b"variables"),
            constant_of_texts("keys", b"saved/first", b"saved/second"),
            constant_of_texts("slices", b"", b""),
        ]
    )
    signature = load(model_writer.write(tmp_path, proto)).signature("serving_default")
    (variable,) = (each for each in signature.captures if isinstance(each, Variable))
    assert variable.checkpoint_key == key


# Variables


def test_variable_that_was_never_saved(tmp_path: Path) -> None:
    writer = model_writer.checkpoint()
    del writer.entries[b"w/.ATTRIBUTES/VARIABLE_VALUE"]
    variable = load(model_writer.write(tmp_path, writer=writer)).variables[1]
    assert not variable.has_value
    for use in (variable.read, variable.storage):
        with pytest.raises(CheckpointError, match="variable 'w': it has no value"):
            use()


def test_variable_without_a_checkpoint_key(tmp_path: Path) -> None:
    proto = model_writer.saved_model()
    proto.meta_graphs[0].object_graph_def.nodes[0].children[0].local_name = "other"
    variable = load(model_writer.write(tmp_path, proto)).variables[1]
    assert (variable.name, variable.checkpoint_key, variable.has_value) == ("other", None, False)


@pytest.mark.parametrize("value", [np.zeros((3, 2), np.float32), np.zeros((2, 3), np.int32), np.zeros(6, np.float32)])
def test_value_of_another_type_or_shape(
    value: np.ndarray[tuple[int, ...], np.dtype[np.generic]], tmp_path: Path
) -> None:
    writer = model_writer.checkpoint()
    dtype = DataType.FLOAT32 if value.dtype == np.float32 else DataType.INT32
    writer.add("w/.ATTRIBUTES/VARIABLE_VALUE", value, dtype)
    variable = load(model_writer.write(tmp_path, writer=writer)).variables[1]
    with pytest.raises(CheckpointError, match=r"declared as float32 \(2, 3\), but the checkpoint holds"):
        variable.read()


def test_declared_shape_may_be_partly_unknown(tmp_path: Path) -> None:
    proto = model_writer.saved_model()
    declared = proto.meta_graphs[0].object_graph_def.nodes[1].variable.shape
    declared.dim[0].size = -1
    variable = load(model_writer.write(tmp_path, proto)).variables[1]
    assert variable.shape == (None, 3)
    np.testing.assert_array_equal(variable.read(), WEIGHT)
    declared.unknown_rank = True
    assert load(model_writer.write(tmp_path, proto)).variables[1].shape is None


def test_missing_checkpoint(tmp_path: Path) -> None:
    model_writer.write(tmp_path)
    (tmp_path / "variables/variables.index").unlink()
    with pytest.raises(CheckpointError, match=r"variables.index' cannot be opened"):
        load(tmp_path)


def test_model_without_variables_needs_no_checkpoint(tmp_path: Path) -> None:
    proto = model_writer.saved_model()
    for node in (1, 3):
        proto.meta_graphs[0].object_graph_def.nodes[node].constant.operation = "Const"
    model_writer.write(tmp_path, proto)
    (tmp_path / "variables/variables.index").unlink()
    assert load(tmp_path).variables == {}


@pytest.mark.parametrize("data", [b"not a message", b"\xff"])
def test_damaged_object_graph_of_the_checkpoint(data: bytes, tmp_path: Path) -> None:
    writer = model_writer.checkpoint()
    value = np.empty((), np.object_)
    value[()] = data
    writer.add("_CHECKPOINTABLE_OBJECT_GRAPH", value, DataType.STRING)
    with pytest.raises(CheckpointError, match="object graph is damaged"):
        load(model_writer.write(tmp_path, writer=writer))


def test_checkpoint_without_an_object_graph(tmp_path: Path) -> None:
    writer = model_writer.checkpoint()
    del writer.entries[b"_CHECKPOINTABLE_OBJECT_GRAPH"]
    with pytest.raises(CheckpointError, match="holds no object graph"):
        load(model_writer.write(tmp_path, writer=writer))


def reference(node: int, name: str) -> TrackableObjectGraph.TrackableObject.ObjectReference:
    return model_writer.Reference(node_id=node, local_name=name)


def add_second_list(proto_children: list[tuple[int, str]], folder: Path) -> SavedModel:
    """Return the model whose root has a list of further nodes for the variables of the model, as Keras makes them."""
    proto = model_writer.saved_model()
    graph = proto.meta_graphs[0].object_graph_def
    again = len(graph.nodes)
    graph.nodes.add(user_object=SavedUserObject(identifier="trackable_list_wrapper"))
    graph.nodes[0].children.append(reference(again, "_all_variables"))
    for node, name in proto_children:
        graph.nodes[again].children.append(reference(len(graph.nodes), name))
        graph.nodes.add().CopyFrom(graph.nodes[node])
    return load(model_writer.write(folder, proto))


def test_captured_variable_keeps_the_name(tmp_path: Path) -> None:
    model = add_second_list([(1, "0"), (3, "1")], tmp_path)
    assert [variable.name for variable in model.variables.values()] == ["w", "layers.0", "weight", "_all_variables.1"]


def test_nodes_with_one_checkpoint_key_are_one_variable(tmp_path: Path) -> None:
    writer = model_writer.checkpoint()
    graph = model_writer.checkpoint_graph()
    graph.nodes[3].attributes[0].checkpoint_key = "w/.ATTRIBUTES/VARIABLE_VALUE"
    value = np.empty((), np.object_)
    value[()] = graph.SerializeToString()
    writer.add("_CHECKPOINTABLE_OBJECT_GRAPH", value, DataType.STRING)
    variables = load(model_writer.write(tmp_path, writer=writer)).variables
    assert variables[1] is variables[3]
    assert variables[3].node_id == 1


# Contradictions


def test_reference_to_a_missing_object(tmp_path: Path) -> None:
    for node in (-1, 12, 2**31 - 1):
        proto = model_writer.saved_model()
        proto.meta_graphs[0].object_graph_def.nodes[0].children[0].node_id = node
        with pytest.raises(SavedModelError, match=rf"object 0 has a child 'w' that does not exist \({node}\)"):
            load(model_writer.write(tmp_path, proto))


@pytest.mark.parametrize("node", [-1, 0, 2, 5, 99])
def test_captured_object_that_is_no_tensor(node: int, tmp_path: Path) -> None:
    proto = model_writer.saved_model()
    proto.meta_graphs[0].object_graph_def.concrete_functions[FUNCTION].bound_inputs[0] = node
    model_writer.write(tmp_path, proto)
    if node in (0, 2):  # objects of unknown classes may wrap a resource
        assert isinstance(load(tmp_path).signature("serving_default").captures[0], ResourceObject)
    else:
        with pytest.raises(SavedModelError, match=f"captures object {node}, not a variable"):
            load(tmp_path)


def test_constant_that_is_no_node(tmp_path: Path) -> None:
    for operation in ("missing", "NoOp"):
        proto = model_writer.saved_model()
        proto.meta_graphs[0].object_graph_def.nodes[7].constant.operation = operation
        with pytest.raises(SavedModelError, match=f"constant '{operation}' .* is not a Const node"):
            load(model_writer.write(tmp_path, proto))


def test_constant_without_a_value(tmp_path: Path) -> None:
    proto = model_writer.saved_model()
    proto.meta_graphs[0].graph_def.node[5].attr["value"].CopyFrom(AttrValue(i=3))
    with pytest.raises(SavedModelError, match="is not a Const node"):
        load(model_writer.write(tmp_path, proto))


@pytest.mark.parametrize(
    "name", ["../variables/variables.index", "/etc/hostname", "..", "", "a/../../b", "a\\b", "a\0b"]
)
def test_asset_outside_of_its_folder(name: str, tmp_path: Path) -> None:
    proto = model_writer.saved_model()
    proto.meta_graphs[0].asset_file_def[0].filename = name
    with pytest.raises(SavedModelError, match="is not the name of a file inside the folder"):
        load(model_writer.write(tmp_path, proto))


def test_asset_that_links_out_of_the_folder(tmp_path: Path) -> None:
    path = model_writer.write(tmp_path / "model")
    (path / "assets/vocabulary.txt").unlink()
    (path / "assets/vocabulary.txt").symlink_to("/etc/hostname")
    with pytest.raises(SavedModelError, match="outside the folder"):
        load(path)


def test_missing_asset_is_noticed_when_read(tmp_path: Path) -> None:
    path = model_writer.write(tmp_path)
    (path / "assets/vocabulary.txt").unlink()
    with pytest.raises(SavedModelError, match=r"'assets/vocabulary.txt' cannot be opened"):
        load(path).assets[9].read()


def test_asset_with_an_absurd_name(tmp_path: Path) -> None:
    proto = model_writer.saved_model()
    proto.meta_graphs[0].asset_file_def[0].filename = "x" * 5000
    with pytest.raises(SavedModelError, match="cannot be"):
        load(model_writer.write(tmp_path, proto)).assets[9].read()


@pytest.mark.parametrize("index", [-1, 1])
def test_asset_that_does_not_exist(index: int, tmp_path: Path) -> None:
    proto = model_writer.saved_model()
    proto.meta_graphs[0].object_graph_def.nodes[9].asset.asset_file_def_index = index
    with pytest.raises(SavedModelError, match=f"asset {index} "):
        load(model_writer.write(tmp_path, proto))


def test_cycles_in_the_object_graph(tmp_path: Path) -> None:
    proto = model_writer.saved_model()
    graph = proto.meta_graphs[0].object_graph_def
    for node in graph.nodes:
        node.children.append(reference(0, "parent"))
        node.children.append(reference(2, "sibling"))
    assert load(model_writer.write(tmp_path, proto)).variables[3].name == "layers.0"


def test_very_deep_object_graph(tmp_path: Path) -> None:
    proto = model_writer.saved_model()
    graph = proto.meta_graphs[0].object_graph_def
    start = len(graph.nodes)
    count = 50_000
    graph.nodes[0].children.append(reference(start, "chain"))
    graph.nodes.extend(
        SavedObject(user_object=SavedUserObject(), children=[reference(start + i + 1, "n")]) for i in range(count)
    )
    graph.nodes.add().CopyFrom(graph.nodes[1])
    model = load(model_writer.write(tmp_path, proto))
    assert model.variables[start + count].name == "weight"  # too deep for a path
    assert not model.variables[start + count].has_value


# Damage


def use_everything(model: SavedModel) -> None:
    """Touch whatever is only looked at when it is used."""
    for signature in model.signatures.values():
        assert len(signature.inputs) + len(signature.captures) == len(
            model.functions[signature.function].signature.input_arg
        )
        for capture in signature.captures:
            if isinstance(capture, Variable | Constant):
                capture.read()
    for asset in model.assets.values():
        asset.read()


def test_every_truncation_ends_in_an_error_or_a_model(tmp_path: Path) -> None:
    path = model_writer.write(tmp_path)
    data = (path / "saved_model.pb").read_bytes()
    errors = 0
    for length in range(len(data)):
        (path / "saved_model.pb").write_bytes(data[:length])
        try:
            use_everything(load(path))
        except SavedModelError:
            errors += 1
    assert errors == len(data)


def test_flipped_bits_end_in_an_error_or_a_model(tmp_path: Path) -> None:
    path = model_writer.write(tmp_path)
    data = (path / "saved_model.pb").read_bytes()
    random = np.random.default_rng(1)
    outcomes = {"error": 0, "model": 0}
    for _ in range(4000):
        damaged = bytearray(data)
        for position in random.integers(len(data), size=int(random.integers(1, 5))):
            damaged[position] ^= 1 << int(random.integers(8))
        (path / "saved_model.pb").write_bytes(damaged)
        try:
            use_everything(load(path))
            outcomes["model"] += 1
        except SavedModelError:
            outcomes["error"] += 1
    assert min(outcomes.values()) > 200


def test_deeply_nested_values_are_refused(tmp_path: Path) -> None:
    proto = model_writer.saved_model()
    value = proto.meta_graphs[0].object_graph_def.concrete_functions[FUNCTION].output_signature
    for _ in range(60):
        value = value.list_value.values.add()
    with pytest.raises(SavedModelError, match="damaged"):
        load(model_writer.write(tmp_path, proto))
