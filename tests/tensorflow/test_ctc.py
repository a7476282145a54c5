"""Greedy decoding of what recognizers of speech and text see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.tensorflow.checking import check

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow


def decoders(tf: Any) -> Any:
    """All sizes are open; the op itself, and the function that Keras and others call."""

    @tf.function(
        input_signature=[
            tf.TensorSpec([None, None, None], tf.float32, name="logits"),
            tf.TensorSpec([None], tf.int32, name="lengths"),
        ]
    )
    def serve(logits: Any, lengths: Any) -> Any:
        results: dict[str, Any] = {}
        for merge in (False, True):
            for blank in (-1, 0, 2):
                decoded = tf.raw_ops.CTCGreedyDecoder(
                    inputs=logits, sequence_length=lengths, merge_repeated=merge, blank_index=blank
                )
                results |= {f"{merge}_{blank}_{number}": value for number, value in enumerate(decoded)}
        (sparse,), _ = tf.nn.ctc_greedy_decoder(logits, lengths)
        return results | {"dense": tf.sparse.to_dense(sparse, -1)}

    module = tf.Module()
    module.serve = serve
    return module, {"serving_default": serve}


def test_greedy_decoder(tensorflow: TensorFlow) -> None:
    random = np.random.default_rng(7)
    inputs = [
        {
            "logits": random.standard_normal((steps, batch, classes)).astype(np.float32),
            "lengths": random.integers(steps // 2, steps + 1, batch).astype(np.int32),
        }
        for steps, batch, classes in ((9, 3, 4), (12, 1, 3), (9, 3, 4))
    ]
    check(tensorflow, tensorflow.save(decoders), inputs)
