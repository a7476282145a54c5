"""Algebraic rewrites of TensorFlow ops with known shapes: products, contractions, expansions, transpositions."""
