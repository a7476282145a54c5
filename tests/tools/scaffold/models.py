"""Models whose ops kernels are begun for."""

from __future__ import annotations

import numpy as np

from tests.litert.runtime.models import Graph, model


def scaled_sum() -> bytes:
    """``y = ScaledSum(a, b, weights)``, a composite whose body is ``(a + b) * weights``; a and b are [?, 3]."""
    graph, body = Graph(), Graph()
    a, b = (graph.input(name, (1, 3), signature=(-1, 3)) for name in ("model/a:0", "b"))
    weights = graph.tensor("weights", (3,), value=[1, 2, 3])
    y = graph.output("y", (1, 3), signature=(-1, 3))
    graph.composite("my.ScaledSum", [a, b, weights], [y], {"axis": 1}, 1)
    x0, x1 = (body.input(name, (1, 3), signature=(-1, 3)) for name in ("x0", "x1"))
    x2 = body.input("x2", (3,))
    total = body.tensor("total", (1, 3), signature=(-1, 3))
    result = body.output("y0", (1, 3), signature=(-1, 3))
    body.builtin("ADD", [x0, x1], [total])
    body.builtin("MUL", [total, x2], [result])
    return model(graph, body, signatures={"main": 0})


def every_kind_of_option() -> bytes:
    """Two calls of ``TFEverything`` with options of all kinds; one lacks an input and an option."""
    options = {
        "class": 1,
        "input_1": 2,
        "flag": True,
        "rate": 0.5,
        "padding": "SAME",
        "sizes": [1, 2, 3],
        "rates": [0.5, 1.5],
        "names": ["a", "b"],
        "empty": [],
        "mixed": [1, "a"],
        "with-dash": 3,
        "nested": {"a": 1},
    }
    graph = Graph()
    x = graph.input("strided/x", (4, 3))
    scale = graph.input("lambda", (4,), np.int32)
    y, z = graph.output("y", (4, 5)), graph.output("z", (4, 3), np.bool_)
    u, v = graph.output("u", (4, 5)), graph.output("v", (4, 3), np.bool_)
    graph.custom("TFEverything", [x, scale], [y, z], options)
    graph.custom("TFEverything", [x, -1], [u, v], {key: value for key, value in options.items() if key != "rate"})
    return model(graph)
