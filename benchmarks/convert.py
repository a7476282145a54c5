"""Time and memory of converting Keras models: ``litefuse convert`` against ``tf.lite.TFLiteConverter``.

Run it as ``python benchmarks/convert.py``; it needs the extra ``bench``. Every conversion is a fresh process, timed
from its start to its end, imports included. The two converters take turns, each going first in every other repeat,
after one run of each that does not count. Memory is the peak of the whole process tree, sampled: the sum of the
processes' proportional set sizes (PSS: shared pages are shared out) on Linux, of their resident set sizes elsewhere.
Pages of mapped files count in both. A peak shorter than the time between two samples can be missed, and times are
exact to about that time.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

__all__ = ["main"]

MODELS = ("MobileNetV2", "ResNet50", "EfficientNetB0", "MobileNetV3Small", "DenseNet121", "InceptionV3")
SAMPLE_SECONDS = 0.05
PACKAGES = ("litefuse", "litert-converter", "tensorflow-cpu", "keras", "numpy")

MAKE = """
import sys, keras
keras.utils.set_random_seed(0)
getattr(keras.applications, sys.argv[1])(weights=None).export(sys.argv[2], verbose=False)
"""
STOCK = """
import sys, tensorflow as tf
model = tf.lite.TFLiteConverter.from_saved_model(sys.argv[1]).convert()
open(sys.argv[2], "wb").write(model)
"""
ENVIRONMENT = {"CUDA_VISIBLE_DEVICES": "", "KERAS_BACKEND": "tensorflow", "TF_CPP_MIN_LOG_LEVEL": "2"}


@dataclass(frozen=True)
class Run:
    """One conversion.

    Attributes:
        seconds: From the start of the process to its end.
        peak_bytes: Largest memory of the process tree that was seen.
        output_bytes: Size of the LiteRT model.
    """

    seconds: float
    peak_bytes: int
    output_bytes: int


@dataclass(frozen=True)
class Comparison:
    """All counted runs on one model."""

    model: str
    litefuse: tuple[Run, ...]
    stock: tuple[Run, ...]

    def medians(self) -> tuple[float, float, float, float]:
        """Seconds of litefuse and of the stock converter, peak bytes of both."""
        ours, theirs = self.litefuse, self.stock
        return (
            statistics.median(run.seconds for run in ours),
            statistics.median(run.seconds for run in theirs),
            statistics.median(run.peak_bytes for run in ours),
            statistics.median(run.peak_bytes for run in theirs),
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print the table, write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=MODELS, metavar="NAME", help=", ".join(MODELS))
    parser.add_argument("--repeats", type=int, default=5, help="counted runs of each converter (default: 5)")
    parser.add_argument("--json", type=Path, default=Path("benchmark_convert.json"), help="where the numbers go")
    parser.add_argument("--write-docs", type=Path, metavar="FILE", help="write the table as a page, too")
    options = parser.parse_args(arguments)
    if options.repeats < 1:
        parser.error("--repeats must be at least 1")
    comparisons: list[Comparison] = []
    with tempfile.TemporaryDirectory(prefix="litefuse-benchmark-") as folder:
        for model in options.models:
            print(f"{model}: ", end="", flush=True, file=sys.stderr)
            comparisons.append(compare(model, Path(folder), options.repeats))
            print(file=sys.stderr)
    page = document(comparisons, options.repeats)
    print(page)
    results = {
        "machine": machine(),
        "memory": memory_measure(),
        "repeats": options.repeats,
        "models": [asdict(comparison) for comparison in comparisons],
    }
    options.json.write_text(json.dumps(results, indent=2) + "\n")
    if options.write_docs is not None:
        options.write_docs.write_text(page + "\n")


def compare(model: str, folder: Path, repeats: int) -> Comparison:
    """Run both converters in turn on one Keras model."""
    source = folder / model
    made = subprocess.run(
        [sys.executable, "-c", MAKE, model, str(source)],
        check=False,
        env=os.environ | ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    if made.returncode != 0:
        raise SystemExit(f"{model} cannot be made:\n{made.stderr}")
    runs: dict[str, list[Run]] = {"litefuse": [], "stock": []}
    for repeat in range(repeats + 1):
        for converter in sorted(runs, reverse=repeat % 2 == 1):
            output = folder / f"{model}.{converter}.tflite"
            command = {
                "litefuse": [sys.executable, "-m", "litefuse", "convert", str(source), "-o", str(output), "-q"],
                "stock": [sys.executable, "-c", STOCK, str(source), str(output)],
            }[converter]
            run = measure(command, output)
            if repeat > 0:
                runs[converter].append(run)
        print(".", end="", flush=True, file=sys.stderr)
    return Comparison(model, tuple(runs["litefuse"]), tuple(runs["stock"]))


def measure(command: Sequence[str], output: Path) -> Run:
    """Run one conversion to its end.

    Raises:
        SystemExit: It failed.
    """
    output.unlink(missing_ok=True)
    with tempfile.TemporaryFile() as log:
        start = time.perf_counter()
        child = subprocess.Popen(command, env=os.environ | ENVIRONMENT, stdout=log, stderr=subprocess.STDOUT)
        root: Any = psutil.Process(child.pid)
        peak = 0
        while True:
            try:
                child.wait(timeout=SAMPLE_SECONDS)
                break
            except subprocess.TimeoutExpired:
                peak = max(peak, tree_bytes(root))
        seconds = time.perf_counter() - start
        if child.returncode != 0 or not output.exists():
            log.seek(0)
            raise SystemExit(f"{' '.join(command)} failed:\n{log.read().decode(errors='replace')[-4000:]}")
    return Run(seconds, peak, output.stat().st_size)


def tree_bytes(root: Any) -> int:
    """Memory of a process and of all that it started, now."""
    total = 0
    try:
        processes = [root, *root.children(recursive=True)]
    except psutil.Error:
        return 0
    for process in processes:
        try:
            total += process.memory_full_info().pss if sys.platform == "linux" else process.memory_info().rss
        except psutil.Error:  # it ended meanwhile
            continue
    return total


def memory_measure() -> str:
    """What ``tree_bytes`` adds up."""
    size = "PSS" if sys.platform == "linux" else "RSS"
    return f"peak of the process tree's {size}, sampled every {SAMPLE_SECONDS * 1000:.0f} ms"


def machine() -> dict[str, str]:
    """What the numbers were measured on."""
    return {
        "cpu": cpu_name(),
        "cores": str(psutil.cpu_count()),
        "memory": f"{psutil.virtual_memory().total / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    } | {name: importlib.metadata.version(name) for name in PACKAGES}


def cpu_name() -> str:
    """The processor's name as the system gives it."""
    information = Path("/proc/cpuinfo")
    lines = information.read_text().splitlines() if information.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def document(comparisons: Sequence[Comparison], repeats: int) -> str:
    """The results as a Markdown page."""
    lines = [
        "# Conversion: time and memory",
        "",
        "`litefuse convert` against `tf.lite.TFLiteConverter`, each in a fresh process, imports included. Keras models",
        "of the default input size, untrained, exported with `model.export()`. The converters take turns, after",
        f"one run of each that does not count; medians of {repeats} runs. Memory: {memory_measure()}.",
        "",
        "| Model | litefuse | TFLiteConverter | time ratio | litefuse memory | TFLiteConverter memory | memory ratio |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for comparison in comparisons:
        ours, theirs, our_peak, their_peak = comparison.medians()
        lines.append(
            f"| {comparison.model} | {ours:.2f} s | {theirs:.2f} s | {theirs / ours:.1f} | {our_peak / 1e6:.0f} MB "
            f"| {their_peak / 1e6:.0f} MB | {their_peak / our_peak:.1f} |"
        )
    lines += ["", "A ratio above 1 is in favour of litefuse.", ""]
    lines += [f"- {name}: {value}" for name, value in machine().items()]
    lines += ["", "Measured by `python benchmarks/convert.py`."]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
