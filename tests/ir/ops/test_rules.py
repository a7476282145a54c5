"""Rules on sizes that are symbols; tests/tensorflow compares them with TensorFlow's on sizes that are numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from litefuse.ir.ops.dims import Dim, broadcast_dims, maximum, unknown
from litefuse.ir.ops.facts import Dims, Op, ShapeError, Tensor, Values
from litefuse.ir.ops.rules import RULES

N, M = unknown("rows", is_size=True), unknown("columns", is_size=True)
NUMBER = unknown("given", is_size=False)
ANY = Tensor("f32", None)


def t(*shape: Dim) -> Tensor:
    sizes: Dims = shape
    return Tensor("f32", sizes)


def v(value: Any) -> Tensor:
    values: Values = np.array(value, object)
    return Tensor("i32", values.shape, values)


def infer(name: str, *operands: Tensor, results: int = 1, **attributes: Any) -> Any:
    return RULES[name](Op(name, operands, [Tensor("f32", None)] * results, attributes))


CONVOLUTION: dict[str, Any] = {"strides": [1, 2, 2, 1], "padding": "SAME"}
POOLING: dict[str, Any] = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
TFL_POOLING: dict[str, Any] = {"filter_height": 3, "filter_width": 2, "stride_h": 2, "stride_w": 2, "padding": "VALID"}
TFL_CONVOLUTION: dict[str, Any] = {"stride_h": 2, "stride_w": 3, "dilation_w_factor": 3, "padding": "SAME"}
TFL_VALID: dict[str, Any] = {**TFL_CONVOLUTION, "padding": "VALID"}

CASES: list[tuple[Any, Any]] = [
    (infer("AddV2", t(N, 4), t(4)), (N, 4)),
    (infer("AddV2", t(N, 1), t(1, M)), (N, M)),
    (infer("AddV2", t(N), t(M)), (broadcast_dims(N, M),)),
    (infer("Reshape", t(N, 4, 5), v([-1, 20])), (N, 20)),
    (infer("Reshape", t(N, 20), v([N, 4, -1])), (N, 4, 5)),
    (infer("Reshape", t(N, M, 8), v([N, M, 2, 4])), (N, M, 2, 4)),
    (infer("Reshape", t(N, M, 8), v([-1, 8])), (N * M, 8)),
    (infer("Reshape", t(N, 4), v([NUMBER, 2])), (N * 2, 2)),
    (infer("Reshape", t(N * M, 8), v([N, -1, 8])), (N, M, 8)),
    (infer("ConcatV2", t(N, 4), t(M, 4), v(0)), (N + M, 4)),
    (infer("Split", v(1), t(N, 6), results=2), [(N, 3), (N, 3)]),
    (infer("Unpack", t(N, 3, M), axis=1, results=3), [(N, M)] * 3),
    (infer("Unpack", t(2, N), results=2), [(N,)] * 2),
    (infer("Unpack", t(N, 2), axis=-1, results=2), [(N,)] * 2),
    (infer("TensorListGather", t(), t(N), v([M, 4])), (N, M, 4)),
    (infer("TensorListGetItem", t(), v(3), v([N, 4])), (N, 4)),
    (infer("TensorListPopBack", t(), v([N, 4]), results=2), [None, (N, 4)]),
    (infer("TensorListStack", t(), v([N, 4])), (None, N, 4)),
    (infer("TensorListStack", t(), v([N, 4]), num_elements=0), (0, N, 4)),
    (infer("Tile", t(N, 2), v([1, 3])), (N, 6)),
    (infer("Tile", t(1, 2), v([N, 1])), (N, 2)),
    (infer("Pad", t(N, 2), v([[1, 2], [0, 0]])), (N + 3, 2)),
    (infer("Fill", v([N, 3]), t()), (N, 3)),
    (infer("Fill", v([NUMBER, 3]), t()), (None, 3)),
    (infer("Range", v(0), v(N), v(1)), (N,)),
    (infer("Range", v(0), v(NUMBER), v(1)), (maximum(NUMBER, 0),)),
    (infer("Range", v(0), v(N), v(2)), ((N + 1) // 2,)),
    (infer("StridedSlice", t(N, 4), v([0]), v([N]), v([1])), (N, 4)),
    (infer("StridedSlice", t(N + 2, 4), v([1]), v([-1]), v([1])), (N, 4)),
    (infer("StridedSlice", t(N, 4), v([0]), v([0]), v([-1]), begin_mask=1, end_mask=1), (N, 4)),
    (infer("Slice", t(N + 3, 4), v([3, 0]), v([-1, 4])), (N, 4)),
    (infer("Slice", t(9, 4), v([0, 0]), v([N, 4])), (N, 4)),
    (infer("MatMul", t(N, 4), t(4, 5)), (N, 5)),
    (infer("BatchMatMulV2", t(N, 1, 2, 3), t(M, 3, 5)), (N, M, 2, 5)),
    (infer("Einsum", t(N, M, 4), t(4, 2, 3), equation="abc,cde->abde"), (N, M, 2, 3)),
    (infer("Conv2DBackpropInput", v([NUMBER, 8, 9, 2]), t(3, 3, 2, 5), t(N, 4, 5, 5)), (N, 8, 9, 2)),
    (infer("Conv2DBackpropInput", v([7, 8, NUMBER, 2]), t(3, 3, 2, 5), ANY), (7, 8, None, 2)),
    (infer("Conv2DBackpropInput", Tensor("i32", (4,)), t(3, 3, 2, 5), t(N, 4, 5, 5)), (N, None, None, None)),
    (infer("Conv2DBackpropInput", Tensor("i32", (4,)), t(3, 3, 2, 5), ANY), (None, None, None, None)),
    (infer("Conv2DBackpropInput", v([8, 9]), t(3, 3, 2, 5), t(N, 4, 5, 5)), None),
    (infer("Conv2DBackpropInput", Tensor("i32", None), t(3, 3, 2, 5), t(N, 4, 5, 5)), (N, None, None, None)),
    (infer("Conv2DBackpropInput", Tensor("i32", (M,)), t(3, 3, 2, 5), ANY), (None, None, None, None)),
    (infer("Conv3DBackpropInputV2", Tensor("i32", (M,)), t(3, 3, 3, 2, 5), t(N, 2, 4, 5, 5)), (N, *[None] * 4)),
    (infer("Conv3DBackpropInputV2", Tensor("i32", (5,)), t(3, 3, 3, 2, 5), ANY), (None,) * 5),
    (infer("Conv2D", t(N, 9, M, 3), t(3, 3, 3, 5), **CONVOLUTION), (N, 5, (M + 1) // 2, 5)),
    (infer("MaxPool", t(N, 9, 9, 3), **POOLING), (N, 4, 4, 3)),
    (infer("DepthToSpace", t(N, 2, M, 12), block_size=2), (N, 4, M * 2, 3)),
    (infer("MatrixDiagPartV3", t(N, M, 4), t(), t()), (N, None)),
    (infer("MatrixDiagPartV3", t(N, M, 4), v([NUMBER]), t()), (N, None)),
    (infer("MatrixDiagV3", t(N, M), v(NUMBER), v(-1), v(-1), t()), (N, None, None)),
    (infer("MatrixDiagV3", t(N, 3, M), v([-1, 1]), t(), v(-1), t()), (N, None, None)),
    (infer("OneHot", t(N), v(5), t(), t()), (N, 5)),
    (infer("Where", t(N, 4)), (None, 2)),
    (infer("CaseFoldUTF8", t(N, 4)), (N, 4)),
    (infer("NormalizeUTF8", t(N, 4)), (N, 4)),
    (infer("RegexSplitWithOffsets", t(N), t(), t(), results=4), [(None,), (None,), (None,), (N + 1,)]),
    (infer("TFText>NgramsStringJoin", t(N, 7), width=3), (N, 5)),
    (infer("TFText>NgramsStringJoin", t(2, N), width=3), (2, None)),
    (infer("TFText>NgramsStringJoin", t(N), t(3), t(M), results=3, width=3), [(None,), (3,), (M,)]),
    (infer("TFText>WhitespaceTokenizeWithOffsetsV2", t(N), t(), results=4), [(None,), (N + 1,), (None,), (None,)]),
    (infer("UnicodeScriptTokenizeWithOffsets", t(N), t(M), results=5), [*[(None,)] * 4, (M,)]),
    (infer("WordpieceTokenizeWithOffsets", t(N), t(9), results=4), [(None,), (N,), (None,), (None,)]),
    (
        infer("WordpieceTokenizeWithOffsets", t(N), t(9), results=4, output_row_partition_type="row_splits"),
        [(None,), (N + 1,), (None,), (None,)],
    ),
    (infer("SpaceToBatchND", t(N, 8, 6, 3), v([2, 2]), v([[1, 1], [0, 2]])), (N * 4, 5, 4, 3)),
    (infer("SpaceToBatchND", t(5, 8, 6), v([4]), v([[0, 0]])), (20, 2, 6)),
    (infer("BatchToSpaceND", t(8, 4, 5, 3), v([2, 2]), v([[1, 0], [0, 3]])), (2, 7, 7, 3)),
    (infer("DecodeRaw", t(N)), (N, None)),
    (infer("DecodePaddedRaw", t(N, 3), v(8)), (N, 3, 2)),
    (infer("DecodePaddedRaw", t(N), v(NUMBER)), (N, None)),
    (infer("tfl.atan2", t(N, 4), t(N, 4)), (N, 4)),
    (infer("tfl.average_pool_2d", t(N, 9, M, 3), **TFL_POOLING), (N, 4, (M - 2) // 2 + 1, 3)),
    (infer("tfl.batch_matmul", t(N, 1, 2, 3), t(M, 5, 3), adj_y=True), (N, M, 2, 5)),
    (infer("tfl.concatenation", t(N, 4), t(M, 4), axis=0), (N + M, 4)),
    (infer("tfl.conv_2d", t(N, 9, M, 3), t(5, 3, 2, 3), t(5), **TFL_CONVOLUTION), (N, 5, (M + 2) // 3, 5)),
    (infer("tfl.conv_2d", t(N, 9, 9, 3), t(5, 2, 2, 3), **TFL_VALID), (N, 4, 2, 5)),
    (infer("tfl.depthwise_conv_2d", t(N, 9, M, 3), t(1, 3, 2, 6), **TFL_CONVOLUTION), (N, 5, (M + 2) // 3, 6)),
    (infer("tfl.fully_connected", t(N, M, 3), t(5, 3), keep_num_dims=False), (N * M, 5)),
    (infer("tfl.gather", t(N, 4, 7), t(N, M), axis=1, batch_dims=1), (N, M, 7)),
    (infer("tfl.mean", t(N, M, 3), v([1, -1]), keep_dims=True), (N, 1, 1)),
    (infer("tfl.padv2", t(N, 2), v([[1, 2], [0, 0]]), t()), (N + 3, 2)),
    (infer("tfl.prelu", t(N, 9, 3), t(1, 3)), (N, 9, 3)),
    (infer("tfl.split", v(1), t(N, 6), results=2, num_splits=2), [(N, 3), (N, 3)]),
    (infer("tfl.topk_v2", t(N, 9), v(4), results=2), [(N, 4), (N, 4)]),
    (infer("tfl.unidirectional_sequence_lstm", t(N, 7, 3), *[t()] * 17, t(N, 5), t(N, 6)), (N, 7, 5)),
    (infer("tfl.unidirectional_sequence_rnn", t(N, 7, 3), t(5, 3), t(5, 5), t(5), t(N, 5)), (N, 7, 5)),
    (infer("tfl.svdf", t(N, 7), t(6, 7), t(6, 2), t(6), t(N, 12), rank=2), (N, 3)),
    (infer("tfl.transpose_conv", t(4), t(5, 2, 2, 3), t(N, 4, 4, 3)), (N, None, None, 5)),
    (infer("tfl.conv_3d_transpose", v([2, 8, 8, 8, 5]), t(2, 2, 2, 5, 3), t(2, 4, 4, 4, 3)), (2, 8, 8, 8, 5)),
    (infer("tfl.dilate", t(N, 4), v([1, 3]), t()), (N, 10)),
    (infer("tfl.reduce_window", t(N, 9), t(), v([1, 3]), v([1, 2]), v([1, 2])), (N, 3)),
    (infer("tfl.embedding_lookup_sparse", t(N), t(N, 2), t(2), t(N), t(9, 4)), (None, 4)),
    (infer("tfl.fully_connected", t(N, 7, 3), t(5, 3), keep_num_dims=True), (N, 7, 5)),
    (infer("tfl.embedding_lookup", t(N), t(9, 4)), (N, 4)),
]


@pytest.mark.parametrize(("found", "expected"), CASES)
def test_shapes(found: Any, expected: Any) -> None:
    assert found == expected


@pytest.mark.parametrize(
    ("name", "operands", "attributes", "message"),
    [
        ("AddV2", [t(2, 3), t(4)], {}, "[2,3] and [4] cannot be broadcast"),
        ("Reshape", [t(2, 3), v([4, 2])], {}, "[2,3] has 6 elements, [4,2] has 8"),
        ("Reshape", [t(2, 3), v([-1, 4])], {}, "the 6 elements of [2,3] do not fill [?,4]"),
        ("MatMul", [t(2, 3), t(4, 5)], {}, "[2,3] and [4,5] cannot be multiplied"),
        ("ConcatV2", [t(2, 3), t(2, 4), v(0)], {}, "contradict"),
        ("Squeeze", [t(2, 3)], {"squeeze_dims": [0]}, "dimension 0 of [2,3] is not 1"),
        ("Split", [v(0), t(3, 2)], {}, "cannot be split into 2"),
        ("Conv2D", [t(1, 8, 8, 4), t(3, 3, 3, 5)], CONVOLUTION, "differ in channels"),
        ("MaxPool", [t(1, 2, 2, 3)], {"ksize": [1, 3, 3, 1], **CONVOLUTION, "padding": "VALID"}, "does not fit into 2"),
        ("Transpose", [t(2, 3), v([0, 0])], {}, "not a permutation"),
        ("GatherNd", [t(2, 3), t(4, 3)], {}, "3 dimensions"),
        ("Slice", [t(2, 3), v([0, 0]), v([3, 3])], {}, "are not in dimension 0"),
        ("StridedSlice", [t(2), v([5]), v([6]), v([1])], {"shrink_axis_mask": 1}, "index 5 is out of range"),
        ("BiasAdd", [t(2, 3), t(4)], {}, "contradict"),
        ("SpaceToBatchND", [t(1, 7, 4, 3), v([2, 2]), v([[0, 0], [0, 0]])], {}, "7"),
        ("SpaceToBatchND", [t(1, 8, 4, 3), v([2, 3]), v([[1, 1], [0, 1]])], {}, "5"),
        ("BatchToSpaceND", [t(3, 4, 4, 3), v([2, 2]), v([[0, 0], [0, 0]])], {}, "3"),
        ("tfl.atan2", [t(2, 3), t(3)], {}, "[2,3] and [3] differ in rank"),
        ("tfl.concatenation", [t(2, 3), t(2, 4)], {"axis": 0}, "contradict"),
        ("tfl.conv_2d", [t(1, 8, 8, 4), t(5, 3, 3, 3)], TFL_CONVOLUTION, "differ in channels"),
    ],
)
def test_contradictions(name: str, operands: list[Tensor], attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(ShapeError) as caught:
        infer(name, *operands, results=2 if name == "Split" else 1, **attributes)
    assert message in str(caught.value)
