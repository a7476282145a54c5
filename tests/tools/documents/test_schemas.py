"""Each command's document is as its schema says, and schemas change with their versions alone."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from click.testing import CliRunner
from scripts.write_schemas import PUBLISHED, fingerprint, schema

import litefuse
from litefuse import errors
from litefuse.tools.cli.app import app
from litefuse.tools.demo import SAVED_MODEL
from litefuse.tools.documents.document import (
    COMMANDS,
    FOLDER,
    VERSIONS,
    Failure,
    address,
    document,
    file_name,
    schema_text,
)
from tests.every import every
from tests.tools.documents.reading import is_described, printed, validator_of

#: Arguments of each command that prints a result, where {model} is a file and {folder} an empty folder.
RUNS = {
    "batch": ["batch", "{models}", "-o", "{folder}/out", "--jobs", "1", "--target", "litert"],
    "benchmark": ["benchmark", "{model}", "{model}", "--seconds", "0.05", "--signature", "embed"],
    "doctor cache": ["doctor", "cache"],
    "check": ["check", "{model}", "--target", "litert", "--target", "micro"],
    "convert": ["convert", SAVED_MODEL, "-o", "{folder}/m.tflite", "--target", "cpu"],
    "diff": ["diff", "{model}", "{quantized}"],
    "doctor": ["doctor"],
    "export-micro": ["export-micro", "{plain}", "-o", "{folder}/app", "--arena-size", "64K"],
    "doctor fusions": ["doctor", "fusions"],
    "inspect": ["inspect", SAVED_MODEL, "--ops"],
    "inspect a file": ["inspect", "{model}"],
    "kernels list": ["kernels", "list"],
    "quantize": ["quantize", "{plain}", "-o", "{folder}/q.tflite", "--quantize", "dynamic", "--measure-layers"],
    "run": ["run", "{model}", "--signature", "embed", "--repeat", "2", "-o", "{folder}/out.npz"],
    "verify": ["verify", "{model}", "{quantized}", "--layers", "--signature", "embed"],
}


@pytest.fixture(scope="module")
def files(demo_model: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("documents")
    plain = litefuse.convert(SAVED_MODEL, signatures=["embed"]).save(folder / "plain.tflite")
    quantized = litefuse.quantize(demo_model, "float16").save(folder / "quantized.tflite")
    models = folder / "models.toml"
    models.write_text(f"[[model]]\nname = 'demo'\npath = {json.dumps(str(SAVED_MODEL))}\n")
    return {"model": str(demo_model), "plain": str(plain), "quantized": str(quantized), "models": str(models)}


@pytest.mark.parametrize("command", RUNS)
def test_what_a_command_prints_is_as_its_schema_says(command: str, files: dict[str, str], tmp_path: Path) -> None:
    names = {**files, "folder": str(tmp_path)}
    found = printed(*(str(each).format(**names) for each in RUNS[command]))
    assert found["status"] == "done", found
    assert found["schema"] == address(command.removesuffix(" a file"))
    assert found["versions"]["litefuse"] == litefuse.__version__
    assert {"litert-converter", "ai-edge-litert"} <= found["versions"].keys()


def test_every_command_is_run_here_or_with_a_compiler() -> None:
    run = {each.removesuffix(" a file") for each in RUNS}
    # In tests/tools/kernel_check/test_check.py, tests/tools/scaffold/test_web.py and
    # tests/tensorflow/test_language_models.py.
    assert {*COMMANDS} - run == {"export-web", "kernels test", "lm"}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_failure_of_a_command_is_as_its_schema_says(command: str) -> None:
    found = document(command, Failure.of(litefuse.LitefuseError("no")), exit_code=1)
    assert is_described(found, found["schema"])


@pytest.mark.parametrize("name", [each for each in errors.__all__ if each.endswith("Error")])
def test_each_error_is_as_the_schema_says(name: str) -> None:
    found = document("convert", Failure.of(getattr(errors, name)("what", where="there", hint="try")), exit_code=1)
    assert is_described(found, found["schema"])


def test_errors_that_users_derive_are_too() -> None:
    class Mine(litefuse.LitefuseError):
        extra: str

    error = Mine("mine")
    error.extra = "not of litefuse"
    found = document("convert", Failure.of(error), exit_code=1)
    assert found["error"]["type"] == "Mine"
    assert is_described(found, found["schema"])


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The dictionaries in a document, other than those whose keys are data."""
    if isinstance(value, dict):
        entries = cast("dict[str, Any]", value)
        if not path or path[-1] not in {"options", "versions", "timings", "counts", "op_counts", "seconds"}:
            yield path
            for key, each in entries.items():
                yield from places(each, (*path, key))
    elif isinstance(value, list):
        for index, each in enumerate(cast("list[Any]", value)[:2]):
            yield from places(each, (*path, index))


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for each in path:
        value = value[each]
    return value


