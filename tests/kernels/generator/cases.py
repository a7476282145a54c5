"""Bodies for the rules of ops: one for each form of an op, with the values that tell forms apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.kernels.generator.bodies import BodyWriter

CASES: dict[str, Callable[[BodyWriter], None]] = {}


def case(function: Callable[[BodyWriter], None]) -> Callable[[BodyWriter], None]:
    """Registers a body under the function's name."""
    CASES[function.__name__.strip("_")] = function
    return function


# Elementwise


@case
def _binary(b: BodyWriter) -> None:
    x, y = b.input("float32", None, 5), b.input("float32", 5)
    b.give(*(b.op(op, [x, y], "float32") for op in ("ADD", "SUB", "MUL", "DIV", "MAXIMUM", "MINIMUM")))
    b.give(*(b.op(op, [x, y], "float32") for op in ("SQUARED_DIFFERENCE", "FLOOR_MOD")))


@case
def _binary_of_positive_numbers(b: BodyWriter) -> None:
    x, y = b.input("float32", None, 5), b.input("float32", None, 5)
    b.give(*(b.op(op, [x, y], "float32") for op in ("POW", "FLOOR_DIV", "ATAN2")))


_OF_INTEGERS = {
    "int8": ("FLOOR_DIV", "FLOOR_MOD", "MAXIMUM", "RIGHT_SHIFT"),
    "uint8": ("MINIMUM", "RIGHT_SHIFT"),
    "int16": ("ADD", "FLOOR_DIV", "FLOOR_MOD"),
    "int32": (
        *("ADD", "SUB", "MUL", "DIV", "FLOOR_DIV", "FLOOR_MOD", "MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE"),
        *("RIGHT_SHIFT", "BITWISE_XOR"),
    ),
    "int64": ("ADD", "SUB", "MUL", "FLOOR_MOD", "MAXIMUM"),
}
for _dtype, _ops in _OF_INTEGERS.items():

    def _integers(b: BodyWriter, dtype: str = _dtype, ops: Sequence[str] = _ops) -> None:
        x, y = b.input(dtype, None, 3), b.input(dtype, None, 1)
        b.give(*(b.op(op, [x, y], dtype) for op in ops))

    CASES[f"binary_{_dtype}"] = _integers


@case
def _power_of_integers(b: BodyWriter) -> None:
    b.give(b.op("POW", [b.input("int32", None, 3), b.input("int32", None, 3)], "int32"))


@case
def _unary(b: BodyWriter) -> None:
    x = b.input("float32", None, 7)
    for op in (
        *("ABS", "NEG", "SQUARE", "TANH", "LOGISTIC", "FLOOR", "CEIL", "ROUND", "RELU", "RELU6", "RELU_N1_TO_1"),
        *("RELU_0_TO_1", "ELU", "HARD_SWISH", "SIGN", "ZEROS_LIKE"),
    ):
        b.give(b.op(op, [x], "float32"))


@case
def _unary_of_small_numbers(b: BodyWriter) -> None:
    x = b.input("float32", None, 7)
    b.give(*(b.op(op, [x], "float32") for op in ("EXP", "SIN", "COS")))


@case
def _unary_of_positive_numbers(b: BodyWriter) -> None:
    x = b.input("float32", None, 7)
    b.give(*(b.op(op, [x], "float32") for op in ("LOG", "SQRT", "RSQRT")))


@case
def _activated(b: BodyWriter) -> None:
    x, y = b.input("float32", None, 4), b.constant([0.5, -0.5, 2, 3])
    b.give(*(b.op("ADD", [x, y], "float32", fusedActivationFunction=each) for each in (1, 2, 3)))


@case
def _leaky(b: BodyWriter) -> None:
    b.give(b.op("LEAKY_RELU", [b.input("float32", None)], "float32", alpha=0.3))


@case
def _prelu(b: BodyWriter) -> None:
    b.give(b.op("PRELU", [b.input("float32", None, 2, 3), b.constant([[0.1, 0.2, 0.3]])], "float32"))


@case
def _gelus(b: BodyWriter) -> None:
    x = b.input("float32", None, 9)
    b.give(b.op("GELU", [x], "float32", approximate=False), b.op("GELU", [x], "float32", approximate=True))


@case
def _comparisons(b: BodyWriter) -> None:
    x, y = b.input("float32", None, 3), b.input("float32", None, 3)
    k, n = b.input("int32", None), b.input("int32", 1)
    for op in ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"):
        b.give(b.op(op, [x, y], "bool"), b.op(op, [k, n], "bool"))


