"""Inference of shapes, through a whole module."""
