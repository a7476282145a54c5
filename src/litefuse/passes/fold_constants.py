"""What is computed of constants alone, computed once."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from litefuse.engine.constants import elements_of_constant, pseudo_constant
from litefuse.engine.lowering import flatbuffer, set_signature
from litefuse.engine.mlir import func, ir
from litefuse.errors import LitefuseError
from litefuse.passes.call_graph import functions, nested_operations

__all__ = ["FoldConstants"]

_CONSTANTS = ("arith.constant", "tfl.pseudo_const")
# Ops that compute.
_COMPUTING = frozenset(
    f"tfl.{name}"
    for name in (
        *("abs", "add", "add_n", "arg_max", "arg_min", "batch_matmul", "cast", "ceil", "conv_2d", "cos", "cumsum"),
        *("div", "elu", "equal", "exp", "floor", "floor_div", "floor_mod", "fully_connected", "greater"),
        *("greater_equal", "less"),
        *("less_equal", "log", "log_softmax", "logical_and", "logical_not", "logical_or", "logistic", "maximum"),
        *("mean", "minimum", "mul", "neg", "not_equal", "pow", "reduce_all", "reduce_any", "reduce_max", "reduce_min"),
        *("reduce_prod", "relu", "relu6", "round", "rsqrt", "select", "select_v2", "sign", "sin", "softmax", "sqrt"),
        *("square", "squared_difference", "sub", "sum", "tanh"),
    )
)
# Ops that move elements, or make them: of such alone, less is in the file than of what they give.
_MOVING = frozenset(
    f"tfl.{name}"
    for name in (
        *("broadcast_to", "concatenation", "expand_dims", "fill", "gather", "gather_nd", "matrix_diag", "one_hot"),
        *("matrix_set_diag", "mirror_pad", "pack", "pad", "padv2", "range", "reshape", "reverse_v2", "scatter_nd"),
        *("slice", "split", "split_v", "squeeze", "strided_slice", "tile", "transpose", "unpack", "zeros_like"),
    )
)
_FOLDED = _COMPUTING | _MOVING
# The largest that TensorFlow's own folding makes, in bytes (tensorflow/core/grappler/optimizers/constant_folding.cc).
_LARGEST = 10 << 20
_DTYPES = {"bf16": 2, "f16": 2, "f32": 4, "i1": 1, "i32": 4, "i64": 8}
# What a constant is made of; of the others are steps on the way only.
_MADE = frozenset({"f32", "i1", "i32", "i64"})


class FoldConstants:
    """Replaces what is computed of constants alone by what comes out::

        %r = tfl.range(0, 80, 1)
        %e = tfl.exp(%r)               -->  %m = dense<...> : tensor<80xf32>
        %m = tfl.div(%e, dense<700.0>)

    The engine folds a part of them only: matrices that filter frequencies, masks and encodings of positions are left
    to each call. LiteRT itself computes them here, as it would there.
    """

    name: ClassVar[str] = "fold-constants"

    def run(self, module: ir.Module) -> bool:
        modified = False
        for function in functions(module).values():
            if not function.is_external:
                modified = _fold(list(nested_operations(function.entry_block))) or modified
        return modified


def _fold(ops: Sequence[ir.OpView]) -> bool:
    cone: list[ir.OpView] = []
    computed: dict[ir.Value, bool] = {}  # what is known, and whether an op computes it or all just move elements
    for op in ops:
        if op.name not in _FOLDED or not all(map(_is_small, op.results)):
            continue
        if all(value in computed or _is_constant(value) for value in op.operands):
            cone.append(op)
            computes = op.name in _COMPUTING or any(computed.get(value, False) for value in op.operands)
            computed.update(dict.fromkeys(op.results, computes))
    used = [value for value in computed if any(not _is_in(use, computed) for use in value.uses)]
    wanted = [value for value in used if computed[value] and str(ir.ShapedType(value.type).element_type) in _MADE]
    arrays = _computed(cone, wanted) if wanted else None
    if arrays is None:
        return False
    found = dict(zip(wanted, arrays, strict=True))
    for op in cone:
        for value in op.results:
            if value in found:
                with ir.InsertionPoint(op), op.location:
                    constant = pseudo_constant(ir.DenseElementsAttr.get(found[value], type=value.type))
                value.replace_all_uses_with(constant)
    for op in reversed(cone):
        if not any(True for result in op.results for _ in result.uses):
            op.operation.erase()
    return True


def _is_in(use: ir.OpOperand, computed: Mapping[ir.Value, bool]) -> bool:
    """Whether what uses a value is known too."""
    results = use.owner.results
    return len(results) > 0 and results[0] in computed


def _is_constant(value: ir.Value) -> bool:
    """Whether the elements are in the module; those of a weight are not."""
    return elements_of_constant(value, *_CONSTANTS) is not None


def _is_small(value: ir.Value) -> bool:
    if not isinstance(value.type, ir.RankedTensorType) or not value.type.has_static_shape:
        return False
    size = _DTYPES.get(str(value.type.element_type))
    return size is not None and 0 < math.prod(value.type.shape) * size <= _LARGEST


def _computed(ops: Sequence[ir.OpView], wanted: Sequence[ir.Value]) -> list[npt.NDArray[Any]] | None:
    """The values that LiteRT computes; None if it does not."""
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        function = func.FuncOp("main", ir.FunctionType.get([], [value.type for value in wanted]))
    names = [f"y{index}" for index in range(len(wanted))]
    copies: dict[ir.Value, ir.Value] = {}
    with ir.InsertionPoint(function.add_entry_block()) as point:
        for op in ops:
            for value in op.operands:
                if value not in copies:
                    elements = elements_of_constant(value, *_CONSTANTS)
                    assert elements is not None
                    copies[value] = pseudo_constant(elements)
            copy = op.clone(ip=point)
            for index, value in enumerate(op.operands):
                copy.operands[index] = copies[value]
            copies.update(zip(op.results, copy.results, strict=True))
        func.ReturnOp([copies[value] for value in wanted])
    set_signature(function, "main", [], names)
    litert: Any = importlib.import_module("ai_edge_litert.interpreter")
    plain = litert.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    try:
        interpreter = litert.Interpreter(model_content=flatbuffer(module), experimental_op_resolver_type=plain)
        found = interpreter.get_signature_runner("main")()
    except (LitefuseError, RuntimeError, ValueError):  # it will say so where they stand in the model
        return None
    shapes = [tuple(ir.RankedTensorType(value.type).shape) for value in wanted]
    arrays = [np.ascontiguousarray(found[name]) for name in names]
    return arrays if [array.shape for array in arrays] == shapes else None
