"""Small models whose ops are timed."""

from __future__ import annotations

import numpy as np

from tests.litert.runtime.models import Graph, model


def composed(op: str = "Double") -> bytes:
    """MUL, ADD, a custom op, TANH and ADD: XNNPACK has a partition before the custom op and one behind it."""
    graph = Graph()
    x = graph.input("x", (4, 8))
    a, b, c, d = (graph.tensor(name, (4, 8)) for name in ("net/one/mul", "net/one/add", "net/two/op", "net/two/tanh"))
    y = graph.output("net/three/add", (4, 8))
    graph.builtin("MUL", [x, x], [a])
    graph.builtin("ADD", [a, x], [b])
    graph.custom(op, [b], [c])
    graph.builtin("TANH", [c], [d])
    graph.builtin("ADD", [d, c], [y])
    return model(graph, signatures={"serve": 0})


def activated() -> bytes:
    """y = tanh(relu(x + x)), of which XNNPACK may compute the sum and RELU by one operator."""
    graph = Graph()
    x = graph.input("x", (4, 8))
    a, b = graph.tensor("a", (4, 8)), graph.tensor("b", (4, 8))
    y = graph.output("y", (4, 8))
    graph.builtin("ADD", [x, x], [a])
    graph.builtin("RELU", [a], [b])
    graph.builtin("TANH", [b], [y])
    return model(graph, signatures={"serve": 0})


def half_weights() -> bytes:
    """Two products with weights of float16, one behind the other, each with an op that makes float32 of them."""
    graph = Graph()
    x = graph.input("x", (4, 8))
    a, w1, w2 = (graph.tensor(name, shape) for name, shape in (("a", (4, 8)), ("w1", (8, 8)), ("w2", (8, 8))))
    for number, weights in enumerate((w1, w2)):
        value = np.full((8, 8), number + 1, np.float16)
        graph.builtin("DEQUANTIZE", [graph.tensor(f"h{number}", (8, 8), np.float16, value=value)], [weights])
    graph.builtin("FULLY_CONNECTED", [x, w1, -1], [a])
    graph.builtin("FULLY_CONNECTED", [a, w2, -1], [graph.output("y", (4, 8))])
    return model(graph, signatures={"serve": 0})


def loop(times: int = 5) -> bytes:
    """i, y = while i < times: i + 1, tanh(y); its subgraphs are those of the condition and the body."""
    main, cond, body = Graph(), Graph(), Graph()
    start = main.input("i", (), np.int32)
    x = main.input("x", (3,))
    main.builtin(
        "WHILE",
        [start, x],
        [main.output("end", (), np.int32), main.output("y", (3,))],
        condSubgraphIndex=1,
        bodySubgraphIndex=2,
    )
    i = cond.input("i", (), np.int32)
    cond.input("x", (3,))
    cond.builtin("LESS", [i, cond.tensor("limit", (), np.int32, value=times)], [cond.output("more", (), np.bool_)])
    j, z = body.input("i", (), np.int32), body.input("x", (3,))
    body.builtin("ADD", [j, body.tensor("one", (), np.int32, value=1)], [body.output("next", (), np.int32)])
    body.builtin("TANH", [z], [body.output("result", (3,))])
    return model(main, cond, body, signatures={"serve": 0})


def several_signatures() -> bytes:
    """Two signatures: ``double`` adds an int32 of a dynamic size to itself, ``tanh`` is of a float32."""
    graphs = [Graph(), Graph()]
    n = graphs[0].input("n", (1, 1), np.int32, signature=(-1, -1))
    graphs[0].builtin("ADD", [n, n], [graphs[0].output("m", (1, 1), np.int32, signature=(-1, -1))])
    x = graphs[1].input("x", (2,))
    graphs[1].builtin("TANH", [x], [graphs[1].output("y", (2,))])
    return model(*graphs, signatures={"double": 0, "tanh": 1})
