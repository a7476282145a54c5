"""Latency of whole models: what litefuse writes against what the stock converter writes.

``python benchmarks/speed.py FOLDER`` makes SavedModels and the stock converter's files in a folder, where they are
kept, converts with litefuse, calls both files in turn, and prints a table. It measures processor time in short blocks,
of which the fastest counts, in several processes, so that other work on the machine disturbs it little.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from document import geometric_mean, paragraph, table
from process import call

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

_BLOCK = 0.002  # seconds of one file's calls in a row
_SECONDS = 1.0  # for one pair of files in one process, and so many turns at least
_TURNS = 40
_PROCESSES = 3
_ALIKE = (0.95, 1.05)
# A smaller ratio is doubted: the pair is measured in up to four times as many processes.
_DOUBTED = 0.97
_REPEATED = 4

_APPLICATIONS = {
    "MobileNet": 96,
    "MobileNetV2": 96,
    "MobileNetV3Small": 96,
    "MobileNetV3Large": 96,
    "EfficientNetB0": 96,
    "EfficientNetV2B0": 96,
    "NASNetMobile": 96,
    "DenseNet121": 96,
    "ResNet50": 96,
    "ResNet50V2": 96,
    "InceptionV3": 96,
    "Xception": 96,
    "ConvNeXtTiny": 96,
    "EfficientNetB1": 96,
    "EfficientNetV2B1": 96,
    "DenseNet169": 96,
    "ResNet101V2": 96,
}


def main() -> None:
    """Measures, and prints the table."""
    if sys.argv[1:2] == ["--compare"]:
        print(json.dumps(_compare(sys.argv[2:])))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where models are made and kept")
    parser.add_argument("--only", default="", metavar="REGEX", help="the models whose names it matches")
    parser.add_argument("--processes", type=int, default=_PROCESSES, help="how many processes measure each pair")
    options = parser.parse_args()
    rows = measure_speed(options.folder, options.processes, options.only)
    print("\n".join(document(rows)))


def measure_speed(folder: Path, processes: int = _PROCESSES, only: str = "") -> list[dict[str, Any]]:
    """Converts all models with both converters, and compares the files.

    Args:
        folder: Where models are made; SavedModels and the stock converter's files that are there are taken.
        processes: How many processes measure each pair.
        only: A regular expression for the names of the models.
    """
    import litefuse

    folder.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    for name, source, stock in _made(folder, re.compile(only)):
        ours = stock.with_suffix(".litefuse.tflite")
        litefuse.convert(source).save(ours)
        runs = [_run(ours, stock) for _ in range(processes)]
        while _ratio(best := _fastest(runs)) < _DOUBTED and len(runs) < _REPEATED * processes:
            runs.append(_run(ours, stock))
        rows.append({"model": name, **best, "alike": all(run["alike"] for run in runs)})
        print(f"{name}: {_ratio(best):.3f}", file=sys.stderr, flush=True)
    return rows


def _run(ours: Path, stock: Path) -> dict[str, Any]:
    return json.loads(call(sys.executable, __file__, "--compare", str(ours), str(stock)))


def _fastest(runs: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    return {key: min(run[key] for run in runs) for key in ("litefuse", "stock")}


def _ratio(row: Mapping[str, Any]) -> float:
    return row["stock"] / row["litefuse"]


def document(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The results in Markdown."""
    ratios = {row["model"]: _ratio(row) for row in rows}
    groups: dict[str, list[float]] = {}
    for name, ratio in ratios.items():
        groups.setdefault(name.partition("/")[0], []).append(ratio)
    means = [
        [group, str(len(each)), f"{min(each):.2f}", f"{geometric_mean(each):.2f}", f"{max(each):.2f}"]
        for group, each in groups.items()
    ]
    every = [*ratios.values()]
    means.append(
        ["**all**", str(len(rows)), f"{min(every):.2f}", f"**{geometric_mean(every):.2f}**", f"{max(every):.2f}"]
    )
    order = sorted(rows, key=lambda row: ratios[row["model"]])
    apart = [row for row in order if not _ALIKE[0] <= ratios[row["model"]] <= _ALIKE[1]]
    cells = [
        [row["model"], _milliseconds(row["litefuse"]), _milliseconds(row["stock"]), f"{ratios[row['model']]:.2f}"]
        for row in apart
    ]
    about = _ABOUT.format(count=len(rows), low=_ALIKE[0], high=_ALIKE[1], others=len(rows) - len(apart))
    lines = [*paragraph(about), *table(["Group", "models", "worst", "geometric mean", "best"], means, text=1), ""]
    if differing := [row["model"] for row in rows if not row["alike"]]:
        lines += [*paragraph(_DIFFERING.format(models=", ".join(differing)))]
    return [*lines, *table(["Model", "litefuse", "stock", "ratio"], cells, text=1)]


def _milliseconds(value: float) -> str:
    return f"{value * 1e3:.3g} ms"


