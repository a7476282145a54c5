"""Bodies for the rules of ops that read or write where integers say, or whole rows."""

from __future__ import annotations

import numpy as np

from tests.kernels.generator.bodies import BodyWriter
from tests.kernels.generator.cases import case

#: The integers of these are indices: below 7, or below 4.
INDICES = {"one_hot": 4, **dict.fromkeys(("gathers", "gathers_of_batches", "gathers_of_elements", "segments"), 7)}


@case
def _gathers(b: BodyWriter) -> None:
    table, ids = b.input("float32", 7, 3), b.input("int32", None, 2)
    row = b.op("GATHER", [table, ids], "float32", axis=0)
    b.give(b.op("MUL", [row, b.constant([1, 2, 3])], "float32"))


@case
def _gather_along_rows(b: BodyWriter) -> None:
    x = b.input("float32", None, 5, 2)
    b.give(b.op("GATHER", [x, b.constant([4, 0, 0], "int64")], "float32", axis=1))


@case
def _one_hot(b: BodyWriter) -> None:
    ids = b.input("int32", None, 3)
    args = [ids, b.constant(4, "int32"), b.constant(1.5), b.constant(-0.5)]
    b.give(b.op("ONE_HOT", args, "float32", axis=-1), b.op("ONE_HOT", args, "float32", axis=1))


@case
def _gathers_of_batches(b: BodyWriter) -> None:
    x, ids = b.input("float32", None, 7, 3), b.input("int32", None, 4)
    b.give(*(b.op("GATHER", [x, ids], "float32", axis=1, batchDims=batch) for batch in (1, -1)))
    turned = b.op("TRANSPOSE", [x, b.constant([0, 2, 1], "int32")], "float32")
    b.give(b.op("GATHER", [turned, ids], "float32", axis=2, batchDims=1))
    b.give(b.op("GATHER", [b.op("EXP", [x], "float32"), b.constant([6, 0, 6] * 4, "int32")], "float32", axis=1))


@case
def _gathers_of_elements(b: BodyWriter) -> None:
    table, ids = b.input("float32", 7, 7, 3), b.input("int32", None, 2, 4)
    first, second = (b.op("SLICE", [ids, *(b.constant(v, "int32") for v in part)], "int32") for part in _PARTS)
    wide = b.op("CAST", [first], "int64")
    b.give(b.op("GATHER_ND", [table, second], "float32"), b.op("GATHER_ND", [table, wide], "float32"))
    slices = b.op("EXPAND_DIMS", [b.op("GATHER_ND", [table, first], "float32"), b.constant(0, "int32")], "float32")
    b.give(b.op("MUL", [slices, slices], "float32"))


_PARTS = (([0, 0, 0], [-1, 2, 1]), ([0, 0, 2], [-1, 2, 2]))


@case
def _segments(b: BodyWriter) -> None:
    x, k = b.input("float32", None, 2, 3), b.input("int32", None, 2)
    ids = b.op("SUB", [k, b.constant(2, "int32")], "int32")
    for kind in ("SUM", "PROD", "MAX", "MIN"):
        b.give(b.op(f"UNSORTED_SEGMENT_{kind}", [x, ids, b.constant(5, "int32")], "float32"))
    b.give(b.op("UNSORTED_SEGMENT_SUM", [k, ids, b.constant(9, "int32")], "int32"))
    zero = b.op("MINIMUM", [ids, b.constant(0, "int32")], "int32")
    b.give(b.op("UNSORTED_SEGMENT_SUM", [x, zero, b.constant(1, "int32")], "float32"))


@case
def _largest(b: BodyWriter) -> None:
    x, y, k = b.input("float32", None, 700), b.input("float32", None, None), b.input("int32", None, 3)
    tied = b.op("FLOOR", [x], "float32")
    for count in (1, 20, 300, 700):
        b.give(*b.op("TOPK_V2", [x, b.constant(count, "int32")], "float32", "int32"))
        b.give(*b.op("TOPK_V2", [tied, b.constant(count, "int32")], "float32", "int32"))
    b.give(*b.op("TOPK_V2", [y, b.constant(4, "int32")], "float32", "int32"))
    b.give(*b.op("TOPK_V2", [k, b.constant([2], "int32")], "int32", "int32"))


