"""Hostile input for litefuse: mutated models, kernels called with anything, and a corpus of past faults."""