@case
def _logic(b: BodyWriter) -> None:
    x, y = b.input("bool", None, 3), b.input("bool", 3)
    negated = b.op("LOGICAL_NOT", [y], "bool")
    b.give(b.op("LOGICAL_AND", [x, negated], "bool"), b.op("LOGICAL_OR", [x, negated], "bool"))


@case
def _selection(b: BodyWriter) -> None:
    c, x, y = b.input("bool", None, 1), b.input("float32", None, 3), b.input("float32", 3)
    b.give(b.op("SELECT_V2", [c, x, y], "float32"))


@case
def _selection_of_rows(b: BodyWriter) -> None:
    c, x, y = b.input("bool", None), b.input("int64", None, 3), b.input("int64", None, 3)
    b.give(b.op("SELECT", [c, x, y], "int64"))


_TYPES = ("float32", "float64", "int8", "uint8", "int16", "int32", "int64", "bool", "float16")
for _from in _TYPES:

    def _casts(b: BodyWriter, dtype: str = _from) -> None:
        x = b.input(dtype, None, 6)
        b.give(
            *(b.op("CAST", [x], to) for to in _TYPES if to != dtype and not (to == "float64" and dtype == "float16"))
        )

    CASES[f"casts_of_{_from}"] = _casts


@case
def _complex_numbers(b: BodyWriter) -> None:
    x, y = b.input("complex64", None, 3), b.input("complex64", 3)
    product = b.op("MUL", [x, y], "complex64")
    b.give(
        b.op("REAL", [product], "float32"),
        b.op("IMAG", [b.op("MUL", [y, x], "complex64")], "float32"),
        b.op("COMPLEX_ABS", [x], "float32"),
    )


@case
def _mean_of_groups(b: BodyWriter) -> None:
    x, scale = b.input("float32", None, None, 12), b.input("float32", 12)
    sizes = b.op("SHAPE", [x], "int32", outType=2)
    parts = b.op("SLICE", [sizes, b.constant([0], "int32"), b.constant([2], "int32")], "int32")
    shape = b.op("CONCATENATION", [parts, b.constant([3, 4], "int32")], "int32", axis=0)
    groups = b.op("RESHAPE", [x, shape], "float32")
    mean = b.op("MEAN", [groups, b.constant([1, 3], "int32")], "float32", kind="Reducer", keepDims=True)
    centered = b.op("RESHAPE", [b.op("SUB", [groups, mean], "float32"), sizes], "float32")
    b.give(b.op("MUL", [b.op("TANH", [centered], "float32"), scale], "float32"))


@case
def _mish(b: BodyWriter) -> None:
    x = b.input("float32", None, 7)
    softplus = b.op("LOG", [b.op("ADD", [b.op("EXP", [x], "float32"), b.constant(1.0)], "float32")], "float32")
    b.give(b.op("MUL", [x, b.op("TANH", [softplus], "float32")], "float32"), b.op("TANH", [x], "float32"))


@case
def _quantized(b: BodyWriter) -> None:
    x = b.scaled(b.input("int8", None, 5), 0.05, 3)
    y = b.op("TANH", [b.op("DEQUANTIZE", [x], "float32")], "float32")
    b.give(b.scaled(b.op("QUANTIZE", [y], "int8"), 1 / 128, 0))


@case
def _sum_of_several(b: BodyWriter) -> None:
    x, y = b.input("float32", None, 3), b.input("float32", None, 3)
    b.give(b.op("ADD_N", [x, y, x], "float32"))


@case
def _repeated_rows(b: BodyWriter) -> None:
    x, y, z = b.input("float32", None, None, 64), b.input("float32", None, 1, 64), b.input("float32", 3, 1)
    first = b.op("MUL", [b.op("TANH", [x], "float32"), y], "float32")
    total = b.op("SUM", [first, b.constant([1], "int32")], "float32", kind="Reducer", keepDims=True)
    b.give(first, b.op("SUB", [b.op("ADD", [first, total], "float32"), y], "float32"), b.op("MUL", [x, z], "float32"))


# Movement


