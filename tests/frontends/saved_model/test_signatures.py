from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from litefuse.errors import SavedModelError
from litefuse.frontends.saved_model import DataType, load
from litefuse.frontends.saved_model.messages import MetaGraphDef, NodeDef, TensorInfo
from tests.frontends.saved_model import model_writer
from tests.frontends.saved_model.model_writer import FUNCTION

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from litefuse.frontends.saved_model import Signature


def signature_of(change: Callable[[MetaGraphDef], object], folder: Path) -> Signature:
    proto = model_writer.saved_model()
    change(proto.meta_graphs[0])
    return load(model_writer.write(folder, proto)).signature("serving_default")


def body(graph: MetaGraphDef) -> NodeDef:
    return graph.graph_def.node[-1]


def swap_operands(graph: MetaGraphDef) -> None:
    body(graph).input[:2] = ["serving_default_x", "serving_default_a"]


def rename_called_function(graph: MetaGraphDef) -> None:
    body(graph).attr["f"].func.name = "something_else"


def rename_call_and_user_names(graph: MetaGraphDef) -> None:
    rename_called_function(graph)
    for position in range(2):
        graph.graph_def.library.function[0].arg_attr[position].attr["_user_specified_name"].s = b"\xff"


def leave_only_argument_names(graph: MetaGraphDef) -> None:
    rename_call_and_user_names(graph)
    graph.object_graph_def.concrete_functions[FUNCTION].ClearField("canonicalized_input_signature")


@pytest.mark.parametrize(
    ("change", "names"),
    [
        (swap_operands, ["x", "a"]),  # the call says what the order is, whatever the names
        (rename_called_function, ["a", "x"]),
        (rename_call_and_user_names, ["a", "x"]),
        (leave_only_argument_names, ["a", "x"]),
    ],
)
def test_names_of_the_arguments(change: Callable[[MetaGraphDef], None], names: list[str], tmp_path: Path) -> None:
    signature = signature_of(change, tmp_path)
    assert [spec.name for spec in signature.inputs] == names
    assert signature.input_tensors == tuple(f"serving_default_{name}:0" for name in names)


def test_results_without_the_call_follow_the_sorted_names(tmp_path: Path) -> None:
    signature = signature_of(rename_called_function, tmp_path)
    assert [spec.name for spec in signature.outputs] == ["b", "twin", "y"]
    assert signature.output_indices == (0, 1, 2)


def test_result_behind_identities(tmp_path: Path) -> None:
    def change(graph: MetaGraphDef) -> None:
        graph.graph_def.node.append(NodeDef(name="i", op="Identity", input=["Call:2"]))
        graph.graph_def.node.append(NodeDef(name="j", op="Identity", input=["i"]))
        graph.signature_def["serving_default"].outputs["y"].name = "j:0"

    signature = signature_of(change, tmp_path)
    assert dict(zip([spec.name for spec in signature.outputs], signature.output_indices, strict=True)) == {
        "b": 0,
        "twin": 1,
        "y": 2,
    }
    assert signature.output_tensors == ("Call:0", "Call:1", "j:0")


def test_identities_in_a_circle(tmp_path: Path) -> None:
    def change(graph: MetaGraphDef) -> None:
        graph.graph_def.node.append(NodeDef(name="i", op="Identity", input=["i"]))
        graph.signature_def["serving_default"].outputs["y"].name = "i:0"

    assert signature_of(change, tmp_path).output_indices == (0, 1, 2)


def test_function_found_through_the_call(tmp_path: Path) -> None:
    def change(graph: MetaGraphDef) -> None:
        graph.object_graph_def.nodes[4].children[0].local_name = "another"

    assert signature_of(change, tmp_path).function == FUNCTION


def test_unknown_rank(tmp_path: Path) -> None:
    def change(graph: MetaGraphDef) -> None:
        graph.signature_def["serving_default"].inputs["x"].tensor_shape.unknown_rank = True
        graph.signature_def["serving_default"].inputs["a"].ClearField("tensor_shape")

    assert [spec.shape for spec in signature_of(change, tmp_path).inputs] == [None, None]


def test_function_without_arguments(tmp_path: Path) -> None:
    def change(graph: MetaGraphDef) -> None:
        graph.signature_def["serving_default"].ClearField("inputs")
        del graph.graph_def.library.function[0].signature.input_arg[:2]
        del body(graph).input[:2]

    signature = signature_of(change, tmp_path)
    assert signature.inputs == ()
    assert len(signature.captures) == 3


def remove_function(graph: MetaGraphDef) -> None:
    del graph.graph_def.library.function[0]


def remove_argument(graph: MetaGraphDef) -> None:
    del graph.graph_def.library.function[0].signature.input_arg[0]


def remove_all_arguments(graph: MetaGraphDef) -> None:
    del graph.graph_def.library.function[0].signature.input_arg[:]


def rename_input(graph: MetaGraphDef) -> None:
    inputs = graph.signature_def["serving_default"].inputs
    inputs["z"].CopyFrom(inputs["x"])
    inputs["z"].name = "elsewhere:0"
    del inputs["x"]


def remove_results(graph: MetaGraphDef) -> None:
    del graph.graph_def.library.function[0].signature.output_arg[1:]


def move_output(graph: MetaGraphDef) -> None:
    graph.signature_def["serving_default"].outputs["z"].CopyFrom(TensorInfo(name="elsewhere:0", dtype=1))


def change_type(graph: MetaGraphDef) -> None:
    graph.signature_def["serving_default"].inputs["x"].dtype = DataType.INT32


def sparse_input(graph: MetaGraphDef) -> None:
    graph.signature_def["serving_default"].inputs["x"].coo_sparse.values_tensor_name = "v"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (remove_function, "function '.*_f_7' is not in the function library"),
        (remove_argument, r"its inputs \(a, x\) are not the 1 arguments"),
        (remove_all_arguments, r"its inputs \(a, x\) are not the -3 arguments"),
        (rename_input, r"its inputs \(a, z\) are not the 2 arguments"),
        (remove_results, r"its outputs \(b, twin, y\) are not results"),
        (move_output, r"its outputs \(b, twin, y, z\) are not results"),
        (change_type, "'x' is declared as int32"),
        (sparse_input, "'x' is a sparse, ragged or composite tensor"),
    ],
)
def test_contradictions(change: Callable[[MetaGraphDef], None], message: str, tmp_path: Path) -> None:
    with pytest.raises(SavedModelError, match=message) as caught:
        signature_of(change, tmp_path)
    assert caught.value.where == "signature 'serving_default'"


def test_one_unusable_signature_does_not_spoil_the_others(tmp_path: Path) -> None:
    def change(graph: MetaGraphDef) -> None:
        graph.signature_def["sparse"].CopyFrom(graph.signature_def["serving_default"])
        graph.signature_def["sparse"].inputs["x"].coo_sparse.values_tensor_name = "v"
        graph.object_graph_def.nodes[4].children.append(model_writer.Reference(node_id=6, local_name="sparse"))

    proto = model_writer.saved_model()
    change(proto.meta_graphs[0])
    model = load(model_writer.write(tmp_path, proto))
    assert list(model.signatures) == ["serving_default"]
    assert list(model.unusable_signatures) == ["sparse"]
    with pytest.raises(SavedModelError, match="'x' is a sparse"):
        model.signature("sparse")
