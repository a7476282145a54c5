"""Infers the shapes of an op's results from its operands, and types results that the engine leaves unranked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from litefuse.ir.attributes import attribute_values
from litefuse.ir.call_graph import functions, operations, separate_callers
from litefuse.ir.mlir import func, ir, producer
from litefuse.ir.ops.dims import Shape, unknown
from litefuse.ir.ops.facts import INTEGERS, Op, ShapeError, Tensor, Undecided, Values, known
from litefuse.ir.ops.rules import RULES
from litefuse.ir.passes import module_pass, visit_ops
from litefuse.ir.shapes.editor import set_types
from litefuse.ir.shapes.graph import ModuleGraph, constant_elements, declared_by
from litefuse.ir.shapes.inference import Inference
from litefuse.ir.types import ranked_type

_OPS = frozenset({"tfl.dequantize", "tfl.mirror_pad", "tfl.pad", "tfl.padv2", "tfl.quantize", "tfl.transpose"})


def result_shapes(
    name: str, operands: Sequence[ir.Value], elements: Sequence[ir.Type], attributes: Mapping[str, Any]
) -> list[Shape | None]:
    """Returns the shape of each result, with None for dynamic dimensions; None for an unknown rank.

    Args:
        name: The op's name, one of ``litefuse.ir.ops.rules.RULES``.
        operands: Its operands.
        elements: The element type of each result.
        attributes: Its attributes, as Python values.

    Raises:
        ShapeError: The operands contradict each other.
        Undecided: The shapes do not follow from what is known.
        ArithmeticError: Or another of ``MALFORMED``: no op accepts these operands and attributes.
    """
    results = [Tensor(str(element), None) for element in elements]
    answer = RULES[name](Op(name, [_tensor(value) for value in operands], results, attributes))
    return [known(shape) for shape in (answer if isinstance(answer, list) else [answer])]


def inferred_shape(op: ir.OpView) -> Shape | None:
    """Returns the shape of an op's only result as far as it follows from the operands; None if its rank does not."""
    if op.name not in RULES:
        return None
    with suppress(ShapeError, Undecided):  # the runtime refuses what contradicts itself
        element = ir.ShapedType(op.results[0].type).element_type
        (shape,) = result_shapes(op.name, list(op.operands), [element], attribute_values(op))
        return shape
    return None


def constant_integers(value: ir.Value) -> Values | None:
    """Returns the elements of a small constant of integers or booleans; None for any other value."""
    constant, declared = producer(value, "arith.constant", "tfl.pseudo_const"), declared_by(value.type)
    return None if constant is None or declared.dtype not in INTEGERS else constant_elements(constant, declared).values


def _tensor(value: ir.Value) -> Tensor:
    declared = declared_by(value.type)
    shape = declared.shape
    if shape is not None:
        shape = tuple(unknown(object(), is_size=True) if size is None else size for size in shape)
    return Tensor(declared.dtype, shape, constant_integers(value))


@module_pass
def type_results(module: ir.Module) -> bool:
    """Types the results of ops that the engine created without result shapes::

        %p = tfl.pad(%x : tensor<1x8x8x3xf32>,    -->  %p = tfl.pad(...) : tensor<1x10x10x3xf32>
                     [[0, 0], [1, 1], [1, 1], [0, 0]]) : tensor<*xf32>

    The engine pads for convolutions with explicit paddings, transposes for products, and quantizes for fake
    quantization. Fault ``unranked-padding``.
    """
    return visit_ops(module, dict.fromkeys(_OPS, _type_result))


def _type_result(op: ir.OpView) -> bool:
    if _is_ranked(op.results[0]) or not _is_ranked(op.operands[0]):
        return False
    # Values that a terminator or a call forwards are typed elsewhere too.
    if any(use.owner.name in FORWARDING for use in op.results[0].uses):
        return False
    shape = inferred_shape(op)
    if shape is not None:
        op.results[0].set_type(ranked_type(shape, ir.ShapedType(op.results[0].type).element_type))
    return shape is not None


#: The ops that hand values on, under types of their own.
FORWARDING = frozenset(
    {
        *("func.return", "tfl.yield", "tfl.while", "tfl.if", "tf.If", "tf.While", "tf.Case"),
        *("tf.PartitionedCall", "tf.StatefulPartitionedCall", "func.call", "tfl.custom"),
    }
)


def _is_ranked(value: ir.Value) -> bool:
    return isinstance(value.type, ir.ShapedType) and value.type.has_rank


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
