"""What becomes of one architecture, in stages, each of which runs in processes of its own with limits."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.architectures.catalog import Architecture
from benchmarks.process import Run, measure

TARGETS = ("litert", "gpu", "ethos-u", "micro")
# TensorFlow's ops that compute nothing.
_NO_WORK = frozenset({"Const", "Identity", "NoOp", "PartitionedCall", "Placeholder", "ReadVariableOp", "VarHandleOp"})
_INTEGERS = ("--quantize", "int8", "--quantized-io", "integer", "--samples")
# No microcontroller has room for more, and its software, which is not made to be fast here, would take minutes.
_MICRO_BYTES = 4_000_000
_REPEATS = 3
_EVERY = 0.5  # seconds between two looks at how much memory a process needs
_MESSAGE = 400
_STOCK = """
import sys, tensorflow as tf
model = tf.lite.TFLiteConverter.from_saved_model(sys.argv[1]).convert()
open(sys.argv[2], "wb").write(model)
"""


@dataclass(frozen=True)
class Limits:
    """Of each process.

    Attributes:
        seconds: How long it may take.
        memory: How many bytes it may need.
    """

    seconds: float = 180.0
    memory: int = 8 * 10**9


class StageError(Exception):
    """Something cannot be measured; the text says why."""


@dataclass
class Work:
    """The files of one architecture, made where they are asked for and not there.

    Attributes:
        architecture: Which.
        folder: Where its files are.
        limits: Of each process.
    """

    architecture: Architecture
    folder: Path
    limits: Limits
    _failures: dict[str, str] = field(default_factory=dict[str, str])

    def source(self) -> Path:
        """The SavedModel."""
        place = self.folder / "saved_model"
        if not place.exists():
            self._once("source", [sys.executable, "-m", "benchmarks.architectures.making", self.name, str(self.folder)])
        return place

    def samples(self) -> Path:
        """Values of its inputs."""
        self.source()
        return self.folder / "samples.npz"

    def facts(self) -> dict[str, Any]:
        """Its parameters, and how far its outputs move."""
        return json.loads(self.source().with_name("facts.json").read_text("utf-8"))

    def model(self) -> Path:
        """The LiteRT model in float32."""
        place = self.folder / "float32.tflite"
        if not place.exists():
            self.litefuse("convert", self.source(), "-o", place)
        return place

    def integers(self) -> Path:
        """The LiteRT model that computes in int8, where it can."""
        place = self.folder / "int8.tflite"
        if not place.exists():
            self.litefuse("convert", self.source(), "-o", place, *_INTEGERS, self.samples())
        return place

    @property
    def name(self) -> str:
        """What the architecture is called."""
        return self.architecture.name

    def _once(self, what: str, command: Sequence[str]) -> None:
        """Runs what other stages need, too; what has failed is not tried again."""
        if what not in self._failures:
            self._failures[what] = self.run(command).failure
        if self._failures[what]:
            raise StageError(_last_line(self._failures[what]))

    def run(self, command: Sequence[str], output: Path | None = None) -> Run:
        """Runs a command within the limits."""
        limits = self.limits
        return measure(command, memory_limit=limits.memory, time_limit=limits.seconds, every=_EVERY, output=output)

    def litefuse(self, command: str, *arguments: Any) -> dict[str, Any]:
        """What a command of litefuse answers.

        Args:
            command: Its name.
            *arguments: What it gets.
        """
        answer = self.folder / "answer.json"
        run = self.run([sys.executable, "-m", "litefuse", command, *map(str, arguments), "--json"], answer)
        try:
            found: dict[str, Any] = json.loads(answer.read_bytes())
        except ValueError:
            raise StageError(_last_line(run.failure) or f"litefuse {command} answered nothing") from None
        if error := found.get("error") if isinstance(found.get("error"), dict) else None:
            raise StageError(f"{error['type']}: {error['message']}"[:_MESSAGE])
        return found


def _last_line(failure: str) -> str:
    """The end of what was written, where a traceback says what it is about."""
    lines = [line for line in failure.splitlines() if line.strip()]
    return lines[-1].strip()[:_MESSAGE] if lines else ""


def _converted(work: Work) -> dict[str, Any]:
    found = work.litefuse("inspect", work.source())["op_counts"]
    report = work.litefuse("convert", work.source(), "-o", work.folder / "float32.tflite")
    composites = report["composites"]
    return {
        "parameters": work.facts()["parameters"],
        "nodes": sum(count for op, count in found.items() if op not in _NO_WORK and not op.startswith("Stateful")),
        "ops": sum(report["op_counts"].values()),
        "bytes": report["size"],
        "fused": sum(each["call_sites"] for each in composites if each["outcome"] == "fused"),
        "composites": sum(each["call_sites"] for each in composites),
        "custom_ops": report["custom_ops"],
    }


def _compared(work: Work) -> dict[str, Any]:
    source = work.source()
    given = ["--inputs", source.with_name("inputs.npz"), "--expected", source.with_name("expected.npz")]
    found = work.litefuse("verify", work.model(), *given)
    moved = work.facts()["moved"]
    problem = "" if moved > found["tolerance"] else f"an output moves by {moved:.1e} alone"
    return {"error": found["error"], "verdict": "inconclusive" if problem else found["verdict"], "problem": problem}


def _integer(work: Work) -> dict[str, Any]:
    return {"bytes": work.integers().stat().st_size}


def _checked(target: str) -> Callable[[Work], dict[str, Any]]:
    """As a user would: converted for the target, then checked by its software."""

    def check(work: Work) -> dict[str, Any]:
        if target == "micro" and (size := work.integers().stat().st_size) > _MICRO_BYTES:
            return {"verdict": "not asked", "reason": f"{size / 1e6:.0f} MB", "refused": []}
        place = work.folder / f"{target}.tflite"
        options: list[Any] = [*_INTEGERS, work.samples()] if target in {"ethos-u", "micro"} else []
        work.litefuse("convert", work.source(), "-o", place, "--target", target, "--check-target", "no", *options)
        (report,) = work.litefuse(
            "check", place, "--target", target, "--timeout", round(0.9 * work.limits.seconds), "--seed", 0
        )["targets"]
        refused = [{key: each[key] for key in ("op", "reason", "count")} for each in report["refused"]]
        found = {key: report[key] for key in ("verdict", "software", "missing", "ops", "facts")} | {"refused": refused}
        if report["verdict"] == "differs":
            errors = [each["error"] for each in report["outputs"]]
            found["error"] = None if None in errors else max(errors)  # JSON has no infinity
        return found

    return check


def _latency(work: Work) -> dict[str, Any]:
    """The smallest of medians: other work on the machine can only add to it."""
    files = {"seconds": work.model()}
    found: dict[str, Any] = {}
    try:
        files["int8_seconds"] = work.integers()
    except StageError as error:
        found["int8_failure"] = str(error)
    for _ in range(_REPEATS):
        measured = work.litefuse("benchmark", *files.values(), "--top", 0, "--seconds", 0.5)["measurements"]
        for key, each in zip(files, measured, strict=True):
            found[key] = min(found.get(key, float("inf")), each["warm"]["p50"])
    return found


def _stock(work: Work) -> dict[str, Any]:
    place = work.folder / "stock.tflite"
    run = work.run([sys.executable, "-c", _STOCK, str(work.source()), str(place)])
    if run.failure:
        raise StageError(_last_line(run.failure))
    ops = work.litefuse("inspect", place)["op_counts"]
    return {"bytes": place.stat().st_size, "ops": sum(ops.values())}


STAGES: Mapping[str, Callable[[Work], dict[str, Any]]] = {
    "converted": _converted,
    "compared": _compared,
    "int8": _integer,
    **{target: _checked(target) for target in TARGETS},
    "latency": _latency,
    "stock": _stock,
}
"""What is measured, by name; a stage that fails is a result with the reason."""


def measure_stages(work: Work, stages: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Runs stages of one architecture.

    Yields:
        The name of each stage and its results, or ``failure`` alone where there are none; with the seconds that it took
        and the day.
    """
    work.folder.mkdir(parents=True, exist_ok=True)
    for stage in stages:
        start = time.perf_counter()
        try:
            found = STAGES[stage](work)
        except StageError as error:
            found = {"failure": str(error)}
        yield stage, {**found, "took": round(time.perf_counter() - start, 1), "day": time.strftime("%Y-%m-%d")}
