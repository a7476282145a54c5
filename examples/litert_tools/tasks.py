"""Runs the models in MediaPipe's tasks, which read their metadata: how to prepare what they get, and the labels."""

import sys

import mediapipe as mp
import numpy as np
from mediapipe.tasks.python import BaseOptions, text, vision


def best(result):
    return result.classifications[0].categories[0]


for file in sys.argv[1:] or ("colours.tflite", "colours.int8.tflite"):
    options = vision.ImageClassifierOptions(base_options=BaseOptions(model_asset_path=file))
    with vision.ImageClassifier.create_from_options(options) as classifier:
        for number, name in enumerate(("red", "green", "blue")):
            pixels = np.full((120, 100, 3), 50, np.uint8)
            pixels[..., number] = 200
            found = best(classifier.classify(mp.Image(image_format=mp.ImageFormat.SRGB, data=pixels)))
            print(f"{file}: {name} is {found.category_name}, {found.score:.2f}")
            assert found.category_name == name

options = text.TextClassifierOptions(base_options=BaseOptions(model_asset_path="praise.tflite"))
with text.TextClassifier.create_from_options(options) as classifier:
    for words, name in (("the food is great", "praise"), ("the film is awful", "blame")):
        found = best(classifier.classify(words))
        print(f"{words!r} is {found.category_name}, {found.score:.2f}")
        assert found.category_name == name
