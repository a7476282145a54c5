"""One function of a module as a model of its own."""

from __future__ import annotations

from typing import NamedTuple

from litefuse.engine.lowering import flatbuffer, lower, run_mlir_passes, set_signature
from litefuse.engine.mlir import func, ir
from litefuse.errors import ConversionError
from litefuse.fusions.annotation import ANNOTATIONS
from litefuse.passes.branch_results import CopyBranchResults
from litefuse.passes.call_graph import callees, function_symbol, functions, operations
from litefuse.passes.call_types import RefineCallTypes
from litefuse.passes.composite_ops import EmitCompositeOps
from litefuse.passes.custom_ops import EmitCustomOps
from litefuse.passes.decompose import DecomposeOps
from litefuse.passes.forward_values import ForwardValues
from litefuse.passes.initialize_states import InitializeStates
from litefuse.passes.outline_loops import OutlineLoops
from litefuse.passes.pipeline import run_passes
from litefuse.passes.place_weights import LoadWeights
from litefuse.passes.tensor_lists import LowerTensorLists
from litefuse.shapes import InferShapes
from litefuse.verify.fixed_size import fix_arguments

__all__ = ["StandaloneModel", "standalone_model"]

_ENTRY = "standalone"
_FOR_KERNELS = frozenset({"tfl.custom", "vhlo.composite_v1"})


class StandaloneModel(NamedTuple):
    """A LiteRT model of one function.

    Attributes:
        content: The model.
        for_kernels: Whether it has ops that kernels run, or may: custom ops and composites.
    """

    content: bytes
    for_kernels: bool


def standalone_model(module: ir.Module, function: func.FuncOp, *, size: int | None = None) -> StandaloneModel:
    """A LiteRT model that computes what a function of the module computes; the module stays as it is.

    Its one signature has the inputs ``x0``, ``x1``... and the outputs ``y0``, ``y1``...

    Args:
        module: The module.
        function: The function.
        size: What the unknown dimensions of its arguments are to be, if all of them are to be the same.

    Raises:
        LitefuseError: The function cannot be converted alone.
    """
    alone = ir.Module.create()
    by_symbol = functions(module)
    copied = {function_symbol(function)}
    waiting = [function]
    while waiting:
        source = waiting.pop()
        source.clone(ip=ir.InsertionPoint(alone.body))
        for op in operations(source):
            if op.name == "tf.VarHandleOp":
                raise ConversionError("it uses variables, whose state belongs to the whole model")
            for symbol in callees(op):
                if symbol not in copied:
                    copied.add(symbol)
                    waiting.append(by_symbol[symbol])
    for symbol, copy in functions(alone).items():
        entry = symbol == function_symbol(function)
        for key in ANNOTATIONS:  # the engine would fuse some of them itself, and the body is what is asked for
            if key in copy.attributes:
                del copy.attributes[key]
        copy.attributes["sym_visibility"] = ir.StringAttr.get("public" if entry else "private")
        if entry:
            if size is not None:
                fix_arguments(copy, size)
            copy.attributes["sym_name"] = ir.StringAttr.get(_ENTRY)
            inputs = [f"x{index}" for index in range(len(copy.type.inputs))]
            set_signature(copy, _ENTRY, inputs, [f"y{index}" for index in range(len(copy.type.results))])
    # As a list is handed from function to function, so is what is known of it.
    run_mlir_passes(alone, "inline{default-pipeline=}", "symbol-dce")
    run_passes(alone, [ForwardValues(), InferShapes(), LowerTensorLists(), RefineCallTypes(), InferShapes(), LoadWeights()])
    lower(alone)
    run_passes(
        alone,
        [
            EmitCompositeOps(),
            InitializeStates(),
            OutlineLoops(),
            CopyBranchResults(),
            DecomposeOps([]),
            EmitCustomOps(),
        ],
    )
    ops = (op for function in functions(alone).values() for op in operations(function))
    for_kernels = any(op.name in _FOR_KERNELS for op in ops)
    return StandaloneModel(flatbuffer(alone), for_kernels)
