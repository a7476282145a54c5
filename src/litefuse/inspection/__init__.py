"""Inspection of models: the contents of a SavedModel or a LiteRT model.

``facts``         the findings as plain data
``saved_model``   inspects a SavedModel; it loads the engine, so it runs in the conversion process
``graph``         the functions that signatures reach, read from the SavedModel's messages
``litert_model``  inspects a ``.tflite`` file
``operators``     its operators, their options, and the layers that they are from
``sizes``         the bytes of its layers
``sections``      the facts as text for people
"""
