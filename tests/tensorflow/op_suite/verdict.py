"""Converts and runs cases, and says how they fare."""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import litefuse
from litefuse.errors import LitefuseError, UnsupportedOpsError
from litefuse.support.processes.process import run_in_worker
from tests.tensorflow.checking import difference, interpreter
from tests.tensorflow.op_suite.building import build, stock_models

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.tensorflow.op_suite.case import Array, Case
    from tests.tensorflow.process import TensorFlow

_RTOL = {"float32": 1e-5, "float64": 1e-5, "float16": 2e-3, "bfloat16": 2e-2, "complex64": 1e-5}


@dataclass(frozen=True)
class Verdict:
    """What becomes of a case.

    Attributes:
        outcome: ``converts``: to a model that gives TensorFlow's numbers, twice in a row; ``refuses``: with an error;
            ``wrong``: to a model that fails or gives other numbers.
        detail: For a model that converts, the form: ``builtin``, ``rewritten``, ``composite``, ``kernel``; else the
            first line of the reason.
    """

    outcome: Literal["converts", "refuses", "wrong"]
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.outcome}: {self.detail}" if self.detail else self.outcome


@dataclass(frozen=True)
class Built:
    """A case in a SavedModel.

    Attributes:
        case: The case.
        path: The SavedModel.
        key: The signature.
        expected: What TensorFlow computes for each of the calls.
    """

    case: Case
    path: Path
    key: str
    expected: Sequence[dict[str, Array]]


def build_cases(tensorflow: TensorFlow, path: Path, cases: Sequence[Case]) -> list[Built]:
    """Builds cases into one SavedModel.

    Raises:
        ValueError: TensorFlow cannot run one: the case is wrong.
    """
    answers: list[list[dict[str, Array]] | str] = tensorflow.call(
        build, str(path), [(case, case.calls()) for case in cases]
    )
    wrong = [f"{case}: {each}" for case, each in zip(cases, answers, strict=True) if isinstance(each, str)]
    if wrong:
        raise ValueError("TensorFlow itself cannot run\n" + "\n".join(wrong))
    return [
        Built(case, path, f"c{number}", expected)
        for number, (case, expected) in enumerate(zip(cases, answers, strict=True))
        if not isinstance(expected, str)
    ]


def verdict_of_litefuse(built: Built) -> Verdict:
    """Converts a case with litefuse, runs and compares it."""
    try:
        result = litefuse.convert(built.path, signatures=[built.key])
    except UnsupportedOpsError as error:
        reasons = {f"{op.op}: {op.reason or 'LiteRT has no such op'}" for op in error.ops}
        return Verdict("refuses", "; ".join(sorted(reasons))[:200])
    except LitefuseError as error:
        return Verdict("refuses", _first_line(f"{type(error).__name__}: {error.message}"))
    report = result.report
    forms = {"pack": "kernel", "custom": "custom"}
    form = "+".join(sorted({forms.get(each.outcome, each.outcome) for each in report.lacking_ops})) or "builtin"
    problem = _problem(built, result.model_bytes, kernel_pack=bool(report.custom_ops))
    return Verdict("wrong", problem) if problem else Verdict("converts", form)


def verdicts_of_stock(tensorflow: Callable[[], TensorFlow], builts: Sequence[Built]) -> list[Verdict]:
    """Converts cases of one SavedModel with TFLiteConverter, runs and compares them.

    Args:
        tensorflow: The process to ask; called again after that died.
        builts: The cases.
    """
    path, keys = str(builts[0].path), [built.key for built in builts]
    models: list[bytes | str]
    try:
        models = tensorflow().call(stock_models, path, keys)
    except RuntimeError:  # the process died: who was it?
        models = []
        for key in keys:
            try:
                models += tensorflow().call(stock_models, path, [key])
            except RuntimeError:
                models.append("the process died")
    return [
        Verdict("refuses", _stock_reason(model)) if isinstance(model, str) else _stock_verdict(built, model)
        for built, model in zip(builts, models, strict=True)
    ]


def run_model(argument: Any, _announce: Any) -> list[dict[str, Array]]:
    """Runs calls of a model in a process whose death hurts nobody."""
    importlib.import_module("ml_dtypes")  # numpy knows bfloat16 once this is there
    model, key, calls, kernel_pack = argument
    engine = interpreter(model, kernel_pack=kernel_pack)
    runner = engine.get_signature_runner(key)
    names = set(runner.get_input_details())
    return [
        {
            name: np.array(value)
            for name, value in runner(**{name: value for name, value in call.items() if name in names}).items()
        }
        for call in calls
    ]


def _stock_verdict(built: Built, model: bytes) -> Verdict:
    problem = _problem(built, model, kernel_pack=False)
    return Verdict("wrong", problem) if problem else Verdict("converts")


def _problem(built: Built, model: bytes, *, kernel_pack: bool) -> str:
    calls = built.case.calls()
    try:
        actual = run_in_worker(f"{__name__}:run_model", (model, built.key, calls, kernel_pack))
    except LitefuseError as error:
        return _first_line(f"fails at run time: {error.message}")
    for number, (ours, theirs) in enumerate(zip(actual, built.expected, strict=True), start=1):
        if ours.keys() != theirs.keys():
            return f"call {number} gives {sorted(ours)}, not {sorted(theirs)}"
        for name in theirs:
            value: Array = theirs[name]
            rtol = built.case.rtol if built.case.rtol is not None else _RTOL.get(str(value.dtype), 0.0)
            pair: list[Array] = [ours[name], value]
            if all(str(each.dtype) == "bfloat16" for each in pair):  # numpy does not know it for a float
                pair = [each.astype(np.float32) for each in pair]
            problem = difference(*pair, rtol=rtol)
            if problem:
                return f"call {number}, {name} {problem}"[:160]
    return ""


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0][:160] if text.strip() else "no reason given"


def _stock_reason(text: str) -> str:
    """The line of the stock converter's long message that says what is lacking."""
    found = re.search(r"(?:TF Select ops|Custom ops): .*", text)
    if found:
        return found[0][:160]
    errors = re.findall(r"error: (?:loc\(.*\): )?(.*)", text)
    return _first_line(errors[0] if errors else text)
