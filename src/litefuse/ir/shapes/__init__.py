"""Shape inference through a whole module."""
