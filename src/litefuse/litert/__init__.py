"""The ``.tflite`` file: what reads, edits, describes or runs one, and the targets that it is for."""
