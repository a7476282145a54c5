"""Ops in the plainer of two forms, for targets that do not take both: the same numbers, by ops of lower rank."""
