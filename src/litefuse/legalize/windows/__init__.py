"""Convolutions, poolings and whatever else slides a window."""
