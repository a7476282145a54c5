"""Temporary files, and files that appear whole or not at all."""
