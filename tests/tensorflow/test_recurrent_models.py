"""Recurrent models of every family give the numbers of their SavedModels, in every call and for every size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.tensorflow import recurrent_models
from tests.tensorflow.checking import check, op_counts

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow


@pytest.mark.parametrize("case", list(recurrent_models.spread()), ids=str)
def test_recurrent_model(tensorflow: TensorFlow, case: recurrent_models.Case) -> None:
    result = check(tensorflow, tensorflow.save(recurrent_models.build, *case), recurrent_models.inputs(case))
    assert not [name for name in op_counts(result.model_bytes) if name.startswith("Flex")]


def exported(tf: Any) -> Any:
    """As ``model.export`` writes it, which leaves the batch open whatever the model says."""
    import keras  # pyright: ignore[reportMissingImports]

    layers: Any = keras.layers
    ids: Any = keras.Input((None,), dtype="int32")
    value = layers.Bidirectional(layers.LSTM(8))(layers.Embedding(20, 6, mask_zero=True)(ids))
    return keras.Model(ids, layers.Dense(3, activation="softmax")(value))


def test_exported_text_classifier(tensorflow: TensorFlow) -> None:
    sets = []
    for batch, length in ((1, 7), (3, 7), (2, 3)):
        ids = np.random.default_rng(batch).integers(1, 20, [batch, length]).astype(np.int32)
        ids[-1, 2:] = 0
        sets.append({"keras_tensor": ids})
    result = check(tensorflow, tensorflow.save(exported), sets)
    assert op_counts(result.model_bytes)["DYNAMIC_UPDATE_SLICE"] == 0  # of one step only, nothing is collected
