"""Small files that describe what nothing could hold, and conversions that take more than they may."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import litefuse
from litefuse.errors import ConversionError, LimitError, LitefuseError
from litefuse.frontends.saved_model.dtypes import DataType
from litefuse.frontends.saved_model.messages import (
    AttrValue,
    FunctionDef,
    FunctionDefLibrary,
    GraphDef,
    NameAttrList,
    NodeDef,
    OpDef,
    TensorProto,
    TensorShapeProto,
)
from litefuse.support.options.limits import Limits, check_constant, held_bytes, limited
from litefuse.tools.cli.app import app
from litefuse.tools.demo import SAVED_MODEL

FLOAT = AttrValue(type=DataType.FLOAT32)
INT = AttrValue(type=DataType.INT32)
FLOATS = AttrValue(list=AttrValue.ListValue(type=[DataType.FLOAT32]))


def shape(*sizes: int) -> TensorShapeProto:
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in sizes])


def constant(name: str, dtype: DataType, sizes: Sequence[int], **elements: Any) -> NodeDef:
    tensor = TensorProto(dtype=dtype, tensor_shape=shape(*sizes), **elements)
    return NodeDef(name=name, op="Const", attr={"dtype": AttrValue(type=dtype), "value": AttrValue(tensor=tensor)})


def integers(name: str, *values: int) -> NodeDef:
    return constant(name, DataType.INT32, [len(values)], int_val=values)


def integer(name: str, value: int) -> NodeDef:
    return constant(name, DataType.INT32, [], int_val=[value])


def node(name: str, op: str, *inputs: str, **attributes: AttrValue) -> NodeDef:
    return NodeDef(name=name, op=op, input=inputs, attr={"T": FLOAT, **attributes})


def write(folder: Path, *nodes: NodeDef, functions: Sequence[FunctionDef] = ()) -> Path:
    """A frozen graph of one input ``x``, ``[1, 2]``, and the output ``y``."""
    argument = NodeDef(name="x", op="Placeholder", attr={"dtype": FLOAT, "shape": AttrValue(shape=shape(1, 2))})
    graph = GraphDef(node=[argument, *nodes], library=FunctionDefLibrary(function=functions))
    path = folder / "graph.pb"
    path.write_bytes(graph.SerializeToString())
    return path


# Calls.


def call(name: str, function: str, argument: str) -> NodeDef:
    named = AttrValue(func=NameAttrList(name=function))
    return NodeDef(name=name, op="PartitionedCall", input=[argument], attr={"f": named, "Tin": FLOATS, "Tout": FLOATS})


def branch(name: str, function: str, argument: str) -> NodeDef:
    named = AttrValue(func=NameAttrList(name=function))
    attributes = {"then_branch": named, "else_branch": named, "Tin": FLOATS, "Tout": FLOATS, "Tcond": FLOAT}
    return NodeDef(name=name, op="StatelessIf", input=["zero:output:0", argument], attr=attributes)


def function(name: str, nodes: Sequence[NodeDef], result: str) -> FunctionDef:
    return FunctionDef(
        signature=OpDef(
            name=name,
            input_arg=[OpDef.ArgDef(name="x", type=DataType.FLOAT32)],
            output_arg=[OpDef.ArgDef(name="y", type=DataType.FLOAT32)],
        ),
        node_def=nodes,
        ret={"y": result},
    )


def doubling(folder: Path, levels: int, *, branches: bool = False) -> Path:
    """A graph of functions each of which runs the next one twice."""
    functions = [function(f"f{levels}", [node("s", "Sin", "x")], "s:y:0")]
    for level in range(levels):
        below = f"f{level + 1}"
        calls = [call("a", below, "x"), call("b", below, "a:output:0")]
        if branches:
            zero = constant("zero", DataType.FLOAT32, [], float_val=[0])
            calls = [zero, branch("b", below, "x")]
        functions.append(function(f"f{level}", calls, "b:output:0"))
    return write(folder, call("y", "f0", "x"), functions=functions)


@pytest.mark.parametrize("branches", [False, True])
@pytest.mark.parametrize(("levels", "number"), [(24, r"\d\d,\d\d\d,\d\d\d"), (300, r"about 2\*\*30\d")])
def test_functions_that_double_at_each_level(tmp_path: Path, levels: int, number: str, *, branches: bool) -> None:
    with pytest.raises(LimitError, match=f"{number} ops, more than the limit max_ops") as caught:
        litefuse.convert(doubling(tmp_path, levels, branches=branches))
    assert caught.value.limit == "max_ops"
    assert caught.value.where == (f"function f{levels}" if not branches else caught.value.where)
    assert "--max-ops" in caught.value.hint


def test_the_limit_of_ops_counts_them_exactly(tmp_path: Path) -> None:
    graph = doubling(tmp_path, 3)
    with pytest.raises(LimitError, match="the model would have ") as caught:
        litefuse.convert(graph, limits=litefuse.Limits(max_ops=1))
    found = re.search(r"have (\d+) ops", caught.value.message)
    assert found is not None
    ops = int(found[1])
    assert ops == 2 + 7 * 3 + 8 * 2  # a call and a return; twice a call, and a return; a sine and a return
    assert "of 2 ops, is run from 8 places" in caught.value.message or "of 3 ops" in caught.value.message
    with pytest.raises(LimitError, match="max_ops"):
        litefuse.convert(graph, limits=litefuse.Limits(max_ops=ops - 1))
    assert litefuse.convert(graph, limits=litefuse.Limits(max_ops=ops)).report.op_counts["SIN"] == 8


def test_inspect_tells_of_a_model_that_doubles(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["inspect", str(doubling(tmp_path, 60))])
    assert done.exit_code == 0
    assert "max_ops" in done.output


# Constants.


def used(value: str) -> list[NodeDef]:
    """Nodes that make the output of a value with rows of 2 or 4."""
    return [integers("axes", 0, 1), node("sum", "Sum", "x", "axes", Tidx=INT), node("y", "Add", "sum", value)]


def huge(kind: str, count: int) -> list[NodeDef]:
    row = constant("row", DataType.FLOAT32, [1, 4], float_val=[1, 2, 3, 4])
    if kind == "splat":
        return [constant("v", DataType.FLOAT32, [count, 2], float_val=[2])]
    if kind == "last element repeated":
        return [constant("v", DataType.FLOAT32, [count, 2], float_val=[2, 3])]
    if kind == "Fill":
        value = constant("value", DataType.FLOAT32, [], float_val=[2])
        return [integers("dims", count, 2), value, node("v", "Fill", "dims", "value", index_type=INT)]
    if kind == "Range":
        ends = [integer("start", 0), integer("limit", count), integer("delta", 1), integers("rows", -1, 1)]
        numbers = NodeDef(name="numbers", op="Range", input=["start", "limit", "delta"], attr={"Tidx": INT})
        floats = NodeDef(name="floats", op="Cast", input=["numbers"], attr={"SrcT": INT, "DstT": FLOAT})
        return [*ends, numbers, floats, node("v", "Reshape", "floats", "rows", Tshape=INT)]
    if kind == "Tile":
        return [row, integers("times", count, 1), node("v", "Tile", "row", "times", Tmultiples=INT)]
    if kind == "BroadcastTo":
        return [row, integers("dims", count, 4), node("v", "BroadcastTo", "row", "dims", Tidx=INT)]
    if kind == "Pad":
        amounts = constant("amounts", DataType.INT32, [2, 2], int_val=[0, count, 0, 0])
        return [row, amounts, node("v", "Pad", "row", "amounts", Tpaddings=INT)]
    assert kind == "broadcasting"
    columns = constant("column", DataType.FLOAT32, [count, 1], tensor_content=bytes(4 * count))
    rows = constant("row", DataType.FLOAT32, [1, count], tensor_content=b"\0\0\x80?" * count)
    return [columns, rows, node("v", "Sub", "column", "row")]


KINDS = ["splat", "last element repeated", "Fill", "Range", "Tile", "BroadcastTo", "Pad", "broadcasting"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_huge_constant_of_a_small_file(tmp_path: Path, kind: str) -> None:
    count = 20_000 if kind == "broadcasting" else 2_000_000_000
    with pytest.raises(LimitError, match=r"more than the limit max_constant_bytes \(268,435,456\)") as caught:
        litefuse.convert(write(tmp_path, *huge(kind, count), *used("v")))
    assert caught.value.limit == "max_constant_bytes"
    assert "node " in caught.value.where
    assert "--max-constant-bytes" in caught.value.hint


@pytest.mark.parametrize("kind", KINDS)
def test_the_limit_of_constants_can_be_changed(tmp_path: Path, kind: str) -> None:
    graph = write(tmp_path, *huge(kind, 300), *used("v"))
    with pytest.raises(LimitError, match="max_constant_bytes"):
        litefuse.convert(graph, limits=litefuse.Limits(max_constant_bytes=1000))
    litefuse.convert(graph)


def test_constants_count_together(tmp_path: Path) -> None:
    splats = [constant(f"v{i}", DataType.FLOAT32, [1000, 2], float_val=[i + 2]) for i in range(8)]
    sums = [node(f"y{i}", "Mul", f"y{i - 1}" if i else "x", f"v{i}") for i in range(8)]
    graph = write(tmp_path, *splats, *sums, node("y", "Neg", "y7"))
    with pytest.raises(LimitError, match="the constants of the model would be 64,000 bytes"):
        litefuse.convert(graph, limits=litefuse.Limits(max_constant_bytes=40_000))
    litefuse.convert(graph, limits=litefuse.Limits(max_constant_bytes=64_000))


def test_constants_that_the_file_holds_are_not_limited(tmp_path: Path) -> None:
    weight = constant("v", DataType.FLOAT32, [1000, 2], tensor_content=bytes(range(250)) * 32)
    litefuse.convert(write(tmp_path, weight, *used("v")), limits=litefuse.Limits(max_constant_bytes=1))


def test_what_a_model_holds() -> None:
    graph = (SAVED_MODEL / "saved_model.pb").stat().st_size
    assert held_bytes(SAVED_MODEL / "saved_model.pb") == graph
    assert held_bytes(SAVED_MODEL) > graph


def test_limits_hold_where_they_are_set() -> None:
    check_constant(1 << 20, 0, "a constant")
    with limited(Limits(max_constant_bytes=1000)):
        check_constant(1008, 1, "a constant")  # int8 that becomes float64
        with pytest.raises(LimitError, match="would be 1,009 bytes"):
            check_constant(1009, 1, "a constant")
    check_constant(1 << 20, 0, "a constant")


@pytest.mark.parametrize("name", ["max_ops", "max_constant_bytes", "timeout", "memory"])
@pytest.mark.parametrize("value", [0, -1, "3", float("nan"), True])
def test_limits_that_are_none(name: str, value: Any) -> None:
    given: dict[str, Any] = {name: value}
    with pytest.raises(LitefuseError, match=name):
        litefuse.convert(SAVED_MODEL, **given)


# Time and memory.


def test_a_conversion_that_takes_too_long(tmp_path: Path) -> None:
    with pytest.raises(LimitError, match=r"longer than the limit timeout \(0.001 seconds\)") as caught:
        litefuse.convert(SAVED_MODEL, limits=litefuse.Limits(timeout=0.001, temporary_folder=tmp_path))
    assert isinstance(caught.value, ConversionError)
    assert caught.value.limit == "timeout"
    assert "--timeout" in caught.value.hint
    assert not list(tmp_path.iterdir())
    litefuse.convert(SAVED_MODEL, limits=litefuse.Limits(timeout=3600))


def test_a_conversion_that_needs_too_much_memory(tmp_path: Path) -> None:
    with pytest.raises(LimitError, match=r"more memory than the limit memory \(16,777,216 bytes\)") as caught:
        litefuse.convert(SAVED_MODEL, limits=litefuse.Limits(memory=1 << 24, temporary_folder=tmp_path))
    assert caught.value.limit == "memory"
    assert not list(tmp_path.iterdir())
    litefuse.convert(SAVED_MODEL, limits=litefuse.Limits(memory=1 << 32))


@pytest.mark.parametrize("limit", [{"timeout": 60}, {"memory": 1 << 32}])
def test_this_process_is_not_limited(limit: dict[str, Any]) -> None:
    with pytest.raises(LitefuseError, match="in_process"):
        litefuse.convert(SAVED_MODEL, debug=litefuse.Debugging(in_process=True), limits=limit)


def test_limits_on_the_command_line(tmp_path: Path) -> None:
    graph = doubling(tmp_path, 3)

    def run(*options: str) -> tuple[int, str]:
        done = CliRunner().invoke(app, [*options, "--", str(graph)])
        return done.exit_code, done.output

    convert = ("convert", "-o", str(tmp_path / "out.tflite"))
    for options, word in (
        ((*convert, "--max-ops", "5"), "limit max_ops (5)"),
        ((*convert, "--timeout", "0.001"), "limit timeout (0.001 seconds)"),
        ((*convert, "--memory", "16M"), "limit memory (16,777,216 bytes)"),
        (("inspect", "--timeout", "0.001"), "limit timeout (0.001 seconds)"),
        (("inspect", "--memory", "16m"), "limit memory (16,777,216 bytes)"),
    ):
        code, output = run(*options)
        assert (code, word in output, "Traceback" in output) == (1, True, False), output
        assert [path.name for path in tmp_path.iterdir()] == ["graph.pb"]
    for option, value in (("--memory", "2X"), ("--memory", "0"), ("--timeout", "-1"), ("--max-constant-bytes", "G")):
        assert run(*convert, option, value)[0] == 2
    limits = ("--max-constant-bytes", "1G", "--timeout", "600", "--memory", "4G", "--max-ops", "1000")
    assert run(*convert, *limits)[0] == 0
