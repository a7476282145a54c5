"""Weights that stay mapped until they are written: the same ops, the same numbers, little memory."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from litefuse.conversion.job import ConversionJob
from litefuse.support.processes.process import run_in_worker
from tests.tensorflow import language_models
from tests.tensorflow.checking import difference, normal, op_counts, op_histogram, run_calls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.tensorflow.process import Arrays, TensorFlow


def convert(path: Path, output: Path, mapped_from: int) -> bytes:
    run_in_worker("litefuse.conversion.run:run_job", ConversionJob(path, output, mapped_from=mapped_from))
    return output.read_bytes()


def check_both_routes(
    tensorflow: TensorFlow,
    path: Path,
    inputs: Sequence[Arrays],
    folder: Path,
    signatures: Sequence[str] = ("serving_default",),
    most_folded: int = 0,
) -> bytes:
    """Convert with all weights mapped and with none, compare the models' ops, and their results with TensorFlow's."""
    mapped = convert(path, folder / "mapped.tflite", 0)
    known = convert(path, folder / "known.tflite", 1 << 60)
    assert op_histogram(mapped) - op_histogram(known) == Counter()  # mapped ones take factors of normalizations, too
    assert op_histogram(known).total() - op_histogram(mapped).total() <= most_folded
    assert len(mapped) <= 1.01 * len(known) + 4096
    calls = [(signature, each) for signature in signatures for each in inputs for _ in range(2)]
    expected = tensorflow.run_calls(path, calls)
    for model in (mapped, known):
        for found, wanted in zip(run_calls(model, calls), expected, strict=True):
            assert found.keys() == wanted.keys()
            for name, value in wanted.items():
                assert not difference(found[name], value, rtol=1e-5), name
    return mapped


def randomized(model: Any) -> Any:
    """A Keras model with nothing that is 0 or 1 everywhere, which could hide a mistake."""
    random = np.random.default_rng(3)
    for weight in model.weights:
        if len(weight.shape) <= 1:
            weight.assign(random.uniform(0.5, 1.5, weight.shape))
    return model


def image_model(tf: Any) -> Any:
    layers = tf.keras.layers
    image = tf.keras.Input((16, 16, 4), name="x")
    x = layers.Rescaling(0.5, offset=-1.0)(image)
    x = layers.Conv2D(16, 3, strides=2, padding="valid", use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    x = layers.ReLU(6.0)(x)
    x = layers.DepthwiseConv2D(3, padding="same")(x)
    x = layers.BatchNormalization()(x)
    x = layers.ReLU()(x)
    x = layers.Conv2D(16, 3, dilation_rate=2, groups=2, padding="same")(x)
    x = layers.BatchNormalization()(x)
    x = layers.Conv2DTranspose(8, 3, strides=2)(x)
    x = layers.BatchNormalization()(x)
    x = layers.ReLU()(x)
    x = layers.SeparableConv2D(8, 3, activation="relu")(x)
    x = layers.Flatten()(x)
    x = layers.Dense(12)(x)
    x = layers.BatchNormalization()(x)
    return randomized(tf.keras.Model(image, layers.Dense(5, activation="softmax")(x)))


def test_convolutions(tensorflow: TensorFlow, tmp_path: Path) -> None:
    model = check_both_routes(tensorflow, tensorflow.save(image_model), normal({"x": (None, 16, 16, 4)}), tmp_path)
    # TRANSPOSE_CONV stands between ops that compute the size of its result.
    assert not {"MUL", "SUB", "TRANSPOSE"} & {name for name in op_counts(model) if op_counts(model)[name] > 2}


def encoder_model(tf: Any) -> Any:
    layers = tf.keras.layers
    ids = tf.keras.Input((6,), dtype="int32", name="x")
    x = layers.Embedding(40, 16)(ids)
    x = layers.LayerNormalization()(x)
    x = x + layers.MultiHeadAttention(2, 8)(x, x)
    y = layers.LayerNormalization()(x)
    x = x + layers.Dense(16)(layers.Dense(32, activation="relu")(y))
    x = layers.EinsumDense("abc,cd->abd", output_shape=(None, 24), bias_axes="d")(x)
    return randomized(tf.keras.Model(ids, layers.GRU(8)(x)))


def test_encoder(tensorflow: TensorFlow, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    inputs = [{"x": random.integers(0, 40, (batch, 6)).astype(np.int32)} for batch in (1, 3, 1)]
    check_both_routes(tensorflow, tensorflow.save(encoder_model), inputs, tmp_path, most_folded=3)


def shared_weights(tf: Any) -> Any:
    random = np.random.default_rng(2)
    module = tf.Module()
    module.table = tf.Variable(random.standard_normal((50, 16)).astype(np.float32))
    module.square = tf.Variable(random.standard_normal((16, 16)).astype(np.float32) / 4)
    module.scale = tf.Variable(random.uniform(0.5, 1.5, 16).astype(np.float32))
    specification = [tf.TensorSpec([None, 3], tf.int32, name="x")]

    @tf.function(input_signature=specification)
    def encode(x: Any) -> Any:
        y = tf.reduce_sum(tf.gather(module.table, x), axis=1)
        y = tf.nn.relu((y @ module.square) * module.scale) @ module.square
        return {"y": tf.matmul(y, module.table, transpose_b=True)}

    @tf.function(input_signature=specification)
    def repeat(x: Any) -> Any:
        y = tf.gather(module.table, x[:, 0])
        for _ in tf.range(3):
            y = tf.tanh(tf.matmul(y, module.square, transpose_b=True))
        return {"y": y, "row": module.table[2] + tf.reduce_sum(tf.abs(module.square))}

    module.encode, module.repeat = encode, repeat
    return module, {"encode": encode, "repeat": repeat}


def test_shared_weights_of_two_signatures(tensorflow: TensorFlow, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    inputs = [{"x": random.integers(0, 50, (batch, 3)).astype(np.int32)} for batch in (1, 3, 1)]
    check_both_routes(tensorflow, tensorflow.save(shared_weights), inputs, tmp_path, ("encode", "repeat"))


def other_dtypes(tf: Any) -> Any:
    random = np.random.default_rng(2)
    module = tf.Module()
    module.flag = tf.Variable(True)  # whatever comes after it in the checkpoint is aligned to nothing
    module.half = tf.Variable(random.standard_normal((4, 8)), dtype=tf.float16)
    module.brain = tf.Variable(tf.constant(random.standard_normal((8, 8)), tf.bfloat16))
    module.integers = tf.Variable(random.integers(0, 20, (30, 4)), dtype=tf.int64)
    module.zeros = tf.Variable(tf.zeros([8]))  # the engine makes mistakes with such factors
    module.bytes = tf.Variable(random.integers(-9, 9, (20, 8)), dtype=tf.int8)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32, name="x")])
    def serve(x: Any) -> Any:
        ids = tf.gather(module.integers, x)
        y = tf.cast(ids, tf.float32) @ tf.cast(module.half, tf.float32)
        y = tf.where(module.flag, y, 0.0) @ tf.cast(module.brain, tf.float32)
        return {"y": y, "bytes": tf.gather(module.bytes, x), "zeros": y * module.zeros}

    module.serve = serve
    return module, {"serving_default": serve}


def test_other_dtypes(tensorflow: TensorFlow, tmp_path: Path) -> None:
    inputs = [{"x": np.arange(batch, dtype=np.int32) * 3} for batch in (1, 3, 1)]
    check_both_routes(tensorflow, tensorflow.save(other_dtypes), inputs, tmp_path)


def written_variable(tf: Any) -> Any:
    module = tf.Module()
    module.memory = tf.Variable(np.random.default_rng(2).standard_normal((8, 4)).astype(np.float32))

    @tf.function(input_signature=[tf.TensorSpec([None, 8], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        y = x @ module.memory
        module.memory.assign(0.5 * module.memory + 1.0)
        return {"y": y}

    module.serve = serve
    return module, {"serving_default": serve}


def test_a_written_variable_starts_mapped(tensorflow: TensorFlow, tmp_path: Path) -> None:
    model = check_both_routes(tensorflow, tensorflow.save(written_variable), normal({"x": (None, 8)}), tmp_path)
    assert op_counts(model)["CALL_ONCE"] == 1


def large_table(tf: Any, rows: int, dtype: str) -> Any:
    module = tf.Module()
    module.table = tf.Variable(tf.zeros([rows, 256], dtype))
    module.kernel = tf.Variable(tf.random.normal([256, 4096]))

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32, name="x")])
    def serve(x: Any) -> Any:
        return {"y": tf.cast(tf.gather(module.table, x), tf.float32) @ module.kernel}

    module.serve = serve
    return module, {"serving_default": serve}


reads_proc = pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")


@reads_proc
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])  # which is widened
def test_memory_does_not_grow_with_the_weights(tensorflow: TensorFlow, tmp_path: Path, dtype: str) -> None:
    peaks: list[int] = []
    for rows in (256, 1 << 17):  # 134 MB
        path, output = tensorflow.save(large_table, rows, dtype), tmp_path / f"{rows}.tflite"
        peaks.append(litefuse_peak("convert", path, "-o", output, "--dtypes", "widen"))
        assert output.stat().st_size > rows * 1024 + 4 * 256 * 4096
    # A busy machine may have the sampling miss some of the first one's peak, but not half of the table that is more.
    assert peaks[0] > 10 << 20
    assert peaks[1] < peaks[0] + (1 << 17) * 1024 // 2


_WRITE_PARTS = """
import sys
from pathlib import Path
from litefuse.frontends.language_models.files import PartsJob, write_parts
if __name__ == "__main__":
    write_parts(sys.argv[1], PartsJob(Path(sys.argv[2]), None, (8,), None), print)
