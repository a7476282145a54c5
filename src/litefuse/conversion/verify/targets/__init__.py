"""Checks of a file with the software of targets."""
