"""Processes for work that must not meet what this one has loaded, or that may die."""
