from __future__ import annotations

import importlib
import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import litefuse
from litefuse.errors import EngineCrashError, FusionError, LitefuseError, NotFusedError, SignatureError
from litefuse.fusions.fusion import Fusion, fusion, registered_fusions
from litefuse.litert.inspection.litert_model import facts_of
from litefuse.litert.runtime.model_reader import Model
from litefuse.tools.demo import SAVED_MODEL


@pytest.fixture(scope="module")
def result() -> litefuse.ConversionResult:
    return litefuse.convert(SAVED_MODEL)


def test_what_a_result_holds(result: litefuse.ConversionResult, tmp_path: Path) -> None:
    saved = result.save(tmp_path / "model.tflite")
    assert saved.read_bytes() == result.model_bytes
    assert result.model_bytes[4:8] == b"TFL3"
    assert result.report.size == len(result.model_bytes)
    assert {composite.name: composite.fused_into for composite in result.report.composites} == {
        "embedding_matmul": "EMBEDDING_LOOKUP",
        "my_custom_fused_op": "my_custom_fused_op",
    }
    assert result.report.custom_ops == ("my_custom_fused_op",)
    assert result.report.signatures == ("embed", "serving_default")
    files = [SAVED_MODEL / "saved_model.pb", *(SAVED_MODEL / "variables").iterdir()]
    assert result.report.source_size == sum(each.stat().st_size for each in files)


def test_the_file_says_who_wrote_it(result: litefuse.ConversionResult) -> None:
    assert litefuse.convert(SAVED_MODEL).model_bytes == result.model_bytes
    facts = facts_of(result.model_bytes, "model")
    assert facts.description == f"litefuse {litefuse.__version__}"
    assert "LITEFUSE" in facts.metadata
    written = json.loads(Model(result.model_bytes).metadata_content("LITEFUSE") or b"")
    assert (written["producer"], written["version"]) == ("litefuse", litefuse.__version__)
    damaged = result.model_bytes.replace(b'{"producer"', b'["producer"')
    assert damaged != result.model_bytes
    assert len(facts_of(damaged, "model").operators) == len(facts.operators)


def test_saving_replaces_a_file_and_leaves_nothing_else(result: litefuse.ConversionResult, tmp_path: Path) -> None:
    target = tmp_path / "model.tflite"
    target.write_text("old")
    result.save(str(target))
    assert [path.name for path in tmp_path.iterdir()] == ["model.tflite"]
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(target.stat().st_mode) == 0o666 & ~umask


def test_a_moved_model_is_the_results_model(tmp_path: Path) -> None:
    moved = litefuse.convert(SAVED_MODEL, signatures=["embed"], limits=litefuse.Limits(temporary_folder=tmp_path))
    content = moved.model_bytes
    target = moved.save(tmp_path / "model.tflite", copy=False)
    assert target.read_bytes() == moved.model_bytes == content
    assert moved.save(tmp_path / "copy.tflite").read_bytes() == content
    del moved
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.tflite", "model.tflite"]


def test_a_result_outlives_later_conversions(result: litefuse.ConversionResult) -> None:
    before = result.model_bytes
    other = litefuse.convert(SAVED_MODEL, signatures=["embed"])
    assert other.report.signatures == ("embed",)
    assert result.model_bytes == before


def test_saving_into_no_folder_is_an_error(result: litefuse.ConversionResult, tmp_path: Path) -> None:
    with pytest.raises(LitefuseError, match="cannot be written"):
        result.save(tmp_path / "missing" / "model.tflite")


def test_in_process_gives_the_same_file(result: litefuse.ConversionResult) -> None:
    assert litefuse.convert(SAVED_MODEL, debug=litefuse.Debugging(in_process=True)).model_bytes == result.model_bytes


def test_in_process_refuses_to_meet_tensorflow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tensorflow", object())
    with pytest.raises(LitefuseError, match="TensorFlow is loaded"):
        litefuse.convert(SAVED_MODEL, debug=litefuse.Debugging(in_process=True))


