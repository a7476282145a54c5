"""Which nodes of the original the ops of a file are linked to."""

from __future__ import annotations

from litefuse.tools.page.graph import Entry, Graph, Model, Node
from litefuse.tools.page.links import links


def layers(count: int) -> list[Node]:
    """Nodes of a model, each in a layer of its own."""
    return [Node("Relu", f"net/layer_{each}/Relu", f"net/layer_{each}", (each,)) for each in range(count)]


def original() -> Model:
    first = (Node("float32[2]", "x", mark="input"), *layers(20), Node("y", "y", inputs=(20,), mark="output"))
    second = (Node("float32[2]", "x", mark="input"), Node("y", "y", inputs=(0,), mark="output"))
    return Model((Entry("one", "f"), Entry("two", "g")), (Graph("f", "f", first), Graph("g", "g", second)))


def linked(*nodes: Node) -> dict[int, tuple[int, int]]:
    file = Model((Entry("one", "main"),), (Graph("main", "main", nodes),), "LiteRT")
    # What nothing is named after is linked by what reads it, after the first.
    return {number: found[0] for (_, number), found in links(original(), file).items()}


def test_the_scope_of_the_whole_model_is_no_link() -> None:
    assert linked(Node("RELU", "net/Add", "net/other")) == {}


def test_the_innermost_scope_of_all_names_counts() -> None:
    assert linked(Node("RELU", "net/Add;net/layer_3/other", "net/layer_9"))[0] == (0, 10)  # the op's layer
    assert linked(Node("RELU", "net/Add;net/layer_3/other", "net/absent"))[0] == (0, 4)


def test_inputs_and_outputs_are_those_of_their_signature() -> None:
    found = linked(Node("float32[2]", "x", mark="input"), Node("y", "y", inputs=(0,), mark="output"))
    assert found == {0: (0, 0), 1: (0, 21)}


def test_nodes_that_only_an_output_reads_are_not_linked_to_it() -> None:
    file = Model((Entry("one", "main"),), (Graph("main", "main", (Node("y", "y", mark="output"),)),), "LiteRT")
    assert links(original(), file) == {(0, 0): ((0, 21),)}


def test_renamed_inputs_and_outputs_are_found_by_the_names_before() -> None:
    nodes = Node("float32[2]", "image", mark="input"), Node("score", "score", inputs=(0,), mark="output")
    file = Model((Entry("one", "main"),), (Graph("main", "main", nodes),), "LiteRT")
    renamed = {"one": {"inputs": {"image": "x"}, "outputs": {"score": "y"}}}
    assert links(original(), file) == {}
    assert {place: found[0] for place, found in links(original(), file, renamed).items()} == {
        (0, 0): (0, 0),
        (0, 1): (0, 21),
    }


def before(*nodes: Node) -> Model:
    return Model((Entry("s", "f"),), (Graph("f", "f", nodes),))


def after(*nodes: Node) -> Model:
    return Model((Entry("s", "0"),), (Graph("0", "0", nodes),), "LiteRT")


def linked_names(original: Model, converted: Model) -> dict[str, list[str]]:
    """The names of linked nodes by the names of ops."""
    nodes = original.graphs[0].nodes
    found = links(original, converted)
    return {converted.graphs[0].nodes[op].name: [nodes[node].name for _, node in of] for (_, op), of in found.items()}


def test_arguments_are_those_of_the_longest_name() -> None:
    arguments = [Node("float32", name, mark="input") for name in ("x", "a_x", "y")]
    inputs = [
        Node("float32", name, mark="input") for name in ("serving_default_a_x:0", "serving_default_x:0", "y", "ay")
    ]
    assert linked_names(before(*arguments), after(*inputs)) == {
        "serving_default_a_x:0": ["a_x"],
        "serving_default_x:0": ["x"],
        "y": ["y"],
    }


def test_an_op_of_a_layer_has_its_nodes_but_not_without_end() -> None:
    layer = [Node("MatMul", f"lstm/n{number}", "lstm") for number in range(500)]
    few = linked_names(before(*layer), after(Node("LSTM", "lstm", "lstm")))
    assert few == {"lstm": [each.name for each in layer[:400]]}
    # Each of 20,000 unrolled ops would be linked to 400: the page would have eight million links.
    many = links(before(*layer), after(*(Node("ADD", f"lstm/op{number}", "lstm") for number in range(20_000))))
    assert len(many) == 20_000
    assert sum(map(len, many.values())) <= 20_000 * 16


def test_calls_that_cannot_be_told_apart_are_linked_to_few() -> None:
    calls = [Node("Norm", f"call{number}", mark="composite") for number in range(3000)]
    ops = [Node("NORM", f"Norm{number or ''}", mark="custom") for number in range(2999)]
    assert sum(map(len, links(before(*calls), after(*ops)).values())) <= 2999 * 33
    assert linked_names(before(*calls[:2]), after(*ops[:2])) == {"Norm": ["call0"], "Norm1": ["call1"]}


def test_fused_ops_are_linked_to_the_calls_in_their_layer() -> None:
    """Keras 2 calls a layer twice within one scope; functions of nested layers know only the end of the scopes."""
    layers = ["net/norm_1", "net/norm_2", "norm_3", "net/norm_2"]
    names = [f"{layer}/PartitionedCall{number}" for number, layer in enumerate(layers)]
    calls = [Node("A:Norm", name, layer, mark="composite") for name, layer in zip(names, layers, strict=True)]
    ops = [
        Node("NORM", name, name.rpartition("/")[0], mark="custom")
        for name in (
            "net/norm_2/A:Norm",
            "net/norm_3/A:Norm;net/norm_3/A:Norm:1",
            "net/norm_1/A:Norm",
            "net/norm_2/A:Norm1",
        )
    ]
    found = {number: [place[1] for place in of] for (_, number), of in links(before(*calls), after(*ops)).items()}
    assert found == {0: [1], 1: [2], 2: [0], 3: [3]}


def test_what_was_folded_into_a_product_is_linked_to_that_one_and_not_to_the_next() -> None:
    before = (
        Node("float32[2]", "x", mark="input"),
        Node("Conv2D", "one/Conv2D", "one", (0,)),
        Node("Mul", "norm/mul", "norm", (1,)),
        Node("AddV2", "norm/add", "norm", (2,)),
        Node("Conv2D", "two/Conv2D", "two", (3,)),
    )
    after = (
        Node("float32[2]", "x", mark="input"),
        Node("CONV_2D", "one/Conv2D1", "one", (0,)),
        Node("CONV_2D", "two/Conv2D", "two", (1,)),
    )
    entries = (Entry("one", "f"),)
    found = links(Model(entries, (Graph("f", "f", before),)), Model(entries, (Graph("f", "f", after),), "LiteRT"))
    assert found[0, 1] == ((0, 1), (0, 3), (0, 2))
    assert found[0, 2] == ((0, 4),)
