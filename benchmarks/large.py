"""Memory and time of converting models with large weights: ``litefuse convert`` against ``tf.lite.TFLiteConverter``.

Run it as ``python benchmarks/large.py`` (Linux); it needs the extra ``bench``, some 12 GB of disk and of memory. Every
conversion is a fresh process, measured from its start to its end, imports included, in wall and in processor time; each
converter runs once, litefuse first. Memory is the peak over the whole process tree, sampled: ``anonymous`` is what the
processes allocate, ``all`` counts pages of mapped files as well (PSS). Each model that litefuse writes is run in
``ai_edge_litert``, and compared with numpy (large matrices) or with what the stock converter's model computes.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil
from convert import ENVIRONMENT, STOCK, machine

__all__ = ["main"]

SAMPLE_SECONDS = 0.03
# The stock converter is ended when it takes more: the machine would swap.
MEMORY_LIMIT = 12 * 10**9

MODELS = {
    "ResNet50": "102 MB, convolutions and batch normalisation",
    "InceptionV3": "95 MB, convolutions and batch normalisation",
    "encoder": "438 MB, 12 layers of a BERT-like encoder, 768 wide",
    "embedding": "1.03 GB, an embedding of 240,000 rows and a dense layer",
    "matrices": "2.5 GB, three dense layers of 839 MB",
}
# How each is made, from its name and a folder.
MAKE = """
import sys
import numpy as np
name, folder = sys.argv[1:]
random = np.random.default_rng(0)

def matrix(rows, columns):
    return random.standard_normal((rows, columns), np.float32) * np.float32(rows ** -0.5)

