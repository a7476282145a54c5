"""Public function ``export_web()``: a page that runs a LiteRT model in browsers, with LiteRT.js."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from litefuse.conversion.verify.reference import name_and_content
from litefuse.errors import LitefuseError
from litefuse.litert.cpp.folders import check_empty, new_folder
from litefuse.litert.export.edited_file import sign_file
from litefuse.litert.inspection.litert_model import inspect_litert_model
from litefuse.litert.metadata.associated_files import read_file
from litefuse.litert.metadata.finish import model_metadata
from litefuse.litert.runtime.model_content import check_model
from litefuse.litert.runtime.model_reader import Model, Tensor
from litefuse.litert.targets import browser
from litefuse.litert.targets.op_table import refused_by_table
from litefuse.litert.targets.web import Web
from litefuse.support.cloud.paths import local, not_url
from litefuse.support.report.json_form import json_form

if TYPE_CHECKING:
    from litefuse.support.result import ConversionResult

_DTYPES = frozenset({"float32", "int32", "uint8"})
_TEMPLATE = Path(__file__).with_name("templates") / "web" / "index.html"
_Entry: TypeAlias = "Mapping[str, Any]"
_RATE = 16000  # of audio, where metadata does not say it


@dataclass(frozen=True)
class WebPage:
    """A written page.

    Attributes:
        folder: The folder.
        files: Its files, relative to it.
        forms: The form of each input: ``image``, ``audio``, ``text`` or ``numbers``.
        notes: What the page needs besides the model, in sentences.
    """

    folder: Path
    files: tuple[str, ...]
    forms: Mapping[str, str]
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Returns dictionaries and lists for ``json.dumps``."""
        return json_form(self)


def export_web(model: ConversionResult | str | os.PathLike[str] | bytes, folder: str | os.PathLike[str]) -> WebPage:
    """Writes a page that runs a LiteRT model in browsers, with LiteRT.js.

    The folder gets the page, the model and LiteRT.js: a server of files is all it needs. Metadata in the file gives
    inputs their forms, and outputs their labels.

    Args:
        model: The result of a conversion, the file of a LiteRT model of any converter, or its content.
        folder: The folder to write, a new or an empty one.

    Returns:
        What was written.

    Raises:
        InterpreterError: This is not a LiteRT model, or it is damaged.
        LitefuseError: LiteRT.js is not installed, or does not take the model, or the folder cannot be written.
    """
    target = Path(not_url(folder))
    check_empty(target)
    if isinstance(model, str | os.PathLike):
        check_model(local(model), "--target web")
    modules = browser.find_litert_js()
    if modules is None:
        raise LitefuseError(browser.missing_software())
    name, content = name_and_content(model)
    with new_folder(target):
        path = target / "model.tflite"
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            shutil.copyfile(content, path)
        if not inspect_litert_model(path).signatures:
            sign_file(path)
        page, notes = _page(path.read_bytes(), Path(name).stem, name)
        text = json.dumps(page).replace("<", "\\u003c")
        (target / "index.html").write_text(_TEMPLATE.read_text("utf-8").replace("@model@", text), "utf-8")
        for package in (browser.CORE, browser.UTILS):
            place = target / "litert" / package.partition("/")[2] / "index.js"
            place.parent.mkdir(parents=True)
            shutil.copyfile(modules / package / "dist" / "index.js", place)
        unthreaded = shutil.ignore_patterns("*threaded*")  # threads need headers that few servers send
        shutil.copytree(modules / browser.CORE / "wasm", target / "litert" / "wasm", ignore=unthreaded)
    files = tuple(sorted(str(file.relative_to(target)) for file in target.rglob("*") if file.is_file()))
    return WebPage(target, files, {entry["name"]: entry["form"] for entry in page["inputs"]}, tuple(notes))


