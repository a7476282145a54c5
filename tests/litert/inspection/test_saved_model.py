from __future__ import annotations

from pathlib import Path

import pytest

from litefuse.errors import SavedModelError
from litefuse.frontends.saved_model.messages import AttrValue, FunctionDef, NameAttrList, NodeDef, OpDef
from litefuse.litert.inspection.facts import TensorFacts
from litefuse.litert.inspection.saved_model_facts import InspectionJob, SavedModelFacts, saved_model_sections
from litefuse.support.processes.process import run_in_worker
from litefuse.support.report.text import sections_text
from litefuse.tools.demo import SAVED_MODEL
from litefuse.tools.saved_models.graph import FunctionGraph, attribute_value
from tests.frontends.saved_model.model_writer import write


def inspect(path: Path) -> SavedModelFacts:
    return run_in_worker("litefuse.tools.saved_models.inspection:inspect_model", InspectionJob(path))


@pytest.fixture(scope="module")
def demo() -> SavedModelFacts:
    return inspect(SAVED_MODEL)


def test_signatures(demo: SavedModelFacts) -> None:
    assert demo.tags == ("serve",)
    assert demo.problem is None
    embed, default = demo.signatures
    assert (embed.key, default.key) == ("embed", "serving_default")
    assert embed.inputs == (TensorFacts("ids", "int32", (None,)),)
    assert set(embed.outputs) == {TensorFacts("calls", "int32", ()), TensorFacts("vectors", "float32", (None, 4))}
    assert default.inputs == (TensorFacts("image", "float32", (None, 8, 8, 3)),)


def test_annotated_functions_with_what_becomes_of_them(demo: SavedModelFacts) -> None:
    called = {each.name: each for each in demo.annotated if each.call_sites}
    assert set(called) == {"my_custom_fused_op", "embedding_matmul"}
    custom = called["my_custom_fused_op"]
    assert custom.attributes == {"example_option": 10, "tfl_fusable_op": True}
    assert custom.fused_into == "my_custom_fused_op"
    (site,) = custom.call_sites
    assert site.partition("/")[0].startswith("__inference_convolutions")
    assert called["embedding_matmul"].fused_into == "EMBEDDING_LOOKUP"
    assert called["embedding_matmul"].attributes == {}


def test_variables_with_verdicts_and_sizes(demo: SavedModelFacts) -> None:
    found = {each.name: each for each in demo.variables}
    assert {name: each.verdict for name, each in found.items()} == {
        **dict.fromkeys(["bias_1", "bias_2", "filters_1", "filters_2", "scale", "table"], "frozen"),
        "calls": "mutable",
    }
    assert (found["table"].dtype, found["table"].shape, found["table"].size) == ("float32", (20, 4), 320)
    assert "AssignAddVariableOp" in (found["calls"].writer or "")


def test_ops_are_counted_in_reached_functions_only(demo: SavedModelFacts) -> None:
    assert demo.op_counts["Conv2D"] == 2
    assert demo.op_counts["OneHot"] == 1
    assert "SaveV2" not in demo.op_counts
    assert demo.reached_function_count < demo.function_count


def test_sections(demo: SavedModelFacts) -> None:
    text = sections_text(saved_model_sections(demo))
    assert "Signature embed\n  in   ids      int32 [?]\n" in text
    assert "my_custom_fused_op(example_option=10, tfl_fusable_op=True)" in text
    assert "becomes EMBEDDING_LOOKUP" in text
    assert "Variables: 6 frozen, 1 mutable; 1,236 bytes" in text


def test_what_cannot_be_converted_is_told_with_the_reason(tmp_path: Path) -> None:
    facts = inspect(write(tmp_path / "model"))  # it captures a hash table
    assert facts.problem is not None
    assert "tf.StaticHashTable" in facts.problem
    assert [each.kind for each in facts.resources] == ["tf.StaticHashTable"]
    assert [each.name for each in facts.assets] == ["vocabulary.txt"]
    assert {each.verdict for each in facts.variables} == {"unknown"}
    assert [each.key for each in facts.signatures] == ["serving_default"]
    assert "As it is, it cannot be converted" in sections_text(saved_model_sections(facts))


def test_no_saved_model() -> None:
    with pytest.raises(SavedModelError, match="no such file or folder"):
        inspect(Path("/nowhere"))


def function(name: str, *nodes: NodeDef, **attributes: AttrValue) -> FunctionDef:
    return FunctionDef(signature=OpDef(name=name), node_def=nodes, attr=attributes)


def test_calls_through_attributes_and_op_names_are_followed() -> None:
    branches = AttrValue.ListValue(func=[NameAttrList(name="b"), NameAttrList(name="c")])
    library = {
        "a": function(
            "a",
            NodeDef(name="case", op="Case", attr={"branches": AttrValue(list=branches)}),
            NodeDef(name="call", op="d"),
            NodeDef(name="call_1", op="d"),
        ),
        "b": function("b", NodeDef(name="x", op="Relu")),
        "c": function("c", NodeDef(name="x", op="Relu")),
        "d": function("d", _implements=AttrValue(s=b"thing")),
        "idle": function("idle", NodeDef(name="x", op="Tanh"), api_implements=AttrValue(s=b"other")),
    }
    graph = FunctionGraph.of(library, ["a"])
    assert set(graph.reached) == {"a", "b", "c", "d"}
    assert graph.op_counts == {"PartitionedCall": 2, "Relu": 2, "Case": 1}
    assert {each.name: each.call_sites for each in graph.annotated()} == {
        "thing": ("a/call", "a/call_1"),
        "other": (),
    }


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (AttrValue(s=b"SAME"), "SAME"),
        (AttrValue(s=b"\xff"), "0xff"),
        (AttrValue(i=-3), -3),
        (AttrValue(b=True), True),
        (AttrValue(type=1), "float32"),
        (AttrValue(func=NameAttrList(name="f")), "f"),
        (AttrValue(list=AttrValue.ListValue(i=[1, 2])), [1, 2]),
        (AttrValue(list=AttrValue.ListValue()), []),
        (AttrValue(), None),
    ],
)
def test_attribute_values(value: AttrValue, expected: object) -> None:
    assert attribute_value(value) == expected
