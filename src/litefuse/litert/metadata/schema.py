"""The tables of TensorFlow Lite Metadata, as data.

Source of the names, numbers and types: metadata_schema.fbs of TensorFlow Lite Support, version 1.5.0. Fields are in the
order of the schema; a union takes two numbers, its type and its value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

#: The identifier of the flatbuffer.
IDENTIFIER = b"M001"
#: The name of the model's metadata that holds it.
METADATA_NAME = "TFLITE_METADATA"
#: The root table.
ROOT = "ModelMetadata"


class Field(NamedTuple):
    """A field of a table.

    Attributes:
        name: Its name.
        kind: ``string``, ``int``, ``uint``, ``float``, ``ubyte``, or the name of an enumeration, a union or a table.
        is_vector: Whether it is a vector of these.
    """

    name: str
    kind: str
    is_vector: bool = False


ENUMERATIONS: Mapping[str, tuple[str, ...]] = {
    "AssociatedFileType": (
        *("UNKNOWN", "DESCRIPTIONS", "TENSOR_AXIS_LABELS", "TENSOR_VALUE_LABELS", "TENSOR_AXIS_SCORE_CALIBRATION"),
        *("VOCABULARY", "SCANN_INDEX_FILE"),
    ),
    "BoundingBoxType": ("UNKNOWN", "BOUNDARIES", "UPPER_LEFT", "CENTER"),
    "ColorSpaceType": ("UNKNOWN", "RGB", "GRAYSCALE"),
    "CoordinateType": ("RATIO", "PIXEL"),
    "ScoreTransformationType": ("IDENTITY", "LOG", "INVERSE_LOGISTIC"),
}

#: The tables of each union; the first has the number 1.
UNIONS: Mapping[str, tuple[str, ...]] = {
    "ContentProperties": ("FeatureProperties", "ImageProperties", "BoundingBoxProperties", "AudioProperties"),
    "ProcessUnitOptions": (
        *("NormalizationOptions", "ScoreCalibrationOptions", "ScoreThresholdingOptions", "BertTokenizerOptions"),
        *("SentencePieceTokenizerOptions", "RegexTokenizerOptions"),
    ),
}

_FIELDS: Mapping[str, str] = {
    "AssociatedFile": "name:string description:string type:AssociatedFileType locale:string version:string",
    "FeatureProperties": "",
    "ImageSize": "width:uint height:uint",
    "ImageProperties": "color_space:ColorSpaceType default_size:ImageSize",
    "AudioProperties": "sample_rate:uint channels:uint",
    "BoundingBoxProperties": "index:[uint] type:BoundingBoxType coordinate_type:CoordinateType",
    "ValueRange": "min:int max:int",
    "Content": "content_properties:ContentProperties range:ValueRange",
    "NormalizationOptions": "mean:[float] std:[float]",
    "ScoreCalibrationOptions": "score_transformation:ScoreTransformationType default_score:float",
    "ScoreThresholdingOptions": "global_score_threshold:float",
    "BertTokenizerOptions": "vocab_file:[AssociatedFile]",
    "SentencePieceTokenizerOptions": "sentencePiece_model:[AssociatedFile] vocab_file:[AssociatedFile]",
    "RegexTokenizerOptions": "delim_regex_pattern:string vocab_file:[AssociatedFile]",
    "ProcessUnit": "options:ProcessUnitOptions",
    "Stats": "max:[float] min:[float]",
    "TensorGroup": "name:string tensor_names:[string]",
    "TensorMetadata": (
        "name:string description:string dimension_names:[string] content:Content process_units:[ProcessUnit] "
        "stats:Stats associated_files:[AssociatedFile]"
    ),
    "CustomMetadata": "name:string data:[ubyte]",
    "SubGraphMetadata": (
        "name:string description:string input_tensor_metadata:[TensorMetadata] output_tensor_metadata:[TensorMetadata] "
        "associated_files:[AssociatedFile] input_process_units:[ProcessUnit] output_process_units:[ProcessUnit] "
        "input_tensor_groups:[TensorGroup] output_tensor_groups:[TensorGroup] custom_metadata:[CustomMetadata]"
    ),
    "ModelMetadata": (
        "name:string description:string version:string subgraph_metadata:[SubGraphMetadata] author:string "
        "license:string associated_files:[AssociatedFile] min_parser_version:string"
    ),
}


def _fields(text: str) -> tuple[Field, ...]:
    fields: list[Field] = []
    for entry in text.split():
        name, _, kind = entry.partition(":")
        fields.append(Field(name, kind.strip("[]"), kind.startswith("[")))
    return tuple(fields)


TABLES: Mapping[str, tuple[Field, ...]] = {name: _fields(text) for name, text in _FIELDS.items()}

#: The versions of the schema that brought tables, fields (``Table.field``) and values (``Enumeration.VALUE``).
SINCE: Mapping[str, tuple[int, int, int]] = {
    "AssociatedFileType.VOCABULARY": (1, 0, 1),
    "SubGraphMetadata.input_process_units": (1, 1, 0),
    "SubGraphMetadata.output_process_units": (1, 1, 0),
    "BertTokenizerOptions": (1, 1, 0),
    "SentencePieceTokenizerOptions": (1, 1, 0),
    "SubGraphMetadata.input_tensor_groups": (1, 2, 0),
    "SubGraphMetadata.output_tensor_groups": (1, 2, 0),
    "RegexTokenizerOptions": (1, 2, 1),
    "AudioProperties": (1, 3, 0),
    "AssociatedFileType.SCANN_INDEX_FILE": (1, 4, 0),
    "AssociatedFile.version": (1, 4, 1),
    "SubGraphMetadata.custom_metadata": (1, 5, 0),
}
