"""Readers' verdicts say no where there is a reason: other numbers, a refusal, a death."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from suites.cases import Case, write_case
from suites.readers.campaign import REFERENCE, Known, failures, read_all
from suites.readers.files import File
from suites.readers.models import MODELS, draw, inputs_of
from suites.readers.reader import in_child
from suites.readers.reading import Reader, Reading, judged, read

from litefuse.litert.runtime.interpreter import Interpreter
from tests.every import every
from tests.litert.targets.models import dense

ROWS = (1, 1, 1, 3, 1)


def made(folder: Path, content: bytes, form: str = "float") -> File:
    """The file of a model, with five calls and what LiteRT computes of them."""
    case = folder / "model"
    (case / "saved_model").mkdir(parents=True)
    path = case / f"{form}.tflite"
    path.write_bytes(content)
    runner = Interpreter(path).get_signature_runner()
    given = [{"x": np.random.default_rng(rows).normal(size=(rows, 8)).astype(np.float32)} for rows in ROWS]
    write_case(case, Case("model", "readers"), [(each, {"y": np.array(runner(**each)["y"])}) for each in given])
    return File("model", form, "", path, case)


def scaling(path: Path, factor: float) -> str:
    """A program in the place of a reader's Python: its outputs are those of the reference, times a factor."""
    path.write_text(
        f"""#!{sys.executable}
import json, sys
import numpy as np
print(json.dumps({{"version": "1.0"}}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    outputs = [call.replace("inputs_", "outputs_") for call in request["calls"]]
    values = {{f"{{number}}.0": np.load(name)["y"] * {factor} for number, name in enumerate(outputs)}}
    np.savez(request["outputs"], **values)
    print(json.dumps({{"verdict": "runs"}}), flush=True)
"""
    )
    path.chmod(0o755)
    return str(path)


def test_numbers_of_readers_are_judged(tmp_path: Path) -> None:
    file = made(tmp_path, dense(batch=None))
    programs = {name: scaling(tmp_path / name, factor) for name, factor in (("same", 1.0), ("other", 1.0001))}
    readers = [Reader(REFERENCE, "litert", sys.executable)]
    readers += [Reader(name, "litert", program) for name, program in programs.items()]
    try:
        found = read_all(readers, [file])
    finally:
        for each in readers:
            each.__exit__(None, None, None)
    assert readers[1].version == "1.0"
    readings = {name: of_files["model, float"] for name, of_files in found.items()}
    assert {name: each.verdict for name, each in readings.items()} == {
        REFERENCE: "right",
        "same": "right",
        "other": "wrong",
    }
    assert readings["other"].errors == pytest.approx([1e-4] * len(ROWS), rel=1e-2)
    records = {name: {"model, float": "right 1e-7"} for name in found}
    (fault,) = failures([file], found, records, ())
    assert fault.startswith("other: model, float: wrong: off by 0.0001")
    assert [*failures([file], found, records, (Known("other", "model, .*", "its own fault"),))] == []
    (left,) = [*failures([file], {"same": found["same"]}, records, (Known("same", ".*", "its own fault"),))]
    assert "drop it" in left


def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    file = made(tmp_path, dense(batch=None))
    with Reader("LiteRT", "litert", sys.executable) as reader:
        assert read(reader, file).verdict == "runs"
        assert file.path is not None
        file.path.write_bytes(dense(batch=None).replace(b"\x09", b"\x08"))  # of another op code
        refused = read(reader, file)
    assert (refused.verdict, refused.errors) == ("refuses", ())
    assert refused.message


def test_a_reader_that_does_not_start() -> None:
    with pytest.raises(RuntimeError, match="openvino does not start"):
        Reader("openvino", "openvino", "/bin/false")


def test_deaths_and_errors_of_readers(tmp_path: Path) -> None:
    def dying(module: Any, model: str, calls: Any) -> Iterator[list[Any]]:
        faulthandler.disable()  # pytest's, whose report would stand among the results
        os.kill(os.getpid(), signal.SIGSEGV)
        yield []

    def raising(module: Any, model: str, calls: Any) -> Iterator[list[Any]]:
        os.write(2, b"ERROR: no such op\n")
        raise RuntimeError("it failed")

    request: dict[str, Any] = {"calls": [], "inputs": [], "model": "", "outputs": str(tmp_path / "outputs.npz")}
    assert in_child(None, dying, request) == {"verdict": "dies", "message": "SIGSEGV: "}
    answer = in_child(None, raising, request)
    assert (answer["verdict"], answer["message"].split("\n")[0]) == ("refuses", "ERROR: no such op")


@pytest.mark.parametrize(
    ("errors", "verdict"),
    [((1.9e-3, 0.0), "right"), ((2.2e-3, 0.0), "wrong"), ((float("inf"), 0.0), "wrong"), ((), "refuses")],
)
def test_twice_the_error_is_too_much(tmp_path: Path, errors: tuple[float, ...], verdict: str) -> None:
    file = made(tmp_path, dense(batch=None), "dynamic")
    reading = Reading("runs" if errors else "refuses", errors)
    # Of the calls that the reader does not make, the reference's errors do not count.
    assert judged(reading, Reading("runs", (1e-3, 5e-4, 0.05)), file).verdict == verdict
    # Where the reference is off itself, nothing is right.
    assert judged(reading, Reading("runs", (0.3, 0.3)), file).verdict == (verdict if not errors else "wrong")


def test_refusals_unlike_those_of_the_stock_converters_files(tmp_path: Path) -> None:
    file = made(tmp_path, dense(batch=None), "int8")
    refused = Reading("refuses", message="no such op")
    readings = {"other": {file.name: refused, "model, float": refused}}
    right = {"other": dict.fromkeys(readings["other"], "right 1e-3")}
    assert [each.partition(", but")[0] for each in failures([file], readings, right, ())] == [
        "other: model, int8: refuses"
    ]
    assert not [*failures([file], readings, {"other": {file.name: "wrong 1.0"}}, ())]
    assert ["not recorded" in each for each in failures([file], readings, {}, ())] == [True]
    lacking = file._replace(path=None, problem="it cannot be quantized")
    assert [*failures([lacking], {}, {}, ())] == ["model, int8: there is no file: it cannot be quantized"]
    made_for_it = {"other": {f"{file.name}, --target openvino": refused}}
    assert "made for this reader" in next(failures([file], made_for_it, right, ()))


def test_inputs_are_drawn_for_each_model() -> None:
    assert len(MODELS) == 15
    for name in MODELS:
        drawn = draw(name, 2, 1)
        assert {key: value.shape[1:] for key, value in drawn.items()} == dict(inputs_of(name))
        assert every((value[0] != value[1]).any() for value in drawn.values())
