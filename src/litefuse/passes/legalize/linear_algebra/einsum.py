"""Products that LiteRT has no op for: of integer matrices, and Einstein sums that are not matrix products."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.passes.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize
    from litefuse.ir.tensors import Tensor

_Labeled: TypeAlias = "tuple[Tensor, str]"
"""A value and the label of each of its dimensions."""


@decomposition("Einsum")
# Faults `einstein-sum-of-one`, `einstein-sum-of-elements`, `einstein-sum-over-two-labels` and
# `einstein-sum-over-an-inner-label`.
@before_engine("Einsum")
class Einsum(Decomposition):
    """Takes diagonals for repeated labels, then multiplies the operands, which are one or two, by a matrix product.

    Definition: https://www.tensorflow.org/api_docs/python/tf/einsum.
    """

    def before_lowering(self, op: TensorFlowOp) -> bool:
        try:
            labels, output = _equation(op)
        except NotDecomposed:
            return False
        if len(labels) == 1:  # fault `einstein-sum-of-one`
            return sorted(labels[0]) != sorted(output)
        first, second = map(set, labels)
        if first | second == set(output):  # fault `einstein-sum-of-elements`
            return True
        if op.types[0].dtype != "float32":
            return False
        if not (first - second and second - first):  # it often fails for a matrix and a vector
            return True
        # Fault `einstein-sum-over-an-inner-label`.
        return len(second - first) > 1 and labels[0][-1] not in second and labels[1][-1] in first - set(output)

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        op.require(0, "float32", "int32", "int64", "complex64")
        labels, output = _equation(op)
        parts = [_diagonal(b, value, text) for value, text in zip(op.operands, labels, strict=True)]
        product = _product(b, parts[0], parts[1], output) if len(parts) == 2 else parts[0]
        return _ordered(b, *_summed(b, product, output), output)


# Fault `product-over-nothing`.
@before_engine("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "MatMul", empty=True, order=-1)
class ProductOverNothing(Decomposition):
    """Zeros, where all sizes are known: the sums of no products."""

    folds = True

    def before_lowering(self, op: TensorFlowOp) -> bool:
        sizes = op.results[0].shape or (0,)
        return None not in sizes and 0 not in sizes

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        (result,) = op.results
        return b.fill([size or 0 for size in result.shape or ()], 0, result.dtype)


@decomposition("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "MatMul")
# Fault `transposed-integer-factor`.
@before_engine("MatMul", dtypes=("int32", "int64"))
def integer_product(op: TensorFlowOp, b: Builder) -> Tensor:
    """Multiplies rows and columns elementwise, and sums the products.

    Definition: https://www.tensorflow.org/api_docs/python/tf/linalg/matmul.
    """
    ranks = [len(op.shape(0)), len(op.shape(1))]
    op.require(0, "int32", "int64")
    if op.types[0].dtype != op.results[0].dtype:
        raise NotDecomposed("its result has another dtype")
    names = ("transpose_a", "transpose_b") if op.name == "MatMul" else ("adj_x", "adj_y")
    values: list[Tensor] = []
    for value, rank, name in zip(op.operands, ranks, names, strict=True):
        swapped = [*range(rank - 2), rank - 1, rank - 2]
        values.append(b.transpose(value, swapped) if op.attributes.get(name, False) else value)
    rows, columns = values
    product = b.expand(rows, ranks[0]) * b.expand(columns, ranks[1] - 2)
    return b.reduce("Sum", product, max(ranks) - 1)


def _equation(op: TensorFlowOp) -> tuple[list[str], str]:
    """Returns the labels of each operand and of the result; those of an ellipsis are Greek letters."""
    left, _, output = str(op.attributes["equation"]).replace(" ", "").partition("->")
    labels = left.split(",")
    counts = [len(op.shape(i)) - len(text) + 3 if "." in text else 0 for i, text in enumerate(labels)]
    spelled = [chr(0x3B1 + place) for place in range(max(counts))]
    sizes: list[set[int]] = [set() for _ in spelled]
    for index, (text, count) in enumerate(zip(labels, counts, strict=True)):
        start, own = text.find("..."), spelled[len(spelled) - count :]
        for place, size in enumerate(op.types[index].shape or ()):
            if start <= place < start + count and size is not None:
                sizes[len(spelled) - count + place - start].add(size)
        labels[index] = text.replace("...", "".join(own))
    if any(len(each) > 1 for each in sizes):
        raise NotDecomposed("its operands broadcast")
    return labels, output.replace("...", "".join(spelled))


def _diagonal(b: Builder, value: Tensor, labels: str) -> _Labeled:
    """Emits diagonals of the operand, so that each label occurs once."""
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


def _product(b: Builder, first: _Labeled, second: _Labeled, kept: str) -> _Labeled:
    """Emits the product of two operands, summed over the labels that are not in ``kept``."""
    first, second = _summed(b, first, kept + second[1]), _summed(b, second, kept + first[1])
    (a, a_labels), (c, c_labels) = first, second
    both = [label for label in a_labels if label in c_labels]
    batch = "".join(label for label in both if label in kept)
    summed = "".join(label for label in both if label not in kept)
    rows = "".join(label for label in a_labels if label not in c_labels)
    columns = "".join(label for label in c_labels if label not in a_labels)
    labels = batch + rows + columns
    if not summed or a.dtype != "float32":
        order = labels + summed
        every = _ordered(b, a, a_labels, order) * _ordered(b, c, c_labels, order)
        return _summed(b, (every, order), labels)
    adjoint = c_labels == batch + columns + summed  # the product takes columns as rows, without a transposition
    a = _ordered(b, a, a_labels, batch + rows + summed)
    c = c if adjoint else _ordered(b, c, c_labels, batch + summed + columns)
    sizes, count = b.sizes(a), len(batch)
    outer, inner = sizes[: count + len(rows)], b.product(sizes[count + len(rows) :])
    across = b.sizes(c)[count : count + len(columns)] if adjoint else b.sizes(c)[count + len(summed) :]
    width = b.product(across)
    second_matrix = [width, inner] if adjoint else [inner, width]
    matrices = [*sizes[:count], b.product(outer[count:]), inner], [*sizes[:count], *second_matrix]
    operands = [b.reshape(value, dims) for value, dims in zip((a, c), matrices, strict=True)]
    shape = b.known([*matrices[0][:-1], width])
    product = b.op("BatchMatMulV2", operands, shape, "float32", adj_x=False, adj_y=adjoint)
    return b.reshape(product, [*outer, *across]), labels


def _summed(b: Builder, value: _Labeled, kept: str) -> _Labeled:
    """Emits the sum over the labels that are not in ``kept``."""
    tensor, labels = value
    for axis in reversed(range(len(labels))):
        if labels[axis] not in kept:
            tensor, labels = b.reduce("Sum", tensor, axis), labels[:axis] + labels[axis + 1 :]
    return tensor, labels


def _ordered(b: Builder, value: Tensor, labels: str, order: str) -> Tensor:
    """Emits the operand with its dimensions in an order of labels; those that it lacks get size 1."""
    present = [label for label in order if label in labels]
    value = b.transpose(value, [labels.index(label) for label in present])
    remaining = iter(b.sizes(value))
    sizes: list[MixedSize] = [next(remaining) if label in labels else 1 for label in order]
    return b.reshape(value, sizes) if len(present) < len(order) else value
