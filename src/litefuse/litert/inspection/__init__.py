"""Inspection of models, of which ``litefuse.tools.saved_models`` has the part about SavedModels.

``facts``         the findings as plain data
``litert_model``  inspects a ``.tflite`` file
``operators``     its operators, their options, and the layers that they are from
``sizes``         the bytes of its layers
``sections``      the facts as text for people
"""
