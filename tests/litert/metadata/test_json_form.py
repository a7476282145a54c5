"""Metadata as JSON and as a flatbuffer."""

from __future__ import annotations

import math
import struct
from typing import Any

import pytest

from litefuse.errors import MetadataError
from litefuse.litert.metadata.flatbuffer_form import decoded, encoded
from litefuse.litert.metadata.json_form import associated_files_in, checked, parser_version
from litefuse.litert.runtime.flatbuffer import root

EVERYTHING: dict[str, Any] = {
    "name": "größe",
    "description": "All that there is.",
    "version": "v2",
    "subgraph_metadata": [
        {
            "name": "main",
            "description": "the main one",
            "input_tensor_metadata": [
                {
                    "name": "image",
                    "description": "a picture",
                    "dimension_names": ["batch", "height", "width", "channel"],
                    "content": {
                        "content_properties_type": "ImageProperties",
                        "content_properties": {"color_space": "RGB", "default_size": {"width": 224, "height": 192}},
                        "range": {"min": -1, "max": 4},
                    },
                    "process_units": [
                        {"options_type": "NormalizationOptions", "options": {"mean": [127.5], "std": [0.1, 2.0]}},
                    ],
                    "stats": {"max": [1.0], "min": [-1.0]},
                },
                {
                    "name": "sound",
                    "content": {
                        "content_properties_type": "AudioProperties",
                        "content_properties": {"sample_rate": 16000, "channels": 2},
                    },
                },
                {
                    "name": "text",
                    "process_units": [
                        {"options_type": "BertTokenizerOptions", "options": {"vocab_file": [{"name": "vocab.txt"}]}},
                        {
                            "options_type": "SentencePieceTokenizerOptions",
                            "options": {
                                "sentencePiece_model": [{"name": "sp.model"}],
                                "vocab_file": [{"name": "v.txt"}],
                            },
                        },
                        {
                            "options_type": "RegexTokenizerOptions",
                            "options": {"delim_regex_pattern": "[^a-z]+", "vocab_file": [{"name": "r.txt"}]},
                        },
                    ],
                },
            ],
            "output_tensor_metadata": [
                {
                    "name": "box",
                    "content": {
                        "content_properties_type": "BoundingBoxProperties",
                        "content_properties": {"index": [1, 0, 3, 2], "type": "CENTER", "coordinate_type": "PIXEL"},
                    },
                    "process_units": [
                        {
                            "options_type": "ScoreCalibrationOptions",
                            "options": {"score_transformation": "INVERSE_LOGISTIC", "default_score": 0.2},
                        },
                        {"options_type": "ScoreThresholdingOptions", "options": {"global_score_threshold": 0.5}},
                    ],
                    "associated_files": [
                        {
                            "name": "labels.txt",
                            "description": "names",
                            "type": "TENSOR_AXIS_LABELS",
                            "locale": "en",
                            "version": "1",
                        }
                    ],
                },
                {
                    "name": "feature",
                    "content": {"content_properties_type": "FeatureProperties", "content_properties": {}},
                },
            ],
            "associated_files": [{"name": "a.txt", "type": "VOCABULARY"}],
            "input_process_units": [{"options_type": "NormalizationOptions", "options": {"mean": [], "std": []}}],
            "output_process_units": [{"options_type": "NormalizationOptions", "options": {}}],
            "input_tensor_groups": [{"name": "g", "tensor_names": ["image", "text"]}],
            "output_tensor_groups": [{"name": "h", "tensor_names": []}],
            "custom_metadata": [{"name": "mine", "data": [0, 255, 3]}],
        }
    ],
    "author": "me",
    "license": "Apache",
    "associated_files": [{"name": "b.txt", "type": "SCANN_INDEX_FILE"}],
    "min_parser_version": "1.5.0",
}


def test_everything_survives_the_flatbuffer() -> None:
    metadata = checked(EVERYTHING, "m.json")
    assert metadata == EVERYTHING
    data = encoded(metadata)
    assert data[4:8] == b"M001"
    assert decoded(data) == EVERYTHING


