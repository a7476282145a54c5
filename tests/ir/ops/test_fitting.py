"""Whether operands of unknown sizes fit each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from litefuse.ir.ops.dims import unknown
from litefuse.ir.ops.facts import Dims, Op, Tensor, array_of
from litefuse.ir.ops.fitting import always_fits

A, B = unknown("a", is_size=True), unknown("b", is_size=True)


def _op(name: str, *operands: Dims | list[int] | int, result: Dims = (A,), **attributes: Any) -> Op:
    """An op with operands of shapes, or with the elements of a list or number."""
    tensors = [
        Tensor("f32", each)
        if isinstance(each, tuple)
        else Tensor("i32", np.shape(each), array_of(np.ravel(each).tolist(), np.shape(each)))
        for each in operands
    ]
    return Op(name, tensors, [Tensor("f32", result)], attributes)


@pytest.mark.parametrize(
    "op",
    [
        _op("Relu", (A, B)),
        _op("AddV2", (A, 3), (A, 3)),
        _op("AddV2", (A, 3), (3,)),
        _op("Mul", (A, 1), (1, B)),
        _op("SelectV2", (), (A,), (A,)),
        _op("Reshape", (A, 4), [-1, 2], result=(A * 2, 2)),
        _op("Reshape", (4, A), [-1, 2, 2], result=(A, 2, 2)),
        _op("MatMul", (A, 3), (3, B), transpose_a=False, transpose_b=False),
        _op("MatMul", (B, A), (B, 3), transpose_a=True, transpose_b=False),
        _op("BatchMatMulV2", (A, 1, 2, B), (5, B, 2), adj_x=False, adj_y=False),
        _op("Einsum", (A, B), (B, 4), equation="ab,bc->ac"),
        _op("ConcatV2", (A, 3), (A, B), 1),
        _op("Pack", (A,), (A,), axis=0),
        _op("Split", 1, (A, 4), num_split=2),
        _op("Squeeze", (A, 1), squeeze_dims=[1]),
        _op("Slice", (A, 3), [0, 0], [-1, 3]),
        _op("GatherNd", (A, B), (7, 2)),
        _op("BroadcastTo", (A, 1), [0, 3], result=(A, 3)),
        _op("BiasAdd", (A, B, 3), (3,), data_format="NHWC"),
        _op("MaxPool", (1, A, B, 3), padding="SAME"),
        _op("Conv2D", (A, 5, 5, 3), (2, 2, 3, 4), padding="VALID"),
        _op("NoSuchOp", (2, 3), result=(3,)),
    ],
    ids=lambda op: op.name,
)
def test_what_fits_whatever_the_sizes(op: Op) -> None:
    assert always_fits(op)


@pytest.mark.parametrize(
    "op",
    [
        _op("AddV2", (A, 3), (B, 3)),
        _op("AddV2", (A, 3), (4, 3)),
        _op("Select", (1,), (A,), (A,)),
        _op("Reshape", (A, 3), [4, 3], result=(4, 3)),
        _op("Reshape", (A, 3), [-1, 2], result=((A * 3) // 2, 2)),
        _op("Reshape", (4, 3), [0, 0], result=(A, B)),
        _op("MatMul", (A, 3), (B, 3), transpose_a=False, transpose_b=False),
        _op("BatchMatMulV2", (A, 2, 3), (5, 3, 2), adj_x=False, adj_y=False),
        _op("Einsum", (A, B), (4, 4), equation="ab,bc->ac"),
        _op("Einsum", (A, B), (B, 4), equation="...b,bc->...c"),
        _op("ConcatV2", (A, 3), (B, 3), 1),
        _op("Pack", (A,), (B,), axis=0),
        _op("Split", 0, (A, 4), num_split=2),
        _op("Squeeze", (A, 1), squeeze_dims=[0]),
        _op("Slice", (A, 3), [0, 0], [2, 3]),
        _op("Slice", (A, 3), [1, 0], [-1, -1]),
        _op("GatherNd", (A, B), (7, A)),
        _op("GatherV2", (A, B), (A,), 1, batch_dims=1),
        _op("BroadcastTo", (A, 1), [4, 3], result=(4, 3)),
        _op("BiasAdd", (A, B), (3,), data_format="NHWC"),
        _op("MaxPool", (1, A, 5, 3), padding="VALID"),
        _op("NoSuchOp", (A,)),
    ],
    ids=lambda op: op.name,
)
def test_what_may_not_fit(op: Op) -> None:
    assert not always_fits(op)


def test_an_unknown_rank_may_not_fit() -> None:
    assert not always_fits(Op("AddV2", [Tensor("f32", None), Tensor("f32", (A,))], [Tensor("f32", None)], {}))
