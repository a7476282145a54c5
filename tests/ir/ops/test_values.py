"""The elements of shapes, followed through the ops that compute shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from litefuse.ir.ops.dims import Dim, maximum, unknown
from litefuse.ir.ops.facts import Dims, Op, Tensor, Undecided, Values
from litefuse.ir.ops.values import VALUES, wrapped

N = unknown("batch", is_size=True)


def tensor(value: Any, dtype: str = "i32") -> Tensor:
    values: Values = np.array(value, object)
    return Tensor(dtype, values.shape, values)


def of_shape(*shape: Dim) -> Tensor:
    sizes: Dims = shape
    return Tensor("f32", sizes)


def compute(name: str, *operands: Tensor, results: int = 1, **attributes: Any) -> Any:
    op = Op(name, operands, [Tensor("i32", None)] * results, attributes)
    found = VALUES[name](op)
    return [each.tolist() for each in found] if isinstance(found, list) else found.tolist()


SHAPE = tensor([N, 4, 5])

CASES: list[tuple[Any, Any]] = [
    (compute("Shape", of_shape(N, 4)), [N, 4]),
    (compute("Size", of_shape(N, 4)), N * 4),
    (compute("Rank", of_shape(N, 4)), 2),
    (compute("Prod", SHAPE, tensor([0]), keep_dims=False), N * 20),
    (compute("Prod", SHAPE, tensor([0]), keep_dims=True), [N * 20]),
    (compute("Prod", tensor([]), tensor([0])), 1),
    (compute("Sum", tensor([[N, 2], [3, 4]]), tensor([0])), [N + 3, 6]),
    (compute("Max", tensor([N, N + 1]), tensor(0)), N + 1),
    (compute("StridedSlice", SHAPE, tensor([0]), tensor([1]), tensor([1]), shrink_axis_mask=1), N),
    (compute("StridedSlice", SHAPE, tensor([1]), tensor([0]), tensor([1]), end_mask=1), [4, 5]),
    (compute("StridedSlice", SHAPE, tensor([-1]), tensor([-4]), tensor([-1])), [5, 4, N]),
    (compute("StridedSlice", SHAPE, tensor([0]), tensor([2]), tensor([1]), new_axis_mask=1), [[N, 4, 5]]),
    (compute("Slice", SHAPE, tensor([1]), tensor([-1])), [4, 5]),
    (compute("GatherV2", SHAPE, tensor([2, 0]), tensor(0)), [5, N]),
    (compute("Pack", tensor(N), tensor(-1), axis=0), [N, -1]),
    (compute("Unpack", SHAPE, results=3), [N, 4, 5]),
    (compute("ConcatV2", SHAPE, tensor([7]), tensor(0)), [N, 4, 5, 7]),
    (compute("Split", tensor(0), tensor([N, 4]), results=2), [[N], [4]]),
    (compute("SplitV", SHAPE, tensor([1, -1]), tensor(0), results=2), [[N], [4, 5]]),
    (compute("Where", tensor([[0, 3], [1, 0]])), [[0, 1], [1, 0]]),
    (compute("MatrixBandPart", tensor([[N, 2, 3], [4, 5, 6]]), tensor(0), tensor(1)), [[N, 2, 0], [0, 5, 6]]),
    (compute("MatrixBandPart", tensor([[1, 2], [3, 4]]), tensor(-1), tensor(0)), [[1, 0], [3, 4]]),
    (compute("Mul", tensor(N), tensor([2, 3])), [N * 2, N * 3]),
    (compute("FloorDiv", tensor(N * 12), tensor(4)), N * 3),
    (compute("FloorMod", tensor(-3), tensor(4)), 1),
    (compute("TruncateDiv", tensor(-7), tensor(2)), -3),
    (compute("Maximum", tensor(N), tensor(0)), N),
    (compute("Minimum", tensor(N), tensor(N + 2)), N),
    (compute("Cast", tensor(N)), N),
    (compute("ExpandDims", tensor(N), tensor(0)), [N]),
    (compute("Squeeze", tensor([[N]]), squeeze_dims=[0]), [N]),
    (compute("Reshape", tensor([[N, 2]]), tensor([-1])), [N, 2]),
    (compute("Range", tensor(0), tensor(6), tensor(2)), [0, 2, 4]),
    (compute("Fill", tensor([2]), tensor(N)), [N, N]),
    (compute("Tile", tensor([N]), tensor([2])), [N, N]),
    (compute("BroadcastTo", tensor(N), tensor([2])), [N, N]),
    (compute("BroadcastArgs", tensor([N, 1, 3]), tensor([4, 1])), [N, 4, 3]),
    (compute("SelectV2", tensor(1, "i1"), tensor(N), tensor(3)), N),
    (compute("SelectV2", tensor(unknown("c", is_size=False), "i1"), tensor(N), tensor(N)), N),
    (compute("Equal", tensor(N), tensor(N)), 1),
    (compute("Equal", tensor(N + 1), tensor(N)), 0),
    (compute("Greater", tensor(N + 1), tensor(N)), 1),
    (compute("GreaterEqual", tensor(N), tensor(0)), 1),
    (compute("Less", tensor(N), tensor(0)), 0),
    (compute("LessEqual", tensor(0), tensor(N)), 1),
    (compute("Cumsum", SHAPE, tensor(0)), [N, N + 4, N + 9]),
    (compute("Cumsum", SHAPE, tensor(0), exclusive=True, reverse=True), [9, 5, 0]),
    (compute("InvertPermutation", tensor([2, 0, 1])), [1, 2, 0]),
    (compute("ReverseV2", SHAPE, tensor([0])), [5, 4, N]),
    (compute("Transpose", tensor([[1, 2], [3, N]]), tensor([1, 0])), [[1, 3], [2, N]]),
    (compute("ZerosLike", of_shape(2)), [0, 0]),
]


@pytest.mark.parametrize(("found", "expected"), CASES)
def test_elements(found: Any, expected: Any) -> None:
    assert found == expected


@pytest.mark.parametrize(
    ("name", "operands"),
    [
        ("FloorDiv", [tensor(3), tensor(0)]),
        ("FloorMod", [tensor(3), tensor(0)]),
        ("Greater", [tensor(N), tensor(0)]),
        ("Equal", [tensor(N), tensor(4)]),
        ("TruncateDiv", [tensor(N), tensor(2)]),
        ("Range", [tensor(0), tensor(N), tensor(1)]),
        ("Range", [tensor(0), tensor(3), tensor(0)]),
        ("GatherV2", [SHAPE, tensor([3]), tensor(0)]),
        ("Fill", [tensor([1000]), tensor(N)]),
        ("Max", [tensor([]), tensor([0])]),
    ],
)
def test_undecided(name: str, operands: list[Tensor]) -> None:
    with pytest.raises(Undecided):
        compute(name, *operands)


def test_numbers_wrap_around_as_their_type_does() -> None:
    values: Values = np.array([2**31, -1, N, 2**32 + 5], object)
    assert wrapped(values, "i32").tolist() == [-(2**31), -1, N, 5]
    assert wrapped(np.array([2, 0], object), "i1").tolist() == [1, 0]


def test_a_maximum_with_an_unknown_number_is_a_size() -> None:
    number = unknown("limit", is_size=False)
    assert compute("Maximum", tensor(number), tensor(0)) == maximum(number, 0)
