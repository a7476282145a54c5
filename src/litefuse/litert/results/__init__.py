"""How far the results of two models, or of two ops, are apart."""