def encoder(keras, layers=12, width=768, heads=12, inner=3072, words=30522, length=128):
    ids = keras.Input((length,), dtype="int32")
    positions = keras.layers.Embedding(length, width)
    x = keras.layers.Embedding(words, width)(ids) + positions(np.arange(length)[None])
    x = keras.layers.LayerNormalization()(x)
    for _ in range(layers):
        y = keras.layers.MultiHeadAttention(heads, width // heads)(x, x)
        x = keras.layers.LayerNormalization()(x + y)
        y = keras.layers.Dense(width)(keras.layers.Dense(inner, activation="gelu")(x))
        x = keras.layers.LayerNormalization()(x + y)
    return keras.Model(ids, keras.layers.Dense(2)(keras.layers.GlobalAveragePooling1D()(x)))

if name in ("embedding", "matrices"):
    import tensorflow as tf

    class Model(tf.Module):
        def __init__(self):
            if name == "embedding":
                self.table = tf.Variable(matrix(240_000, 1024))
                self.weights = [tf.Variable(matrix(1024, 12_000))]
            else:
                self.weights = [tf.Variable(matrix(*shape)) for shape in ((16384, 12800), (12800, 16384)) * 2][:3]

        def __call__(self, x):
            if name == "embedding":
                x = tf.reduce_mean(tf.gather(self.table, x), axis=1)
            for weight in self.weights:
                x = tf.nn.relu(x @ weight)
            return {"y": x}

    model = Model()
    kind = tf.TensorSpec([None, 16], tf.int32) if name == "embedding" else tf.TensorSpec([None, 16384])
    tf.saved_model.save(model, folder, tf.function(model.__call__, input_signature=[kind]))
    inputs = random.integers(0, 240_000, (2, 16)) if name == "embedding" else random.standard_normal((2, 16384))
    inputs = inputs.astype(kind.dtype.as_numpy_dtype)
    x = model.table.numpy()[inputs].mean(axis=1) if name == "embedding" else inputs
    for weight in model.weights:
        x = np.maximum(x @ weight.numpy(), 0)
    np.savez(folder + "/expected.npz", inputs=inputs, outputs=x)
else:
    import keras
    keras.utils.set_random_seed(0)
    model = encoder(keras) if name == "encoder" else getattr(keras.applications, name)(weights=None)
    model.export(folder, verbose=False)
    shape = [2, *model.inputs[0].shape[1:]]
    inputs = random.integers(0, 30522, shape) if name == "encoder" else random.uniform(0, 255, shape)
    np.savez(folder + "/expected.npz", inputs=inputs.astype(np.int32 if name == "encoder" else np.float32))
"""
# Runs a model and prints the largest error, relative to the largest value that is expected.
RUN = """
import sys
import numpy as np
from ai_edge_litert.interpreter import Interpreter

def run(path, inputs):
    runner = Interpreter(model_path=path).get_signature_runner()
    (name,) = runner.get_input_details()
    first, second = (list(runner(**{name: inputs}).values())[0].copy() for _ in range(2))
    assert np.array_equal(first, second)
    return first

ours, theirs, folder = sys.argv[1:]
values = np.load(folder + "/expected.npz")
expected = values["outputs"] if "outputs" in values else run(theirs, values["inputs"])
print(float(np.abs(run(ours, values["inputs"]) - expected).max() / np.abs(expected).max()))
"""


@dataclass(frozen=True)
class Run:
    """One conversion.

    Attributes:
        seconds: From the start of the process to its end.
        cpu_seconds: Processor time of the process tree: what counts where other work is going on.
        anonymous_bytes: Largest anonymous memory of the process tree that was seen.
        all_bytes: Largest proportional set size of the tree, mapped files included.
        output_bytes: Size of the model; 0 if there is none.
        failure: Why there is none.
    """

    seconds: float
    cpu_seconds: float
    anonymous_bytes: int
    all_bytes: int
    output_bytes: int
    failure: str = ""


@dataclass(frozen=True)
class Comparison:
    """Both converters on one model.

    Attributes:
        model: Its name.
        litefuse: What litefuse needed.
        stock: What the stock converter needed.
        error: The largest relative error of what litefuse wrote.
    """

    model: str
    litefuse: Run
    stock: Run
    error: float


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print the table, write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=tuple(MODELS), default=tuple(MODELS), metavar="NAME")
    parser.add_argument("--folder", type=Path, help="where models are made and kept (default: a temporary folder)")
    parser.add_argument("--json", type=Path, default=Path("benchmark_large.json"), help="where the numbers go")
    options = parser.parse_args(arguments)
    comparisons: list[Comparison] = []
    with tempfile.TemporaryDirectory(prefix="litefuse-benchmark-") as temporary:
        folder = options.folder or Path(temporary)
        for model in options.models:
            print(f"{model} ...", flush=True, file=sys.stderr)
            comparisons.append(compare(model, folder))
            print(document(comparisons[-1:]), flush=True, file=sys.stderr)
    print(document(comparisons))
    results = {"machine": machine(), "models": [asdict(comparison) for comparison in comparisons]}
    options.json.write_text(json.dumps(results, indent=2) + "\n")


def compare(model: str, folder: Path) -> Comparison:
    """Make one model, if it is not there, and run both converters on it."""
    source = folder / model
    if not (source / "expected.npz").exists():
        call(MAKE, model, str(source))
    ours, theirs = folder / f"{model}.litefuse.tflite", folder / f"{model}.stock.tflite"
    litefuse = measure([sys.executable, "-m", "litefuse", "convert", str(source), "-o", str(ours), "-q"], ours)
    if litefuse.failure:
        raise SystemExit(f"litefuse failed on {model}:\n{litefuse.failure}")
    stock = measure([sys.executable, "-c", STOCK, str(source), str(theirs)], theirs)
    error = float(call(RUN, str(ours), str(theirs), str(source)))
    for path in (ours, theirs):
        path.unlink(missing_ok=True)
    return Comparison(model, litefuse, stock, error)


def call(program: str, *arguments: str) -> str:
    """What a Python program prints, run in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        check=False,
        env=os.environ | ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise SystemExit(f"{arguments} failed:\n{done.stderr[-4000:]}")
    return done.stdout


def measure(command: Sequence[str], output: Path) -> Run:
    """Run one conversion to its end, or until it takes more memory than the limit."""
    output.unlink(missing_ok=True)
    with tempfile.TemporaryFile() as log:
        start, cpu = time.perf_counter(), cpu_seconds()
        child = subprocess.Popen(command, env=os.environ | ENVIRONMENT, stdout=log, stderr=subprocess.STDOUT)
        root = psutil.Process(child.pid)
        anonymous = everything = 0
        failure = ""
        while True:
            try:
                child.wait(timeout=SAMPLE_SECONDS)
                break
            except subprocess.TimeoutExpired:
                now_anonymous, now_all = tree_bytes(root)
                anonymous, everything = max(anonymous, now_anonymous), max(everything, now_all)
                if everything > MEMORY_LIMIT and not failure:
                    failure = f"ended at {MEMORY_LIMIT / 1e9:.0f} GB of memory"
                    child.kill()
        seconds, cpu = time.perf_counter() - start, cpu_seconds() - cpu
        if not output.exists() or child.returncode != 0:
            log.seek(0)
            failure = failure or log.read().decode(errors="replace").strip()[-4000:] or f"exit code {child.returncode}"
            return Run(seconds, cpu, anonymous, everything, 0, failure)
    return Run(seconds, cpu, anonymous, everything, output.stat().st_size)


def cpu_seconds() -> float:
    """Processor time of all children that have ended, and of theirs."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def tree_bytes(root: Any) -> tuple[int, int]:
    """Anonymous and proportional memory of a process and of all that it started, now."""
    anonymous = everything = 0
    try:
        processes = [root, *root.children(recursive=True)]
    except psutil.Error:
        return 0, 0
    for process in processes:
        try:
            lines = Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines()[1:]
        except OSError:  # it ended meanwhile
            continue
        sizes = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines}
        anonymous += sizes.get("Anonymous", 0)
        everything += sizes.get("Pss", 0)
    return anonymous, everything


def document(comparisons: Sequence[Comparison]) -> str:
    """The results as a Markdown table."""
    lines = [
        "| Model | | time | processor time | anonymous memory | all memory | file | error |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for each in comparisons:
        for name, run in (("litefuse", each.litefuse), ("TFLiteConverter", each.stock)):
            first = f"{each.model}: {MODELS[each.model]}" if name == "litefuse" else ""
            size = f"{run.output_bytes / 1e6:,.1f} MB" if run.output_bytes else run.failure.splitlines()[-1][:80]
            error = f"{each.error:.1g}" if name == "litefuse" else ""
            lines.append(
                f"| {first} | {name} | {run.seconds:.1f} s | {run.cpu_seconds:.1f} s "
                f"| {run.anonymous_bytes / 1e6:,.0f} MB | {run.all_bytes / 1e6:,.0f} MB | {size} | {error} |"
            )
        ratio = each.stock.seconds / each.litefuse.seconds
        cpu = each.stock.cpu_seconds / each.litefuse.cpu_seconds
        anonymous = each.stock.anonymous_bytes / each.litefuse.anonymous_bytes
        everything = each.stock.all_bytes / each.litefuse.all_bytes
        lines.append(f"| | **ratio** | {ratio:.1f} | {cpu:.1f} | {anonymous:.1f} | {everything:.1f} | | |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
