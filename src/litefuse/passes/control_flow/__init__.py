"""Calls, conditions, branches and loops."""
