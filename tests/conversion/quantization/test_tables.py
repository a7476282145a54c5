"""Tables that rows are gathered from are looked up in, and tensors of one buffer have one shape."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import litefuse
from litefuse.conversion.quantization.tables import look_rows_up, separate_shapes
from litefuse.errors import LitefuseError
from litefuse.litert.export.edited_file import edit_file
from litefuse.litert.inspection.litert_model import inspect_litert_model
from litefuse.litert.runtime.interpreter import Interpreter
from tests.conversion.quantization.models import saved
from tests.litert.runtime.models import Graph

TABLE = np.random.default_rng(1).normal(size=(300, 8)).astype(np.float32)


def gathering(
    sizes: tuple[int, ...],
    dtype: Any = np.int32,
    *,
    table: Any = TABLE,
    axis: int = 0,
    batch_dims: int = 0,
    name: str = "y",
) -> Graph:
    graph, shape = Graph(), [max(size, 1) if size else 0 for size in sizes]
    ids = graph.input("ids", shape, dtype, signature=sizes if -1 in sizes else None)
    result = [*shape, *table.shape[1:]] if not axis else [*table.shape[:1], *shape]
    y = graph.output(name, result, table.dtype, signature=[*sizes, *table.shape[1:]] if -1 in sizes else None)
    operand = graph.tensor("table", table.shape, table.dtype, value=table)
    graph.builtin("GATHER", [operand, ids], [y], axis=axis, batchDims=batch_dims)
    return graph


def rows(path: Path, ids: Any) -> Any:
    runner = Interpreter(path).get_signature_runner()
    both: list[Any] = [next(iter(runner(ids=ids).values())).copy() for _ in range(2)]
    first, second = both
    np.testing.assert_array_equal(first, second)
    return first


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize(
    ("sizes", "calls"),
    [
        ((), [()]),
        ((4,), [(4,)]),
        ((2, 3), [(2, 3)]),
        ((-1,), [(3,), (1,), (0,)]),
        ((-1, 3), [(2, 3), (0, 3), (1, 3)]),
        ((-1, -1), [(2, 3), (4, 1), (1, 2)]),
        ((-1, 2, -1), [(2, 2, 3), (1, 2, 1)]),
        ((0, 3), [(0, 3)]),
    ],
)
def test_rows_are_the_same(tmp_path: Path, sizes: tuple[int, ...], calls: list[tuple[int, ...]], dtype: Any) -> None:
    path = saved(tmp_path / "model.tflite", gathering(sizes, dtype, name="größe/y"))
    assert edit_file(path, look_rows_up)
    counts = inspect_litert_model(path).op_counts
    assert (counts["EMBEDDING_LOOKUP"], counts.get("GATHER", 0)) == (1, 0)
    assert ("RESHAPE" in counts) == (len(sizes) != 1)
    assert ("SHAPE" in counts) == (sizes.count(-1) > 1)
    for shape in calls:
        ids = np.random.default_rng(2).integers(0, len(TABLE), shape).astype(dtype)
        np.testing.assert_array_equal(rows(path, ids), TABLE[ids])


@pytest.mark.parametrize(
    "graph",
    [
        gathering((3,), axis=1),
        gathering((300, 3), batch_dims=1),
        gathering((3,), table=np.ones((9, 2), np.int32)),
        gathering((3,), table=np.ones(9, np.float32)),
        gathering((3,), table=np.ones((9, 2, 2), np.float32)),
    ],
)
def test_what_is_gathered_as_before(tmp_path: Path, graph: Graph) -> None:
    path = saved(tmp_path / "model.tflite", graph)
    assert not edit_file(path, look_rows_up)


def test_what_is_kept_is_gathered(tmp_path: Path) -> None:
    path = saved(tmp_path / "model.tflite", gathering((3,)))
    assert not edit_file(path, partial(look_rows_up, kept={"y"}))
    kept = litefuse.quantize(path, litefuse.Quantization("weights", keep_float_ops=["GATHER"]))
    assert kept.report.op_counts == {"GATHER": 1}
    named = {"regex": ".*", "operation": "GATHER", "algorithm_key": "no_quantize"}
    assert litefuse.quantize(path, litefuse.Quantization(recipe=[named])).report.op_counts == {"GATHER": 1}
    lookup = {**named, "operation": "EMBEDDING_LOOKUP"}
    assert litefuse.quantize(path, litefuse.Quantization(recipe=[lookup])).report.op_counts == {"EMBEDDING_LOOKUP": 1}
    with pytest.raises(LitefuseError, match="the model has no op 'SOFTMAX'"):
        litefuse.quantize(path, litefuse.Quantization("weights", keep_float_ops=["SOFTMAX"]))


def test_one_buffer_for_each_shape(tmp_path: Path) -> None:
    graph = Graph()
    x = graph.input("x", [1, 8])
    tensors = [graph.tensor(name, [16, 8], value=np.ones((16, 8))) for name in ("a", "b")]
    reshaped = [graph.tensor(name, [8, 16], value=np.ones((8, 16))) for name in ("c", "d")]
    y = [graph.output(f"y{number}", [1, 16]) for number in range(2)]
    for weights, result in zip(tensors, y, strict=True):
        graph.builtin("FULLY_CONNECTED", [x, weights, -1], [result])
    for weights, operand in zip(reshaped, y, strict=True):
        graph.builtin("FULLY_CONNECTED", [operand, weights, -1], [graph.output(f"z{weights}", [1, 8])])
    path = saved(tmp_path / "model.tflite", graph)

    def share(model: Any) -> bool:
        for index in (*tensors, *reshaped):
            model.subgraphs[0].tensors[index].buffer = model.subgraphs[0].tensors[tensors[0]].buffer
        return True

    buffers = list[list[int]]()

    def read(model: Any) -> bool:
        buffers.append([model.subgraphs[0].tensors[index].buffer for index in (*tensors, *reshaped)])
        return False

    edit_file(path, share)
    expected = Interpreter(path).get_signature_runner()(x=np.ones((1, 8), np.float32))
    edit_file(path, separate_shapes)
    edit_file(path, read)
    ((a, b, c, d),) = buffers
    assert (a, c) == (b, d)
    assert a != c
    actual = Interpreter(path).get_signature_runner()(x=np.ones((1, 8), np.float32))
    for name, value in expected.items():
        np.testing.assert_array_equal(actual[name], value)
    assert not edit_file(path, separate_shapes)
