"""Gives a file of colours the metadata that MediaPipe's writer makes: writer.py PLAIN.tflite WRITTEN.tflite."""

import sys
from pathlib import Path

from mediapipe.tasks.python.metadata.metadata_writers import image_classifier, metadata_writer

plain, written = map(Path, sys.argv[1:])
labels = metadata_writer.Labels().add_from_file("colours.txt")
writer = image_classifier.MetadataWriter.create(bytearray(plain.read_bytes()), [127.5], [127.5], labels)
written.write_bytes(writer.populate()[0])
