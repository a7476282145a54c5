"""Control flow of TensorFlow 1 in functions written by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from litefuse.errors import GraphError
from litefuse.frontends.saved_model import DataType, op_registry
from litefuse.frontends.saved_model.control_flow import functionalize
from litefuse.frontends.saved_model.messages import AttrValue, FunctionDef, NodeDef, TensorProto
from tests.ir.importer.function_defs import TYPE_F32, Asked, function, node, shapes

FLOAT = AttrValue(list=AttrValue.ListValue(type=[DataType.FLOAT32]))


def constant(name: str, value: int, *waits: str, dtype: DataType = DataType.INT32) -> NodeDef:
    is_bool = dtype == DataType.BOOL
    tensor = TensorProto(dtype=dtype, bool_val=[bool(value)] if is_bool else [], int_val=[] if is_bool else [value])
    attributes = {"dtype": AttrValue(type=dtype), "value": AttrValue(tensor=tensor)}
    return NodeDef(name=name, op="Const", input=waits, attr=attributes)


def merge(name: str, *inputs: str) -> NodeDef:
    return node(name, "Merge", *inputs, N=AttrValue(i=len([each for each in inputs if each[0] != "^"])))


def enter(name: str, data: str, *, constant: bool = False, frame: str = "frame") -> NodeDef:
    return node(name, "Enter", data, frame_name=AttrValue(s=frame.encode()), is_constant=AttrValue(b=constant))


def rewritten(
    nodes: Sequence[NodeDef], results: Mapping[str, str], arguments: Sequence[str] = ("x", "p")
) -> tuple[FunctionDef, dict[str, FunctionDef]]:
    """The function, and those that it calls by their names without the function's."""
    made, others = functionalize(function("f", nodes, arguments=arguments, results=results), {}, op_registry())
    return made, {each.signature.name.removeprefix("f_"): each for each in others}


def text(definition: FunctionDef) -> list[str]:
    """The nodes, one a line, and the results."""
    lines = [f"{each.name} = {each.op}({', '.join(each.input)})" for each in definition.node_def]
    returned = [f"return {', '.join(definition.ret[each.name] for each in definition.signature.output_arg)}"]
    effects = [f"effect {each}" for each in definition.control_ret]
    return [*lines, *effects, *returned]


def arguments(definition: FunctionDef) -> list[str]:
    return [argument.name for argument in definition.signature.input_arg]


def test_other_functions_stay() -> None:
    definition = function("f", [node("r", "Relu", "x")], results={"y": "r:activations:0"})
    made, others = functionalize(definition, {}, op_registry())
    assert made is definition
    assert not others


def test_functions_that_it_does_not_call_are_not_asked_for() -> None:
    called = function("called", [node("r", "Relu", "x")], results={"y": "r:activations:0"})
    library = Asked({"called": called, "other": called})
    nodes = [
        node("a", "Switch", "x", "p"),
        node("b", "called", "a:output_true:0"),
        merge("m", "a:output_false:0", "b:y:0"),
    ]
    definition = function("f", nodes, arguments=("x", "p"), results={"y": "m:output:0"})
    made, others = functionalize(definition, library, op_registry())
    assert [each.op for each in made.node_def] == ["StatelessIf"]
    assert len(others) == 2
    assert library.names == {"called"}


def test_conditional() -> None:
    made, others = rewritten(
        [
            node("cond/id", "Identity", "p"),
            node("cond/pivot", "Switch", "p", "p"),
            node("cond/t", "Identity", "cond/pivot:output_true:0"),
            node("cond/x", "Switch", "x", "cond/id:output:0"),
            constant("cond/k", 3, "^cond/t"),
            node("cond/pow", "Pow", "cond/x:output_true:0", "cond/k:output:0"),
            node("cond/neg", "Neg", "cond/x:output_false:0"),
            merge("cond/Merge", "cond/neg:y:0", "cond/pow:z:0"),
        ],
        {"y": "cond/Merge:output:0", "which": "cond/Merge:value_index:0"},
    )
    assert text(made) == ["cond = StatelessIf(p:0, x:0)", "return cond:0, cond:1"]
    assert made.node_def[0].attr["then_branch"].func.name == "f_cond_then"
    assert made.node_def[0].attr["else_branch"].func.name == "f_cond_else"
    assert list(made.node_def[0].attr["Tout"].list.type) == [DataType.FLOAT32, DataType.INT32]
    assert arguments(others["cond_then"]) == arguments(others["cond_else"]) == ["x_0"]
    number = "cond/Merge/value_index"
    assert text(others["cond_then"]) == [
        "cond/k = Const()",
        "cond/pow = Pow(x_0:0, cond/k:0)",
        f"{number} = Const()",
        f"return cond/pow:0, {number}:0",
    ]
    assert others["cond_then"].node_def[2].attr["value"].tensor.int_val == [1]
    assert text(others["cond_else"])[-1] == f"return cond/neg:0, {number}:0"
    assert others["cond_else"].node_def[-1].attr["value"].tensor.int_val == [0]


