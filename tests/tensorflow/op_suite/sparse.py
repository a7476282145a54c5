"""Cases of ops on sparse and ragged tensors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.tensorflow.op_suite.arrays import i32, scalar
from tests.tensorflow.op_suite.case import Array, Case, Tensor, floats, integers
from tests.tensorflow.op_suite.networks import weight

F32, I32, I64 = "float32", "int32", "int64"


def i64(*values: int) -> Array:
    """An int64 constant vector."""
    return np.array(values, np.int64)


def _sorted_indices(random: np.random.Generator, shape: Sequence[int]) -> Array:
    """Different places of a matrix of 6 by 5, row by row."""
    return np.stack(np.divmod(np.sort(random.permutation(30)[: shape[0]]), 5), 1)


def _any_indices(random: np.random.Generator, shape: Sequence[int]) -> Array:
    return random.permutation(_sorted_indices(random, shape))


def _splits(random: np.random.Generator, shape: Sequence[int]) -> Array:
    """Where the rows of seven values begin and end; some are empty."""
    return np.sort(np.concatenate([[0, 7], random.integers(0, 8, shape[0] - 2)]))


def _sparse() -> list[Case]:
    indices, count = Tensor(I64, (None, 2), _sorted_indices), Tensor(F32, (None,))
    shape, sizes = i64(6, 5), (3, 1, 3)
    disordered = Tensor(I64, (None, 2), _any_indices)
    cases = [
        Case("SparseFillEmptyRows", [indices, count, shape, scalar(-1, F32)], open_sizes=sizes),
        Case("SparseFillEmptyRows", [disordered, Tensor(I64, (None,)), shape, scalar(7, I64)], open_sizes=(9, 2)),
        Case("SparseReshape", [indices, shape, i64(3, -1, 5)], open_sizes=sizes),
        Case("SparseReshape", [indices, shape, i64(30)], open_sizes=sizes),
        Case("SparseReshape", [Tensor(I64, (4, 3), integers(0, 2)), i64(2, 2, 2), i64(-1, 2)]),
        Case("SparseReduceSum", [indices, count, shape, i32(1)], {"keep_dims": False}, open_sizes=sizes),
        Case("SparseReduceSum", [indices, count, shape, i32(0)], {"keep_dims": True}, open_sizes=sizes),
        Case("SparseReduceSum", [disordered, Tensor(I32, (None,)), shape, i32(0, 1)], open_sizes=sizes),
    ]
    for kind in ("Add", "Div", "Mul"):
        cases += [
            Case(f"SparseDenseCwise{kind}", [indices, count, shape, Tensor(F32, dense, floats(1, 2))], open_sizes=sizes)
            for dense in ((6, 5), (5,), (6, 1), ())
        ]
    deep = Tensor(I64, (4, 3), lambda random, _: np.array([[0, 0, 1], [0, 1, 0], [0, 1, 1], [1, 0, 0]]))
    cases += [
        Case("SparseSoftmax", [indices, count, shape], open_sizes=sizes),
        Case("SparseSoftmax", [deep, Tensor(F32, (4,)), i64(2, 2, 2)]),
        Case("SparseReorder", [disordered, count, shape], open_sizes=sizes),
        Case("SparseReorder", [disordered, Tensor(I64, (None,)), shape], open_sizes=(5, 2)),
    ]
    for first in (False, True):
        for second in (False, True):
            dense = Tensor(F32, (3, 6 if first else 5) if second else (6 if first else 5, 3))
            adjoint = {"adjoint_a": first, "adjoint_b": second}
            cases.append(Case("SparseTensorDenseMatMul", [disordered, count, shape, dense], adjoint, open_sizes=sizes))
    return cases


def _segments() -> list[Case]:
    """Some of the segments have no element."""
    ids, indices = (
        Tensor(I32, (5,), lambda _random, _shape: np.array([0, 0, 3, 3, 4])),
        Tensor(I32, (5,), integers(0, 6)),
    )
    number = Tensor(I64, (), lambda _random, _shape: np.array(6))
    cases: list[Case] = []
    for kind in ("Mean", "SqrtN", "Sum"):
        op = f"SparseSegment{kind}WithNumSegments"
        cases += [
            Case(op, [Tensor(F32, (6, None)), indices, ids, scalar(7)]),
            Case(op, [Tensor("float16", (6, 2, 3)), indices, ids, number]),
            Case(f"SparseSegment{kind}Grad", [Tensor(F32, (5, None)), indices, ids, scalar(6)]),
        ]
    sums = [
        Case("SparseSegmentSumWithNumSegments", [Tensor(dtype, (6, 2)), indices, ids, number])
        for dtype in ("int8", I64)
    ]
    return [*cases, *sums]


def _sums() -> list[Case]:
    indices, shape, sizes = Tensor(I64, (None, 2), _sorted_indices), i64(6, 5), (9, 15)
    cases: list[Case] = []
    for dtype, least in ((F32, 0), (F32, 1), (I32, 0), (I64, 2)):
        values, more = Tensor(dtype, (None,)), Tensor(I64, (7, 2), _sorted_indices)
        other = [more, Tensor(dtype, (7,)), shape, scalar(least, dtype)]
        cases.append(Case("SparseAdd", [indices, values, shape, *other], open_sizes=sizes))
    for dtype in (F32, I32, I64):
        operands = [indices, Tensor(dtype, (None,)), shape, Tensor(dtype, (6, 5))]
        cases.append(Case("SparseTensorDenseAdd", operands, open_sizes=sizes))
    return cases


def _sets() -> list[Case]:
    few, row = integers(0, 6), np.array([[0, 0], [0, 1], [0, 2], [2, 0], [2, 1]])
    indices, values = Tensor(I64, (None, 2), lambda _random, shape: row[: shape[0]]), Tensor(I32, (None,), few)
    cases: list[Case] = []
    for operation in ("a-b", "b-a", "intersection", "union"):
        for dtype, shape in ((I32, (4,)), ("uint8", (1, 4)), (I64, (3, None))):
            operands = [Tensor(dtype, (None, *shape), few), Tensor(dtype, (None, *shape[:-1], 3), few)]
            cases.append(Case("DenseToDenseSetOperation", operands, {"set_operation": operation}))
    return [
        *cases,
        Case("SetSize", [indices, values, i64(4, 3)]),
        Case("SetSize", [indices, values, Tensor(I64, (2,), integers(3, 4))]),
    ]


def _ragged() -> list[Case]:
    splits = {"row_partition_types": ["ROW_SPLITS"]}
    row_splits = Tensor(I64, (None,), _splits)
    rows = Tensor(I32, (7,), lambda random, shape: np.sort(random.integers(0, 5, shape)))
    sizes = (4, 2, 6)
    return [
        Case("RaggedTensorToTensor", [i64(-1, -1), Tensor(F32, (7,)), scalar(-1, F32), [row_splits]], splits, sizes),
        Case("RaggedTensorToTensor", [scalar(-1, I64), Tensor(I32, (7, 3)), scalar(9), [row_splits]], splits, sizes),
        Case("RaggedTensorToTensor", [i64(-1, 2, 3), Tensor(F32, (7, 3)), weight(3), [row_splits]], splits, sizes),
        Case("RaggedTensorToTensor", [i64(4, 9), Tensor("bool", (7,)), np.array(True), [row_splits]], splits, sizes),
        Case(
            "RaggedTensorToTensor",
            [i64(-1, -1), Tensor(F32, (7,)), scalar(0, F32), [scalar(5), rows]],
            {"row_partition_types": ["FIRST_DIM_SIZE", "VALUE_ROWIDS"]},
        ),
        Case(
            "RaggedTensorToTensor",
            [i64(-1, -1, -1), Tensor(F32, (7,)), scalar(-1, F32), [i64(0, 1, 1, 3), Tensor(I64, (4,), _splits)]],
            {"row_partition_types": ["ROW_SPLITS", "ROW_SPLITS"]},
        ),
        *(
            Case("RaggedTensorToSparse", [[i64(0, 1, 1, 3), Tensor(I64, (4,), _splits)], Tensor(dtype, (7,))])
            for dtype in (F32, "string")
        ),
        Case("RaggedTensorToSparse", [[Tensor(I64, (4,), _splits)], Tensor(I32, (7, 2))]),
        *_ranges(),
    ]


def _ranges() -> list[Case]:
    limits, more = integers(0, 6), integers(1, 3)
    cases: list[Case] = []
    for dtype, splits in ((I32, I64), (I64, I64), (I32, I32)):
        rows, step = Tensor(dtype, (None,), limits), Tensor(dtype, (None,), more)
        kinds = {"Tsplits": splits}
        cases += [
            Case("RaggedRange", [scalar(0, dtype), rows, scalar(1, dtype)], kinds, outputs=2),
            Case("RaggedRange", [rows, scalar(7, dtype), step], kinds, outputs=2),
            Case("RaggedRange", [rows, scalar(-3, dtype), scalar(-2, dtype)], kinds, outputs=2),
        ]
    floats_ = [Tensor(F32, (None,), integers(low, high)) for low, high in ((-2, 2), (2, 9), (1, 3))]
    cases.append(Case("RaggedRange", floats_, {"Tsplits": I64}, outputs=2))
    return cases


CASES = (*_sparse(), *_segments(), *_sums(), *_sets(), *_ragged())
"""Every case."""
