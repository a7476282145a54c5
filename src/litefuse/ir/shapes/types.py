"""Writes inferred types into the module."""

from __future__ import annotations

from litefuse.ir.call_graph import update_function_type
from litefuse.ir.ops.combining import meet
from litefuse.ir.ops.facts import ShapeError, known
from litefuse.ir.shapes.editor import Editor
from litefuse.ir.shapes.graph import Node
from litefuse.ir.shapes.inference import Inference

__all__ = ["contradicts_dead_branch", "set_types"]


def set_types(inference: Inference) -> bool:
    """Writes the inferred types into the reachable functions; returns whether any changed."""
    modified = False
    for function in inference.visited.values():
        editor = Editor(inference, function)
        for value in function.arguments:
            editor.refine(value)
        for node in function.nodes:
            if not contradicts_dead_branch(editor, node):
                for value in node.results:
                    editor.refine(value)
        if editor.modified:
            update_function_type(function.op)
        modified |= editor.modified
    return modified


def contradicts_dead_branch(editor: Editor, node: Node) -> bool:
    """Whether the branch that an ``If`` never takes returns other shapes: until it is folded away, both must fit."""
    taken = editor.inference.branch_taken(node)
    if taken is None:
        return False
    left = editor.inference.graph.functions.get(node.callees[1 - taken])
    if left is None:
        return False
    try:
        for result, returned in zip(node.results, left.returned, strict=True):
            meet(known(editor.shape(result)), editor.inference.graph.declared[returned].shape)
    except ShapeError:
        return True
    return False