@case
def _reshapes(b: BodyWriter) -> None:
    x = b.input("float32", None, 6, 4)
    flat = b.op("RESHAPE", [x, b.constant([-1, 24], "int32")], "float32")
    other = b.op("RESHAPE", [b.op("NEG", [flat], "float32"), b.constant([-1, 2, 3, 2, 2], "int32")], "float32")
    odd = b.op("RESHAPE", [x, b.constant([-1, 8, 3], "int32")], "float32")
    b.give(
        flat,
        other,
        b.op("ABS", [odd], "float32"),
        b.op("SQUEEZE", [b.op("EXPAND_DIMS", [x, b.constant(-2, "int32")], "float32")], "float32", squeezeDims=[2]),
    )


@case
def _reshape_by_shape(b: BodyWriter) -> None:
    x = b.input("float32", None, None, 6)
    shape = b.op("SHAPE", [x], "int32", outType=2)
    part = b.op("STRIDED_SLICE", [shape, *(b.constant(v, "int32") for v in ([0], [2], [1]))], "int32")
    split = b.op("CONCATENATION", [part, b.constant([2, 3], "int32")], "int32", axis=0)
    y = b.op("RESHAPE", [x, split], "float32")
    total = b.op("SUM", [y, b.constant([3], "int32")], "float32", kind="Reducer", keepDims=True)
    b.give(b.op("RESHAPE", [b.op("SUB", [y, total], "float32"), shape], "float32"))


@case
def _flattened(b: BodyWriter) -> None:
    x = b.input("int32", None, None)
    b.give(b.op("RESHAPE", [b.op("NEG", [x], "int32"), b.constant([-1], "int32")], "int32"))


@case
def _transposed(b: BodyWriter) -> None:
    x = b.input("float32", None, 3, 5)
    y = b.op("TRANSPOSE", [x, b.constant([2, 0, 1], "int32")], "float32")
    z = b.op("RESHAPE", [y, b.constant([15, -1], "int32")], "float32")
    b.give(y, b.op("EXP", [z], "float32"))


@case
def _slices(b: BodyWriter) -> None:
    x = b.input("float32", None, 8, 5)
    begin, end, step = (b.constant(v, "int32") for v in ([0, -3, 4], [0, 1, 0], [1, -2, -1]))
    strided = b.op("STRIDED_SLICE", [x, begin, end, step], "float32", beginMask=1, endMask=5)
    plain = b.op("SLICE", [x, b.constant([0, 2, 1], "int32"), b.constant([-1, 3, -1], "int32")], "float32")
    row = b.op(
        "STRIDED_SLICE",
        [x, *(b.constant(v, "int32") for v in ([0, -1, 0], [0, 0, 9], [1, 1, 2]))],
        "float32",
        beginMask=1,
        endMask=1,
        shrinkAxisMask=2,
    )
    b.give(strided, plain, row)


@case
def _slices_of_open_sizes(b: BodyWriter) -> None:
    x = b.input("float32", None, None)
    ends = [b.constant(v, "int32") for v in ([0, 1], [0, 4], [1, 1])]
    b.give(
        b.op("STRIDED_SLICE", [x, *ends], "float32", beginMask=1, endMask=1),
        b.op(
            "STRIDED_SLICE",
            [x, *(b.constant(v, "int32") for v in ([0, -2], [0, 0], [1, 1]))],
            "float32",
            beginMask=1,
            endMask=3,
        ),
        b.op(
            "STRIDED_SLICE",
            [x, *(b.constant(v, "int32") for v in ([0, 0], [0, 0], [2, 3]))],
            "float32",
            beginMask=3,
            endMask=3,
        ),
        b.op("REVERSE_V2", [x, b.constant([1], "int32")], "float32"),
    )


@case
def _concatenation(b: BodyWriter) -> None:
    x, y = b.input("float32", None, 3), b.input("float32", None, 3)
    z = b.op("CONCATENATION", [x, b.op("NEG", [y], "float32"), x], "float32", axis=-1)
    b.give(z, b.op("CONCATENATION", [y, x], "float32", axis=0))


@case
def _concatenation_of_open_sizes(b: BodyWriter) -> None:
    x, y = b.input("float32", 2, None), b.input("float32", 2, None)
    z = b.op("CONCATENATION", [x, y, b.constant([[1, 2], [3, 4]]), x], "float32", axis=1)
    b.give(b.op("EXP", [z], "float32"), b.op("REVERSE_V2", [z, b.constant([1], "int32")], "float32"))


