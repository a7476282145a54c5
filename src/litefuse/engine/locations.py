"""Where an op comes from."""

from __future__ import annotations

from litefuse.engine.mlir import ir

__all__ = ["node_name"]


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
