"""Recurrent layers in integers: litefuse's int8 files for NPUs beside those of the stock converter.

Run it as ``python benchmarks/recurrent_integers.py``; it needs the extra ``test``, tests/requirements.txt,
``tflite-micro`` and ``ethos-u-vela``. Models are those of ``tests/tensorflow/test_integer_lstms.py``, and the keyword
spotter. litefuse converts with ``--target ethos-u --quantize int8 --quantized-io integer``, ``TFLiteConverter`` to its
int8 builtins; where it fails, it gets the model with a batch of 1 and the steps fixed. Both calibrate with the same
samples. The error is the mean difference from TensorFlow relative to the largest element of an output, averaged over
100 other inputs; the stock converter's file gets a new interpreter for each, because it goes on with the states of the
last call. Models are made one at a time, each in a process of its own, because TensorFlow and the lowering engine do
not fit into one.
"""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from document import table

import litefuse
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.litert.runtime.model_reader import Model
from litefuse.litert.runtime.scales import dequantized, quantized

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.tensorflow import recurrent_models, test_integer_lstms, test_targets
from tests.tensorflow.microcontrollers import compiled
from tests.tensorflow.recurrent_models import Case

_SAMPLES = 200
_CALLS = 100
_STEPS = 6
_ARENA = 1 << 20
_SPOTTERS = {f"{framework}-keyword_spotter": framework for framework in ("tf_keras", "keras")}
_CASES = {str(case): case for case in test_integer_lstms.CASES}

Arrays = dict[str, npt.NDArray[Any]]


def make(folder: Path, name: str) -> None:
    """Writes ``model`` and ``fixed``, SavedModels, ``samples.npz``, ``calls.npz`` and ``expected.npz``."""
    tf: Any = importlib.import_module("tensorflow")
    saved: Any = importlib.import_module("tests.tensorflow.saved_models")
    path = str(folder / "model")
    if name in _SPOTTERS:
        saved.save(tf, path, test_targets.spotter, [_SPOTTERS[name]])
    else:
        case = _CASES[name]
        saved.save(tf, path, recurrent_models.build, [*case])
        if _fixed(case) != case:
            saved.save(tf, str(folder / "fixed"), recurrent_models.build, [*_fixed(case)])
    samples, calls = (_inputs(name, number, seed) for number, seed in ((_SAMPLES, 21), (_CALLS, 22)))
    for file, values in (
        ("samples.npz", samples),
        ("calls.npz", calls),
        ("expected.npz", saved.run(tf, path, [("serving_default", each) for each in calls])),
    ):
        arrays = {key: np.stack([one[key] for one in values]) for key in values[0]}
        np.savez(folder / file, allow_pickle=False, **arrays)


def _fixed(case: Case) -> Case:
    return case._replace(batch=1, time=_STEPS)


def _inputs(name: str, number: int, seed: int) -> list[Arrays]:
    random = np.random.default_rng(seed)
    if name in _SPOTTERS:
        shapes = {"x": (1, test_targets.STEPS, test_targets.FEATURES)}
    else:
        (first,) = recurrent_models.inputs(_fixed(_CASES[name]))
        shapes = {key: value.shape for key, value in first.items()}
    return [
        {key: random.standard_normal(shape).astype(np.float32) for key, shape in shapes.items()} for _ in range(number)
    ]


def convert_with_stock(path: Path) -> None:
    """Writes the stock converter's file of a SavedModel beside it."""
    tf: Any = importlib.import_module("tensorflow")
    samples = _rows(path.parent / "samples.npz")
    converter = tf.lite.TFLiteConverter.from_saved_model(str(path))
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: iter(samples)
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = converter.inference_output_type = tf.int8
    path.with_suffix(".tflite").write_bytes(converter.convert())