_ABOUT = """
{count} models that both converters convert, with a batch of one: Keras applications at 96 by 96 pixels, Keras Hub's
backbones, the recurrent models of the tests except SimpleRNN, and small whole models (`benchmarks/whole_models.py`).
Both files are called alternately in one process, with one thread, in blocks of 2 ms of processor time or one call, at
least 40 each. The fastest block of all processes counts; if litefuse seems to be slower by 3 %, there are more of them.
A ratio above 1 is in favor of litefuse. The second table omits the {others} models with a ratio between {low} and
{high}: files with the same ops differ by as much.
"""
_DIFFERING = "Their outputs differ by more than a hundredth: {models}."


def _made(folder: Path, wanted: re.Pattern[str]) -> Iterator[tuple[str, Path, Path]]:
    """Yields names, SavedModels, and the stock converter's files, of those that it converts."""
    from benchmarks.whole_models import WHOLE_MODELS, backbone, build
    from tests.tensorflow import recurrent_models, test_keras_applications, test_transformers
    from tests.tensorflow.process import TensorFlow

    builders: dict[str, tuple[Any, ...]] = {name: (build, name) for name in WHOLE_MODELS}
    builders |= {
        f"application/{name}": (test_keras_applications.application, name, size) for name, size in _APPLICATIONS.items()
    }
    builders |= {
        f"transformer/{each.name}": (backbone, each.name, dict(each.options)) for each in test_transformers.BACKBONES
    }
    builders |= {
        f"recurrent/{case}": (recurrent_models.build, *case)
        for case in recurrent_models.cases()
        if case.framework == "keras" and case.batch == 1 and case.time is not None and "SimpleRNN" not in case.family
    }
    tensorflow = TensorFlow(folder)
    try:
        for name, (builder, *arguments) in builders.items():
            if not wanted.search(name):
                continue
            place = folder / re.sub(r"\W+", "_", name)
            stock, refused = place / "stock.tflite", place / "stock.txt"
            if not place.exists():
                source = tensorflow.save(builder, *arguments)
                converted = tensorflow.stock_convert(source)
                place.mkdir()
                source.rename(place / "saved_model")
                if isinstance(converted, str):
                    refused.write_text(converted)
                elif _lacks_weights(converted):
                    refused.write_text("it has left the weights out")
                else:
                    stock.write_bytes(converted)
            if stock.exists():
                yield name, place / "saved_model", stock
    finally:
        tensorflow.close()


def _lacks_weights(model: bytes) -> bool:
    from tests.tensorflow.checking import op_counts

    ops = op_counts(model)
    return ops["READ_VARIABLE"] > 0 and ops["ASSIGN_VARIABLE"] == 0


def _compare(paths: Sequence[str]) -> dict[str, Any]:
    """The seconds of a call of each file: the fastest of many blocks of calls, taken in turn."""
    interpreters = [_ready(path) for path in paths]
    counts = [max(1, int(_BLOCK / _block(each, 3))) for each in interpreters]
    best = [_block(each, count) for each, count in zip(interpreters, counts, strict=True)]
    begin, turn = time.perf_counter(), 0
    while turn < _TURNS or time.perf_counter() - begin < _SECONDS:
        order = (0, 1) if turn % 2 else (1, 0)
        for each in order:
            best[each] = min(best[each], _block(interpreters[each], counts[each]))
        turn += 1
    return {"litefuse": best[0], "stock": best[1], "alike": _alike(*interpreters)}


def _block(interpreter: Any, count: int) -> float:
    start = time.process_time()
    for _ in range(count):
        interpreter.invoke()
    return (time.process_time() - start) / count


def _ready(path: str) -> Any:
    """An interpreter with inputs that are the same for both files."""
    from ai_edge_litert.interpreter import Interpreter

    other: Any = Interpreter(model_path=path)  # one that made a signature runner takes no new shapes
    details = other.get_signature_runner(next(iter(other.get_signature_list()))).get_input_details()
    interpreter: Any = Interpreter(model_path=path, num_threads=1)
    random = np.random.default_rng(0)
    values: dict[int, npt.NDArray[Any]] = {}
    for _, each in sorted(details.items()):
        shape = [1 if size < 0 else size for size in each["shape_signature"].tolist()]
        kind = np.dtype(each["dtype"])
        if kind.kind == "f":
            values[each["index"]] = random.normal(size=shape).astype(kind)
        else:
            values[each["index"]] = random.integers(0, 256 if kind == np.uint8 else 2, shape).astype(kind)
        interpreter.resize_tensor_input(each["index"], shape)
    interpreter.allocate_tensors()
    for index, value in values.items():
        interpreter.set_tensor(index, value)
    interpreter.invoke()
    return interpreter


def _alike(ours: Any, stock: Any) -> bool:
    """Whether the outputs agree: shapes, and the sums of what is in them, in any order."""
    found = [
        sorted(
            np.sort(each.get_tensor(d["index"]).astype(np.float64).ravel()).tolist() for d in each.get_output_details()
        )
        for each in (ours, stock)
    ]
    return [len(a) for a in found[0]] == [len(b) for b in found[1]] and all(
        np.allclose(a, b, rtol=1e-2, atol=1e-3) for a, b in zip(*found, strict=True)
    )


if __name__ == "__main__":
    main()
