"""Recognizers: what nobody annotated becomes a composite, an annotated function, by outlining.

A pattern is the formula that it recognizes, written as a Python function (``pattern``). What is recognized is fused and
checked like every other composite. Importing this package loads no engine; ``recognize`` does.
"""

from litefuse.recognizers.recognizer import Recognizer, recognizer, registered_recognizers

__all__ = ["Recognizer", "recognizer", "registered_recognizers"]
