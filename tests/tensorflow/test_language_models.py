"""Language models of Keras Hub in LiteRT-LM: its engine writes the tokens that Keras writes."""

from __future__ import annotations

import functools
import importlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import litefuse
from litefuse.tools.cli.app import app
from litefuse.tools.language_models.bundle import read_bundle
from litefuse.tools.language_models.verification import verify_bundle
from tests.tensorflow import language_models
from tests.tools.documents.reading import is_described

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow


def saved(tensorflow: TensorFlow, path: Path, family: str, change: str = "") -> Path:
    tensorflow.call(language_models.save, str(path), family, change)
    return path


@pytest.fixture(scope="module")
def bundles(tensorflow: TensorFlow, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Makes a bundle of a family, once, beside the model: a preset's folder for one, files for the others."""

    @functools.cache
    def bundle(family: str) -> Path:
        folder = tmp_path_factory.mktemp(family)
        model = saved(tensorflow, folder / ("model" if family == "paired" else "model.keras"), family)
        return litefuse.language_model(model, prefill=language_models.CHUNK).save(folder / "modèle.litertlm")

    return bundle


@pytest.mark.parametrize("family", language_models.FAMILIES)
def test_the_engine_writes_what_keras_writes(bundles: Callable[[str], Path], family: str) -> None:
    bundle = bundles(family)
    (model,) = bundle.parent.glob("model*")
    verification = verify_bundle(bundle, model)
    assert verification.ok, verification
    assert verification.calls >= 5
    assert len(verification.outputs) == 4 + 3 * verification.calls
    assert verification.error < 1e-4
    context = read_bundle(bundle).context
    assert context == (
        language_models.LENGTH - language_models.CHUNK + 1 if family == "positioned" else language_models.LENGTH
    )


@pytest.mark.parametrize("change", language_models.CHANGES)
def test_a_wrong_model_differs(
    tensorflow: TensorFlow, bundles: Callable[[str], Path], tmp_path: Path, change: str
) -> None:
    family = "paired" if change == "another window" else "stacked"
    other = saved(tensorflow, tmp_path / "other.keras", family, change)
    wrong = {output.signature for output in verify_bundle(bundles(family), other).outputs if not output.ok}
    assert ("tokenizer" if change == "another merge" else "decode") in wrong


def test_a_wrong_start_token_differs(bundles: Callable[[str], Path], tmp_path: Path) -> None:
    right = bundles("stacked")
    wrong = tmp_path / "wrong.litertlm"
    content = bytearray(right.read_bytes())
    section = next(part for part in read_bundle(right).sections if part.kind == "LlmMetadataProto")
    place = slice(section.begin, section.begin + section.size)
    messages: Any = importlib.import_module("litert_lm_builder.runtime.proto.llm_metadata_pb2")
    metadata = messages.LlmMetadata.FromString(bytes(content[place]))
    metadata.start_token.token_ids.ids[0] -= 1
    content[place] = metadata.SerializeToString()
    wrong.write_bytes(content)
    outputs = verify_bundle(wrong, right.with_name("model.keras")).outputs
    assert {output.signature for output in outputs if not output.ok} == {"metadata", "engine"}


def test_a_wrong_row_of_a_cache_differs(tensorflow: TensorFlow, tmp_path: Path) -> None:
    model, bundle = tmp_path / "model.keras", tmp_path / "wrong.litertlm"
    tensorflow.call(language_models.save_with_a_wrong_row, str(model), str(bundle))
    verification = verify_bundle(bundle, model)
    wrong = [output.name for output in verification.outputs if output.verdict == "differs"]
    assert "logits after 19 tokens" in wrong
    assert not any("texts" in name for name in wrong)


def test_one_tensor_for_two_caches_is_refused(tensorflow: TensorFlow, tmp_path: Path) -> None:
    # LiteRT-LM would write one of the two.
    told = tensorflow.call(language_models.refusal_of_one_tensor_for_two_caches, str(tmp_path / "model"))
    assert told == "the decoder returns one tensor for two caches"


def test_the_commands(tensorflow: TensorFlow, tmp_path: Path) -> None:
    model = saved(tensorflow, tmp_path / "model.keras", "stacked")
    bundle = tmp_path / "model.litertlm"

    def run(*arguments: object) -> str:
        result = CliRunner().invoke(app, [*map(str, arguments)])
        assert result.exit_code == 0, result.output
        return result.stdout

    made = json.loads(
        run("--json", "lm", model, "-o", bundle, "--prefill", "8,4", "--context", 32, "--quantize", "dynamic")
    )
    assert is_described(made, made["schema"])
    assert made["written"][0]["path"] == str(bundle)
    said = json.loads(run("--json", "run", bundle, "--prompt", "the quick"))
    assert is_described(said, said["schema"])
    assert said["inputs"][0]["first"] == ["the quick"]
    assert said["outputs"][0]["first"][0]
    assert len(run("run", bundle, "--prompt", "the quick").strip()) > 10
    told = run("inspect", bundle)
    for line in ("HF_Tokenizer_Zlib", "32 tokens", "generic_model", "Signature prefill_4", "Signature decode"):
        assert line in told
    measured = run("benchmark", bundle, "--repeat", 2)
    for line in ("Reads ", "tokens a second, writes", "15 tokens; the first token comes after", "bytes at most"):
        assert line in measured
    measured = json.loads(run("--json", "benchmark", bundle, "--repeat", 2))
    assert is_described(measured, measured["schema"])
    assert [part["signature"] for part in measured["measurements"]] == ["prefill", "decode"]
    assert measured["measurements"][1]["warm"]["count"] == 2
    run("report", bundle, "-o", tmp_path / "page.html", "--no-time")
    page = (tmp_path / "page.html").read_text("utf-8")
    for part in ("<h2>Bundle</h2>", "HF_Tokenizer_Zlib", "32 tokens", "prefill_4"):
        assert part in page
    # Rounded weights write other tokens; the engine must still write those of the file.
    assert re.search(r"tokens in all .* are the model's, \d+\.\d%", run("verify", bundle, model, "--max-error", 0.5))
