"""Small loops of bodies, turn by turn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ai_edge_litert.interpreter import Interpreter, load_delegate

from litefuse.kernels.generator.body import read_bodies
from litefuse.kernels.generator.generate import generate_kernels
from litefuse.kernels.generator.graph import NotGenerated
from litefuse.kernels.generator.kernel import kernel_source
from tests.litert.runtime.models import Graph, model

SHAPE, OPEN = (2, 5), (-1, 5)


def square_roots(turns: int, *, in_input: bool = False) -> bytes:
    """A composite: square roots by Newton's method, and a table of which each turn adds a row."""
    main, body, condition, step = Graph(), Graph(), Graph(), Graph()
    x, y = main.input("x", SHAPE, signature=OPEN), main.output("y", SHAPE, signature=OPEN)
    given = [x, main.input("turns", (), np.int32)] if in_input else [x]
    main.composite("Roots", given, [y], {"turns": turns}, 1)

    x = body.input("x", SHAPE, signature=OPEN)
    limit = body.input("limit", (), np.int32) if in_input else body.tensor("limit", (), np.int32, value=turns)
    first = body.tensor("first", (), np.int32, value=0)
    guess = body.tensor("guess", SHAPE, signature=OPEN)
    body.builtin("ADD", [x, body.tensor("one", (), value=1.0)], [guess])
    made = [body.tensor("last", (), np.int32)]
    made += [body.tensor(name, SHAPE, signature=OPEN) for name in ("root", "same")]
    last = body.tensor("limit_out", (), np.int32)
    body.builtin("WHILE", [first, guess, x, limit], [*made, last], condSubgraphIndex=2, bodySubgraphIndex=3)
    body.builtin("MUL", [made[1], body.tensor("two", (), value=2.0)], [body.output("y", SHAPE, signature=OPEN)])

    for graph in (condition, step):
        i = graph.input("i", (), np.int32)
        root, x = (graph.input(name, SHAPE, signature=OPEN) for name in ("root", "x"))
        limit = graph.input("limit", (), np.int32)
        if graph is condition:
            graph.builtin("LESS", [i, limit], [graph.output("goes_on", (), np.bool_)])
            continue
        graph.builtin("ADD", [i, graph.tensor("one", (), np.int32, value=1)], [graph.output("next", (), np.int32)])
        rows = graph.tensor("rows", (3,), value=[0.0, 0.125, 0.25])
        row, index = graph.tensor("row", ()), graph.tensor("index", (), np.int32)
        graph.builtin("FLOOR_MOD", [i, graph.tensor("three", (), np.int32, value=3)], [index])
        graph.builtin("GATHER", [rows, index], [row], axis=0)
        quotient, total, half = (graph.tensor(name, SHAPE, signature=OPEN) for name in ("quotient", "total", "half"))
        graph.builtin("DIV", [x, root], [quotient])
        graph.builtin("ADD", [root, quotient], [total])
        graph.builtin("MUL", [total, graph.tensor("factor", (), value=0.5)], [half])
        graph.builtin("ADD", [half, row], [graph.output("better", SHAPE, signature=OPEN)])
        graph.outputs += [x, limit]
    return model(main, body, condition, step, signatures={"serve": 0})


@pytest.mark.parametrize("turns", [0, 1, 7])
def test_a_loop_of_known_length_is_written_out(tmp_path: Path, turns: int) -> None:
    content = square_roots(turns)
    made = generate_kernels(content, None, tmp_path, model="m", always=True)
    assert (sorted(made.kernels), made.declined) == (["Roots"], {})
    kernels: Any = load_delegate(str(made.library))
    with_kernel = Interpreter(model_content=content, experimental_delegates=[kernels]).get_signature_runner("serve")
    without = Interpreter(model_content=content).get_signature_runner("serve")
    for batch in (2, 1, 6, 2):
        x = np.random.default_rng(batch).uniform(0.5, 9, (batch, 5)).astype(np.float32)
        np.testing.assert_allclose(with_kernel(x=x)["y"], without(x=x)["y"], rtol=1e-6)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (square_roots(65), "takes more than 64 turns"),
        (square_roots(3, in_input=True), "how often a loop is run depends on the inputs"),
    ],
)
def test_other_loops_are_declined(content: bytes, reason: str) -> None:
    (bodies,) = read_bodies(content, "m").values()
    with pytest.raises(NotGenerated, match=reason):
        kernel_source("Roots", bodies, "Roots", "m")
