"""Data behind the tables: where it goes, to the byte of the limit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema

from litefuse.litert.export.buffers import MAX_FLATBUFFER, append_buffers
from litefuse.litert.runtime import model_tables as fields
from litefuse.litert.runtime.flatbuffer import root
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.litert.runtime.model_reader import Model
from tests.litert.runtime.models import Graph, model


class Weights(NamedTuple):
    """The data of a buffer, in two blocks."""

    data: bytes

    @property
    def nbytes(self) -> int:
        return len(self.data)

    def blocks(self) -> list[bytes]:
        return [self.data[:5], self.data[5:]]


VALUES = [np.arange(1000, dtype=np.float32), np.arange(1000, 2000, dtype=np.float32)]


def appended(path: Path, limit: int) -> Path:
    """A sum of an input and two weights, whose data is appended."""
    graph = Graph()
    x = graph.input("x", (1000,))
    middle, y = graph.tensor("middle", (1000,)), graph.output("y", (1000,))
    # An element stands for the data, which comes later.
    weights = [graph.tensor(name, (1000,), value=np.zeros(1, np.float32)) for name in "ab"]
    graph.builtin("ADD", [x, weights[0]], [middle])
    graph.builtin("ADD", [middle, weights[1]], [y])
    path.write_bytes(model(graph, signatures={"serve": 0}))
    data = [Weights(value.tobytes()) for value in VALUES]
    append_buffers(path, dict(zip(buffers_of(path, weights), data, strict=True)), max_flatbuffer=limit)
    return path


def buffers_of(path: Path, tensors: Sequence[int]) -> list[int]:
    loaded: Any = schema.ModelT.InitFromPackedBuf(path.read_bytes(), 0)
    return [loaded.subgraphs[0].tensors[each].buffer for each in tensors]


def test_all_data_is_behind_if_the_last_byte_exceeds_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    size = appended(path, 1 << 20).stat().st_size
    inside = path.read_bytes()
    assert not Model(inside).has_buffers_behind
    # The limit is the last byte, one before it, between the first weights and the last, and before both.
    for limit, behind in ((size, False), (size - 1, True), (size - 4000, True), (0, True)):
        content = appended(path, limit).read_bytes()
        assert Model(content).has_buffers_behind is behind, limit
        assert (content == inside) is not behind
        run = Interpreter(path).get_signature_runner()
        for _ in range(2):
            np.testing.assert_array_equal(run(x=np.ones(1000, np.float32))["y"], 1 + VALUES[0] + VALUES[1])
        for value in VALUES:
            assert content.index(value.tobytes()) % 16 == 0


@pytest.mark.parametrize(("limit", "table", "prefix"), [(1 << 20, 8, 4), (0, 24, 0)])
def test_no_more_room_than_alignment_takes(tmp_path: Path, limit: int, table: int, prefix: int) -> None:
    content = appended(tmp_path / "m.tflite", limit).read_bytes()
    first, second = (place.position for place in root(content).tables(fields.BUFFERS)[-2:])
    assert second - first == table
    data = [content.index(value.tobytes()) for value in VALUES]
    assert 0 <= data[0] - prefix - (second + table) < 16
    assert data[1] - data[0] == 4000 + 4 * prefix
    assert len(content) == data[1] + 4000


def test_the_limit_is_that_of_signed_offsets() -> None:
    assert MAX_FLATBUFFER == 2_147_483_647


def test_what_is_written_is_told_block_by_block(tmp_path: Path) -> None:
    path, told = tmp_path / "m.tflite", list[int]()
    graph = Graph()
    weights = graph.tensor("w", (1000,), value=np.zeros(1, np.float32))
    graph.builtin("NEG", [weights], [graph.output("y", (1000,))])
    path.write_bytes(model(graph))
    append_buffers(path, {buffers_of(path, [weights])[0]: Weights(VALUES[0].tobytes())}, written=told.append)
    assert told == [5, 3995]
