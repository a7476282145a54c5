"""``SpaceToBatchND`` and ``BatchToSpaceND`` of every rank, dtype and number of blocks: LiteRT's kernels take few."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.tensorflow.checking import check, op_counts

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow

# The operand's shape, the blocks, and what is padded, or cropped.
FORMS: dict[str, tuple[tuple[int, ...], list[int], list[list[int]]]] = {
    "vectors": ((5,), [3], [[1, 0]]),
    "rows": ((4, 2), [2], [[2, 0]]),
    "rows without channels": ((4, 6), [2, 3], [[0, 0], [2, 1]]),
    "images": ((4, 6, 2), [2, 3], [[0, 2], [2, 1]]),
    "rows of images": ((4, 6, 2), [2], [[1, 1]]),
    "channels first": ((2, 4, 6), [1, 2, 3], [[0, 0], [2, 0], [0, 3]]),
    "volumes": ((4, 6, 4, 3), [2, 2, 4], [[1, 1], [0, 0], [4, 0]]),
    "images of volumes": ((4, 6, 2, 3), [2, 3], [[1, 1], [0, 0]]),
}
DTYPES = ("float32", "int32", "float16", "float64", "int8")


def model(tf: Any, form: str, dtype: str, is_open: bool, are_given: bool) -> Any:
    """Blocks of what has an open batch, or open sizes, and the way back; pads and crops may be inputs."""
    shape, blocks, amounts = FORMS[form]
    sizes = [None] * len(shape) if is_open else shape
    signature = [tf.TensorSpec([None, *sizes], dtype, name="x")]
    if are_given:
        signature += [tf.TensorSpec([len(blocks), 2], tf.int32, name="amounts")]
    module = tf.Module()

    def serve(x: Any, amounts: Any = amounts) -> dict[str, Any]:
        moved = tf.raw_ops.SpaceToBatchND(input=x, block_shape=blocks, paddings=amounts)
        back = tf.raw_ops.BatchToSpaceND(input=tf.reverse(moved, [1]), block_shape=blocks, crops=amounts)
        return {"moved": moved, "back": back}

    module.serve = tf.function(serve, input_signature=signature, autograph=False)
    return module, {"serving_default": module.serve}


def _inputs(form: str, dtype: str, are_given: bool) -> list[dict[str, Any]]:
    shape, _, amounts = FORMS[form]
    random = np.random.default_rng(5)
    found: list[dict[str, Any]] = []
    for batch in (1, 3, 2):
        values = (random.normal(size=(batch, *shape)) * 20).astype(dtype)
        found.append({"x": values} | ({"amounts": np.array(amounts, np.int32)} if are_given else {}))
    return found


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", FORMS)
def test_blocks(tensorflow: TensorFlow, form: str, dtype: str) -> None:
    path = tensorflow.save(model, form, dtype, False, False)
    result = check(tensorflow, path, _inputs(form, dtype, False))
    counts = op_counts(result.model_bytes)
    assert ("SPACE_TO_BATCH_ND" in counts) == (form in {"rows", "images"})


@pytest.mark.parametrize("are_given", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_blocks_of_open_sizes(tensorflow: TensorFlow, form: str, are_given: bool) -> None:
    path = tensorflow.save(model, form, "float32", True, are_given)
    check(tensorflow, path, _inputs(form, "float32", are_given))