@case
def _largest_and_what_belongs_to_them(b: BodyWriter) -> None:
    scores, boxes = b.input("float32", None, 7), b.input("float32", None, 7, 4)
    best, places = b.op("TOPK_V2", [scores, b.constant(3, "int32")], "float32", "int32")
    b.give(best, b.op("GATHER", [boxes, places], "float32", axis=1, batchDims=1))
    b.give(b.op("FLOOR_MOD", [places, b.constant(2, "int32")], "int32"))


@case
def _transforms(b: BodyWriter) -> None:
    x, y = b.input("float32", None, 100), b.input("float32", None, None, 8)
    image = b.op("EXPAND_DIMS", [x, b.constant(1, "int32")], "float32")
    sizes = [(image, (1, 1 << power)) for power in range(1, 10)] + [
        (y, size) for size in ((4, 8), (8, 2), (2, 4), (16, 16))
    ]
    for source, size in sizes:
        bins = b.op("RFFT2D", [source, b.constant(size, "int32")], "complex64", kind="Rfft2d")
        b.give(b.op("REAL", [bins], "float32"), b.op("IMAG", [bins], "float32"))


@case
def _products(b: BodyWriter) -> None:
    x, weights = b.input("float32", None, 40), b.input("float32", 40, 6)
    bands = np.zeros((40, 6), np.float32)
    for column in range(5):  # and one of zeros
        bands[7 * column : 7 * column + column + 1, column] = np.arange(column + 1) + 0.5
    columns = b.op("TRANSPOSE", [weights, b.constant([1, 0], "int32")], "float32")
    b.give(b.op("FULLY_CONNECTED", [x, columns, -1], "float32"))
    b.give(b.op("FULLY_CONNECTED", [x, b.constant(bands.T), b.constant(np.arange(6))], "float32"))
    b.give(b.op("BATCH_MATMUL", [b.op("EXP", [x], "float32"), b.constant(bands)], "float32", kind="BatchMatMul"))
    b.give(b.op("BATCH_MATMUL", [x, weights], "float32", kind="BatchMatMul"))


@case
def _sizes_put_together(b: BodyWriter) -> None:
    x = b.input("float32", None, None)
    shape = b.op("SHAPE", [x], "int32", outType=2)
    parts = [shape, b.constant([1, 1], "int32"), b.constant(0, "int32")]
    rows, columns = b.op("SPLIT_V", parts, "int32", "int32", numSplits=2)
    less = b.op("NEG", [b.op("FLOOR_DIV", [b.op("NEG", [columns], "int32"), b.constant(3, "int32")], "int32")], "int32")
    behind = b.op("CONCATENATION", [b.constant([0], "int32"), less], "int32", axis=0)
    behind = b.op("RESHAPE", [behind, b.constant([1, 2], "int32")], "int32")
    paddings = b.op("CONCATENATION", [b.constant([[1, 0]], "int32"), behind], "int32", axis=0)
    padded = b.op("PADV2", [x, paddings, b.constant(0.5)], "float32")
    squares = b.op("PACK", [b.op("SHAPE", [padded], "int32", outType=2)] * 2, "int32", axis=1, valuesCount=2)
    ids = b.constant([[0, -1], [0, 1]], "int32")
    ends = b.op("UNSORTED_SEGMENT_PROD", [squares, ids, b.constant(2, "int32")], "int32")
    ends = b.op("SLICE", [ends, b.constant([0], "int32"), b.constant([1], "int32")], "int32")
    b.give(b.op("RESHAPE", [padded, ends], "float32"), b.op("MUL", [squares, b.constant(2, "int32")], "int32"), rows)
