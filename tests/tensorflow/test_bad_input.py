"""Input that cannot be converted: an error that says so, from Python and on the command line, never anything else."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.errors import CheckpointError, LitefuseError, SavedModelError, SignatureError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.tensorflow.process import TensorFlow


def dense(tf: Any) -> Any:
    random = np.random.default_rng(1)
    module = tf.Module()
    module.kernel = tf.Variable(random.standard_normal([16, 8]).astype(np.float32), name="kernel")
    multiply = tf.function(lambda x, kernel: tf.nn.relu(tf.matmul(x, kernel)), autograph=False)  # pyright: ignore[reportUnknownLambdaType]

    @tf.function(input_signature=[tf.TensorSpec([None, 16], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        return {"y": multiply(multiply(x, module.kernel), tf.transpose(module.kernel))}

    module.infer = serve
    return module, {"serving_default": serve}


def table_from_a_file(tf: Any, vocabulary: str) -> Any:
    initializer = tf.lookup.TextFileInitializer(
        vocabulary, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER
    )
    module = tf.Module()
    module.table = tf.lookup.StaticHashTable(initializer, -1)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="words")])
    def serve(words: Any) -> Any:
        return {"ids": module.table.lookup(words)}

    module.infer = serve
    return module, {"serving_default": serve}


def edit(tf: Any, path: str, change: Callable[[Any], None]) -> None:
    """Change the message in ``saved_model.pb``."""
    del tf
    from tensorflow.core.protobuf import (  # pyright: ignore[reportMissingImports]
        saved_model_pb2,  # pyright: ignore[reportUnknownVariableType]
    )

    message: Any = saved_model_pb2.SavedModel()
    with open(f"{path}/saved_model.pb", "rb") as file:  # noqa: PTH123
        message.ParseFromString(file.read())
    change(message)
    with open(f"{path}/saved_model.pb", "wb") as file:  # noqa: PTH123
        file.write(message.SerializeToString())


def make_every_call_recursive(message: Any) -> None:
    calls = 0
    for function in message.meta_graphs[0].graph_def.library.function:
        for node in function.node_def:
            if node.op in ("PartitionedCall", "StatefulPartitionedCall") and "serve" in function.signature.name:
                node.attr["f"].func.name = function.signature.name
                calls += 1
    assert calls


def move_assets_outside(message: Any) -> None:
    graph = message.meta_graphs[0]
    assert len(graph.asset_file_def) == 1
    graph.asset_file_def[0].filename = "../../outside.txt"
    for node in graph.object_graph_def.nodes:
        if node.WhichOneof("kind") == "asset":
            node.asset.asset_file_def_index = 0


@pytest.fixture
def copied(tensorflow: TensorFlow, tmp_path: Path) -> Path:
    """A SavedModel of a small network that a test may damage."""
    return shutil.copytree(tensorflow.save(dense), tmp_path / "model")


def truncate(path: Path, size: int) -> None:
    path.write_bytes(path.read_bytes()[:size])


def flip(path: Path, byte: int, bit: int = 0) -> None:
    content = bytearray(path.read_bytes())
    content[byte] ^= 1 << bit
    path.write_bytes(content)


def shard(folder: Path) -> Path:
    (file,) = folder.glob("variables/variables.data-*")
    return file


DAMAGES: dict[str, tuple[Callable[[Path], object], type[LitefuseError]]] = {
    "half a graph": (lambda path: truncate(path / "saved_model.pb", 3000), SavedModelError),
    "empty graph file": (lambda path: truncate(path / "saved_model.pb", 0), SavedModelError),
    "text for a graph": (lambda path: (path / "saved_model.pb").write_text("not a graph\n" * 50), SavedModelError),
    "no graph file": (lambda path: (path / "saved_model.pb").unlink(), SavedModelError),
    "graph file is a folder": (
        lambda path: ((path / "saved_model.pb").unlink(), (path / "saved_model.pb").mkdir()),
        SavedModelError,
    ),
    "no shard": (lambda path: shard(path).unlink(), CheckpointError),
    "short shard": (lambda path: truncate(shard(path), 100), CheckpointError),
    "empty shard": (lambda path: truncate(shard(path), 0), CheckpointError),
    "changed weight": (lambda path: flip(shard(path), 40), CheckpointError),
    "no index": (lambda path: (path / "variables" / "variables.index").unlink(), CheckpointError),
    "short index": (lambda path: truncate(path / "variables" / "variables.index", 60), CheckpointError),
    "changed index": (lambda path: flip(path / "variables" / "variables.index", 20), CheckpointError),
    "no variables": (lambda path: shutil.rmtree(path / "variables"), CheckpointError),
}


def convert_on_the_command_line(model: Path, output: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "litefuse", "convert", str(model), "-o", str(output), *options],
        capture_output=True,
        text=True,
        timeout=120,
    )


def assert_refused_everywhere(
    path: Path, error: type[LitefuseError], match: str | None = None, *, signatures: list[str] | None = None
) -> None:
    """Python raises ``error``; the command line says the same on stderr, exits with 1 and writes nothing."""
    with pytest.raises(error, match=match) as caught:
        litefuse.convert(path, signatures=signatures)
    assert caught.value.message
    output = path.parent / "out.tflite"
    options = [option for name in signatures or [] for option in ("--signature", name)]
    ended = convert_on_the_command_line(path, output, *options)
    assert ended.returncode == 1, ended
    assert "Traceback" not in ended.stderr
    said = " ".join(ended.stderr.split())
    assert " ".join(caught.value.message.split())[:60] in said, ended.stderr
    assert said.count(" ".join(caught.value.message.split())[:60]) == 1, ended.stderr
    assert not output.exists()
    assert not list(output.parent.glob(".out.tflite*"))


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_saved_model(copied: Path, damage: str) -> None:
    litefuse.convert(copied)  # whole, it converts
    change, error = DAMAGES[damage]
    change(copied)
    assert_refused_everywhere(copied, error)


def test_unknown_signature(copied: Path) -> None:
    assert_refused_everywhere(copied, SignatureError, "no_such_signature", signatures=["no_such_signature"])


def test_signature_error_names_those_there_are(copied: Path) -> None:
    with pytest.raises(SignatureError, match="serving_default"):
        litefuse.convert(copied, signatures=["no_such_signature"])


def test_text_file(tmp_path: Path) -> None:
    path = tmp_path / "model.txt"
    path.write_text("this is not a model")
    assert_refused_everywhere(path, SavedModelError, "model.txt")


def test_empty_folder(tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.mkdir()
    assert_refused_everywhere(path, SavedModelError, "empty")


def test_missing_folder(tmp_path: Path) -> None:
    assert_refused_everywhere(tmp_path / "nowhere", SavedModelError, "nowhere")


def test_recursive_function(tensorflow: TensorFlow, copied: Path) -> None:
    tensorflow.call(edit, str(copied), make_every_call_recursive)
    assert_refused_everywhere(copied, LitefuseError, "(?i)recurs|cycle|calls itself")


def test_asset_outside_of_the_folder(tensorflow: TensorFlow, tmp_path: Path) -> None:
    vocabulary = tmp_path / "words.txt"
    vocabulary.write_text("one\ntwo\n")
    (tmp_path / "outside.txt").write_text("secret\n")
    path = shutil.copytree(tensorflow.save(table_from_a_file, str(vocabulary)), tmp_path / "models" / "model")
    tensorflow.call(edit, str(path), move_assets_outside)
    assert_refused_everywhere(path, LitefuseError, r"outside\.txt")


@pytest.mark.parametrize("seed", range(4))
def test_any_truncation_of_the_graph_is_an_error(copied: Path, seed: int) -> None:
    graph = copied / "saved_model.pb"
    content = graph.read_bytes()
    for size in np.random.default_rng(seed).integers(1, len(content) - 1, 8):
        graph.write_bytes(content[:size])
        with pytest.raises(LitefuseError):
            litefuse.convert(copied)


@pytest.mark.parametrize("seed", range(4))
def test_flipped_bits_of_the_graph_never_end_in_another_error(copied: Path, seed: int) -> None:
    graph = copied / "saved_model.pb"
    content = graph.read_bytes()
    random = np.random.default_rng(seed)
    for _ in range(8):
        graph.write_bytes(content)
        flip(graph, int(random.integers(len(content))), int(random.integers(8)))
        # A flip in a name or in a comment may do no harm.
        with contextlib.suppress(LitefuseError):
            assert litefuse.convert(copied).model_bytes[4:8] == b"TFL3"


def test_output_that_was_there_is_left_alone(copied: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.tflite"
    output.write_bytes(b"yesterday's model")
    truncate(copied / "saved_model.pb", 3000)
    assert convert_on_the_command_line(copied, output).returncode == 1
    assert output.read_bytes() == b"yesterday's model"
