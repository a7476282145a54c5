"""Convolutions, pooling and other sliding-window ops."""