def add(place: dict[str, Any]) -> None:
    place["nobody knows this"] = 1


def drop(place: dict[str, Any]) -> None:
    del place[min(place)]


@pytest.mark.parametrize("change", [add, drop], ids=["unknown", "missing"])
def test_a_document_with_a_missing_or_an_unknown_field_is_refused(
    change: Callable[[dict[str, Any]], object], tmp_path: Path
) -> None:
    found = printed("convert", SAVED_MODEL, "-o", tmp_path / "m.tflite")
    tried = [path for path in places(found) if at(found, path)]
    assert len(tried) > 5
    for path in tried:
        other = copy.deepcopy(found)
        change(at(other, path))
        assert not is_described(other, found["schema"]), path


def test_a_field_of_another_type_is_refused(tmp_path: Path) -> None:
    found = printed("convert", SAVED_MODEL, "-o", tmp_path / "m.tflite")
    assert not is_described({**found, "size": "large"}, found["schema"])
    assert not is_described({**found, "status": "failed"}, found["schema"])


@pytest.mark.parametrize("command", VERSIONS, ids=lambda each: each or "failure")
def test_schemas_are_those_of_the_data_classes(command: str) -> None:
    assert schema(command) == json.loads(schema_text(command)), "run: python -m scripts.write_schemas"


def test_a_schema_that_was_published_is_as_it_was() -> None:
    published = json.loads(PUBLISHED.read_text())
    found = {path.name: fingerprint(json.loads(path.read_text())) for path in FOLDER.glob("*.json")}
    assert found == published, "raise the version in litefuse/tools/documents/document.py"
    assert {file_name(each) for each in VERSIONS} <= found.keys()


def test_the_fingerprint_knows_a_change_from_a_description() -> None:
    before = schema("run")
    told, added = copy.deepcopy(before), copy.deepcopy(before)
    told["$defs"]["Done"]["description"] = "In other words."
    added["$defs"]["Done"]["properties"]["description"] = {"type": "string"}
    assert fingerprint(told) == fingerprint(before)
    assert fingerprint(added) != fingerprint(before)


def test_the_command_prints_schemas() -> None:
    listed = CliRunner().invoke(app, ["doctor", "schema"])
    assert every(address(each) in listed.stdout for each in COMMANDS)
    for name in (["kernels", "list"], ["kernels list"]):
        shown = CliRunner().invoke(app, ["doctor", "schema", *name])
        assert json.loads(shown.stdout)["$id"] == address("kernels list")
    refused = CliRunner().invoke(app, ["doctor", "schema", "../convert"])
    assert (refused.exit_code, refused.stdout) == (2, "")


def test_python_and_the_command_agree(tmp_path: Path) -> None:
    found = printed("convert", SAVED_MODEL, "-o", tmp_path / "m.tflite")
    report = litefuse.convert(SAVED_MODEL).report.to_json()
    assert report.keys() <= found.keys()
    measured = {"timings", "seconds", "file_check"}
    assert {key: value for key, value in report.items() if key not in measured} == {
        key: found[key] for key in report if key not in measured
    }
    assert json.loads(json.dumps(report, allow_nan=False)) == report


def test_numbers_that_are_not_finite_are_null(tmp_path: Path, demo_model: Path) -> None:
    expected = tmp_path / "expected.npz"
    inputs = tmp_path / "inputs.npz"
    np.savez(inputs, ids=np.array([1], np.int32))
    np.savez(expected, vectors=np.full((1, 4), np.nan, np.float32), calls=np.array(1, np.int32))
    found = printed(
        "verify", demo_model, "--signature", "embed", "--inputs", inputs, "--expected", expected, "--repeat", "1"
    )
    assert found["verdict"] == "differs"
    assert {each["name"]: each["error"] for each in found["outputs"]}["vectors"] is None


def test_addresses_are_those_of_files() -> None:
    for command in VERSIONS:
        assert cast("Any", validator_of(address(command)).schema)["$id"] == address(command)
