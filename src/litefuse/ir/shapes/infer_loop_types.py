"""The pass that infers types before loops are recognized."""

from __future__ import annotations

from litefuse.ir.call_graph import functions, operations, separate_callers
from litefuse.ir.mlir import func, ir
from litefuse.ir.passes import module_pass
from litefuse.ir.shapes.editor import set_types
from litefuse.ir.shapes.graph import ModuleGraph
from litefuse.ir.shapes.inference import Inference


@module_pass
def infer_loop_types(module: ir.Module) -> bool:
    """Refines types in functions that have a loop and a value of unknown rank; changes no op.

    A SavedModel records the shapes of most nodes, a frozen graph none; without them, no loop is recognized as a layer.

    Raises:
        GraphError: The shapes of an op's operands, or inferred and declared shapes, contradict each other.
    """
    if not any(map(_has_loop_without_shapes, functions(module).values())):
        return False
    modified = separate_callers(functions(module), left_alone="tfl.custom")
    inference = Inference(ModuleGraph.of(module))
    inference.run()
    return set_types(inference) or modified


def _has_loop_without_shapes(function: func.FuncOp) -> bool:
    ops = list(operations(function))
    return any(op.name == "tf.While" for op in ops) and any(_is_unranked(result) for op in ops for result in op.results)


def _is_unranked(value: ir.Value) -> bool:
    """Whether a value is a numeric tensor of unknown rank."""
    text = str(value.type)
    return text.startswith("tensor<*x") and "!tf_type" not in text
