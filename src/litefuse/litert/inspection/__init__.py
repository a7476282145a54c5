"""Inspection of models, of which ``litefuse.tools.saved_models`` has the part about SavedModels.

``facts``               the parts of models, as plain data
``saved_model_facts``   the contents of a SavedModel, and the text about it for people
``litert_model_facts``  those of a LiteRT model
``litert_model``        inspects a ``.tflite`` file
``operators``           its operators, their options, and the layers that they are from
``listings``            lists of parts as text
"""
