"""Cases of ops that move elements, count them, or make arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.tensorflow.op_suite.case import Array, Case, Make, Operand, Tensor, floats, integers, one_of

F32, I32, I64 = "float32", "int32", "int64"
_MOVED = ("float32", "float16", "int8", "int16", "int32", "int64", "uint8", "uint32", "bool", "string")


def i32(*values: Any) -> Array:
    """An int32 constant: a vector of some numbers, or what one list holds."""
    return np.array(values[0] if len(values) == 1 and isinstance(values[0], list) else values, np.int32)


def scalar(value: Any, dtype: str = I32) -> Array:
    """A constant scalar."""
    return np.array(value, dtype)


def _each(op: str, shape: tuple[int | None, ...], *rest: Operand, **attributes: Any) -> list[Case]:
    """One case for each dtype that LiteRT moves."""
    return [Case(op, [Tensor(dtype, shape), *rest], attributes) for dtype in _MOVED]


def _slice_updates() -> list[Case]:
    def case(
        shape: tuple[int | None, ...], update: tuple[int, ...], *bounds: Operand, dtype: str = F32, **masks: int
    ) -> Case:
        attributes = {f"{key}_mask": value for key, value in masks.items()}
        return Case("TensorStridedSliceUpdate", [Tensor(dtype, shape), *bounds, Tensor(dtype, update)], attributes)

    row = Tensor(I32, (1,), integers(0, 4))
    return [
        case((None, 5), (3,), i32(0, 1), i32(0, 4), i32(1, 1), begin=1, end=1),
        case((4, 5), (5,), i32(-1), i32(0), i32(1), shrink_axis=1),
        case((4, 5), (2, 3), i32(0, 0), i32(0, 0), i32(2, 2), begin=3, end=3),
        case((4, 5), (5,), row, i32(4), i32(1), shrink_axis=1),
        case((4, 5), (1,), row, i32(4), i32(1)),
        case((4, 3, 2), (4, 1, 2), i32(0, 0, 1), i32(0, 0, 0), i32(1, 1, 1), begin=1, end=1, new_axis=2, shrink_axis=4),
        case((4, 3, 2), (), i32(0, 1), i32(0, 2), i32(1, 1), ellipsis=1),
        case((None, 3), (3,), i32(0, 0), i32(0, 0), i32(1, -1), begin=3, end=3, dtype=I64),
        case((4, 3), (1, 3), i32(2), i32(3), i32(1), dtype="float16"),
        case((2, 1, 2, 1, 2, 3), (2, 3), i32(1), i32(2), i32(1), shrink_axis=1),
    ]


def _computed_slices() -> list[Case]:
    """Slices from where the model says, beside new axes and an ellipsis."""
    first = Tensor(I32, (3,), integers(0, 2))
    end, strides = i32(4, 4, 4), i32(1, 1, 1)
    cases = [
        Case("StridedSlice", [Tensor(F32, (None, 3, 2)), first, end, strides], {"new_axis_mask": 4, "begin_mask": 1}),
        Case(
            "StridedSlice", [Tensor(F32, (2, 3, 2)), first, end, strides], {"shrink_axis_mask": 1, "ellipsis_mask": 2}
        ),
        Case("StridedSlice", [Tensor(I64, (2, 3)), first, end, strides], {"new_axis_mask": 1, "shrink_axis_mask": 2}),
    ]
    attributes = {"ellipsis_mask": 1, "shrink_axis_mask": 2, "new_axis_mask": 4}
    return [*cases, Case("StridedSlice", [Tensor(F32, (2, 1, 2, 1, 2, 2)), first, end, strides], attributes)]


def _strided_slices() -> list[Case]:
    def case(
        shape: tuple[int | None, ...], begin: list[int], end: list[int], strides: list[int], /, **masks: int
    ) -> Case:
        attributes = {f"{key}_mask": value for key, value in masks.items()}
        return Case("StridedSlice", [Tensor(F32, shape), i32(begin), i32(end), i32(strides)], attributes)

    cases = [
        case((None, 5), [0, 1], [0, 4], [1, 2], begin=1, end=1),
        case((None, 5), [0, -3], [0, -1], [1, 1], begin=1, end=1),
        case((None, 5), [0, -1], [0, 0], [1, -1], begin=3, end=3),
        case((None, 5), [0, 2], [1, 3], [1, 1], begin=1, end=1, shrink_axis=2),
        case((4, 5), [-1], [0], [1], shrink_axis=1),
        case((None, 5), [0, 0], [0, 0], [1, 1], begin=1, end=1, new_axis=2),
        case((None, 5), [0, 0, 0], [0, 0, 0], [1, 1, 1], begin=5, end=5, new_axis=2),
        case((None, 3, 4, 5), [0, 1], [0, 3], [1, 1], ellipsis=1),
        case((None, 3, 4, 5), [0, 0, 1], [0, 0, 3], [1, 1, 1], begin=1, end=1, ellipsis=2),
        case((None, 3, 4, 5), [0, 0, 0], [0, 0, 0], [1, 1, 1], ellipsis=1, new_axis=2, begin=4, end=4),
        case((None, 3, 4, 5), [0, 0, 0, 1], [0, 0, 0, 2], [1, 1, 1, 1], ellipsis=1, new_axis=4, shrink_axis=8),
        case((2, 3, 2, 4, 5), [0, 0, 1], [0, 0, 3], [1, 1, 1], begin=1, end=1, ellipsis=2),
        case((None, 2, 3, 2, 4), [0, 0, 0, 0, 1], [0, 0, 0, 0, 3], [1, 1, 1, 1, 2], begin=15, end=15),
        case((1, 2, 3, 2, 2, 4), [0, 0, 1], [0, 0, 4], [1, 1, 2], begin=1, end=1, ellipsis=2),
        case((1, 2, 3, 2, 2, 4), [0] * 6, [1, 2, 3, 1, 2, 2], [1] * 6),
        case((2, 6), [0, 0, 0, 0, 0, 0], [0] * 6, [1] * 6, begin=63, end=63, new_axis=0b011110),
        case((2, 3, 2, 4, 5), [0, 0, 0, 1, 0, 0], [0, 0, 0, 3, 0, 0], [1] * 6, begin=55, end=55, new_axis=2),
        case((None, 3, 4), [0, 0, 0, 0, 0], [0] * 5, [1] * 5, begin=31, end=31, new_axis=0b01010),
        case((None, 3, 0), [0, 0, 0], [0, 2, 0], [1, 1, 1], begin=5, end=5),
        case((None, 8), [0, 6], [0, 1], [1, -2], begin=1, end=1),
    ]
    cases += [
        Case(
            "StridedSlice",
            [Tensor(dtype, (None, 5)), i32(0, 1), i32(0, 4), i32(1, 2)],
            {"begin_mask": 1, "end_mask": 1},
        )
        for dtype in _MOVED[1:]
    ]
    cases.append(
        Case("StridedSlice", [Tensor(F32, (6,)), Tensor(I32, (1,), one_of(1)), Tensor(I32, (1,), one_of(4)), i32(1)])
    )
    cases.append(
        Case(
            "StridedSlice",
            [Tensor(F32, (None, 6)), np.array([0, 1]), np.array([0, 4]), np.array([1, 1])],
            {"begin_mask": 1, "end_mask": 1},
        )
    )
    cases.append(
        Case(
            "StridedSliceGrad",
            [i32(4, 5, 2), i32(0, 1, 0), i32(0, 4, 1), i32(1, 1, 1), Tensor(F32, (4, 3))],
            {"begin_mask": 1, "end_mask": 1, "shrink_axis_mask": 4},
        )
    )
    cases += [
        Case("StridedSliceGrad", [i32(4, 7), i32(*begin), i32(*end), i32(*strides), Tensor(F32, (4, count))], masks)
        for begin, end, strides, count, masks in (
            ((0, 1), (0, 6), (1, 2), 3, {"begin_mask": 1, "end_mask": 1}),
            ((0, 0), (0, 0), (-1, -3), 3, {"begin_mask": 3, "end_mask": 3}),
            ((0, -2), (0, 1), (1, -2), 2, {"begin_mask": 1, "end_mask": 1}),
        )
    ]
    return cases


def _shapes() -> list[Case]:
    cases = _each("Reshape", (None, 6), i32(-1, 2, 3)) + _each("Transpose", (None, 2, 3), i32(0, 2, 1))
    cases += [
        Case("Reshape", [Tensor(F32, shape), i32(target)])
        for shape, target in (((2, 3), [6]), ((1,), []), ((None, 4), [2, -1]), ((2, 3, 4), [4, 1, 3, 2, 1, 1]))
    ]
    cases += [Case("Reshape", [Tensor(F32, (2, 0, 3)), i32(0, 6)])]
    cases += [Case("Reshape", [Tensor(F32, (None, 4)), Tensor(I32, (2,), lambda _, __: [-1, 2])])]
    for permutation in ([1, 0], [2, 0, 1], [0, 3, 1, 2], [3, 2, 1, 0], [0, 2, 1, 4, 3], [5, 0, 2, 1, 4, 3]):
        shape = (None, *range(2, len(permutation) + 1))
        cases.append(Case("Transpose", [Tensor(F32, shape), i32(permutation)]))
    cases.append(Case("Transpose", [Tensor(F32, (2, 3)), Tensor(I32, (2,), lambda _, __: [1, 0])]))
    cases += _each("ExpandDims", (None, 3), scalar(1)) + _each("Squeeze", (None, 1, 3), axis=[1])
    cases += [
        Case("ExpandDims", [Tensor(F32, (None, 2, 3, 2, 2)), scalar(-1)]),
        Case("ExpandDims", [Tensor(F32, ()), scalar(0)]),
    ]
    cases += [Case("Squeeze", [Tensor(F32, (1, 3, 1))], {"axis": []})]
    for op in ("Shape", "Size", "Rank"):
        cases += [Case(op, [Tensor(F32, shape)]) for shape in ((None,), (None, 3), (None, 2, 1, None, 2))]
    cases += [Case(op, [Tensor(F32, (None, 3))], {"out_type": I64}) for op in ("Shape", "Size")]
    cases.append(Case("ShapeN", [[Tensor(F32, (None, 3)), Tensor(F32, (2, None, 1))]]))
    cases += [Case("EnsureShape", [Tensor(F32, (None, 3))], {"shape": [None, 3]})]
    cases += _each("Tile", (None, 2), i32(2, 3))
    cases += [Case("Tile", [Tensor(F32, (None, 2, 1, 2, 2)), i32(1, 2, 3, 1, 2)])]
    cases += [Case("Tile", [Tensor(F32, (None, 2)), Tensor(I32, (2,), integers(1, 4))])]
    cases += _each("BroadcastTo", (1, 3), i32(2, 2, 3))
    cases += [Case("BroadcastTo", [Tensor(F32, (None, 1)), Tensor(I32, (2,), lambda _, __: [3, 4])])]
    cases += [Case("BroadcastTo", [Tensor(F32, (2, 1, 3, 1)), i32(2, 2, 2, 3, 2)])]
    two = [Tensor(I32, (3,), lambda _, __: [2, 1, 3]), Tensor(I32, (2,), lambda _, __: [4, 1])]
    cases += [Case(op, list(two)) for op in ("BroadcastArgs", "BroadcastGradientArgs")]
    cases += [Case("BroadcastArgs", [Tensor(I64, (2,), lambda _, __: [2, 1]), np.array([1, 5])])]
    cases += [Case(op, [i32(2, 1, 3), i32(4, 1)]) for op in ("BroadcastArgs", "BroadcastGradientArgs")]
    cases += [Case("Fill", [Tensor(I32, (2,), integers(1, 4)), Tensor(dtype, ())]) for dtype in _MOVED]
    cases += [Case("Fill", [i32(2, 3), Tensor(F32, ())])]
    for dtype in (F32, I32, I64):
        start, limit, step = (one_of(value) for value in (1, 9, 2))
        cases.append(Case("Range", [Tensor(dtype, (), start), Tensor(dtype, (), limit), Tensor(dtype, (), step)]))
    cases += [Case("LinSpace", [Tensor(F32, ()), Tensor(F32, ()), scalar(n)]) for n in (1, 5)]
    return cases


def _pieces() -> list[Case]:
    cases: list[Case] = []
    for dtype in _MOVED:
        cases += [
            Case("ConcatV2", [[Tensor(dtype, (None, 2)), Tensor(dtype, (None, 3))], scalar(1)]),
            Case("Pack", [[Tensor(dtype, (None, 2)), Tensor(dtype, (None, 2))]], {"axis": 1}),
            Case("Unpack", [Tensor(dtype, (None, 2))], {"num": 2, "axis": 1}),
            Case("Split", [scalar(1), Tensor(dtype, (None, 4))], {"num_split": 2}),
            Case("SplitV", [Tensor(dtype, (None, 5)), i32(2, 3), scalar(-1)], {"num_split": 2}),
            Case("Slice", [Tensor(dtype, (None, 5)), i32(0, 1), i32(-1, 3)]),
        ]
    rank_5 = (1, 2, 3, 2, 2)
    cases += [
        Case("ConcatV2", [[Tensor(F32, rank_5)] * 3, scalar(-2)]),
        Case("ConcatV2", [[Tensor(F32, (None, 2)), Tensor(F32, (None, 2))], scalar(0)]),
        Case("ConcatV2", [[Tensor(F32, (2, 0)), Tensor(F32, (2, 3))], scalar(1)]),
        Case("Concat", [scalar(1), [Tensor(F32, (None, 2)), Tensor(F32, (None, 3))]]),
        Case("Pack", [[Tensor(F32, ())] * 3], {"axis": 0}),
        Case("Pack", [[Tensor(F32, (1, 2, 3, 2))] * 2], {"axis": -1}),
        Case("Unpack", [Tensor(F32, (2, 3, 2, 2))], {"num": 3, "axis": 1}),
        Case("Split", [scalar(-1), Tensor(F32, (None, 2, 2, 2, 6))], {"num_split": 3}),
        Case("SplitV", [Tensor(F32, (None, 5)), i32(-1, 3), scalar(1)], {"num_split": 2}),
        Case("Slice", [Tensor(F32, rank_5), i32(0, 1, 1, 0, 0), i32(1, 1, 2, 2, -1)]),
        Case("Slice", [Tensor(F32, (1, 2, 3, 2, 2, 2)), i32([0, 1, 1, 0, 0, 1]), i32([1, 1, 2, 2, -1, 1])]),
        Case("Slice", [Tensor(F32, (5,)), Tensor(I32, (1,), integers(0, 2)), Tensor(I32, (1,), integers(1, 3))]),
        Case("AddN", [[Tensor(F32, (None, 3))] * 3]),
        Case("AddN", [[Tensor(I32, (None, 3))] * 2]),
        Case("IdentityN", [[Tensor(F32, (None, 3)), Tensor(I32, ())]]),
        Case("ParallelConcat", [[Tensor(F32, (1, 3)), Tensor(F32, (1, 3))]], {"shape": [2, 3]}),
    ]
    for op, rest in (("Pad", []), ("PadV2", [1])):
        for dtype in ("float32", "float16", "int8", "int16", "int32", "int64", "uint8", "bool"):
            if rest and dtype == "bool":
                continue
            filler: list[Operand] = [np.array(each, dtype) for each in rest]
            cases.append(Case(op, [Tensor(dtype, (None, 3)), i32([[0, 0], [1, 2]]), *filler]))
        filler = [np.array(each, F32) for each in rest]
        cases.append(Case(op, [Tensor(F32, (1, 2, 3, 2, 2)), i32([[0, 1], [1, 0], [2, 2], [0, 0], [1, 1]]), *filler]))
        cases.append(Case(op, [Tensor(F32, (None, 2)), Tensor(I32, (2, 2), integers(0, 3)), *filler]))
        cases.append(
            Case(op, [Tensor(F32, (1, 2, 1, 2, 2, 2)), i32([[0, 1], [1, 0], [0, 0], [0, 0], [1, 1], [2, 0]]), *filler])
        )
    for mode in ("REFLECT", "SYMMETRIC"):
        cases += [
            Case("MirrorPad", [Tensor(dtype, (None, 4)), i32([[0, 0], [1, 2]])], {"mode": mode})
            for dtype in (F32, I32, I64, "uint8")
        ]
        cases += [
            Case("MirrorPad", [Tensor(F32, (2, 3, 4, 2)), i32([[0, 0], [1, 2], [2, 1], [0, 0]])], {"mode": mode}),
            Case("MirrorPadGrad", [Tensor(F32, (None, 6, 7)), i32([[0, 0], [1, 2], [0, 3]])], {"mode": mode}),
            Case("MirrorPadGrad", [Tensor(F32, (6, 5)), i32([[2, 1], [1, 0]])], {"mode": mode}),
        ]
    cases += _each("ReverseV2", (None, 4), i32(1))
    cases += [
        Case("ReverseV2", [Tensor(F32, (None, 4, 3)), i32(1, 2)]),
        Case("ReverseV2", [Tensor(F32, (2, 2, 2, 2, 3)), i32(-1)]),
        Case("ReverseV2", [Tensor(F32, (None, 4, 3)), i32(0, 2)]),
        Case("ReverseV2", [Tensor(I32, (2, 3, 4, 2, 3)), i32(-1, 0, 1)]),
        Case("GuaranteeConst", [Tensor(F32, (None, 4))]),
    ]
    cases += [Case("Reverse", [Tensor(F32, (None, 4)), np.array([False, True])])]
    cases += [Case("Reverse", [Tensor(F32, (None, 4, 2)), np.array([True, False, True])])]
    for dtype in (F32, I32):
        lengths = Tensor(I32, (None,), integers(0, 4))
        cases.append(Case("ReverseSequence", [Tensor(dtype, (None, 4, 2)), lengths], {"seq_dim": 1, "batch_dim": 0}))
    cases += [Case("Roll", [Tensor(dtype, (None, 4)), i32(1), i32(1)]) for dtype in (F32, I64, "bool")]
    cases += [Case("Roll", [Tensor(F32, (None, 4, 3)), i32(2, -1), i32(1, 0)])]
    blocks = {"block_size": 2}
    for dtype in (F32, "int8", I32, "uint8"):
        cases += [
            Case("SpaceToDepth", [Tensor(dtype, (None, 4, 6, 2))], blocks),
            Case("DepthToSpace", [Tensor(dtype, (None, 2, 3, 8))], blocks),
        ]
    image = Tensor(F32, (None, 4, 6, 2))
    crops = i32([[0, 0], [2, 0]])
    cases += [
        Case("SpaceToBatchND", [image, i32(2, 2), crops]),
        Case("SpaceToBatch", [image, crops], blocks),
        Case("BatchToSpaceND", [Tensor(F32, (4, 2, 3, 2)), i32(2, 2), i32([[0, 0], [1, 0]])]),
        Case("BatchToSpace", [Tensor(F32, (4, 2, 3, 2)), i32([[0, 0], [1, 0]])], blocks),
        Case("SpaceToBatchND", [Tensor(F32, (None, 4, 2)), i32(2), i32([[0, 0]])]),
        Case("BatchToSpaceND", [Tensor(F32, (4, 2, 2)), i32(2), i32([[0, 1]])]),
    ]
    patches = {"ksizes": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "rates": [1, 1, 1, 1], "padding": "VALID"}
    cases += [Case("ExtractImagePatches", [image], patches)]
    return cases


def _gathers() -> list[Case]:
    cases: list[Case] = []
    for dtype in _MOVED:
        cases += [
            Case("GatherV2", [Tensor(dtype, (5, 2)), Tensor(I32, (None,), integers(0, 5)), scalar(0)]),
            Case("GatherNd", [Tensor(dtype, (5, 2)), Tensor(I32, (None, 1), integers(0, 5))]),
        ]
    position = integers(0, 2)
    cases += [
        Case("Gather", [Tensor(F32, (5, 2)), Tensor(I64, (None, 2), integers(0, 5))]),
        Case("GatherV2", [Tensor(F32, (None, 4, 3)), Tensor(I64, (2, 2), position), scalar(1)]),
        Case("GatherV2", [Tensor(F32, (None, 4, 3)), Tensor(I32, (), position), scalar(-1)]),
        Case("GatherV2", [Tensor(F32, (None, 4, 3)), Tensor(I32, (None, 2), position), scalar(1)], {"batch_dims": 1}),
        Case("GatherV2", [Tensor(F32, (2, 2, 2, 2, 3)), Tensor(I32, (3,), position), scalar(3)]),
        Case("GatherNd", [Tensor(F32, (None, 4, 3)), i32([[0, 1], [0, 2]])]),
        Case("GatherNd", [Tensor(F32, (4, 3)), Tensor(I64, (None, 5, 2), integers(0, 3))]),
        Case("GatherNd", [Tensor(F32, (2, 2, 2, 2, 2)), Tensor(I32, (3, 5), position)]),
    ]
    index = Tensor(I32, (4, 1), lambda random, _: random.permutation(6)[:4, None])
    repeated = Tensor(I32, (4, 1), integers(0, 6))
    for dtype in (F32, "int8", I32, I64, "uint8", "bool"):
        cases.append(Case("TensorScatterUpdate", [Tensor(dtype, (6, 2)), index, Tensor(dtype, (4, 2))]))
        cases.append(Case("ScatterNd", [index, Tensor(dtype, (4, 2)), i32(6, 2)]))
    for op in ("TensorScatterAdd", "TensorScatterSub", "TensorScatterMax", "TensorScatterMin"):
        for dtype in (F32, I32, I64):
            cases.append(Case(op, [Tensor(dtype, (6, 2)), repeated, Tensor(dtype, (4, 2))]))
        cases.append(Case(op, [Tensor(F32, (6,)), Tensor(I64, (4, 1), integers(0, 6)), Tensor(F32, (4,))]))
        pairs = Tensor(I32, (None, 2), integers(0, 3))
        cases.append(Case(op, [Tensor(F32, (3, 3, 2)), pairs, Tensor(F32, (None, 2))]))
    cases += [
        Case("TensorScatterUpdate", [Tensor(F32, (None, 3)), i32([[0, 1]]), Tensor(F32, (1,))]),
        Case("ScatterNd", [Tensor(I32, (None, 2), integers(0, 3)), Tensor(F32, (None,)), i32(3, 3)]),
        Case("ScatterNd", [Tensor(I64, (4, 1), integers(0, 6)), Tensor(F32, (4, 2)), np.array([6, 2])]),
    ]
    for dtype in (F32, I32, I64, "uint8", "bool"):
        on, off = np.array(1, dtype), np.array(0, dtype)
        cases.append(Case("OneHot", [Tensor(I32, (None,), integers(-1, 6)), scalar(5), on, off], {"axis": -1}))
    one, zero = scalar(2, F32), np.zeros((), F32)
    cases += [
        Case("OneHot", [Tensor(I64, (None, 2), integers(0, 5)), scalar(5), one, zero], {"axis": 1}),
        Case("OneHot", [Tensor(I32, (), integers(0, 5)), Tensor(I32, (), one_of(5)), one, zero], {"axis": 0}),
        Case("InvertPermutation", [Tensor(I32, (6,), lambda random, _: random.permutation(6))]),
        Case("InvertPermutation", [Tensor(I64, (None,), lambda random, shape: random.permutation(shape[0]))]),
        Case("DynamicStitch", [[i32(0, 2), i32(1, 3)], [Tensor(F32, (2, 3)), Tensor(F32, (2, 3))]]),
        Case("ParallelDynamicStitch", [[i32(0, 2), i32(1, 3)], [Tensor(F32, (2, 3)), Tensor(F32, (2, 3))]]),
        Case(
            "DynamicStitch",
            [
                [Tensor(I32, (4,), lambda random, _: random.permutation(4)), i32(1, 4, 2)],
                [Tensor(F32, (4, 2)), Tensor(F32, (3, 2))],
            ],
        ),
        Case("DynamicStitch", [[i32([[0, 1], [2, 1]]), scalar(3)], [Tensor(I64, (2, 2)), Tensor(I64, ())]]),
        Case("DynamicPartition", [Tensor(F32, (6,)), Tensor(I32, (6,), integers(0, 2))], {"num_partitions": 2}),
        Case("SparseToDense", [i32([[0, 1], [2, 0]]), i32(3, 3), Tensor(F32, (2,)), np.zeros((), F32)]),
        Case("SparseToDense", [i32([[1], [2]]), i32(5), Tensor(I32, (2,)), scalar(-1)]),
    ]
    return cases


def _searches() -> list[Case]:
    cases: list[Case] = []
    for op in ("ArgMax", "ArgMin"):
        cases += [
            Case(op, [Tensor(dtype, (None, 6)), scalar(1)], {"output_type": I32})
            for dtype in (F32, "int8", I32, "uint8")
        ]
        cases.append(Case(op, [Tensor(F32, (None, 3, 4)), scalar(-2)], {"output_type": I64}))
        cases.append(Case(op, [Tensor(I64, (None, 6)), scalar(1)], {"output_type": I64}))
        cases.append(Case(op, [Tensor("bool", (None, 6)), scalar(1)], {"output_type": I64}))
    cases += [
        *(
            Case("TopKV2", [Tensor(dtype, (None, 8)), scalar(3)], {"sorted": True})
            for dtype in (F32, I32, I64, "int8", "uint8")
        ),
        Case("TopKV2", [Tensor(F32, (2, 3, 8)), Tensor(I32, (), one_of(2))]),
        Case("Where", [Tensor("bool", (None, 4))]),
        Case("Where", [Tensor(F32, (None, 4), one_of(0.0, 1.0))]),
        Case("Where", [Tensor(I32, (None, 2, 3), one_of(0, 1))]),
        Case("Unique", [Tensor(F32, (9,), one_of(1.0, 2.0, 5.0))], {"out_idx": I32}),
        Case("Unique", [Tensor(I32, (9,))], {"out_idx": I64}),
        Case("Unique", [Tensor(I64, (None,))], {"out_idx": I32}, open_sizes=(1, 9)),
        Case("UniqueV2", [Tensor(I32, (9,)), i32(0)], {"out_idx": I32}),
        Case("UniqueWithCounts", [Tensor(I32, (9,))], {"out_idx": I32}),
        Case("ListDiff", [Tensor(I32, (6,)), Tensor(I32, (4,))], {"out_idx": I32}),
        Case("InTopKV2", [Tensor(F32, (None, 5)), Tensor(I32, (None,), integers(0, 5)), scalar(2)]),
        Case("InTopK", [Tensor(F32, (None, 5)), Tensor(I32, (None,), integers(0, 5))], {"k": 2}),
        Case("NthElement", [Tensor(F32, (None, 6)), scalar(2)], {"reverse": False}),
        Case("NthElement", [Tensor(F32, (None, 6)), scalar(1)], {"reverse": True}),
        Case("Bucketize", [Tensor(F32, (None, 6))], {"boundaries": [-1.0, 0.0, 2.0]}),
        Case("Bucketize", [Tensor(I32, (None, 6))], {"boundaries": [-1.0, 0.5, 2.0]}),
        Case("UnravelIndex", [Tensor(I32, (None,), integers(0, 60)), i32(3, 4, 5)]),
        Case("RaggedRange", [i32(0, 2), i32(3, 6), i32(1, 2)], {"Tsplits": I64}),
        Case(
            "RaggedRange",
            [Tensor(I32, (2,), one_of(0)), Tensor(I32, (2,), integers(1, 5)), i32(1, 2)],
            {"Tsplits": I64},
        ),
    ]
    for op in ("LowerBound", "UpperBound"):
        ordered: Make = lambda random, shape: np.sort(random.integers(0, 9, shape), -1)  # noqa: E731
        for dtype in (F32, I32, I64):
            pair = [Tensor(dtype, (None, 6), ordered), Tensor(dtype, (None, 4), integers(-1, 11))]
            cases.append(Case(op, list(pair), {"out_type": I32}))
        pair = [Tensor(F32, (2, 7), ordered), Tensor(F32, (2, 4), integers(-1, 11))]
        cases.append(Case(op, list(pair), {"out_type": I64}))
    numbers = Tensor(I32, (None,), integers(0, 9))
    none = np.zeros(0, F32)
    cases += [
        Case("Bincount", [numbers, scalar(6), none], open_sizes=(1, 20)),
        Case("DenseBincount", [numbers, scalar(6), none], {"binary_output": True}, open_sizes=(1, 20)),
        Case("DenseBincount", [Tensor(I64, (None, 5), integers(0, 9)), scalar(6, I64), none]),
        Case("HistogramFixedWidth", [Tensor(F32, (20,)), np.array([-1.0, 1.0], F32), scalar(4)], {"dtype": I32}),
    ]
    return cases


def _diagonals() -> list[Case]:
    square, wide = Tensor(F32, (None, 4, 4)), Tensor(F32, (None, 3, 5))
    cases: list[Case] = []
    for dtype in (F32, "int8", I32, I64, "bool"):
        cases += [Case("MatrixDiag", [Tensor(dtype, (None, 3))]), Case("MatrixDiagPart", [Tensor(dtype, (None, 3, 3))])]
        cases += [Case("MatrixSetDiag", [Tensor(dtype, (None, 3, 3)), Tensor(dtype, (None, 3))])]
    zero = np.zeros((), F32)
    cases += [Case("Diag", [Tensor(F32, (4,))]), Case("Diag", [Tensor(F32, (2, 3))]), Case("Diag", [Tensor(I32, (4,))])]
    cases += [Case("DiagPart", [Tensor(F32, (4, 4))]), Case("DiagPart", [Tensor(F32, (2, 3, 2, 3))])]
    cases += [Case("MatrixDiagPart", [wide]), Case("MatrixSetDiag", [wide, Tensor(F32, (None, 3))])]
    for dtype in (F32, I32, "bool"):
        cases += [Case("MatrixDiag", [Tensor(dtype, (None, None))])]
        cases += [Case("MatrixDiagPart", [Tensor(dtype, (None, None, 4))])]
    for version, extra in (("V2", {}), ("V3", {"align": "RIGHT_LEFT"}), ("V3", {"align": "LEFT_RIGHT"})):
        diag, part, put = (f"{name}{version}" for name in ("MatrixDiag", "MatrixDiagPart", "MatrixSetDiag"))
        for k, count in ((0, 3), (1, 2), (-1, 2)):
            cases += [
                Case(diag, [Tensor(F32, (None, count)), scalar(k), scalar(3), scalar(3), zero], extra),
                Case(part, [Tensor(F32, (None, 3, 3)), scalar(k), zero], extra),
                Case(put, [Tensor(F32, (None, 3, 3)), Tensor(F32, (None, count)), scalar(k)], extra),
            ]
        cases += [
            Case(diag, [Tensor(F32, (None, 3)), scalar(0), scalar(-1), scalar(-1), zero], extra),
            Case(diag, [Tensor(F32, (None, 3, 4)), i32(-1, 1), scalar(4), scalar(4), scalar(7, F32)], extra),
            Case(part, [wide, i32(-1, 2), scalar(7, F32)], extra),
            Case(part, [Tensor(F32, (None, None, 4)), scalar(1), zero], extra),
        ]
    for lower, upper in ((-1, 0), (0, -1), (1, 1), (0, 0), (-1, 2)):
        cases.append(Case("MatrixBandPart", [wide, scalar(lower), scalar(upper)]))
    cases += [Case("MatrixBandPart", [Tensor(dtype, (4, 4)), scalar(-1), scalar(0)]) for dtype in (I32, I64, "bool")]
    cases += [Case("MatrixBandPart", [square, np.array(1), np.array(0)])]
    cases += [Case("MatrixBandPart", [Tensor(F32, (None, None, None)), scalar(-1), scalar(0)])]
    return cases


def _segments() -> list[Case]:
    ids = Tensor(I32, (6,), lambda _, __: [0, 0, 1, 1, 1, 3])
    loose = Tensor(I32, (6,), integers(-1, 4))
    cases: list[Case] = []
    for name in ("Max", "Mean", "Min", "Prod", "Sum"):
        dtypes = (F32,) if name == "Mean" else (F32, I32)
        cases += [Case(f"Segment{name}", [Tensor(dtype, (6, 2)), ids]) for dtype in dtypes]
        cases.append(Case(f"Segment{name}", [Tensor(F32, (6,)), i32(0, 0, 1, 1, 1, 3)]))
        if name == "Mean":
            continue
        cases += [Case(f"UnsortedSegment{name}", [Tensor(dtype, (6, 2)), loose, scalar(4)]) for dtype in dtypes]
        cases.append(
            Case(f"UnsortedSegment{name}", [Tensor(F32, (2, 3, 2)), Tensor(I32, (2, 3), integers(0, 4)), scalar(4)])
        )
        cases.append(
            Case(f"UnsortedSegment{name}", [Tensor(F32, (None, 2)), Tensor(I64, (None,), integers(0, 4)), scalar(4)])
        )
        cases.append(
            Case(f"UnsortedSegment{name}", [Tensor(I64, (6, 2)), Tensor(I32, (6,), integers(0, 4)), scalar(4)])
        )
    cases += [
        Case(f"SparseSegment{name}", [Tensor(F32, (5, 2)), Tensor(I32, (6,), integers(0, 5)), ids])
        for name in ("Sum", "Mean", "SqrtN")
    ]
    for op, dtypes in (("Cumsum", (F32, I32, I64)), ("Cumprod", (F32, I32)), ("CumulativeLogsumexp", (F32,))):
        for exclusive in (False, True):
            for reverse in (False, True):
                flags = {"exclusive": exclusive, "reverse": reverse}
                cases += [Case(op, [Tensor(dtype, (None, 5)), scalar(1)], flags) for dtype in dtypes]
                open_sizes = (1, 5, 17)
                cases += [Case(op, [Tensor(dtype, (2, None, 3)), scalar(-2)], flags, open_sizes) for dtype in dtypes]
        cases.append(Case(op, [Tensor(F32, (2, 3, 2, 2)), scalar(-3)]))
        cases.append(Case(op, [Tensor(F32, (None,), floats(-1.5, 1.5)), scalar(0)], open_sizes=(2, 64)))
    return cases


CASES: list[Case] = [
    *_strided_slices(),
    *_computed_slices(),
    *_slice_updates(),
    *_shapes(),
    *_pieces(),
    *_gathers(),
    *_searches(),
    *_diagonals(),
    *_segments(),
]
"""Every case."""
