"""Nodes that ops originate from."""

from __future__ import annotations

from collections.abc import Iterator

from litefuse.ir.mlir import ir


def node_name(location: ir.Location) -> str:
    """Returns the name of the node that an op originates from, without the call sites that inlining added.

    Returns:
        The name; several, separated by semicolons, for an op that was built from several; empty if there is none.
    """
    while isinstance(location, ir.CallSiteLoc):
        location = location.callee
    if isinstance(location, ir.FusedLoc):
        return ";".join(name for name in map(node_name, location.locations) if name)
    return location.name_str if isinstance(location, ir.NameLoc) else ""


def composite_location(name: str, symbol: str) -> ir.Location:
    """Returns the location of an op that replaces a composite: its node is the composite's name.

    Args:
        name: The composite's name.
        symbol: The symbol of its function, by which ``composites_of`` finds the op once calls are inlined.
    """
    return ir.Location.name(name, ir.Location.name(symbol))


def composites_of(location: ir.Location) -> Iterator[tuple[str, str]]:
    """Yields name and symbol of the composites that an op replaces, alone or as part of what it was built from."""
    while isinstance(location, ir.CallSiteLoc):
        location = location.callee
    if isinstance(location, ir.FusedLoc):
        for part in location.locations:
            yield from composites_of(part)
    elif isinstance(location, ir.NameLoc) and isinstance(location.child_loc, ir.NameLoc):
        yield location.name_str, location.child_loc.name_str


def node_text(op: ir.OpView) -> str:
    """Describes the node of an op, for an error's ``where``."""
    name = node_name(op.location)
    return f"node {name}" if name else op.name


def layer_name(op: ir.OpView) -> str:
    """Returns the name of a loop's layer: that of its node, without the suffix that Keras adds."""
    return (node_name(op.location) or op.name).removesuffix("/while")


def calling_layer(op: ir.OpView) -> str:
    """Returns the name of the layer whose function an inlined loop is from, as in Keras 2; else that of the loop."""
    location = op.location
    caller = node_name(location.caller) if isinstance(location, ir.CallSiteLoc) else ""
    return caller.rpartition("/")[0] or layer_name(op)
