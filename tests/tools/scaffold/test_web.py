"""Pages of ``litefuse export-web``; ``in_web_page.py`` opens one in a browser."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.litert.metadata.description import Finish
from litefuse.litert.metadata.finish import finish_file
from litefuse.litert.targets.browser import CORE, UTILS
from tests.litert.runtime.models import Graph
from tests.litert.targets.models import dense, integers, remembering, serving
from tests.tools.documents.reading import printed

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = "</script><script>alert(1)</script>"


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder like that of LiteRT.js."""
    folder = tmp_path / "node_modules"
    for name in (CORE, UTILS):
        (folder / name / "dist").mkdir(parents=True)
        (folder / name / "dist" / "index.js").write_text("export {};")
    (folder / CORE / "wasm").mkdir()
    for name in ("litert_wasm_internal.wasm", "litert_wasm_threaded_internal.wasm"):
        (folder / CORE / "wasm" / name).write_bytes(b"wasm")
    monkeypatch.setenv("NODE_PATH", str(folder))
    return folder


def described(folder: Path) -> Path:
    """A file with an image of 2 x 2, a sentence, sounds, ids and numbers, and two classes, with metadata."""
    graph = Graph()
    image, sounds = graph.input("image", (1, 2, 2, 3)), graph.input("sounds", (1, 8))
    words, ids, x = graph.input("words", (1, 4), np.int32), graph.input("ids", (1, 4), np.int32), graph.input("x", (2,))
    total = graph.tensor("total", ())
    axes = graph.tensor("axes", (4,), np.int32, value=[0, 1, 2, 3])
    graph.builtin("SUM", [image, axes], [total])
    graph.builtin("ADD", [x, total], [graph.output("classes", (2,))])
    graph.builtin("ADD", [words, ids], [graph.output("sums", (1, 4), np.int32)])
    graph.builtin("TANH", [sounds], [graph.output("heard", (1, 8))])
    path = folder / "described.tflite"
    path.write_bytes(serving(graph))
    vocabulary = {"name": "words.txt", "type": "VOCABULARY"}
    (folder / "words.txt").write_text("<PAD> 0\n<START> 1\n<UNKNOWN> 2\nhello 7\n")
    (folder / "labels.txt").write_text(f"cat\n{HOSTILE}\n")
    tensors: list[dict[str, Any]] = [
        {
            "name": "image",
            "content": {"content_properties_type": "ImageProperties", "content_properties": {"color_space": "RGB"}},
            "process_units": [{"options_type": "NormalizationOptions", "options": {"mean": [127.5], "std": [127.5]}}],
        },
        {
            "content": {
                "content_properties_type": "AudioProperties",
                "content_properties": {"sample_rate": 8000, "channels": 1},
            }
        },
        {
            "process_units": [
                {
                    "options_type": "RegexTokenizerOptions",
                    "options": {"delim_regex_pattern": "[^\\w']+", "vocab_file": [vocabulary]},
                }
            ]
        },
        {"associated_files": [vocabulary]},
        {"description": HOSTILE},
    ]
    results = [{"associated_files": [{"name": "labels.txt", "type": "TENSOR_AXIS_LABELS"}]}, {}, {}]
    metadata = {
        "name": "Net",
        "subgraph_metadata": [{"input_tensor_metadata": tensors, "output_tensor_metadata": results}],
    }
    (folder / "metadata.json").write_text(json.dumps(metadata))
    finish_file(path, Finish.of(folder / "metadata.json", None))
    return path


def told(folder: Path) -> dict[str, Any]:
    """What the page knows of the model."""
    text = (folder / "index.html").read_text("utf-8")
    (found,) = re.findall(r'<script type="application/json" id="model">(.*?)</script>', text, re.DOTALL)
    return json.loads(found)


@pytest.mark.usefixtures("modules")
def test_metadata_gives_inputs_forms_and_outputs_labels(tmp_path: Path) -> None:
    path = described(tmp_path)
    document = printed("export-web", path, "-o", tmp_path / "page")
    assert document["status"] == "done"
    forms = {"image": "image", "sounds": "audio", "words": "text", "ids": "numbers", "x": "numbers"}
    assert document["forms"] == forms
    assert document["notes"] == ["ids takes ids: a tokenizer in JavaScript has to make them of texts."]
    assert "litert/wasm/litert_wasm_internal.wasm" in document["files"]
    assert not any("threaded" in file for file in document["files"])
    page = told(tmp_path / "page")
    inputs = {entry["name"]: entry for entry in page["inputs"]}
    assert (inputs["image"]["mean"], inputs["image"]["std"], inputs["sounds"]["rate"]) == ([127.5], [127.5], 8000)
    assert dict(inputs["words"]["vocabulary"])["hello"] == 7
    assert inputs["x"]["description"] == HOSTILE
    outputs = {entry["name"]: entry for entry in page["outputs"]}
    assert outputs["classes"]["labels"] == ["cat", HOSTILE]
    assert (page["name"], page["signature"]) == ("Net", "serving_default")
    assert (tmp_path / "page" / "model.tflite").read_bytes() == path.read_bytes()
    assert "alert(1)</script>" not in (tmp_path / "page" / "index.html").read_text("utf-8")


@pytest.mark.usefixtures("modules")
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (integers(), r"input 'x' is int8 of shape \[1, 8\]"),
        (dense(batch=None), r"input 'x' is float32 of shape \[\?, 8\]"),
        (remembering(), "variable tensors are not taken"),
    ],
    ids=["int8", "open", "variable"],
)
def test_what_litert_js_does_not_take_is_refused_and_leaves_nothing(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    with pytest.raises(litefuse.LitefuseError, match=reason) as raised:
        litefuse.export_web(content, tmp_path / "page")
    assert "--target web" in raised.value.hint
    assert not (tmp_path / "page").exists()


def test_without_litert_js(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NODE_PATH", "")
    with pytest.raises(litefuse.LitefuseError, match="npm install @litertjs/core"):
        litefuse.export_web(dense(), tmp_path / "page")
