"""Products that LiteRT has no op for: of integer matrices, and Einstein sums that are no product of matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from litefuse.decompositions.decomposition import Decomposition, NotDecomposed, TensorFlowOp

if TYPE_CHECKING:
    from litefuse.decompositions.builder import Builder, Dim
    from litefuse.engine.mlir import ir

__all__ = ["Einsum", "IntegerProduct"]


class Einsum(Decomposition):
    """Diagonals for labels that repeat, then the product in all labels, then the sum over those that are left out.

    Definition: https://www.tensorflow.org/api_docs/python/tf/einsum.
    """

    names = ("Einsum",)

    def before_lowering(self, op: TensorFlowOp) -> bool:
        labels, _, output = str(op.attributes["equation"]).replace(" ", "").partition("->")
        if len(op.operands) == 1:  # the engine takes the sum over a label for a transposition
            return sorted(labels) != sorted(output)
        return set(labels) - {","} == set(output)  # it makes a product of matrices of one without a sum, and fails

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.require(0, "float32", "int32", "int64")
        equation = str(op.attributes["equation"]).replace(" ", "")
        if "." in equation:
            raise NotDecomposed("its equation has an ellipsis")
        left, _, output = equation.partition("->")
        labels = left.split(",")
        values = [_diagonal(b, value, text) for value, text in zip(op.operands, labels, strict=True)]
        order = output + "".join(sorted(set(left) - set(output) - {","}))
        product = _ordered(b, *values[0], order)
        for value in values[1:]:
            product = b.binary("Mul", product, _ordered(b, *value, order))
        for axis in reversed(range(len(output), len(order))):
            product = b.reduce("Sum", product, axis)
        return product


class IntegerProduct(Decomposition):
    """Products of rows and columns, and their sums.

    Definition: https://www.tensorflow.org/api_docs/python/tf/linalg/matmul.
    """

    names = ("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "MatMul")

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        ranks = [len(op.shape(0)), len(op.shape(1))]
        op.require(0, "int32", "int64")
        if op.types[0].dtype != op.results[0].dtype:
            raise NotDecomposed("its result has another dtype")
        names = ("transpose_a", "transpose_b") if op.name == "MatMul" else ("adj_x", "adj_y")
        values: list[ir.Value] = []
        for value, rank, name in zip(op.operands, ranks, names, strict=True):
            swapped = [*range(rank - 2), rank - 1, rank - 2]
            values.append(b.transpose(value, swapped) if op.attributes.get(name, False) else value)
        rows, columns = values
        product = b.binary("Mul", b.expand(rows, ranks[0]), b.expand(columns, ranks[1] - 2))
        return b.reduce("Sum", product, max(ranks) - 1)


def _diagonal(b: Builder, value: ir.Value, labels: str) -> tuple[ir.Value, str]:
    """The operand with every label once."""
    for label in labels:
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            rest = [axis for axis in range(len(labels)) if axis not in (first, second)]
            value = b.transpose(value, [*rest, first, second])
            *others, size, _ = b.sizes(value)
            if not isinstance(size, int):
                raise NotDecomposed("the size of a diagonal is unknown")
            flat = b.reshape(value, [*others, size * size])
            value = b.gather(flat, b.constant(np.arange(size) * (size + 1), "int32"), len(others))
            labels = "".join(labels[axis] for axis in rest) + label
    return value, labels


def _ordered(b: Builder, value: ir.Value, labels: str, order: str) -> ir.Value:
    """The operand with all labels in an order, those that it lacks of size 1."""
    present = [label for label in order if label in labels]
    value = b.transpose(value, [labels.index(label) for label in present])
    remaining = iter(b.sizes(value))
    sizes: list[Dim] = [next(remaining) if label in labels else 1 for label in order]
    return b.reshape(value, sizes) if len(present) < len(order) else value
