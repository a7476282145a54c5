"""Differences between two LiteRT files, without running them: what a new version of a converter changed.

``changes``         differences between parts of the files, as plain data
``model_diff``      all of them, as data and as text for people
``compare``         the way in: signatures, metadata and sizes
``compared_model``  one of the files
``alignment``       finds the same operators in two subgraphs
``subgraphs``       compares two subgraphs
``weights``         compares constants
"""
