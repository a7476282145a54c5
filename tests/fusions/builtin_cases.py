# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false
"""Builtin ops of windows, segments, sparse tensors, tables, variables and states: how they are built, and in numpy.

Each is built of an argument x ``[batch, 4, 6, 4]``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

RANDOM = np.random.default_rng(5)
TABLE = RANDOM.normal(0, 1, (5, 3)).astype(np.float32)
FILTERS = RANDOM.normal(0, 1, (3, 2, 2, 4)).astype(np.float32)
VOLUME_FILTERS = RANDOM.normal(0, 1, (2, 2, 2, 4, 3)).astype(np.float32)
BIAS = RANDOM.normal(0, 1, 3).astype(np.float32)
IDS, SEGMENTS = [2, 0, 4, 2], [2, 0, 2, -1, 0]
PLACES, WEIGHTS = np.array([[0, 0], [0, 3], [2, 1], [2, 2]]), np.array([1, 2, 0.5, 3], np.float32)
BOXES = np.array([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 2, 1, 3], [0, 2.5, 1, 3.5]], np.float32)
SCORES = np.array([0.9, 0.75, 0.6, 0.3], np.float32)
KERNEL, RECURRENT = (RANDOM.normal(0, 0.5, (4, 3, size)).astype(np.float32) for size in (4, 3))
GATE_BIASES = RANDOM.normal(0, 1, (4, 3)).astype(np.float32)
H, C = RANDOM.normal(0, 1, (2, 1, 3)).astype(np.float32)
GATES = ("input", "forget", "cell", "output")


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def segmented(reduce: Any, initial: Any) -> npt.NDArray[Any]:
    """Reduces the rows of a table by segments, of which the second has none."""
    rows = np.full((3, 3), initial, np.float32)
    for row, segment in zip(TABLE, SEGMENTS, strict=True):
        if segment >= 0:
            rows[segment] = reduce(rows[segment], row)
    return rows


def rfft(b: Any, x: Any) -> Any:
    return b.rfft2d(x, [4, 4])


def transformed(x: Any) -> Any:
    return np.fft.rfft2(x[..., :4, :4]).astype(np.complex64)


def blocks(x: Any) -> Any:
    """Blocks of two rows and three columns as batches."""
    return x.reshape(-1, 2, 2, 2, 3, 4).transpose(2, 4, 0, 1, 3, 5).reshape(-1, 2, 2, 4)


def volumes(x: Any) -> Any:
    return x.reshape(-1, 2, 2, 6, 4)


def convolved(x: Any) -> Any:
    windows = np.lib.stride_tricks.sliding_window_view(volumes(x), (2, 2, 2), axis=(1, 2, 3))
    return np.einsum("bzyxcijk,ijkcm->bzyxm", windows, VOLUME_FILTERS)


def transposed(x: Any, filters: Any, shape: tuple[int, ...]) -> Any:
    """Transposed convolution by windows that do not overlap, filters ``[2, ..., outputs, inputs]``."""
    letters = "zyx"[-(filters.ndim - 2) :]
    made = np.einsum(f"b{letters}c,{letters.upper()}mc->b{''.join(a + a.upper() for a in letters)}m", x, filters)
    return made.reshape(len(x), *shape)


def bag(reduce: Callable[[Any], Any]) -> Any:
    rows = np.zeros((3, 3), np.float32)
    for row in range(3):
        at = PLACES[:, 0] == row
        if at.any():
            rows[row] = WEIGHTS[at] @ TABLE[np.array(IDS)[at]] / reduce(WEIGHTS[at])
    return rows


def sequence(x: Any) -> Any:
    """The mean over columns: ``[batch, 4, 4]``."""
    return x.mean(2)


def first_sequence(b: Any, x: Any) -> Any:
    """The same for the first of a batch: states of known size."""
    return b.mean(b.slice(x, [0, 0, 0, 0], [1, 4, 6, 4]), [2])


def lstm_operands(prefix: str = "") -> dict[str, Any]:
    operands: dict[str, Any] = {}
    for index, gate in enumerate(GATES):
        operands[f"{prefix}input_to_{gate}_weights"] = KERNEL[index]
        operands[f"{prefix}recurrent_to_{gate}_weights"] = RECURRENT[index]
        operands[f"{prefix}cell_bias" if gate == "cell" else f"{prefix}{gate}_gate_bias"] = GATE_BIASES[index]
    return {**operands, f"{prefix}activation_state": H, f"{prefix}cell_state": C}


def lstm(steps: Any) -> Any:
    """The outputs ``[1, time, 3]`` of an LSTM."""
    h, c, outputs = H, C, []
    for x in steps.swapaxes(0, 1):
        sums = np.einsum("bn,gmn->gbm", x, KERNEL) + np.einsum("bn,gmn->gbm", h, RECURRENT) + GATE_BIASES[:, None]
        c = sigmoid(sums[1]) * c + sigmoid(sums[0]) * np.tanh(sums[2])
        h = sigmoid(sums[3]) * np.tanh(c)
        outputs.append(h)
    return np.stack(outputs, 1)


def bidirectional_lstm(b: Any, x: Any) -> Any:
    # Without peepholes and projections, which are 0 and 1 here, the kernel reads what it does not have.
    zeros = np.zeros(3, np.float32)
    whole = {
        f"{way}_{name}": value
        for way in ("fw", "bw")
        for name, value in {
            **{f"cell_to_{gate}_weights": zeros for gate in ("input", "forget", "output")},
            "projection_weights": np.eye(3, dtype=np.float32),
            "projection_bias": zeros,
        }.items()
    }
    return b.bidirectional_sequence_lstm(first_sequence(b, x), **lstm_operands("fw_"), **lstm_operands("bw_"), **whole)


def rnn(steps: Any) -> Any:
    h, outputs = H, []
    for x in steps.swapaxes(0, 1):
        h = np.tanh(x @ KERNEL[0].T + h @ RECURRENT[0].T + GATE_BIASES[0])
        outputs.append(h)
    return np.stack(outputs, 1)


_RNN = (KERNEL[0], RECURRENT[0], GATE_BIASES[0], H)


def svdf(x: Any) -> Any:
    """One step: memory of two, rank two, one unit, whose state is C and H."""
    state = np.concatenate([C[0, :2], H[0, :2]]).reshape(2, 2)
    memory = np.stack([state[:, 1], KERNEL[0, :2] @ x[0]], 1)
    return (memory * RECURRENT[0, :2, :2]).sum((0, 1)).reshape(1, 1)


def table_of(b: Any) -> Any:
    table = b.hashtable(table_id=7, key_dtype="int64", value_dtype="string")
    b.hashtable_import(table, np.array([1, 2, -1]), np.array(["one", "zwölf", ""]))
    return table


def found(x: Any) -> Any:
    texts = {1: "one", 2: "zwölf", -1: ""}
    return np.vectorize(lambda key: texts.get(int(key), "?").encode(), otypes=[object])(x)


def variable(b: Any, x: Any) -> Any:
    handle = b.var_handle(shared_name="größe")
    b.assign_variable(handle, b.sum(x, [0]))
    return b.read_variable(handle, dtype="float32", shape=[4, 6, 4])


def normalized(x: Any) -> Any:
    squares = np.pad(x**2, [(0, 0)] * 3 + [(1, 1)])
    return x / (2 + 0.5 * sum(squares[..., k : k + 4] for k in range(3))) ** 0.75


def diagonal(x: Any) -> Any:
    y = x[:, :, :4].copy()
    y[..., np.arange(4), np.arange(4)] = x[:, :, 4]
    return y


def dilated(x: Any) -> Any:
    y = np.full((len(x), 7, 16, 4), 9, np.float32)
    y[:, ::2, ::3] = x
    return y


CASES: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any], Any]]] = {
    "ADD_N": (lambda b, x: b.add_n([x, x, b.neg(x), x]), lambda x: 2 * x),
    "ASSIGN_VARIABLE": (variable, lambda x: x.sum(0)),
    "BATCH_TO_SPACE_ND": (
        lambda b, x: b.batch_to_space_nd(
            b.space_to_batch_nd(x, [2, 3], np.zeros((2, 2), int)), [2, 3], [[1, 0], [0, 2]]
        ),
        lambda x: x[:, 1:, :4],
    ),
    "BIDIRECTIONAL_SEQUENCE_LSTM": (
        bidirectional_lstm,
        lambda x: [lstm(sequence(x[:1])), lstm(sequence(x[:1])[:, ::-1])[:, ::-1]],
    ),
    "BIDIRECTIONAL_SEQUENCE_RNN": (
        lambda b, x: b.bidirectional_sequence_rnn(first_sequence(b, x), *_RNN, *_RNN),
        lambda x: [rnn(sequence(x[:1])), rnn(sequence(x[:1])[:, ::-1])[:, ::-1]],
    ),
    "BITCAST": (lambda b, x: b.bitcast(x, to="int32"), lambda x: x.view(np.int32)),
    "BROADCAST_ARGS": (
        lambda b, x: b.broadcast_args(b.shape(x), [7, 1, 1, 6, 1]),
        lambda x: np.array([7, len(x), 4, 6, 4], np.int32),
    ),
    "BUCKETIZE": (
        lambda b, x: b.bucketize(x, boundaries=[-1, 0.0, 0.5]),
        lambda x: np.digitize(x, [-1, 0, 0.5]).astype(np.int32),
    ),
    "COMPLEX_ABS": (lambda b, x: b.complex_abs(rfft(b, x)), lambda x: np.abs(transformed(x))),
    "CONV_3D": (
        lambda b, x: b.conv_3d(b.reshape(x, [-1, 2, 2, 6, 4]), VOLUME_FILTERS, BIAS, padding="VALID"),
        lambda x: convolved(x) + BIAS,
    ),
    "CONV_3D_TRANSPOSE": (
        lambda b, x: b.conv_3d_transpose(
            b.concatenation([b.slice(b.shape(x), [0], [1]), [4, 4, 12, 3]], 0),
            VOLUME_FILTERS.swapaxes(3, 4),
            b.reshape(x, [-1, 2, 2, 6, 4]),
            stride_d=2,
            stride_h=2,
            stride_w=2,
        ),
        lambda x: transposed(volumes(x), VOLUME_FILTERS.swapaxes(3, 4), (4, 4, 12, 3)),
    ),
    "DEQUANTIZE": (
        lambda b, x: b.dequantize(x.fp16 if hasattr(x, "fp16") else b.cast(x, to="float16")),
        lambda x: x.astype(np.float16).astype(np.float32),
    ),
    "DILATE": (lambda b, x: b.dilate(x, [1, 2, 3, 1], 9), dilated),
    "EMBEDDING_LOOKUP": (lambda b, x: b.embedding_lookup(np.array(IDS), TABLE), lambda _: TABLE[IDS]),
    "EMBEDDING_LOOKUP_SPARSE": (
        lambda b, x: [
            b.embedding_lookup_sparse(IDS, PLACES, [3, 4], WEIGHTS, TABLE, combiner=combiner)
            for combiner in ("SUM", "MEAN", "SQRTN")
        ],
        lambda _: [bag(lambda _: 1), bag(np.sum), bag(lambda weights: np.sqrt((weights**2).sum()))],
    ),
    "FAKE_QUANT": (
        lambda b, x: b.fake_quant(x, min=-1, max=1.55),
        lambda x: np.round(np.clip(x, -1, 1.55) * 100) / 100,
    ),
    "HASHTABLE": (lambda b, x: b.hashtable_find(table_of(b), b.cast(x, to="int64"), "?"), found),
    "HASHTABLE_FIND": (lambda b, x: b.hashtable_find(table_of(b), [2, 5], "ü"), lambda _: np.array(["zwölf", "ü"])),
    "HASHTABLE_IMPORT": (lambda b, x: b.hashtable_find(table_of(b), [1], "ü"), lambda _: np.array(["one"])),
    "HASHTABLE_LOOKUP": (
        lambda b, x: b.hashtable_lookup([7, 3, 4], np.array([-2, 3, 4, 9, 11]), TABLE),
        lambda _: [np.stack([0 * BIAS, TABLE[1], TABLE[2]]), np.array([0, 1, 1], np.uint8)],
    ),
    "HASHTABLE_SIZE": (lambda b, x: b.hashtable_size(table_of(b)), lambda _: np.array([3])),
    "IMAG": (lambda b, x: b.imag(rfft(b, x)), lambda x: transformed(x).imag),
    "L2_POOL_2D": (
        lambda b, x: b.l2_pool_2d(x, filter_height=2, filter_width=3, stride_h=2, stride_w=3),
        lambda x: (x.reshape(-1, 2, 2, 2, 3, 4) ** 2).mean((2, 4)) ** 0.5,
    ),
    "LOCAL_RESPONSE_NORMALIZATION": (
        lambda b, x: b.local_response_normalization(x, radius=1, bias=2, alpha=0.5, beta=0.75),
        normalized,
    ),
    # As in LiteRT's test of its kernel.
    "LSH_PROJECTION": (
        lambda b, x: [
            b.lsh_projection(
                np.array([[0.123, 0.456], [-0.321, 1.234], [5.678, -4.321]], np.float32),
                np.array([12345, 54321, 67890, 9876, -12345678], np.int32),
                np.ones(5, np.float32),
                type=kind,
            )
            for kind in ("DENSE", "SPARSE")
        ],
        lambda _: [np.array([0, 0, 0, 1, 0, 0], np.int32), np.array([0, 5, 8], np.int32)],
    ),
    "LSTM": (
        lambda b, x: b.lstm(b.mean(first_sequence(b, x), [1]), **lstm_operands()),
        lambda x: lstm(sequence(x[:1]).mean(1, keepdims=True))[:, 0],
    ),
    "MATRIX_DIAG": (lambda b, x: b.matrix_diag(x), lambda x: x[..., None] * np.eye(4, dtype=np.float32)),
    "MATRIX_SET_DIAG": (
        lambda b, x: b.matrix_set_diag(
            b.slice(x, [0, 0, 0, 0], [-1, 4, 4, 4]), b.reshape(b.slice(x, [0, 0, 4, 0], [-1, 4, 1, 4]), [-1, 4, 4])
        ),
        diagonal,
    ),
    "MULTINOMIAL": (
        lambda b, x: b.multinomial(
            b.mul(b.cast(b.equal(b.constant(np.arange(3, dtype=np.int32)), [[0], [2]]), to="float32"), 99), 5, seed=1
        ),
        lambda _: np.array([[0] * 5, [2] * 5]),
    ),
    "NON_MAX_SUPPRESSION_V4": (
        lambda b, x: b.builtin("NON_MAX_SUPPRESSION_V4", BOXES, SCORES, 3, 0.5, 0),
        lambda _: [np.array([0, 2, 3], np.int32), np.int32(3)],
    ),
    "NON_MAX_SUPPRESSION_V5": (
        lambda b, x: b.non_max_suppression_v5(BOXES, SCORES, 4, 0.5, 0.0, 0.0),
        lambda _: [np.array([0, 2, 3, 0], np.int32), np.array([0.9, 0.6, 0.3, 0], np.float32), np.int32(3)],
    ),
    "QUANTIZE": (
        lambda b, x: b.dequantize(b.quantize(x, scale=0.05, zero_point=-3)),
        lambda x: (np.clip(np.round(x / np.float32(0.05)) - 3, -128, 127) + 3) * np.float32(0.05),
    ),
    "RANGE": (lambda b, x: b.range(1, b.mul(b.rank(x), 2), 3), lambda _: np.array([1, 4, 7], np.int32)),
    "READ_VARIABLE": (variable, lambda x: x.sum(0)),
    "REAL": (lambda b, x: b.real(rfft(b, x)), lambda x: transformed(x).real),
    "REDUCE_WINDOW": (
        lambda b, x: b.reduce_window(x, -99, [1, 2, 2, 1], [1, 2, 1, 1], [1, 1, 3, 1], reduce_function="MAXIMUM"),
        lambda x: np.maximum(x[:, :, :3], x[:, :, 3:]).reshape(-1, 2, 2, 3, 4).max(2),
    ),
    "REVERSE_SEQUENCE": (
        lambda b, x: b.reverse_sequence(x, [1, 2, 3, 6], seq_dim=2, batch_dim=1),
        lambda x: np.stack(
            [
                np.concatenate([x[:, row, :length][:, ::-1], x[:, row, length:]], 1)
                for row, length in enumerate([1, 2, 3, 6])
            ],
            1,
        ),
    ),
    "RFFT2D": (rfft, transformed),
    "RNN": (
        lambda b, x: b.rnn(b.mean(first_sequence(b, x), [1]), *_RNN),
        lambda x: rnn(sequence(x[:1]).mean(1, keepdims=True))[:, 0],
    ),
    "SCATTER_ND": (
        lambda b, x: b.scatter_nd([[3], [0], [3]], TABLE[:3], np.array([4, 3])),
        lambda _: np.stack([TABLE[1], 0 * BIAS, 0 * BIAS, TABLE[0] + TABLE[2]]),
    ),
    "SEGMENT_SUM": (
        lambda b, x: b.segment_sum(TABLE, [0, 0, 1, 1, 2]),
        lambda _: np.stack([TABLE[:2].sum(0), TABLE[2:4].sum(0), TABLE[4]]),
    ),
    "SELECT": (lambda b, x: b.select(b.greater(x, 0), x, b.neg(x)), np.abs),
    "SKIP_GRAM": (
        lambda b, x: b.skip_gram("der große  Hund", ngram_size=2, max_skip_size=1),
        lambda _: np.array(["der große", "der Hund", "große Hund"]),
    ),
    "SPACE_TO_BATCH_ND": (lambda b, x: b.space_to_batch_nd(x, [2, 3], [[0, 0], [0, 0]]), blocks),
    "SPARSE_TO_DENSE": (
        lambda b, x: b.sparse_to_dense([[0, 1], [2, 0]], np.array([3, 2]), WEIGHTS[:2], -1),
        lambda _: np.array([[-1, 1], [-1, -1], [2, -1]], np.float32),
    ),
    "STRIDED_SLICE": (
        lambda b, x: b.strided_slice(
            x, [0, 1, 5, 2], [0, 4, 0, 3], [1, 2, -2, 1], begin_mask=1, end_mask=1, shrink_axis_mask=8
        ),
        lambda x: x[:, 1:4:2, 5:0:-2, 2],
    ),
    "SVDF": (
        lambda b, x: b.svdf(
            b.mean(first_sequence(b, x), [1]),
            KERNEL[0, :2],
            RECURRENT[0, :2, :2],
            activation_state=np.concatenate([C[:, :2], H[:, :2]], 1),
            rank=2,
        ),
        lambda x: svdf(sequence(x[:1]).mean(1)),
    ),
    "TRANSPOSE_CONV": (
        lambda b, x: b.transpose_conv(
            b.concatenation([b.slice(b.shape(x), [0], [1]), [8, 12, 3]], 0), FILTERS, x, BIAS, stride_h=2, stride_w=2
        ),
        lambda x: transposed(x, FILTERS.transpose(1, 2, 0, 3), (8, 12, 3)) + BIAS,
    ),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": (
        lambda b, x: b.unidirectional_sequence_lstm(first_sequence(b, x), **lstm_operands()),
        lambda x: lstm(sequence(x[:1])),
    ),
    "UNIDIRECTIONAL_SEQUENCE_RNN": (
        lambda b, x: b.unidirectional_sequence_rnn(first_sequence(b, x), *_RNN),
        lambda x: rnn(sequence(x[:1])),
    ),
    "UNIQUE": (
        lambda b, x: b.unique(b.reshape(b.cast(x, to="int32"), [-1]), idx_out_type="int64"),
        lambda x: [
            np.array(list(dict.fromkeys(x.astype(np.int32).ravel().tolist())), np.int32),
            np.array(
                [list(dict.fromkeys(x.astype(np.int32).ravel().tolist())).index(v) for v in x.astype(np.int32).ravel()]
            ),
        ],
    ),
    **{
        f"UNSORTED_SEGMENT_{name}": (
            lambda b, x, name=name: getattr(b, f"unsorted_segment_{name.lower()}")(TABLE, SEGMENTS, 3),
            lambda _, reduce=reduce, initial=initial: segmented(reduce, initial),
        )
        for name, reduce, initial in (
            ("MAX", np.maximum, np.finfo(np.float32).min),
            ("MIN", np.minimum, np.finfo(np.float32).max),
            ("PROD", np.multiply, 1),
            ("SUM", np.add, 0),
        )
    },
    "VAR_HANDLE": (variable, lambda x: x.sum(0)),
    "WHERE": (lambda b, x: b.where(b.greater(x, 1)), lambda x: np.argwhere(x > 1)),
}
