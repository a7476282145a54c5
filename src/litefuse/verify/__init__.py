"""Fused against composite: both are run, and must agree.

``self_check``  the comparison, for one composite
``standalone``  one function as a model of its own
``fixed_size``  a function with known sizes
``inputs``      random inputs for it
``result``      what came of it
"""
