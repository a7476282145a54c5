"""Runs the colours' files in TensorFlow Lite Support's Task Library, and shows their metadata."""

from pathlib import Path

import numpy as np
from tflite_support import metadata
from tflite_support.task import vision

for file in ("colours.tflite", "colours.int8.tflite"):
    shown = metadata.MetadataDisplayer.with_model_buffer(Path(file).read_bytes())
    print(shown.get_metadata_json())
    assert shown.get_packed_associated_file_list() == ["colours.txt"]
    classifier = vision.ImageClassifier.create_from_file(file)
    pixels = np.full((120, 100, 3), 50, np.uint8)
    pixels[..., 0] = 200
    result = classifier.classify(vision.TensorImage.create_from_array(pixels))
    found = result.classifications[0].categories[0]
    print(f"{file}: red is {found.category_name}, {found.score:.2f}")
    assert found.category_name == "red"