def _page(content: bytes, stem: str, where: str) -> tuple[dict[str, Any], list[str]]:
    """Returns what the page says and asks, and notes."""
    model = Model(content)
    for refusal in refused_by_table(model, Web.table):
        raise LitefuseError(
            f"LiteRT.js does not take {refusal.op or 'the file'}: {refusal.reason}",
            where=where,
            hint="Convert with --target web; litefuse check --target web says more.",
        )
    key, *others = model.signatures
    signature = model.signatures[key]
    graph = model.graphs[signature.graph]
    metadata = model_metadata(content) or {}
    described: _Entry = (_listed(metadata, "subgraph_metadata") or [{}])[0] if signature.graph == 0 else {}
    notes = [f"The page calls {key}, and not {', '.join(others)}."] if others else []
    ends: dict[str, list[dict[str, Any]]] = {}
    for role, names, order in (("input", signature.inputs, graph.inputs), ("output", signature.outputs, graph.outputs)):
        entries = _listed(described, f"{role}_tensor_metadata")
        ends[role] = []
        for name, index in names.items():
            place = list(order).index(index)
            entry = entries[place] if place < len(entries) else {}
            of_tensor = _tensor(graph.tensor(index), f"{role} {name!r}", where)
            more = _form(entry, of_tensor, content) if role == "input" else {"labels": _labels(entry, content)}
            ends[role].append({"name": name, **of_tensor, "description": entry.get("description", ""), **more})
            if more.get("form") == "numbers" and _has_vocabulary(entry):
                notes.append(f"{name} takes ids: a tokenizer in JavaScript has to make them of texts.")
    name, description = metadata.get("name") or stem, metadata.get("description", "")
    page = {"name": name, "description": description, "signature": key, "inputs": ends["input"]}
    return {**page, "outputs": ends["output"]}, notes


def _tensor(tensor: Tensor, what: str, where: str) -> dict[str, Any]:
    dtype = str(tensor.dtype)
    if dtype not in _DTYPES or None in tensor.shape or 0 in tensor.shape:
        sizes = ", ".join("?" if size is None else str(size) for size in tensor.shape)
        raise LitefuseError(
            f"the {what} is {dtype} of shape [{sizes}], which LiteRT.js does not take",
            where=where,
            hint="Convert with --target web, which makes int64 int32 and a batch of 1; of int8, --quantized-io uint8.",
        )
    is_scaled = dtype == "uint8" and tensor.scale
    return {"dtype": dtype, "shape": tensor.shape, "scale": tensor.scale if is_scaled else 0, "zero": tensor.zero}


def _form(entry: _Entry, tensor: _Entry, content: bytes) -> dict[str, Any]:
    """Returns the form of an input, and what it needs: by its metadata, or the shape of images."""
    shape = tensor["shape"]
    of_content: _Entry = entry.get("content") or {}
    kind = of_content.get("content_properties_type")
    properties: _Entry = of_content.get("content_properties") or {}
    units: dict[str, _Entry] = {unit.get("options_type", ""): unit["options"] for unit in _units(entry)}
    if len(shape) == 4 and shape[0] == 1 and shape[3] in {1, 3} and kind in {"ImageProperties", None}:
        scaling = units.get("NormalizationOptions", {})
        return {"form": "image", "mean": scaling.get("mean") or [0], "std": scaling.get("std") or [1]}
    if kind == "AudioProperties":
        return {"form": "audio", "rate": properties.get("sample_rate") or _RATE}
    if (words := units.get("RegexTokenizerOptions")) is not None:
        rows = [line.split() for line in _lines(_listed(words, "vocab_file"), content) if line.strip()]
        ids = [(row[0], int(row[1]) if row[1:] and row[1].isdecimal() else place) for place, row in enumerate(rows)]
        return {"form": "text", "delimiter": words.get("delim_regex_pattern") or r"[^\w']+", "vocabulary": ids}
    return {"form": "numbers"}


def _listed(entry: _Entry, key: str) -> list[dict[str, Any]]:
    return entry.get(key) or []


def _units(entry: _Entry) -> list[dict[str, Any]]:
    return [unit for unit in _listed(entry, "process_units") if unit.get("options")]


def _has_vocabulary(entry: _Entry) -> bool:
    files = _listed(entry, "associated_files")
    return any("vocab_file" in unit["options"] for unit in _units(entry)) or any(
        file.get("type") == "VOCABULARY" for file in files
    )


def _labels(entry: _Entry, content: bytes) -> list[str]:
    labels = {"TENSOR_AXIS_LABELS", "TENSOR_VALUE_LABELS"}
    return _lines([file for file in _listed(entry, "associated_files") if file.get("type") in labels], content)


def _lines(files: Sequence[_Entry], content: bytes) -> list[str]:
    """Returns the lines of the first file; none without any."""
    names: list[str] = [file.get("name", "") for file in files[:1]]
    return [line for name in names for line in read_file(content, name).decode("utf-8", "replace").splitlines()]
