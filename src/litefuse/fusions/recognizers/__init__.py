"""Recognizers: code that nobody annotated becomes a composite, an annotated function, by outlining.

A pattern is the formula to recognize, written as a Python function (``pattern``). Recognized composites are fused and
checked like all others. Importing this package does not load the engine; ``recognize`` does.
"""

from litefuse.fusions.recognizers.recognizer import Recognizer, recognizer, registered_recognizers

__all__ = ["Recognizer", "recognizer", "registered_recognizers"]
