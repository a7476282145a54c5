"""Differences between two LiteRT files, without running them: what a new version of a converter changed.

``model_diff``  the findings as plain data
``compare``     the way in
``side``        one of the files
``alignment``   finds the same operators in two subgraphs
``subgraphs``   compares two subgraphs
``weights``     compares constants
``whole_file``  compares signatures, metadata and sizes
``sections``    the findings as text for people
"""
