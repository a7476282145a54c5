"""Recognisers: what nobody annotated becomes a composite, an annotated function, by outlining.

A pattern is the formula that it recognises, written as a Python function (``pattern``). What is recognised is fused and
checked like every other composite.
"""

from litefuse.recognizers.recognize import Recognition, RecognizeComposites

__all__ = ["Recognition", "RecognizeComposites"]
