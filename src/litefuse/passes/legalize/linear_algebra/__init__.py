"""Matrix products, factorizations and linear systems."""