def test_threads_convert_side_by_side() -> None:
    sizes: list[int] = []
    threads = [
        threading.Thread(target=lambda: sizes.append(litefuse.convert(SAVED_MODEL).report.size)) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(sizes) == 4
    assert len(set(sizes)) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"signatures": ["nope"]}, "no signature 'nope'"),
        ({"signatures": "serving_default"}, "takes a list of names"),
        ({"signatures": [3]}, "signatures takes a list of names, which are strings, not [3]"),
        ({"graph": {"tags": 3}}, "tags takes a list of names, which are strings, not 3"),
        ({"shapes": 3}, "shapes are given by the names of inputs, not as 3"),
        ({"shapes": {"x": 3.5}}, "the shape of the input 'x' must be sizes"),
        ({"shapes": {"x": [None, 2**31]}}, "no sizes above 2147483647, so an input cannot be of 2147483648"),
        ({"batch": 2**31}, "no sizes above 2147483647"),
        ({"graph": {"tags": ["train"]}}, "no graph is tagged train"),
        (
            {"require_fused": ["lstm"]},
            "'lstm': no function of the model is annotated so\nThe composites are 'embedding_",
        ),
    ],
)
def test_arguments_that_name_nothing(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(LitefuseError) as caught:
        litefuse.convert(SAVED_MODEL, **arguments)
    assert message in str(caught.value)


def test_the_kinds_of_errors() -> None:
    with pytest.raises(SignatureError):
        litefuse.convert(SAVED_MODEL, signatures=["nope"])
    with pytest.raises(NotFusedError):
        litefuse.convert(SAVED_MODEL, require_fused=["lstm"])


def test_a_model_object_is_refused_with_what_to_do() -> None:
    class Model:
        pass

    with pytest.raises(LitefuseError, match=r"(?s)a Model cannot be converted.*model\.export"):
        litefuse.convert(Model())  # pyright: ignore[reportArgumentType]


SCRIPT = f"""
import litefuse
import litefuse.fusions

@litefuse.fusion("embedding_matmul", replace=True)
class Mine(litefuse.Fusion):
    def rewrite(self, composite, b):
        return b.custom("MyLookup", composite.args, composite.result_types, {{"rows": [1, 2]}})

report = litefuse.convert({str(SAVED_MODEL)!r}).report
print(report.custom_ops)
"""


def test_a_fusion_of_a_script_reaches_the_conversion_process(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.stdout == "('MyLookup', 'my_custom_fused_op')\n", done.stderr


def test_registering_a_name_twice_is_an_error() -> None:
    with pytest.raises(FusionError, match="is registered for 'embedding_lookup' already"):

        @fusion("embedding_lookup")
        class Second(Fusion):  # pyright: ignore[reportUnusedClass]
            def rewrite(self, composite: Any, b: Any) -> Any:
                raise NotImplementedError

    assert registered_fusions()["embedding_lookup"].__name__ == "EmbeddingLookup"


def test_what_is_no_fusion_is_refused() -> None:
    class Idle(Fusion):
        pass

    with pytest.raises(
        FusionError, match=r'a fusion needs the names of its composites\nWrite @litefuse.fusion\("name"\)'
    ):
        fusion(Idle)  # pyright: ignore[reportArgumentType]
    with pytest.raises(FusionError, match="Idle has no method rewrite"):
        fusion("idle")(Idle)
    with pytest.raises(FusionError, match=r"Path is neither a function nor a subclass of litefuse\.Fusion"):
        fusion("idle")(Path)


def test_a_failing_fusion_is_named(tmp_path: Path) -> None:
    script = SCRIPT.replace('b.custom("MyLookup", ', "b.nothing(")
    (tmp_path / "script.py").write_text(script)
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert f"FusionError: fusion Mine ({tmp_path / 'script.py'}:7), composite 'embedding_matmul'" in done.stderr
    assert "the builder has no 'nothing'" in done.stderr
    assert "script.py, line 8, in rewrite)" in done.stderr


def test_a_full_disk_is_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(*_: object) -> None:
        raise EngineCrashError(
            "it died\nLLVM ERROR: IO failure on output stream: No space left on device", step="write"
        )

    monkeypatch.setattr(importlib.import_module("litefuse.conversion.conversion_process"), "run_in_worker", dies)
    with pytest.raises(LitefuseError, match="the model cannot be written: no space left on device") as raised:
        litefuse.convert(SAVED_MODEL)
    assert not isinstance(raised.value, EngineCrashError)
    assert raised.value.hint == "Make room there."


def test_what_is_no_file_is_not_replaced(result: litefuse.ConversionResult, tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link.tflite"
    os.mkfifo(pipe)
    with pytest.raises(LitefuseError, match="a device, pipe or the like is not a file"):
        result.save(pipe)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    link.symlink_to(tmp_path / "model.tflite")
    result.save(link)
    assert link.is_symlink()
    assert (tmp_path / "model.tflite").read_bytes() == result.model_bytes


def test_a_temporary_folder_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LitefuseError, match=f"{tmp_path}/missing: no temporary folder can be made: No such file"):
        litefuse.convert(SAVED_MODEL, limits=litefuse.Limits(temporary_folder=tmp_path / "missing"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    with pytest.raises(LitefuseError, match="no temporary folder can be made"):
        litefuse.convert(SAVED_MODEL)


def test_a_current_folder_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(LitefuseError, match="the current folder is gone"):
        litefuse.convert("model")
