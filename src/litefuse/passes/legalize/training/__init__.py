"""Losses, normalizations and gradients."""
