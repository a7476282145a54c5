"""The pass that rewrites TensorFlow ops whose shapes are known."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from litefuse.ir.call_graph import functions, separate_callers, update_function_type
from litefuse.ir.mlir import ir
from litefuse.ir.ops.facts import INTEGERS
from litefuse.ir.ops.numbers import NAMES
from litefuse.ir.ops.values import VALUES
from litefuse.ir.purity import is_used
from litefuse.ir.shapes.editor import Editor, arithmetic_key, contradicts_dead_branch, is_known
from litefuse.ir.shapes.graph import Function, ModuleGraph, Node
from litefuse.ir.shapes.inference import Inference
from litefuse.passes.simplify.expansions import EXPANDING, add_constants_first, drop_expansions, pad_instead
from litefuse.passes.simplify.neutral_ops import (
    SIMPLIFICATIONS,
    Simplification,
    bound_before_root,
    keep_reduced,
    new_axes,
    reshape_back,
    reshape_constant,
    scalar_operand,
)
from litefuse.passes.simplify.products import (
    SPLITTABLE,
    activate_first,
    compute_first,
    multiply_merged,
    multiply_once,
    multiply_split,
    unflatten_product,
)
from litefuse.passes.simplify.split_products import squeeze, squeeze_from_front, transpose_split

# The ops that are erased when nothing uses them anymore.
_ARITHMETIC = frozenset({*VALUES, *NAMES, *EXPANDING, *SPLITTABLE, "Const", "MatMul", "Split"})


def _late(module: str, name: str) -> Simplification:
    """Returns a simplification of ops that few models have, whose module is imported for the first of them."""

    def simplify(editor: Editor, node: Node) -> int | None:
        replace: Simplification = getattr(importlib.import_module(f"{__package__}.{module}"), name)
        return replace(editor, node)

    return simplify


_multiply_matrices = _late("contractions", "multiply_matrices")
_multiply_rows = _late("contractions", "multiply_rows")
_project = _late("contractions", "project")
_swap_operands = _late("contractions", "swap_operands")
_take_windows = _late("identity_filters", "take_windows")
_bound_slice = _late("slices", "bound_slice")
_multiply_shared = _late("caches", "multiply_shared")
_update_first = _late("caches", "update_first")
_take_part = _late("slices", "take_part")
_multiply_constant_last = _late("transpositions", "multiply_constant_last")
_reshape_first = _late("transpositions", "reshape_first")
_transpose_once = _late("transpositions", "transpose_once")
_transpose_ones = _late("transpositions", "transpose_ones")

_REPLACEMENTS: Mapping[str, Sequence[Simplification]] = {
    **{name: [simplification] for name, simplification in SIMPLIFICATIONS.items()},
    "AddV2": [compute_first, add_constants_first, scalar_operand],
    "BatchMatMulV2": [_multiply_shared, multiply_merged, multiply_once, _multiply_rows, _multiply_constant_last],
    "BiasAdd": [compute_first],
    "ConcatV2": [SIMPLIFICATIONS["ConcatV2"], pad_instead],
    "Conv2D": [_take_windows],
    "Einsum": [_multiply_matrices, _project],
    "ExpandDims": [reshape_back, multiply_split, reshape_constant, keep_reduced],
    "MatMul": [_multiply_constant_last],
    "Minimum": [bound_before_root],
    "Mul": [compute_first, scalar_operand],
    "Pack": [reshape_constant],
    "RealDiv": [SIMPLIFICATIONS["RealDiv"], scalar_operand],
    "Relu": [activate_first],
    "Relu6": [activate_first],
    "Reshape": [
        *(reshape_back, _transpose_ones, multiply_split, SIMPLIFICATIONS["Reshape"], keep_reduced, unflatten_product),
    ],
    "Squeeze": [reshape_back, reshape_constant, squeeze, squeeze_from_front],
    "StridedSlice": [_bound_slice, SIMPLIFICATIONS["StridedSlice"], _take_part, new_axes],
    "Sub": [scalar_operand],
    "Transpose": [SIMPLIFICATIONS["Transpose"], _reshape_first, transpose_split, _swap_operands, _transpose_once],
    "XlaDynamicUpdateSlice": [_update_first],
}


class Simplify:
    """Infers shapes, rewrites ops accordingly, and folds the arithmetic that computes shapes::

        %s = tf.Shape(%x : tensor<?x4x5xf32>)
        %n = tf.Prod(tf.StridedSlice(%s)[1:])           %c = tf.Const() [-1, 20]
        %d = tf.Pack(tf.StridedSlice(%s)[0], %n)   -->  %y = tf.Reshape(%x, %c) : tensor<?x20xf32>
        %y = tf.Reshape(%x, %d) : tensor<*xf32>

    Every op has a rule for the shapes of its results; together with the declared shapes, they determine the types of
    the results. A dynamic dimension is a symbol, and shapes are tracked as formulas of symbols: this shows that a
    reshape, a broadcast or a slice changes nothing, whatever the batch. The elements of small integer tensors are
    tracked in the same way; known ones become constants, and equal formulas are computed once. A loop variable keeps
    the facts that its body preserves; a branch's result keeps those that both sides agree on.

    Attributes:
        unsettled: Whether the pass made changes that may enable more, so that it may be run again.

    Raises:
        GraphError: The shapes of an op's operands, or inferred and declared shapes, contradict each other.
    """

    name = "simplify"

    def __init__(self) -> None:
        self.unsettled = False

    def run(self, module: ir.Module) -> bool:
        # A composite's decomposition is shared by all its uses, and is specialized for no call.
        modified = separate_callers(functions(module), left_alone="tfl.custom")
        inference = Inference(ModuleGraph.of(module))
        inference.run()
        changes = rewrite(inference)
        self.unsettled = changes.unsettled
        return changes.modified or modified


class Changes(NamedTuple):
    """The outcome of rewriting functions.

    Attributes:
        modified: Whether anything changed.
        unsettled: Whether another run may find more to change.
    """

    modified: bool
    unsettled: bool


def rewrite(inference: Inference) -> Changes:
    """Writes the results of inference into the functions that are reachable."""
    editors = [Editor(inference, function) for function in inference.visited.values()]
    for editor in editors:
        _rewrite_function(editor)
    modified = any(editor.modified for editor in editors)
    # More may be known now of the values that functions pass to each other.
    unsettled = modified and (len(editors) > 1 or any(editor.unsettled for editor in editors))
    return Changes(modified, unsettled)


def _rewrite_function(editor: Editor) -> None:
    function = editor.function
    for value in function.arguments:
        editor.refine(value)
    _place_argument_constants(editor, function)
    unexpanded = drop_expansions(editor.inference, function)
    for node in function.nodes:
        if node.name == "Assert":  # LiteRT has none; what it looks at has fewer uses without it
            editor.erase(node)
            continue
        if len(node.results) == 1 and node.results[0] in unexpanded:
            replacement = editor.resolve(unexpanded[node.results[0]])
        else:
            replacement = _replacement(editor, node)
        if replacement is not None:
            editor.replace(node, replacement)
            continue
        editor.produced(node)
    if editor.modified:
        for node in editor.nodes():
            if node.name in _ARITHMETIC and not is_used(node.op):
                editor.unsettled |= not all(map(editor.is_constant, editor.operands(node)))
                node.op.operation.erase()
        update_function_type(function.op)


def _place_argument_constants(editor: Editor, function: Function) -> None:
    """Replaces arguments that always have one value by constants, where the body computes with them."""
    point = ir.InsertionPoint.at_block_begin(function.op.entry_block)
    for number in function.arguments:
        values = editor.values(number)
        if values is None or not is_known(values) or editor.tensor(number).dtype not in INTEGERS:
            continue
        argument = editor.value(number)
        # Values that a loop forwards unchanged have to stay recognizable.
        uses = [use for use in argument.uses if use.owner.name != "func.return"]
        if uses:
            constant = editor.constant(values, editor.tensor(number).dtype, point, argument.location)
            for use in uses:
                use.owner.operands[use.operand_number] = editor.value(constant)


def _replacement(editor: Editor, node: Node) -> int | None:
    """Refines an op's types, and returns the replacement of its only result."""
    if node.name == "Const":
        return None
    if len(node.results) == 1 and (node.name in VALUES or node.name in NAMES):
        known = _known_value(editor, node)
        if known is not None:
            return known
    before = editor.same_as_before(node)
    if before is not None:
        return before
    if not contradicts_dead_branch(editor, node):
        for value in node.results:
            editor.refine(value)
    for replace in _REPLACEMENTS.get(node.name, ()):
        replacement = replace(editor, node)
        if replacement is not None:
            return replacement
    return None


def _known_value(editor: Editor, node: Node) -> int | None:
    """Returns a constant for an op whose result is known, or the result of an earlier op that computes the same."""
    (result,) = node.results
    tensor = editor.tensor(result)
    if tensor.numbers is not None:
        return editor.numbers(node, tensor.numbers, tensor.dtype)
    if tensor.values is None or tensor.dtype not in INTEGERS:
        return None
    if is_known(tensor.values):
        return editor.integers(node, tensor.values, tensor.dtype)
    before = editor.arithmetic.setdefault(arithmetic_key(tensor.dtype, tensor.values), result)
    return None if before == result else editor.resolve(before)