def test_merges_of_one_predicate_share_an_if_unless_one_needs_the_other() -> None:
    made, _ = rewritten(
        [
            node("s", "Switch", "x", "p"),
            node("neg", "Neg", "s:0"),
            merge("a/Merge", "s:0", "s:1"),
            merge("a/Merge_1", "neg:0", "s:1"),
            node("sum", "AddV2", "a/Merge:0", "a/Merge_1:0"),
            node("s_2", "Switch", "sum:0", "p"),
            merge("b/Merge", "s_2:0", "s_2:1"),
        ],
        {"y": "b/Merge:0"},
    )
    assert text(made) == [
        "a = StatelessIf(p:0, x:0)",
        "sum = AddV2(a:0, a:1)",
        "b = StatelessIf(p:0, sum:0)",
        "return b:0",
    ]


def test_conditionals_that_need_each_other_are_split() -> None:
    """The first of p goes into the first of q; one If for both of p and one for both of q would be a cycle."""
    made, _ = rewritten(
        [
            node("xp", "Switch", "x", "p"),
            merge("a/Merge", "xp:0", "xp:1"),
            node("yq", "Switch", "a/Merge:0", "q"),
            merge("b/Merge", "yq:0", "yq:1"),
            node("xq", "Switch", "x", "q"),
            merge("c/Merge", "xq:0", "xq:1"),
            node("yp", "Switch", "c/Merge:0", "p"),
            merge("d/Merge", "yp:0", "yp:1"),
        ],
        {"y": "b/Merge:0", "z": "d/Merge:0"},
        ["x", "p", "q"],
    )
    functionals = [each for each in made.node_def if each.op == "StatelessIf"]
    assert len(functionals) == 3
    assert sum(len(each.attr["Tout"].list.type) for each in functionals) == 4


def test_a_node_with_an_input_too_few_is_refused() -> None:
    nodes = [node("s", "Switch", "x", "p"), node("a", "Add", "s:1"), merge("m", "s:0", "a:0")]
    with pytest.raises(GraphError, match="it has 1 inputs; its op takes 2"):
        rewritten(nodes, {"y": "m:0"})


def shared_by_two_conditionals(shared: NodeDef) -> list[NodeDef]:
    """A node after a Switch, whose result is one conditional's and that another one waits for."""
    return [
        node("s", "Switch", "x", "p"),
        shared,
        merge("a/Merge", "s:0", f"{shared.name}:0"),
        node("neg", "Neg", "a/Merge:0"),
        node("t", "Switch", "neg:0", "p"),
        node("u", "Identity", "t:1", f"^{shared.name}"),
        merge("b/Merge", "t:0", "u:0"),
    ]


def test_side_effects_that_two_conditionals_share_are_refused() -> None:
    with pytest.raises(GraphError, match="Print runs in two conditionals"):
        rewritten(shared_by_two_conditionals(node("print", "Print", "s:1", "s:1", U=FLOAT)), {"y": "b/Merge:0"})


def test_what_only_computes_may_run_in_two_conditionals() -> None:
    check = node("check", "CheckNumerics", "s:1", message=AttrValue(s=b""))  # stateful by its definition
    made, others = rewritten(shared_by_two_conditionals(check), {"y": "b/Merge:0"})
    assert [each.op for each in made.node_def if each.op.endswith("If")] == ["If", "If"]
    assert sum(each.op == "CheckNumerics" for other in others.values() for each in other.node_def) == 2


