"""Functionalization of TensorFlow 1 control flow (Switch, Merge, Enter, Exit, NextIteration, LoopCond)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from litefuse.errors import GraphError

if TYPE_CHECKING:
    from litefuse.frontends.saved_model.control_flow.flat_function import FlatFunction
    from litefuse.frontends.saved_model.messages import FunctionDef, NodeDef
    from litefuse.frontends.saved_model.op_registry import OpRegistry

_OPS = frozenset({"Switch", "_SwitchN", "Merge", "Enter", "Exit", "NextIteration", "LoopCond"})


def functionalize(
    function: FunctionDef, library: Mapping[str, FunctionDef], registry: OpRegistry
) -> tuple[FunctionDef, list[FunctionDef]]:
    """Replaces Switch, Merge, Enter, Exit, NextIteration and LoopCond by While, If and Case, TensorArrays by lists.

    Returns:
        The function, itself if it has none of these, and the functions that its new ops call.

    Raises:
        GraphError: The nodes do not form loops and conditionals.
        SavedModelError: A node lacks an attribute that determines its outputs.
    """
    if not any(_is_old(node) or node.op == "TensorArrayV3" for node in function.node_def):
        return function, []
    # Imported late, since few models need these modules.
    from litefuse.frontends.saved_model.control_flow.conditionals import conditionals_to_if
    from litefuse.frontends.saved_model.control_flow.flat_function import FlatFunction
    from litefuse.frontends.saved_model.control_flow.loops import loops_to_while
    from litefuse.frontends.saved_model.control_flow.tensor_arrays import tensor_arrays_to_lists

    called = {node.op for node in function.node_def} & library.keys()
    known = registry.with_others(library[name].signature for name in called)
    taken = {*library}

    def symbol(name: str) -> str:
        name = f"{function.signature.name}_{name}".replace("/", "_").replace(" ", "_")
        while name in taken:
            name += "_"
        taken.add(name)
        return name

    flat = FlatFunction.of(function, known)
    tensor_arrays_to_lists(flat)
    pending = [*loops_to_while(flat, symbol)]
    pending += conditionals_to_if(flat, symbol)
    made: list[FunctionDef] = []
    while pending:
        inner = FlatFunction.of(pending.pop(), known)
        pending += conditionals_to_if(inner, symbol)
        made.append(_checked(inner))
    return _checked(flat), made


def _is_old(node: NodeDef) -> bool:
    return node.op.removeprefix("Ref") in _OPS


def _checked(function: FlatFunction) -> FunctionDef:
    for node in function.nodes.values():
        if _is_old(node):
            raise GraphError(
                f"{node.op} is control flow of TensorFlow 1 that belongs to no loop and no conditional",
                where=function.where(node.name),
                hint="Export the model with control flow v2 (tf.compat.v1.enable_control_flow_v2(), or TensorFlow 2).",
            )
    return function.function()