@case
def _packs(b: BodyWriter) -> None:
    x, y = b.input("int16", None, 3), b.input("int16", None, 3)
    packed = b.op("PACK", [x, y], "int16", valuesCount=2, axis=1)
    first, second = b.op("UNPACK", [packed], "int16", "int16", num=2, axis=1)
    b.give(packed, first, second, b.op("PACK", [x, y, x], "int16", valuesCount=3, axis=-1))


@case
def _splits(b: BodyWriter) -> None:
    x = b.input("float32", None, 6)
    one, two, three = b.op("SPLIT", [b.constant(1, "int32"), x], *["float32"] * 3, numSplits=3)
    few, many = b.op(
        "SPLIT_V", [x, b.constant([2, -1], "int32"), b.constant(-1, "int32")], *["float32"] * 2, numSplits=2
    )
    b.give(b.op("MUL", [one, two], "float32"), three, few, b.op("NEG", [many], "float32"))


@case
def _pads(b: BodyWriter) -> None:
    x = b.input("float32", None, 4)
    amounts = b.constant([[0, 0], [2, 1]], "int32")
    b.give(
        b.op("PAD", [b.op("ABS", [x], "float32"), b.constant([[1, 2], [2, 1]], "int32")], "float32"),
        b.op("PADV2", [x, amounts, b.constant(7.0)], "float32", kind="PadV2"),
        b.op("MIRROR_PAD", [x, amounts], "float32", mode=0),
        b.op("MIRROR_PAD", [x, amounts], "float32", mode=1),
    )


@case
def _tiles(b: BodyWriter) -> None:
    x = b.input("int32", None, 3)
    b.give(b.op("TILE", [x, b.constant([2, 3], "int32")], "int32"))


@case
def _broadcasts(b: BodyWriter) -> None:
    x = b.input("float32", None, 1, 3)
    shape = b.op("SHAPE", [x], "int32", outType=2)
    more = b.op("MUL", [shape, b.constant([1, 4, 1], "int32")], "int32")
    b.give(
        b.op("BROADCAST_TO", [x, more], "float32", kind="BroadcastTo"),
        b.op("FILL", [more, b.constant(2.5)], "float32"),
    )


@case
def _ranges(b: BodyWriter) -> None:
    x = b.input("float32", None, None)
    shape = b.op("SHAPE", [x], "int32", outType=2)
    size = b.op("STRIDED_SLICE", [shape, *(b.constant(v, "int32") for v in ([1], [2], [1]))], "int32", shrinkAxisMask=1)
    counted = b.op("RANGE", [b.constant(0, "int32"), size, b.constant(1, "int32")], "int32")
    steps = b.op("RANGE", [b.constant(3, "int32"), size, b.constant(2, "int32")], "int32")
    real = b.op("CAST", [counted], "float32")
    part = b.op("DIV", [real, b.op("CAST", [size], "float32")], "float32")
    b.give(b.op("ADD", [x, part], "float32"), steps)


# Reductions

