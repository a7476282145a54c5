# pyright: reportUnknownLambdaType=false
"""Ops that stay in floating point where one layer is converted to integers, in litefuse's files and in stock ones.

``python -m benchmarks.integer_layers FOLDER [NAME...] [--seeds N]`` makes the models in FOLDER, with a batch of one and
of any size, converts them to int8 and int16 by TFLiteConverter, in a process of its own, and by litefuse, and prints
what computes in floating point in each file, the errors, and how many times as fast as stock's a file is, on one
thread, both called in turn. Each seed gives other weights, samples and calls, because
one draw of an error says little. What FOLDER has already is not made again.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

_FORMS = ("int8", "int16")
_BATCHES = {"static": 1, "open": None}
_GROUPS = ("vectors", "sequences", "images", "volumes", "two")
_ACTIVATIONS = (
    *("exponential", "hard_shrink", "hard_sigmoid", "hard_silu", "leaky_relu", "linear", "log_sigmoid", "relu"),
    *("relu6", "selu", "sigmoid", "softmax", "sparse_sigmoid", "tanh"),
)
_SAMPLES, _CALLS, _TOKENS = 24, 64, 200  # as many as in `integer_networks`
_SECONDS, _LONG, _MOST_INVOCATIONS = 1.0, 2e-5, 20  # of latencies: in all, of a measurement, and calls in it
# Those that compute no real numbers, or do nothing in inference.
_OMITTED = frozenset({"discretization", "dropout", "gaussian_noise", "masking", "spatial_dropout"})


def functions(tf: Any) -> Mapping[str, Any]:
    """Returns ops of TensorFlow that no layer has, on images."""
    return {
        "abs": tf.abs,
        "add_n": lambda x: tf.add_n([x, x + 1.0, x * 2.0]),
        "argmax": lambda x: tf.argmax(x, -1),
        "argmin": lambda x: tf.argmin(x, -1),
        "ceil": lambda x: tf.math.ceil(x * 3.0),
        "clip": lambda x: tf.clip_by_value(x, -0.5, 0.7),
        "constant_beside": lambda x: tf.concat([tf.ones_like(x[:, :1]) * 0.5, x], 1),
        "cos": tf.cos,
        "cumsum": lambda x: tf.cumsum(x, 2),
        "cumsum_reverse": lambda x: tf.cumsum(x, 1, exclusive=True, reverse=True),
        "depth_to_space": lambda x: tf.nn.depth_to_space(tf.concat([x, x[..., :1]], -1), 2),
        "erf": tf.math.erf,
        "exp": tf.exp,
        "expand_dims": lambda x: tf.expand_dims(x, 2),
        "floor": lambda x: tf.floor(x * 3.0),
        "floor_mod": lambda x: tf.math.floormod(x, 1.0),
        "greater": lambda x: tf.where(x > x[..., :1] * 0.5, x, x * 0.1),
        "l2_normalize": lambda x: tf.math.l2_normalize(x, -1),
        "less_equal": lambda x: tf.cast(x <= 0.3, tf.float32),
        "lgamma": lambda x: tf.math.lgamma(tf.abs(x) + 0.5),
        "log": lambda x: tf.math.log(tf.abs(x) + 0.1),
        "maximum": lambda x: tf.maximum(x, x[..., :1]),
        "minimum": lambda x: tf.minimum(x, x[..., :1]),
        "minimum_constant": lambda x: tf.minimum(x, 0.4),
        "negative": tf.negative,
        "pow": lambda x: tf.pow(tf.abs(x) + 0.1, 1.7),
        "reciprocal": lambda x: 1.0 / (tf.abs(x) + 1.0),
        "reduce_max": lambda x: tf.reduce_max(x, -1),
        "reduce_min": lambda x: tf.reduce_min(x, (1, 2)),
        "reduce_prod": lambda x: tf.reduce_prod(x, -1),
        "relu_n1_to_1": lambda x: tf.raw_ops.Maximum(x=tf.raw_ops.Minimum(x=x, y=1.0), y=-1.0),
        "repeat": lambda x: tf.repeat(x, 3, 1),
        "reverse": lambda x: tf.reverse(x, [2]),
        "round": lambda x: tf.round(x * 3.0),
        "rsqrt": lambda x: tf.math.rsqrt(tf.abs(x) + 0.5),
        "sign": tf.sign,
        "sin": tf.sin,
        "space_to_batch": lambda x: tf.space_to_batch(x, [2, 2], [[0, 0], [0, 0]]),
        "space_to_depth": lambda x: tf.nn.space_to_depth(x, 2),
        "split": lambda x: tf.concat(tf.split(x, [4, 8], 1)[::-1], 1),
        "sqrt": lambda x: tf.sqrt(tf.abs(x) + 0.01),
        "square": tf.square,
        "squared_difference": lambda x: tf.math.squared_difference(x, x[..., :1]),
        "tile": lambda x: tf.tile(x, [1, 2, 1, 3]),
        "top_k": lambda x: tf.math.top_k(x, 2)[0],
        "where": lambda x: tf.where(x > 0.0, x, tf.zeros_like(x)),
    }


def make(folder: Path, names: Sequence[str], seeds: int) -> None:
    """Writes, for each layer, batch and seed, the SavedModel, samples, calls with the outputs, and stock files."""
    os.environ |= {"CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"}
    tf: Any = importlib.import_module("tensorflow")
    known: Any = importlib.import_module("tests.tensorflow.keras_layers")
    for name, shapes, apply in _layers(tf, known):
        if names and name not in names:
            continue
        for (batch, size), seed in itertools.product(_BATCHES.items(), range(seeds)):
            case = folder / f"{name}.{batch}.{seed}"
            if not (case / "done").exists():
                _write(tf, case, shapes, apply, size, seed)


def _layers(tf: Any, known: Any) -> Iterator[tuple[str, tuple[tuple[int, ...], ...], Any]]:
    """Yields names, shapes of inputs and functions, whose layers are made when they are called first."""
    keras: Any = importlib.import_module("keras")
    for group in _GROUPS:
        shapes = tuple(shape for shape, _ in known.INPUTS[group])
        for name, layer in known.GROUPS[group].items():
            if name not in _OMITTED:
                yield f"{group}.{name}", shapes, lambda layer=layer: layer(keras)
    for name in _ACTIVATIONS:
        yield f"activations.{name}", ((12,),), lambda name=name: keras.layers.Activation(name)
    for name, function in functions(tf).items():
        yield f"functions.{name}", ((12, 10, 3),), lambda function=function: function
    kinds: Any = importlib.import_module("benchmarks.integer_networks")
    for name, network in kinds.networks(keras).items():
        yield f"networks.{name}", (kinds.SHAPES.get(name, kinds.IMAGE),), network


def _write(tf: Any, case: Path, shapes: tuple[tuple[int, ...], ...], maker: Any, batch: int | None, seed: int) -> None:
    case.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(7 + seed)
    keras: Any = importlib.import_module("keras")
    keras.utils.set_random_seed(3 + seed)
    layer = maker()
    dtype = tf.int32 if "bert" in case.name else tf.float32
    specs = [tf.TensorSpec([batch, *shape], dtype, name=f"x{place}") for place, shape in enumerate(shapes)]

    def serve(*values: Any) -> Any:
        first, *others = values
        return layer([first, *others] if others else first)

    def drawn(count: int) -> list[Any]:
        if dtype == tf.int32:  # tokens, and padding behind them
            steps = int(np.prod(shapes[0]))
            lengths = random.integers(1, steps + 1, (count, 1, 1))
            tokens = random.integers(1, _TOKENS, (count, 1, steps))
            return [np.where(np.arange(steps) < lengths, tokens, 0).astype(np.int32)]
        return [random.normal(size=(count, 1, *shape)).astype(np.float32) for shape in shapes]

    serve(*(tf.constant(value[0]) for value in drawn(1)))
    is_network = isinstance(layer, keras.Model)
    for weight in getattr(layer, "weights", ()):
        if weight.dtype == "float32" and (not is_network or weight.shape.rank == 1):
            ends = (-0.2, 0.3) if is_network else (0.05, 0.3)
            weight.assign(weight + random.uniform(*ends, weight.shape).astype(np.float32))
    if is_network:  # whose outputs would hardly depend on the inputs
        inputs = tf.constant(np.concatenate(drawn(32)[0]))
        settle: Any = importlib.import_module("tests.tensorflow.test_keras_applications").settle
        settle(keras, layer.layers, lambda: layer(inputs, training=True))
    module: Any = tf.Module()
    module.serve = tf.function(serve, input_signature=specs, autograph=False)
    module.tracked = list(module.serve.get_concrete_function().graph.variables)
    tf.saved_model.save(module, str(case / "model"), signatures=module.serve)
    samples, calls = drawn(_SAMPLES), drawn(_CALLS)
    np.savez(case / "samples.npz", **{f"x{place}": value[:, 0] for place, value in enumerate(samples)})
    results = [serve(*(tf.constant(value[number]) for value in calls)).numpy() for number in range(_CALLS)]
    np.savez(case / "calls.npz", y=np.stack(results), **{f"x{place}": value for place, value in enumerate(calls)})
    ops = tf.lite.OpsSet
    for form, first in (
        ("int8", ops.TFLITE_BUILTINS_INT8),
        ("int16", ops.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8),
    ):
        converter = tf.lite.TFLiteConverter.from_saved_model(str(case / "model"))
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.target_spec.supported_ops = [first, ops.TFLITE_BUILTINS]
        converter.representative_dataset = lambda: (
            {f"x{place}": value[number] for place, value in enumerate(samples)} for number in range(_SAMPLES)
        )
        try:
            (case / f"stock.{form}.tflite").write_bytes(converter.convert())
        except Exception as error:  # noqa: BLE001  it raises what its passes do
            (case / f"stock.{form}.error").write_text(str(error))
    (case / "done").touch()


def measured(case: Path, form: str) -> dict[str, Any]:
    """Converts a model by litefuse, and returns what is in floating point in both files, and their errors."""
    from litefuse import Quantization, convert
    from litefuse.errors import LitefuseError

    row: dict[str, Any] = {"layer": case.name, "form": form}
    ours = case / f"litefuse.{form}.tflite"
    try:
        convert(case / "model", quantize=Quantization(form, samples=case / "samples.npz")).save(ours)  # pyright: ignore[reportArgumentType]
    except LitefuseError as error:
        row["refused"] = str(error).splitlines()[0][:300]
        ours.unlink(missing_ok=True)
    stock = case / f"stock.{form}.tflite"
    for side, path in (("litefuse", ours), ("stock", stock)):
        if path.exists():
            row[side] = described(path, case)
    if all((row.get(side) or {}).get("error") is not None for side in ("litefuse", "stock")):
        row["times as fast"] = _times_as_fast(ours, stock, case)
    return row


def _times_as_fast(ours: Path, stock: Path, case: Path) -> float:
    """Returns the ratio of the seconds of stock's calls to ours, of the fastest tenth: others may use the processor."""
    from benchmarks.process import seconds_in_turn

    from litefuse.litert.runtime.interpreter import Interpreter

    calls, invocations = np.load(case / "calls.npz"), list[Callable[[], object]]()
    for path in (ours, stock):
        interpreter = Interpreter(path, num_threads=1)
        interpreter.get_signature_runner()(**{name: calls[name][0] for name in calls if name != "y"})
        invocations.append(interpreter.invoke)
    (first, *_), _ = seconds_in_turn(invocations, 0.0)
    count = max(1, min(_MOST_INVOCATIONS, int(_LONG / first)))
    blocks = [partial(_repeat, invoke, count) for invoke in invocations]
    seconds, of_stock = (float(np.quantile(taken, 0.1)) for taken in seconds_in_turn(blocks, _SECONDS))
    return of_stock / seconds


