"""Temporary files, and files that are written atomically."""