def test_side_effects_of_a_branch() -> None:
    """The Print runs in its branch only, and after what the branch waits for."""
    made, others = rewritten(
        [
            node("before", "Print", "x", "x", U=FLOAT),
            node("s", "Switch", "x", "p", "^before"),
            node("pivot", "Identity", "s:1"),
            node("print", "Print", "pivot:0", "pivot:0", U=FLOAT),
            node("t", "Identity", "s:1", "^print"),
            merge("Merge", "s:0", "t:0"),
        ],
        {"y": "Merge:0"},
    )
    assert text(made)[1:] == ["if = If(p:0, x:0, ^before)", "return if:0"]
    assert "t = Identity(x_0:0, ^print)" in text(others["if_then"])
    assert text(others["if_else"]) == ["return x_0:0"]


def test_constant_predicate() -> None:
    made, others = rewritten(
        [
            constant("no", 0, dtype=DataType.BOOL),
            node("id", "Identity", "no:0", T=AttrValue(type=DataType.BOOL)),
            node("s", "Switch", "x", "id:0"),
            node("exp", "Exp", "s:1"),
            node("neg", "Neg", "s:0"),
            merge("Merge", "neg:0", "exp:0"),
        ],
        {"y": "Merge:0", "which": "Merge:1"},
    )
    assert text(made) == ["neg = Neg(x:0)", "Merge/value_index = Const()", "return neg:0, Merge/value_index:0"]
    assert not others


def test_merge_of_more_branches() -> None:
    """Three branches of two conditions, without a Merge for each."""
    made, others = rewritten(
        [
            node("s", "Switch", "x", "p"),
            node("q", "Switch", "q_0", "p"),
            node("s_2", "Switch", "s:0", "q:0"),
            node("neg", "Neg", "s_2:0"),
            merge("Merge", "s:1", "s_2:1", "neg:0"),
        ],
        {"y": "Merge:0"},
        ["x", "p", "q_0"],
    )
    assert text(made)[0].startswith("if = StatelessIf(p:0, x:0")
    assert text(others["if_then"]) == ["return x_0:0"]
    assert text(others["if_else"])[0].startswith("if = StatelessIf(")
    assert text(others["if_then_"]) == ["return x_0_0:0"]
    assert text(others["if_else_"]) == ["neg = Neg(x_0_0:0)", "return neg:0"]


def test_switch_of_many() -> None:
    made, others = rewritten(
        [
            node("s", "_SwitchN", "x", "p", num_outs=AttrValue(i=3)),
            node("neg", "Neg", "s:outputs:2"),
            merge("Merge", "s:outputs:0", "s:outputs:1", "neg:0"),
        ],
        {"y": "Merge:0"},
    )
    assert text(made) == ["if = StatelessCase(p:0, x:0)", "return if:0"]
    assert text(others["if_branch2"]) == ["neg = Neg(x_0:0)", "return neg:0"]


@pytest.mark.parametrize(("index", "taken"), [(0, 0), (1, 1), (2, 2), (3, 2), (-1, 2)])
def test_an_index_out_of_range_takes_the_last_branch(index: int, taken: int) -> None:
    made, others = rewritten(
        [
            constant("index", index),
            node("s", "_SwitchN", "x", "index:0", num_outs=AttrValue(i=3)),
            node("neg", "Neg", "s:outputs:0"),
            node("exp", "Exp", "s:outputs:1"),
            node("abs", "Abs", "s:outputs:2"),
            merge("Merge", "neg:0", "exp:0", "abs:0"),
        ],
        {"y": "Merge:0"},
    )
    name = ("neg", "exp", "abs")[taken]
    assert text(made) == [f"{name} = {name.title()}(x:0)", f"return {name}:0"]
    assert not others


def loop(prefix: str, start: str, *, frame: str = "frame", body: Sequence[NodeDef], next_value: str) -> list[NodeDef]:
    """A loop of one variable while it is less than the limit, an argument."""
    return [
        enter(f"{prefix}/Enter", start, frame=frame),
        enter(f"{prefix}/limit", "limit", constant=True, frame=frame),
        merge(f"{prefix}/Merge", f"{prefix}/Enter:0", f"{prefix}/Next:0"),
        node(f"{prefix}/Less", "Less", f"{prefix}/Merge:0", f"{prefix}/limit:0"),
        node(f"{prefix}/LoopCond", "LoopCond", f"{prefix}/Less:0"),
        node(f"{prefix}/Switch", "Switch", f"{prefix}/Merge:0", f"{prefix}/LoopCond:0"),
        *body,
        node(f"{prefix}/Next", "NextIteration", next_value),
        node(f"{prefix}/Exit", "Exit", f"{prefix}/Switch:0"),
    ]