def test_numbers_of_the_fields() -> None:
    """By the numbers in the schema's text, without the tables here."""
    model = root(encoded(EVERYTHING))
    assert (model.text(0), model.text(4), model.text(7)) == ("größe", "me", "1.5.0")
    (graph,) = model.tables(3)
    image, *_ = graph.tables(2)
    content = image.table(3)
    assert content is not None
    assert content.number(0, "B") == 2  # ImageProperties
    properties = content.table(1)
    assert properties is not None
    assert properties.number(0, "b") == 1  # RGB
    size = properties.table(1)
    assert size is not None
    assert (size.number(0, "I"), size.number(1, "I")) == (224, 192)
    (unit,) = image.tables(4)
    assert unit.number(0, "B") == 1  # NormalizationOptions
    options = unit.table(1)
    assert options is not None
    assert struct.unpack_from("<f", options.data, options.vector(0)) == (127.5,)
    box, _ = graph.tables(3)
    (file,) = box.tables(6)
    assert (file.number(2, "b"), file.text(4)) == (2, "1")  # TENSOR_AXIS_LABELS
    (custom,) = graph.tables(9)
    assert custom.content(1) == b"\x00\xff\x03"


def test_associated_files_wherever_they_are() -> None:
    names = [each["name"] for each in associated_files_in(EVERYTHING)]
    assert sorted(names) == ["a.txt", "b.txt", "labels.txt", "r.txt", "sp.model", "v.txt", "vocab.txt"]


VERSIONS: list[tuple[dict[str, Any], str]] = [
    ({}, "1.0.0"),
    ({"name": "x"}, "1.0.0"),
    ({"associated_files": [{"name": "v", "type": "VOCABULARY"}]}, "1.0.1"),
    ({"subgraph_metadata": [{"input_tensor_groups": []}]}, "1.2.0"),
    ({"associated_files": [{"name": "v", "version": "1"}]}, "1.4.1"),
    (EVERYTHING, "1.5.0"),
]


@pytest.mark.parametrize(("metadata", "version"), VERSIONS)
def test_version_of_the_schema(metadata: dict[str, Any], version: str) -> None:
    assert parser_version(checked(metadata, "")) == version


def tensor(**entries: Any) -> dict[str, Any]:
    return {"subgraph_metadata": [{"input_tensor_metadata": [entries]}]}


WRONG: list[tuple[object, str]] = [
    ([], r"the metadata must be an object, not \[\]"),
    ({"nmae": "x"}, r"no entry 'nmae'.*\n.*ModelMetadata has name, description.*'nmae' may be 'name'"),
    (tensor(names="x"), r"no entry 'subgraph_metadata\[0\].input_tensor_metadata\[0\].names'"),
    ({"name": 3}, "name must be a string, not 3"),
    ({"name": "\ud800"}, "half of a pair of surrogates"),
    ({"subgraph_metadata": {}}, "subgraph_metadata must be a list"),
    (tensor(stats={"max": ["1"]}), r"stats.max\[0\] must be a number, not '1'"),
    (tensor(stats={"max": [math.nan]}), "which no float32 is"),
    (tensor(stats={"max": [1e39]}), "which no float32 is"),
    (tensor(stats={"max": [True]}), "must be a number"),
    (tensor(content={"range": {"min": 2**31}}), "not an integer from -2147483648 to 2147483647"),
    (tensor(content={"range": {"min": 1.5}}), "not an integer"),
    (tensor(content={"content_properties": {}}), "content_properties_type is None.*\n.*FeatureProperties"),
    (tensor(content={"content_properties_type": "Image"}), "content_properties_type is 'Image'"),
    (tensor(associated_files=[{"name": "a", "type": "LABELS"}]), "type is 'LABELS'.*\n.*TENSOR_AXIS_LABELS"),
    (
        tensor(process_units=[{"options_type": "NormalizationOptions", "options": {"meen": [1]}}]),
        "'meen' may be 'mean'",
    ),
]


@pytest.mark.parametrize(("metadata", "message"), WRONG)
def test_what_does_not_fit_is_named(metadata: object, message: str) -> None:
    with pytest.raises(MetadataError, match=message):
        checked(metadata, "m.json")


def test_damaged_flatbuffers_are_none() -> None:
    data = encoded(EVERYTHING)
    assert decoded(b"") is None
    assert decoded(b"\0\0\0\0M002" + bytes(20)) is None
    none = 0
    for place in range(8, len(data), 3):
        none += decoded(data[:place] + b"\xff\xff\xff\x7f" + data[place + 4 :]) is None
    assert none > 50


def test_shared_tables_are_read_a_limited_number_of_times() -> None:
    """A vector with one large table many times."""
    data = bytearray(encoded({"subgraph_metadata": [{}] * 3000 + [{"name": "y" * 3000}]}))
    assert decoded(bytes(data)) is not None
    model = root(bytes(data))
    goal = model.tables(3)[-1].position
    for place in range(model.vector(3), model.vector(3) + 4 * 3000, 4):
        data[place : place + 4] = (goal - place).to_bytes(4, "little")
    assert decoded(bytes(data)) is None
