"""The order of the outputs of Keras 2 models, in metadata that may be anything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from litefuse.frontends.saved_model import load
from litefuse.frontends.saved_model.argument_order import output_names
from litefuse.frontends.saved_model.messages import KerasMetadata, KerasObject
from tests.frontends.saved_model import model_writer


def written(folder: Path, layers: Any) -> Path:
    config = json.dumps({"config": {"output_layers": layers}})
    nodes = [KerasObject(node_id=3, metadata="{}"), KerasObject(metadata=config)]
    (folder / "keras_metadata.pb").write_bytes(KerasMetadata(nodes=nodes).SerializeToString())
    return folder.resolve()


CASES: list[tuple[Any, tuple[str, ...]]] = [
    ([["z", 0, 0], ["a", 0, 0]], ("z", "a")),
    ([["z", 0, 0], ["a", 0, 0], ["z", 1, 0], ["z", 2, 0]], ("z", "a", "z_1", "z_2")),
    ([["z", 0, 0], ["z_1", 0, 0], ["z", 1, 0]], ("z", "z_1", "z_2")),
    ({"z": ["late", 0, 0], "a": ["über", 0, 0]}, ("über", "late")),
    (["z", 0, 0], ()),
    ({"a": {"b": ["z", 0, 0]}}, ()),
    ([[["z", 0, 0]]], ()),
    ([[]], ()),
    (None, ()),
]


@pytest.mark.parametrize(("layers", "names"), CASES)
def test_names(tmp_path: Path, layers: Any, names: tuple[str, ...]) -> None:
    assert output_names(written(tmp_path, layers)) == names


@pytest.mark.parametrize(
    "content", [b"", b"\xff" * 9, b"\x0a\x02\x2a\x00", b"\x0a\x04\x2a\x02[]", b"\x0a\x03\x2a\x01{"]
)
def test_damaged_metadata(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "keras_metadata.pb").write_bytes(content)
    assert output_names(tmp_path.resolve()) == ()


def test_metadata_that_are_elsewhere_or_nested_too_deep(tmp_path: Path) -> None:
    folder, other = tmp_path / "model", tmp_path / "other"
    folder.mkdir()
    other.mkdir()
    assert output_names(folder) == ()
    written(other, [["z", 0, 0], ["a", 0, 0]])
    (folder / "keras_metadata.pb").symlink_to(other / "keras_metadata.pb")
    assert output_names(folder.resolve()) == ()
    nodes = [KerasObject(metadata="[" * 200_000)]
    (other / "keras_metadata.pb").write_bytes(KerasMetadata(nodes=nodes).SerializeToString())
    assert output_names(other) == ()


def test_metadata_that_are_too_large(tmp_path: Path) -> None:
    """A field that nobody knows makes the file a byte larger than the limit; nothing is read."""
    file = written(tmp_path, [["z", 0, 0]]) / "keras_metadata.pb"
    size = 2**28
    lengths = [size >> 7 * place & 0x7F | (0x80 if place < 4 else 0) for place in range(5)]
    with file.open("ab") as end:
        end.write(bytes([15 << 3 | 2, *lengths]))
        end.truncate(end.tell() + size)
    assert output_names(tmp_path.resolve()) == ()


def test_outputs_of_the_signature_of_keras_have_the_order_of_the_model(tmp_path: Path) -> None:
    proto = model_writer.saved_model()
    graph = proto.meta_graphs[0]
    graph.signature_def["other"].CopyFrom(graph.signature_def["serving_default"])
    graph.object_graph_def.nodes[4].children.append(model_writer.Reference(node_id=6, local_name="other"))
    folder = model_writer.write(tmp_path, proto)

    def outputs(key: str, *layers: str) -> list[tuple[str, int]]:
        written(folder, [[layer, 0, 0] for layer in layers])
        signature = load(folder).signature(key)
        return [(spec.name, index) for spec, index in zip(signature.outputs, signature.output_indices, strict=True)]

    own = [("b", 0), ("twin", 1), ("y", 1)]
    assert outputs("serving_default", "y", "b", "twin") == [("y", 1), ("b", 0), ("twin", 1)]
    assert outputs("other", "y", "b", "twin") == own
    assert outputs("serving_default", "y", "b", "another") == own
    assert outputs("serving_default", "y", "b") == own
    assert outputs("other", "y", "b") == own