def test_loop() -> None:
    body = [enter("w/step", "x", constant=True), node("w/add", "AddV2", "w/Switch:1", "w/step:0")]
    nodes = loop("w", "x", body=body, next_value="w/add:0")
    nodes[2].attr["_output_shapes"].CopyFrom(shapes((-1, 2), ()))
    made, others = rewritten(nodes, {"y": "w/Exit:0"}, ["x", "limit"])
    assert text(made) == ["w = StatelessWhile(x:0, limit:0, x:0)", "return w:0"]
    assert made.node_def[0].attr["parallel_iterations"].i == 10
    of_result, *_ = made.node_def[0].attr["output_shapes"].list.shape
    assert [dim.size for dim in of_result.dim] == [-1, 2]
    assert arguments(others["w_body"]) == arguments(others["w_cond"]) == ["w/Merge", "limit_0", "x_0"]
    assert text(others["w_cond"]) == ["w/Less = Less(w/Merge:0, limit_0:0)", "return w/Less:0"]
    assert text(others["w_body"]) == ["w/add = AddV2(w/Merge:0, x_0:0)", "return w/add:0, limit_0:0, x_0:0"]
    assert others["w_cond"].signature.output_arg[0].type == DataType.BOOL
    assert [dim.size for dim in others["w_body"].arg_attr[0].attr["_output_shapes"].list.shape[0].dim] == [-1, 2]


def test_loop_in_a_loop() -> None:
    inner = loop(
        "w/v", "w/Switch:1", frame="inner", body=[node("w/v/neg", "Neg", "w/v/Switch:1")], next_value="w/v/neg:0"
    )
    inner[1] = enter("w/v/limit", "w/limit:0", constant=True, frame="inner")
    made, others = rewritten(loop("w", "x", body=inner, next_value="w/v/Exit:0"), {"y": "w/Exit:0"}, ["x", "limit"])
    assert text(made) == ["w = StatelessWhile(x:0, limit:0)", "return w:0"]
    assert text(others["w_body"]) == ["w/v = StatelessWhile(w/Merge:0, limit_0:0)", "return w/v:0, limit_0:0"]
    assert text(others["w/v_body".replace("/", "_")])[0].startswith("w/v/neg = Neg(")


def test_side_effects_of_a_loop() -> None:
    body = [node("w/print", "Print", "w/Switch:1", "w/Switch:1", U=FLOAT), node("w/neg", "Neg", "w/Switch:1")]
    nodes = loop("w", "x", body=body, next_value="w/neg:0")
    nodes[-2].input.append("^w/print")
    _, others = rewritten(nodes, {"y": "w/Exit:0"}, ["x", "limit"])
    assert "effect w/print" in text(others["w_body"])


@pytest.mark.parametrize(
    ("nodes", "result", "message"),
    [
        ([node("s", "Switch", "x", "p")], "s:1", "node s: Switch is control flow of TensorFlow 1 that belongs to no"),
        (
            [node("s", "Switch", "x", "p"), node("r", "Switch", "x", "x"), merge("m", "s:0", "r:0")],
            "m:0",
            "node m: Merge does not join the branches of one condition",
        ),
        ([enter("e", "x"), node("o", "Exit", "e:0")], "o:0", "the loop 'frame' has 0 conditions, not one"),
        (
            [*loop("w", "x", body=[], next_value="w/Enter:0"), node("r", "Relu", "w/Exit:0")],
            "r:0",
            "node w/Enter: what enters the loop 'frame' is used in its first iteration only",
        ),
        ([node("a", "Switch", "b:0", "p"), node("b", "Relu", "a:0")], "b:0", "the graph has a cycle"),
        ([node("a", "Switch", "gone:0", "p")], "a:0", "node a reads from 'gone', which does not exist"),
        ([node("a", "Switch", "x", "p"), node("b", "Relu", "a:other:0")], "b:0", "the input 'a:other:0' does not"),
    ],
)
def test_refused(nodes: list[NodeDef], result: str, message: str) -> None:
    with pytest.raises(GraphError) as caught:
        rewritten(nodes, {"y": result}, ["x", "p", "limit"])
    assert message in str(caught.value)
    assert "function f" in str(caught.value)