"""


@reads_proc
def test_a_language_model_in_a_file_is_in_memory_once(tensorflow: TensorFlow, tmp_path: Path) -> None:
    peaks: list[int] = []
    for layers in (1, 6):
        path, folder = tmp_path / f"{layers}.keras", tmp_path / str(layers)
        folder.mkdir()
        tensorflow.call(language_models.save_large, str(path), layers)
        peaks.append(peak_anonymous_bytes([sys.executable, "-c", _WRITE_PARTS, str(path), str(folder)]))
    weights = path.stat().st_size - (tmp_path / "1.keras").stat().st_size
    assert weights > 120e6
    assert peaks[1] - peaks[0] < 1.3 * weights


def litefuse_peak(*arguments: object) -> int:
    return peak_anonymous_bytes([sys.executable, "-m", "litefuse", *map(str, arguments)])


def peak_anonymous_bytes(command: Sequence[str]) -> int:
    """The largest anonymous memory of a process and its children that is seen, sampled."""
    peak = 0
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        total = 0
        for pid in (str(process.pid), *children(process.pid)):
            try:
                lines = Path(f"/proc/{pid}/status").read_text().splitlines()
            except OSError:  # it ended meanwhile
                continue
            total += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon"))
        peak = max(peak, total)
        time.sleep(0.002)
    assert process.returncode == 0
    return peak


def children(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
