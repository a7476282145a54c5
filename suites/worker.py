"""``python -m suites.worker ROLE``: a process that converts cases or runs what was made of them.

TensorFlow and the lowering engine cannot live in one process, and any of them may end it: so each role has its own,
which answers requests, one a line as JSON, until its input closes.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from suites.cases import read_calls, read_case
from suites.comparing import compare
from suites.outcomes import Verdict

_MESSAGE = 2000


def main(role: str) -> None:
    """Serves requests, each with the folder of a case and the path of the model."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print is no answer
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = _ROLES[role](Path(request["case"]), Path(request["model"]))
        except Exception as error:  # noqa: BLE001  whatever a library raises becomes the verdict
            trace = traceback.format_exc()
            print(trace, file=sys.stderr, flush=True)
            verdict = Verdict.DOES_NOT_RUN if role.startswith("run") else Verdict.REFUSED
            answer = {"verdict": verdict.value, "message": f"{type(error).__name__}: {error}"[:_MESSAGE]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _convert(case: Path, model: Path) -> dict[str, Any]:
    import litefuse
    from litefuse.errors import EngineCrashError, FileCheckError

    begun = time.monotonic()
    try:
        result = litefuse.convert(case / "saved_model")
    except (EngineCrashError, FileCheckError) as error:
        verdict = Verdict.DIED if isinstance(error, EngineCrashError) else Verdict.DOES_NOT_RUN
        return {"verdict": verdict.value, "message": f"{type(error).__name__}: {error}"[:_MESSAGE]}
    result.save(model)
    return {"seconds": time.monotonic() - begun}


def _convert_stock(case: Path, model: Path) -> dict[str, Any]:
    tf: Any = importlib.import_module("tensorflow")

    begun = time.monotonic()
    converter = tf.lite.TFLiteConverter.from_saved_model(
        str(case / "saved_model"), signature_keys=[read_case(case).signature]
    )
    model.write_bytes(converter.convert())
    return {"seconds": time.monotonic() - begun}


def _run(case: Path, model: Path) -> dict[str, Any]:
    import litefuse

    return _compare_runs(case, litefuse.Interpreter(str(model)), _facts(model))


def _run_stock(case: Path, model: Path) -> dict[str, Any]:
    from ai_edge_litert.interpreter import Interpreter

    return _compare_runs(case, Interpreter(model_path=str(model)), _facts(model))


def _facts(model: Path) -> dict[str, Any]:
    from litefuse.litert.inspection.litert_model import inspect_litert_model

    facts = inspect_litert_model(model)
    return {"size": facts.size, "ops": sum(facts.op_counts.values())}


def _compare_runs(case: Path, interpreter: Any, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Each call twice in a row, on one interpreter."""
    description = read_case(case)
    largest = 0.0
    for number, (inputs, expected) in enumerate(read_calls(case)):
        for _ in range(2):
            runner = interpreter.get_signature_runner(description.signature)
            known = runner.get_input_details()
            outputs = runner(**{name: value for name, value in inputs.items() if name in known})
            actual = {name: np.array(value) for name, value in outputs.items()}
            difference = compare(
                actual, expected, rtol=description.rtol, atol=description.atol, outliers=description.outliers
            )
            largest = max(largest, difference.error)
            if difference.message:
                message = f"call {number}: {difference.message}"[:_MESSAGE]
                return {**facts, "verdict": Verdict.WRONG.value, "message": message, "error": largest}
    return {**facts, "verdict": Verdict.PASSES.value, "error": largest}


_ROLES: Mapping[str, Callable[[Path, Path], dict[str, Any]]] = {
    "litefuse": _convert,
    "stock": _convert_stock,
    "run": _run,
    "run-stock": _run_stock,
}

if __name__ == "__main__":
    main(sys.argv[1])
