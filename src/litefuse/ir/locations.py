"""The nodes that ops come from."""

from __future__ import annotations

from litefuse.ir.mlir import ir

__all__ = ["node_name", "node_text"]


def node_name(location: ir.Location) -> str:
    """The name of the node that an op comes from, without the call sites that inlining put around it.

    Returns:
        The name; several, with semicolons between them, of an op that was made of several; empty if there is none.
    """
    while isinstance(location, ir.CallSiteLoc):
        location = location.callee
    if isinstance(location, ir.FusedLoc):
        return ";".join(name for name in map(node_name, location.locations) if name)
    return location.name_str if isinstance(location, ir.NameLoc) else ""


def node_text(op: ir.OpView) -> str:
    """The node that an op stands for, in the words of an error's ``where``."""
    name = node_name(op.location)
    return f"node {name}" if name else op.name
