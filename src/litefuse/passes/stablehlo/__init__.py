"""Translates StableHLO to TensorFlow ops: the programs that JAX puts into a SavedModel.

``modules.py`` reads such a program, ``translation.py`` walks it, and each other module has the rules for one family of
its ops.
"""