def measure_model(name: str) -> dict[str, Any]:
    """Returns what is in the table of both converters' files."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        _run("--make", place, name).check_returncode()
        # It may also crash.
        stock = next((each for each in ("model", "fixed") if not _run("--stock", folder / each, name).returncode), None)
        calls, expected = (_rows(folder / file) for file in ("calls.npz", "expected.npz"))
        shapes = {key: value.shape for key, value in calls[0].items()}
        result = litefuse.convert(
            folder / "model",
            target="ethos-u",
            checks=litefuse.Checks(targets=False),
            quantize=litefuse.Quantization("int8", io=True, samples=folder / "samples.npz"),
            shapes=shapes,
        )
        files = {"litefuse": result.model_bytes}
        if stock is not None:
            files["stock"] = (folder / f"{stock}.tflite").read_bytes()
        (folder / "vela").mkdir()
        return {
            "name": name,
            "fixed": stock == "fixed",
            **{side: _measured(data, calls, expected, folder / "vela") for side, data in files.items()},
        }


def _run(*arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    quiet = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [sys.executable, __file__, *map(str, arguments)]
    return subprocess.run(command, check=False, env=quiet, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _rows(path: Path) -> list[Arrays]:
    arrays = dict(np.load(path))
    return [dict(zip(arrays, each, strict=True)) for each in zip(*arrays.values(), strict=True)]


def _measured(model: bytes, calls: Sequence[Arrays], expected: Sequence[Arrays], folder: Path) -> dict[str, Any]:
    runner = Interpreter(model).get_signature_runner()
    details = runner.get_output_details()
    integers = [
        {key: quantized(each[key], detail) for key, detail in runner.get_input_details().items()} for each in calls
    ]
    firsts = [Interpreter(model).get_signature_runner()(**each) for each in integers]
    errors = [
        np.abs(dequantized(found[key], details[key]) - other[key]).mean() / np.abs(other[key]).max()
        for found, other in zip(firsts, expected, strict=True)
        for key in found
    ]
    # All calls of one interpreter, each made twice in a row.
    again = [runner(**each) for each in integers for _ in range(2)]
    try:
        made = compiled(model, folder)
        share = made.on_npu / (made.on_npu + made.on_cpu)
    except AssertionError:
        share = None
    return {
        "ops": sum(len(graph.ops) for graph in Model(model).graphs),
        "bytes": len(model),
        "error": float(np.mean(errors)),
        "calls": max(_steps(one, firsts[number // 2]) for number, one in enumerate(again)),
        "npu": share,
        "micro": _micro(model, integers, again),
    }


def _steps(found: Mapping[str, npt.NDArray[Any]], other: Mapping[str, npt.NDArray[Any]]) -> int:
    return max(int(np.abs(value.astype(int) - other[key].astype(int)).max()) for key, value in found.items())


def _micro(model: bytes, calls: Sequence[Arrays], expected: Sequence[Mapping[str, npt.NDArray[Any]]]) -> int | None:
    """The largest difference in steps of int8; None where tflite-micro does not run the model."""
    runtime: Any = importlib.import_module("tflite_micro.python.tflite_micro.runtime")
    graph = Interpreter(model)
    runner = graph.get_signature_runner()
    places = [[each["index"] for each in side] for side in (graph.get_input_details(), graph.get_output_details())]
    takes, gives = (
        {key: place.index(detail["index"]) for key, detail in side.items()}
        for place, side in zip(places, (runner.get_input_details(), runner.get_output_details()), strict=True)
    )
    try:
        micro = runtime.Interpreter.from_bytes(model, arena_size=_ARENA)
    except Exception:  # noqa: BLE001  of several kinds
        return None
    largest = 0
    for number, other in enumerate(expected):
        for key, place in takes.items():
            micro.set_input(np.ascontiguousarray(calls[number // 2][key]), place)
        micro.invoke()
        largest = max(largest, _steps({key: np.array(micro.get_output(place)) for key, place in gives.items()}, other))
    return largest


def document(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Returns the table: of each model, litefuse's numbers and the stock converter's."""
    heads = ("Model", "Ops", "Bytes", "Error", "On the NPU", "Differs in later calls", "tflite-micro differs")
    return table(heads, [_cells(each) for each in rows], text=1)


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    sides = [row.get(side) for side in ("litefuse", "stock")]

    def both(key: str, form: str) -> str:
        return " / ".join(
            "-" if side is None else "no" if side[key] is None else format(side[key], form) for side in sides
        )

    return (
        f"{row['name']}{'*' * row['fixed']}",
        both("ops", "d"),
        both("bytes", ",d"),
        both("error", ".2%"),
        both("npu", ".0%"),
        both("calls", "d"),
        both("micro", "d"),
    )


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=[*_CASES, *_SPOTTERS], help="such as keras-sequence_LSTM-bN-tN")
    parser.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--stock", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.make is not None:
        make(arguments.make, arguments.models[0])
        return
    if arguments.stock is not None:
        convert_with_stock(arguments.stock)
        return
    rows: list[dict[str, Any]] = []
    for name in arguments.models:
        rows.append(measure_model(name))
        print(document(rows)[-1], flush=True)
    print(*document(rows), sep="\n")


if __name__ == "__main__":
    main()
