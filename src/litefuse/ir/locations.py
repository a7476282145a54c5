"""Nodes that ops originate from."""

from __future__ import annotations

from collections.abc import Iterator

from litefuse.frontends.saved_model.nodes import inlined_name
from litefuse.ir.call_graph import all_operations
from litefuse.ir.mlir import ir


def node_name(location: ir.Location) -> str:
    """Returns the name of the node that an op originates from, within the scopes of the calls that were inlined.

    Returns:
        The name; several, separated by semicolons, for an op that was built from several; empty if there is none.
    """
    return ";".join(node.name_str for node in _nodes(location))


def _nodes(location: ir.Location, call: str = "") -> Iterator[ir.NameLoc]:
    """Yields the nodes that an op originates from, with their names within the scopes of the calls."""
    if isinstance(location, ir.CallSiteLoc):
        site = node_name(location.caller).partition(";")[0]
        yield from _nodes(location.callee, inlined_name(site, call))
    elif isinstance(location, ir.FusedLoc):
        for part in location.locations:
            yield from _nodes(part, call)
    elif isinstance(location, ir.NameLoc) and location.name_str:
        name = inlined_name(location.name_str, call)
        yield location if name == location.name_str else ir.Location.name(name, location.child_loc)


def name_by_call_sites(module: ir.Module) -> None:
    """Names ops within the scopes of inlined calls, where the exporter would take the names in their functions."""
    for op in all_operations(module):
        if isinstance(op.location, ir.CallSiteLoc | ir.FusedLoc) and (nodes := [*_nodes(op.location)]):
            op.operation.location = ir.Location.fused(nodes)


def called_at(location: ir.Location, call: ir.Location) -> ir.Location:
    """Returns the location of an op that a pass moves out of a function, into the place of the op that calls it."""
    return ir.Location.callsite(location, [call])


def composite_location(name: str, symbol: str) -> ir.Location:
    """Returns the location of an op that replaces a composite: its node is the composite's name.

    Args:
        name: The composite's name.
        symbol: The symbol of its function, by which ``composites_of`` finds the op once calls are inlined.
    """
    return ir.Location.name(name, ir.Location.name(symbol))


def composites_of(location: ir.Location) -> Iterator[str]:
    """Yields the symbols of the composites that an op replaces, alone or as part of what it was built from."""
    for node in _nodes(location):
        if isinstance(node.child_loc, ir.NameLoc):
            yield node.child_loc.name_str


def node_text(op: ir.OpView) -> str:
    """Describes the node of an op, for an error's ``where``."""
    name = node_name(op.location)
    return f"node {name}" if name else op.name


def layer_name(op: ir.OpView) -> str:
    """Returns the name of a loop's layer in its function: that of its node, without the suffix that Keras adds."""
    location = op.location
    while isinstance(location, ir.CallSiteLoc):
        location = location.callee
    return (node_name(location) or op.name).removesuffix("/while")


def calling_layer(op: ir.OpView) -> str:
    """Returns the name of a loop's layer, within the scopes of the calls that were inlined."""
    return (node_name(op.location) or op.name).removesuffix("/while")