def array_op(name: str, op: str, *inputs: str, key: str = "dtype") -> NodeDef:
    return NodeDef(name=name, op=op, input=inputs, attr={key: TYPE_F32})


def array(size: str) -> NodeDef:
    made = array_op("array", "TensorArrayV3", size)
    made.attr["element_shape"].shape.dim.add(size=-1)
    made.attr["element_shape"].shape.dim.add(size=2)
    return made


def test_array_in_a_loop() -> None:
    """The list goes round where the flow did, and nothing of the handle is left."""
    body = [
        enter("w/array", "array:handle:0", constant=True),
        array_op("w/read", "TensorArrayReadV3", "w/array:0", "w/limit:0", "w/Switch:1"),
        array_op("w/write", "TensorArrayWriteV3", "w/array:0", "w/limit:0", "w/read:0", "w/Switch:1", key="T"),
    ]
    nodes = loop("w", "array:flow:0", body=body, next_value="w/write:flow_out:0")
    nodes[3] = node("w/Less", "Less", "w/limit:0", "w/limit:0")
    size = node("size", "TensorArraySizeV3", "array:0", "w/Exit:0")
    indices = node("all", "Range", "zero:0", "size:0", "one:0")
    stack = array_op("stack", "TensorArrayGatherV3", "array:0", "all:0", "w/Exit:0")
    made, others = rewritten(
        [constant("zero", 0), constant("one", 1), array("limit"), *nodes, size, indices, stack],
        {"y": "stack:value:0"},
        ["x", "limit"],
    )
    shape = "array/element_shape"
    assert text(made) == [
        f"array = TensorListReserve({shape}:0, limit:0)",
        "w = StatelessWhile(array:0, limit:0)",
        "stack = TensorListStack(w:0, stack/element_shape:0)",
        "stack/element_shape = Const()",
        f"{shape} = Const()",
        "return stack:0",
    ]
    constants = {each.name: list(each.attr["value"].tensor.int_val) for each in made.node_def if each.op == "Const"}
    assert constants == {shape: [-1, 2], "stack/element_shape": [-1, 2]}
    assert text(others["w_body"]) == [
        "w/read = TensorListGetItem(w/Merge:0, limit_0:0, w/read/element_shape:0)",
        "w/write = TensorListSetItem(w/Merge:0, limit_0:0, w/read:0)",
        "w/read/element_shape = Const()",
        "return w/write:0, limit_0:0",
    ]
    assert others["w_body"].signature.input_arg[0].type == DataType.VARIANT
    assert list(made.node_def[1].attr["T"].list.type) == [DataType.VARIANT, DataType.FLOAT32]


@pytest.mark.parametrize(
    ("indices", "made"),
    [
        (node("i", "Range", "zero:0", "limit", "one:0"), "TensorListFromTensor(x:0, o/element_shape:0)"),
        (node("i", "Range", "one:0", "limit", "one:0"), "TensorListScatterIntoExistingList(array:0, x:0, i:0)"),
        (node("i", "Identity", "limit"), "TensorListScatterIntoExistingList(array:0, x:0, i:0)"),
    ],
)
def test_what_is_written_at_once(indices: NodeDef, made: str) -> None:
    scatter = array_op("o", "TensorArrayScatterV3", "array:0", "i:0", "x", "array:1", key="T")
    read = array_op("y", "TensorArrayReadV3", "array:0", "zero:0", "o:0")
    nodes = [constant("zero", 0), constant("one", 1), array("limit"), indices, scatter, read]
    result, _ = rewritten(nodes, {"y": "y:0"}, ["x", "limit"])
    assert f"o = {made}" in text(result)


@pytest.mark.parametrize(
    ("reader", "message"),
    [
        (node("o", "TensorArrayGradV3", "array:0", "array:1"), "node o: TensorArrayGradV3 has no match"),
        (array_op("o", "TensorArrayReadV3", "x", "x", "array:1"), "where the TensorArray x:0 is made is not known"),
        (node("o", "Identity", "array:0", T=AttrValue(type=DataType.RESOURCE)), "the handle of a TensorArray is used"),
    ],
)
def test_arrays_that_are_refused(reader: NodeDef, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        rewritten([array("limit"), reader], {"y": "o:0"}, ["x", "limit"])
