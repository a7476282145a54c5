"""Bundles of language models: what is refused, and what damaged ones are told to be."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import litefuse
from litefuse.errors import LitefuseError
from litefuse.frontends.language_models.files import Parts, PartsJob, write_parts
from litefuse.frontends.language_models.tokenizers import take_tokenizer
from litefuse.support.options.language_model import LanguageModel
from litefuse.tools.language_models import is_bundle
from litefuse.tools.language_models.bundle import Metadata, pack, read_bundle


def packed(folder: Path, model_type: str = "generic_model") -> Path:
    (folder / "model.tflite").write_bytes(b"a model" * 1000)
    (folder / "tokenizer.json").write_text('{"model": {}}')
    parts = Parts(folder, folder / "tokenizer.json", 64, (7, 8), (3, 4), "")
    pack(folder / "made.litertlm", folder / "model.tflite", parts, Metadata(model_type, None))
    return folder / "made.litertlm"


def test_what_is_packed_is_read(tmp_path: Path) -> None:
    path = packed(tmp_path, "qwen3")
    bundle = read_bundle(path)
    assert is_bundle(path)
    assert (bundle.context, bundle.start, bundle.stop, bundle.model_type) == (64, (7, 8), ((3,), (4,)), "qwen3")
    with bundle.opened() as model:
        assert (model.name, model.read_bytes()) == ("made.tflite", b"a model" * 1000)


def test_a_damaged_bundle_is_told(tmp_path: Path) -> None:
    path = packed(tmp_path)
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(LitefuseError, match="damaged"):
        read_bundle(path)
    assert not is_bundle(tmp_path / "tokenizer.json")


def test_an_unknown_model_type(tmp_path: Path) -> None:
    with pytest.raises(LitefuseError, match="no model type 'gemma9'") as raised:
        packed(tmp_path, "gemma9")
    assert "gemma3" in raised.value.hint


def test_without_the_builder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "litert_lm_builder", None)
    with pytest.raises(LitefuseError, match="litert-lm-builder") as raised:
        litefuse.language_model(tmp_path)
    assert "pip install 'litefuse[lm]'" in raised.value.hint


@pytest.mark.parametrize("value", ["", "0", "128,x", -1, [], 1.5j])
def test_lengths_that_are_none(value: Any) -> None:
    with pytest.raises(LitefuseError, match="prefill takes numbers of tokens"):
        LanguageModel(prefill=value)


def test_options_that_mean_the_same() -> None:
    assert LanguageModel(prefill="128,32").prefill == LanguageModel(prefill=(128, 32, 128)).prefill == (128, 32)
    int4 = LanguageModel(quantize="int4").quantize
    assert (int4.form, int4.weight_bits, int4.block_size) == ("dynamic", 4, 32)
    assert LanguageModel(quantize="auto").quantize.max_error == 0.1


@pytest.mark.parametrize("content", ['{"no": "model"}', "{", '["model"]', '{"model": {}, "a": "' + "x" * 70])
def test_json_that_is_no_tokenizer(tmp_path: Path, content: str) -> None:
    (tmp_path / "given.json").write_text(content)
    (tmp_path / "to").mkdir()
    if content.startswith("["):  # not JSON of Hugging Face: taken for SentencePiece, which the engine judges
        assert take_tokenizer(tmp_path / "given.json", tmp_path / "to").name == "tokenizer.spm"
        return
    with pytest.raises(LitefuseError, match="not of a tokenizer"):
        take_tokenizer(tmp_path / "given.json", tmp_path / "to")


def test_what_is_not_a_language_model(tmp_path: Path) -> None:
    job = PartsJob(tmp_path, None, (8,), None)
    with pytest.raises(LitefuseError, match="type dict is not a language model"):
        write_parts({}, job, print)
    with pytest.raises(LitefuseError, match="has no tokenizer"):
        write_parts(litefuse.Decoder(print, [(1, 1)]), job, print)  # pyright: ignore[reportArgumentType]
    decoder = litefuse.Decoder(print, [(1, 1)], max_positions=20)  # pyright: ignore[reportArgumentType]
    tokenizer = tmp_path / "tokenizer.json"
    tokenizer.write_text('{"model": {}}')
    with pytest.raises(LitefuseError, match="at most 13"):
        write_parts(decoder, PartsJob(tmp_path, 14, (8,), tokenizer), print)
