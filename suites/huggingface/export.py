"""``python -m suites.huggingface.export FOLDER [REGEX]``: makes the cases, in a process with TensorFlow and Keras 2."""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from suites.cases import FAILED, Arrays, Call, Case, write_case
from suites.huggingface.catalog import Plan, plans
from suites.huggingface.models import make_model, signature_of

_RTOL, _ATOL = 1e-4, 1e-6


def main(folder: Path, only: str) -> None:
    """Exports the cases that are not there yet; what fails leaves a file that says why."""
    for plan in plans(only):
        target = folder / plan.name
        if (target / "case.json").exists() or (target / FAILED).exists():
            continue
        begun = time.monotonic()
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        (target / FAILED).write_text("the process ended", "utf-8")
        try:
            _export(plan, target)
        except Exception as error:  # noqa: BLE001  whatever transformers and TensorFlow raise
            (target / FAILED).write_text(traceback.format_exc(), "utf-8")
            print(f"{plan.name}: not exported: {type(error).__name__}: {str(error)[:200]}", flush=True)
        else:
            (target / FAILED).unlink()
            print(f"{plan.name}: {time.monotonic() - begun:.1f} s", flush=True)


def _export(plan: Plan, target: Path) -> None:
    tf: Any = importlib.import_module("tensorflow")
    tf.keras.backend.clear_session()
    function, calls = signature_of(plan, make_model(plan))
    specs = {
        name: tf.TensorSpec(_common_shape(name, calls), value.dtype, name=name) for name, value in calls[0].items()
    }
    concrete = tf.function(function).get_concrete_function(specs)
    module = tf.Module()
    module.weights = list(concrete.graph.variables)
    tf.saved_model.save(module, str(target / "saved_model"), signatures=concrete)
    expected = [_call(tf, concrete, inputs) for inputs in calls]
    write_case(target, Case(plan.name, "huggingface", rtol=_RTOL, atol=_ATOL), expected)


def _common_shape(name: str, calls: list[Arrays]) -> list[int | None]:
    """The sizes that all calls have in common; None where they differ."""
    shapes = [call[name].shape for call in calls]
    return [sizes[0] if len(set(sizes)) == 1 else None for sizes in zip(*shapes, strict=True)]


def _call(tf: Any, function: Callable[..., Mapping[str, Any]], inputs: Arrays) -> Call:
    outputs = function({name: tf.constant(value) for name, value in inputs.items()})
    return inputs, {name: np.asarray(value) for name, value in outputs.items()}


if __name__ == "__main__":
    os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "")
