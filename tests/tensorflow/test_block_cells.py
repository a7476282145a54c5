# pyright: reportUnknownLambdaType=false
"""The block cells of TensorFlow 1's contrib: single ops for a step of an LSTM or GRU, or for all steps of an LSTM."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.tensorflow.checking import check, normal, op_counts

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow

FEATURES, UNITS = 3, 4
RESULTS = ("i", "cs", "f", "o", "ci", "co", "h")


def cells(tf: Any, sizes: tuple[int | None, int | None]) -> Any:
    random = np.random.default_rng(6)

    def weight(*shape: int) -> Any:
        return tf.Variable((random.standard_normal(shape) * 0.5).astype(np.float32))

    module = tf.Module()
    module.lstm = {"w": weight(FEATURES + UNITS, 4 * UNITS), "b": weight(4 * UNITS)}
    module.peepholes = {name: weight(UNITS) for name in ("wci", "wcf", "wco")}
    kernels = {"w_ru": weight(FEATURES + UNITS, 2 * UNITS), "w_c": weight(FEATURES + UNITS, UNITS)}
    module.gru = {**kernels, "b_ru": weight(2 * UNITS), "b_c": weight(UNITS)}

    def serve(x: Any) -> dict[str, Any]:
        weights = {**module.lstm, **module.peepholes}
        steps = tf.shape(x)[0]
        h, c = tf.fill([tf.shape(x)[1], UNITS], 0.3), tf.fill([tf.shape(x)[1], UNITS], -2.5)
        given = {"x": x, "h_prev": h, "cs_prev": c, **weights}
        found: dict[str, Any] = {}

        def add(name: str, results: Any, *chosen: str) -> None:
            values: dict[str, Any] = dict(zip(RESULTS, results, strict=True))
            found.update({f"{name}_{each}": values[each] for each in chosen})

        length = tf.cast(steps, tf.int64)
        fused = tf.raw_ops.BlockLSTM(seq_len_max=length, use_peephole=True, forget_bias=0.5, cell_clip=1.0, **given)
        add("fused", fused, "h")
        found["fused_last"] = fused[1][-1]
        add("second", tf.raw_ops.BlockLSTMV2(seq_len_max=length, **given), "h")
        add("all", tf.raw_ops.BlockLSTMV2(seq_len_max=length, use_peephole=True, cell_clip=0.5, **given), *RESULTS)
        shorter = tf.raw_ops.BlockLSTM(seq_len_max=tf.constant(2, tf.int64), **given)
        add("shorter", shorter, "h")  # of its gates TensorFlow leaves what is behind the end as it is in memory
        found["shorter_last"] = shorter[1][-1]

        step = {**given, "x": x[0]}
        add("step", tf.raw_ops.LSTMBlockCell(forget_bias=1.0, cell_clip=-1.0, use_peephole=True, **step), *RESULTS)
        zero = tf.zeros_like(h)
        unrolled = zero, zero
        for index in range(3):
            step = {**weights, "x": x[index], "cs_prev": unrolled[0], "h_prev": unrolled[1]}
            results = tf.raw_ops.LSTMBlockCell(**step)
            unrolled = results[1], results[6]
        found["unrolled"], found["unrolled_c"] = unrolled[1], unrolled[0]
        for index, value in enumerate(tf.raw_ops.GRUBlockCell(x=x[0], h_prev=h, **module.gru)):
            found[f"gru_{index}"] = value
        return found

    spec = tf.TensorSpec([sizes[0], sizes[1], FEATURES], name="x")
    module.serve = tf.function(serve, input_signature=[spec], autograph=False)
    return module, {"serving_default": module.serve}


@pytest.mark.parametrize("sizes", [(None, None), (4, 2)])
def test_block_cells(tensorflow: TensorFlow, sizes: tuple[int | None, int | None]) -> None:
    shapes = [(4, 2)] if None not in sizes else [(4, 3), (3, 1), (6, 5)]
    inputs = [normal({"x": (*shape, FEATURES)})[0] for shape in shapes]
    result = check(tensorflow, tensorflow.save(cells, sizes), inputs, rnn="fused")
    assert [each.outcome for each in result.report.composites] == ["fused"] * 3
    assert op_counts(result.model_bytes)["UNIDIRECTIONAL_SEQUENCE_LSTM"] == 3
    # All outputs are no layer's, and neither are those that end early.
    assert len(result.report.loops) == 2