def _repeat(invoke: Callable[[], object], count: int) -> None:
    for _ in range(count):
        invoke()


def described(path: Path, case: Path) -> dict[str, Any]:
    """Returns the kinds of a file's ops that compute in floating point, its error and its size."""
    from litefuse.conversion.quantization.float_ops import ops_by_kind

    floats = sorted({op.op for op in ops_by_kind(path, integer=True).floats})
    return {"floats": floats, "error": _error(path, case), "bytes": path.stat().st_size}


def _error(path: Path, case: Path) -> float | None:
    """Returns the mean difference from TensorFlow, relative to the largest number; None if LiteRT refuses the file."""
    from litefuse.litert.runtime.interpreter import Interpreter

    calls = np.load(case / "calls.npz")
    inputs, expected = sorted(name for name in calls if name != "y"), calls["y"].astype(np.float64)
    try:
        runner = Interpreter(path).get_signature_runner()
        results = [next(iter(runner(**{name: calls[name][n] for name in inputs}).values())) for n in range(_CALLS)]
    except (RuntimeError, ValueError):
        return None
    largest = np.abs(expected).max() or 1.0
    return float(np.abs(np.stack(results).astype(np.float64) - expected).mean() / largest)


def document(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yields the text of the results."""
    nothing: dict[str, Any] = {"floats": [], "error": None}
    for form in _FORMS:
        of_form = [row for row in rows if row["form"] == form]
        pairs = [(row, row.get("litefuse", nothing), row.get("stock")) for row in of_form]
        worse = [row for row, ours, stock in pairs if stock and (set(ours["floats"]) - set(stock["floats"]))]
        both = [row for row, ours, stock in pairs if ours["floats"] and (not stock or stock["floats"])]
        yield f"{form}: {len(of_form)} models, {sum('refused' in row for row in of_form)} refused"
        yield f"  floating point in litefuse's file where stock's has none: {len(worse)}"
        yield from (f"    {row['layer']}: {', '.join(row['litefuse']['floats'])}" for row in worse)
        yield f"  in both: {len(both)}"
        yield from (f"    {row['layer']}: {', '.join(row['litefuse']['floats'])}" for row in both)
        only = [row["layer"] for row, ours, stock in pairs if stock and stock["floats"] and not ours["floats"]]
        yield f"  in stock's alone: {len(only)} ({', '.join(only)})"
        yield from (f"  refused: {row['layer']}: {row['refused']}" for row in of_form if "refused" in row)
        ratios: dict[str, list[float]] = defaultdict(list)
        for row, ours, stock in pairs:
            if stock and not stock["floats"] and stock["error"] is not None and ours["error"] is not None:
                ratios[_without_seed(row["layer"])].append((ours["error"] + 1e-6) / (stock["error"] + 1e-6))
        means = {layer: float(np.exp(np.mean(np.log(of_seeds)))) for layer, of_seeds in ratios.items()}
        larger = sorted((layer for layer in means if means[layer] > 1.1), key=means.__getitem__, reverse=True)
        yield f"  errors above 1.1 of stock's, in the geometric mean of the seeds: {len(larger)} of {len(means)}"
        for layer in larger:
            yield f"    {layer}: {means[layer]:.2f} ({min(ratios[layer]):.2f} to {max(ratios[layer]):.2f})"
        yield f"  geometric mean of the ratios: {np.exp(np.mean(np.log([*means.values()]))):.3f}" if means else ""
        for what, are_networks in (("networks", True), ("layers", False)):
            times = {
                row["layer"]: row["times as fast"]
                for row, ours, stock in pairs
                if "times as fast" in row and row["layer"].startswith("networks") is are_networks
                if are_networks or not (ours["floats"] or (stock and stock["floats"]))
            }
            if times:
                slower = ", ".join(f"{layer} {ratio:.2f}" for layer, ratio in times.items() if ratio < 0.97)
                mean = np.mean([*times.values()])
                yield f"  {what}, times as fast: {mean:.2f} in the mean of {len(times)}, below 0.97: {slower or 'none'}"


def _without_seed(name: str) -> str:
    return re.sub(r"\.\d+$", "", name)


def main() -> None:
    """Makes, measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", help="the names of layers and networks, as in images.conv")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--make", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    folder: Path = arguments.folder
    if arguments.make:
        make(folder, arguments.names, arguments.seeds)
        return
    command = [sys.executable, "-m", "benchmarks.integer_layers", "--make", *sys.argv[1:]]
    subprocess.run(command, check=True)
    cases = [path for path in sorted(folder.iterdir()) if (path / "done").exists()]
    cases = [path for path in cases if not arguments.names or path.name.rsplit(".", 2)[0] in arguments.names]
    rows = [measured(case, form) for case in cases for form in _FORMS]
    (folder / "rows.json").write_text(json.dumps(rows, indent=1))
    print(*document(rows), sep="\n")


if __name__ == "__main__":
    main()