for _op in ("SUM", "MEAN", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"):

    def _reductions(b: BodyWriter, op: str = _op) -> None:
        x = b.input("float32", None, 5, 6)
        found = [
            b.op(op, [x, b.constant(axes, "int32")], "float32", kind="Reducer", keepDims=keep)
            for axes, keep in (
                ([2], False),
                ([1], True),
                ([0], False),
                ([0, 2], False),
                ([-1, 0, 1], False),
                ([1, 2], True),
            )
        ]
        b.give(*found)

    CASES[_op.lower()] = _reductions

for _dtype in ("int32", "int64", "uint8", "int8"):

    def _of_integers(b: BodyWriter, dtype: str = _dtype) -> None:
        x = b.input(dtype, None, 4)
        for op in ("REDUCE_MAX", "REDUCE_MIN", *(("SUM", "REDUCE_PROD") if dtype in ("int32", "int64") else ())):
            b.give(
                b.op(op, [x, b.constant([1], "int32")], dtype, kind="Reducer", keepDims=False),
                b.op(op, [x, b.constant([0], "int32")], dtype, kind="Reducer", keepDims=True),
            )

    CASES[f"reductions_{_dtype}"] = _of_integers


@case
def _any_and_all(b: BodyWriter) -> None:
    x = b.input("bool", None, 3)
    b.give(
        *(
            b.op(op, [x, b.constant(axes, "int32")], "bool", kind="Reducer", keepDims=False)
            for op in ("REDUCE_ANY", "REDUCE_ALL")
            for axes in ([1], [0], [0, 1])
        )
    )


@case
def _arguments(b: BodyWriter) -> None:
    x, k = b.input("float32", None, 6), b.input("int32", None, 4)
    b.give(
        b.op("ARG_MAX", [x, b.constant(-1, "int32")], "int32", outputType=2),
        b.op("ARG_MIN", [x, b.constant(1, "int32")], "int64", outputType=4),
        b.op("ARG_MAX", [k, b.constant(1, "int32")], "int64", outputType=4),
    )


@case
def _running_sums(b: BodyWriter) -> None:
    x, k = b.input("float32", None, 6), b.input("int32", None, 3, 2)
    found = [
        b.op("CUMSUM", [x, b.constant(1, "int32")], "float32", kind="Cumsum", exclusive=e, reverse=r)
        for e in (False, True)
        for r in (False, True)
    ]
    found += [
        b.op("CUMSUM", [k, b.constant(axis, "int32")], "int32", kind="Cumsum", exclusive=e, reverse=r)
        for axis, e, r in ((0, False, False), (1, True, False), (1, False, True), (0, True, True))
    ]
    b.give(*found)


@case
def _running_sums_of_one(b: BodyWriter) -> None:
    x = b.input("float32", None, 1)
    for exclusive in (False, True):
        b.give(b.op("CUMSUM", [x, b.constant(1, "int32")], "float32", kind="Cumsum", exclusive=exclusive))


@case
def _last_of_running_sums(b: BodyWriter) -> None:
    x = b.input("float32", None, 4)
    total = b.op("CUMSUM", [x, b.constant(1, "int32")], "float32", kind="Cumsum")
    places = [b.constant(each, "int32") for each in ([0, 3], [0, 4], [1, 1])]
    last = b.op("STRIDED_SLICE", [total, *places], "float32", beginMask=1, endMask=1)
    b.give(b.op("SUB", [x, last], "float32"), b.op("MUL", [b.op("TANH", [last], "float32"), x], "float32"))


@case
def _softmaxes(b: BodyWriter) -> None:
    x = b.input("float32", None, 3, 40)
    b.give(b.op("SOFTMAX", [x], "float32", beta=1.0), b.op("LOG_SOFTMAX", [x], "float32"))


@case
def _softmax_with_beta(b: BodyWriter) -> None:
    b.give(b.op("SOFTMAX", [b.input("float32", None, 5)], "float32", beta=0.5))


@case
def _norms(b: BodyWriter) -> None:
    b.give(b.op("L2_NORMALIZATION", [b.input("float32", None, 8)], "float32", kind="L2Norm"))


@case
def _resized(b: BodyWriter) -> None:
    x, size = b.input("float32", None, 4, 5, 2), b.constant([7, 3], "int32")
    for align, half in ((False, False), (True, False), (False, True)):
        options = {"alignCorners": align, "halfPixelCenters": half}
        b.give(
            b.op("RESIZE_BILINEAR", [x, size], "float32", **options),
            b.op("RESIZE_NEAREST_NEIGHBOR", [x, size], "float32", **options),
        )


@case
def _bits_of_numbers(b: BodyWriter) -> None:
    x, k = b.input("float32", None, 2), b.input("int32", None, 3)
    pairs = b.op("BITCAST", [x], "complex64")
    b.give(b.op("COMPLEX_ABS", [pairs], "float32"), b.op("BITCAST", [x], "int32"), b.op("BITCAST", [k], "float32"))


@case
def _small_products(b: BodyWriter) -> None:
    x, y = b.input("float32", None, 4), b.input("float32", None, 2, 3)
    weights, bias = b.constant([[1, 2, 3, 4], [0, -1, 0, 2], [5, 5, -5, 1]]), b.constant([0.5, 0, -1])
    matrix = b.constant([[1, 2], [3, 4], [5, 6]])
    b.give(
        b.op("FULLY_CONNECTED", [x, weights, bias], "float32", fusedActivationFunction=1),
        b.op("FULLY_CONNECTED", [x, weights, -1], "float32", keepNumDims=True),
        b.op("BATCH_MATMUL", [y, matrix], "float32", kind="BatchMatMul"),
        b.op("BATCH_MATMUL", [y, y], "float32", kind="BatchMatMul", adjX=True),
        b.op("BATCH_MATMUL", [y, y], "float32", kind="BatchMatMul", adjY=True),
    )
