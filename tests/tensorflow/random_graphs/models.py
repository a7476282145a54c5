"""Models of random graphs, and what to call them with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.tensorflow.random_graphs import control_flow, elements, movements, networks, selections
from tests.tensorflow.random_graphs.graph import Graph, NoStep
from tests.tensorflow.saved_models import run_loaded

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

# They register their steps.
_MODULES = (control_flow, elements, movements, networks, selections)

_SHAPES: Sequence[tuple[int | None, ...]] = [
    *((None, 4), (None, 8), (None, None), (3, 5), (None, None, 4), (None, 6, 4), (None, 7, 6), (2, 3, 4)),
    *((None, 6, 8, 4), (None, 5, 7, 3), (None, 5, None, 3), (None, 3, 4, 2, 3), (1, 4, 4, 8), (None,), (5,), ()),
    *((None, 1, 4), (4, None, 6)),
]


def signature(seed: int) -> str:
    """The name of a graph's signature."""
    return f"graph_{seed}"


def build(tf: Any, seeds: Sequence[int], gradients: bool) -> tuple[Any, dict[str, Any]]:
    """A module with one signature for each seed; its results, or gradients of what it computes."""
    module, variables = tf.Module(), list[Any]()
    signatures = {signature(seed): _graph(tf, seed, gradients, variables, []) for seed in seeds}
    module.variables_, module.functions = variables, dict(signatures)
    return module, signatures


def run(tf: Any, path: str, seeds: Sequence[int]) -> list[list[dict[str, npt.NDArray[Any]]] | None]:
    """The outputs of each graph's calls; None where its open sizes do not fit, or TensorFlow's kernels lack something.

    Args:
        tf: The module ``tensorflow``.
        path: The SavedModel of :func:`build`, which is loaded once: no two graphs share a variable.
        seeds: The graphs.
    """
    loaded = tf.saved_model.load(path)
    found: list[list[dict[str, npt.NDArray[Any]]] | None] = []
    for seed in seeds:
        try:
            found.append(run_loaded(tf, loaded, calls(seed)))
        except (tf.errors.InvalidArgumentError, tf.errors.UnimplementedError):
            found.append(None)
    return found


def described(tf: Any, seed: int, gradients: bool) -> list[str]:
    """The steps of a graph, each with what it was applied to."""
    log: list[str] = []
    _graph(tf, seed, gradients, [], log)
    return log


def calls(seed: int) -> list[tuple[str, dict[str, npt.NDArray[Any]]]]:
    """Two calls with each of two batch sizes."""
    made: list[tuple[str, dict[str, npt.NDArray[Any]]]] = []
    for batch in (2, 2, 3, 3):
        random = np.random.default_rng([seed, batch])
        inputs = {
            name: _input(random, [batch if size is None else size for size in shape], dtype)
            for name, shape, dtype in _inputs(np.random.default_rng(seed))
        }
        made.append((signature(seed), inputs))
    return made


def _inputs(random: np.random.Generator) -> list[tuple[str, tuple[int | None, ...], str]]:
    """Name, shape and dtype of each input; an open size is the same everywhere."""
    chosen: list[tuple[str, tuple[int | None, ...], str]] = []
    for number in range(int(random.choice([1, 1, 2, 3]))):
        shape = _SHAPES[int(random.integers(len(_SHAPES)))]
        dtype = "float32" if number == 0 or random.random() < 0.5 else str(random.choice(["int32", "int64", "bool"]))
        chosen.append((f"x{number}", shape, dtype))
    return chosen


def _input(random: np.random.Generator, shape: Sequence[int], dtype: str) -> npt.NDArray[Any]:
    if dtype == "float32":
        return random.standard_normal(shape).astype(np.float32)
    return random.integers(0 if dtype == "bool" else -5, 2 if dtype == "bool" else 6, size=shape).astype(dtype)


def _graph(tf: Any, seed: int, gradients: bool, variables: list[Any], log: list[str]) -> Any:
    inputs = _inputs(np.random.default_rng(seed))

    def values_of(graph: Graph, least: int, most: int) -> list[Any]:
        made = [graph.values[0]]
        for _ in range(graph.number(least, most)):
            try:
                made.append(graph.extend(graph.pick(graph.values[-2:])))
            except NoStep:
                break
        return made

    def function(**values: Any) -> dict[str, Any]:
        graph = Graph(tf, np.random.default_rng([seed, 1]), variables, list(values.values()), log)
        if not gradients:
            made = values_of(graph, 3, 9)
            return {"last": made[-1], "any": graph.pick(made)}
        with tf.GradientTape() as tape:
            tape.watch(graph.values[0])
            floats = [tf.tanh(each) for each in values_of(graph, 2, 6) if each.dtype == tf.float32]
            loss = tf.add_n([tf.reduce_sum(each * 0.5 + tf.square(each)) for each in floats])
        return {"loss": loss, "gradient": tape.gradient(loss, values["x0"])}

    specs = {name: tf.TensorSpec(shape, dtype, name=name) for name, shape, dtype in inputs}
    return tf.function(function, autograph=False).get_concrete_function(**specs)
