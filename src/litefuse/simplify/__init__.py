"""Algebra on TensorFlow ops whose shapes are known: products, contractions, expansions, transpositions."""
