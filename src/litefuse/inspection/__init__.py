"""Looking into models: what a SavedModel or a LiteRT model holds.

``facts``         what is found, as plain data
``saved_model``   looks into a SavedModel; it loads the engine, so it runs in the conversion process
``graph``         the functions that signatures reach, read from the SavedModel's messages
``litert_model``  looks into a ``.tflite`` file
``sections``      the facts in words, for people
"""
