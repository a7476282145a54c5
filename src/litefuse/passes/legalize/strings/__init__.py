"""Ops that move strings."""
