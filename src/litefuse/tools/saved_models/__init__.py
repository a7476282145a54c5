"""Inspection of SavedModels, for ``litefuse inspect``.

``inspection``  inspects a SavedModel; it loads the engine, so it runs in the conversion process
``graph``       the functions that signatures reach, read from the SavedModel's messages
"""
