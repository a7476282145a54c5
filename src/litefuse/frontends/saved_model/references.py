"""References of nodes to their data and control inputs."""

from __future__ import annotations

__all__ = ["node_of"]


def node_of(reference: str) -> str:
    """Returns the node or argument of an input: ``node:output:index``, ``node:index``, ``node`` or ``^node``."""
    return reference.removeprefix("^").partition(":")[0]
