# pyright: reportUnknownLambdaType=false
"""Models that are wrong where few inputs show it, and right ones of the same kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from tests.every import every
from tests.tensorflow.live_models import keras_of
from tests.tensorflow.saved_models import serving

if TYPE_CHECKING:
    from pathlib import Path

    from litefuse.conversion.verify.verification import Verification
    from tests.tensorflow.process import TensorFlow

ROWS = 30_000


def compare(tensorflow: TensorFlow, model: Any, original: Any, **options: Any) -> Verification:
    return litefuse.verify_model(litefuse.convert(tensorflow.save(*model)), tensorflow.save(*original), **options)


def embedding(tf: Any, form: str, shape: tuple[int | None, ...] = (None, None)) -> Any:
    table = np.random.default_rng(0).standard_normal([ROWS, 4]).astype(np.float32)
    if form == "zeroed":
        table[10:] = 0
    elif form.isdecimal():
        table[int(form)] += 1
    module = tf.Module()
    module.table = tf.Variable(table)

    def serve(ids: Any) -> Any:
        if form == "clipped":
            ids = tf.clip_by_value(ids, 0, 9)
        return {"y": tf.gather(module.table, ids)}

    module.serve = tf.function(serve, input_signature=[tf.TensorSpec(shape, tf.int32, name="ids")])
    return module, {"serving_default": module.serve}


@pytest.mark.parametrize("form", ["zeroed", "clipped", "0", "17000", "29999"])
def test_rows_of_a_table(tensorflow: TensorFlow, form: str) -> None:
    right = compare(tensorflow, (embedding, "right"), (embedding, "right"))
    assert right.verdict == "equal"
    assert [str(each) for each in right.coverage] == ["30,000 of 30,000"]
    wrong = compare(tensorflow, (embedding, form), (embedding, "right"))
    assert wrong.verdict == "differs"


@pytest.mark.parametrize("shape", [(1, 64), (None,), (5, None)])
def test_rows_of_a_table_for_ids_of_other_shapes(tensorflow: TensorFlow, shape: tuple[int | None, ...]) -> None:
    verification = compare(tensorflow, (embedding, "17000", shape), (embedding, "right", shape))
    assert verification.verdict == "differs"


def test_rows_that_there_is_no_time_for(tensorflow: TensorFlow) -> None:
    verification = compare(tensorflow, (embedding, "right"), (embedding, "right"), coverage=0)
    assert verification.verdict == "inconclusive"
    assert not verification.ok
    (output,) = verification.outputs
    assert output.verdict == "inconclusive"
    assert output.error == 0
    assert "of 30,000" in output.problem
    text = str(verification)
    assert "Inconclusive: 1 output of 1 could not be judged." in text
    assert "moved in 2 of 2 calls" in text
    assert verification.to_json()["ok"] is False
    assert verification.to_json()["verdict"] == "inconclusive"


def pooled(tf: Any, swapped: bool) -> Any:
    """What is wrong with two rows cancels out where both are picked as often."""
    table = np.random.default_rng(0).standard_normal([7, 4]).astype(np.float32)
    if swapped:
        table[[2, 3]] = table[[3, 2]]
    module = tf.Module()
    spec = [tf.TensorSpec([None, 7], tf.int32, name="ids")]
    module.serve = tf.function(lambda ids: {"y": tf.reduce_sum(tf.gather(table, ids), 1)}, input_signature=spec)
    return module, {"serving_default": module.serve}


@pytest.mark.parametrize("seed", range(3))
def test_rows_that_are_added_up(tensorflow: TensorFlow, seed: int) -> None:
    assert compare(tensorflow, (pooled, False), (pooled, False), seed=seed).verdict == "equal"
    assert compare(tensorflow, (pooled, True), (pooled, False), seed=seed, repeat=1).verdict == "differs"


def cut(tf: Any, rows: int) -> Any:
    table = np.random.default_rng(0).standard_normal([ROWS, 4]).astype(np.float32)[:rows]
    module = tf.Module()
    module.table = tf.Variable(table)
    spec = [tf.TensorSpec([None, None], tf.int32, name="ids")]
    module.serve = tf.function(lambda ids: {"y": tf.gather(module.table, ids)}, input_signature=spec)
    return module, {"serving_default": module.serve}


def test_a_table_that_is_cut_off(tensorflow: TensorFlow, tmp_path: Path) -> None:
    wrong = compare(tensorflow, (cut, 20_000), (cut, ROWS))
    assert wrong.verdict == "differs"
    assert "has 20,000 of 30,000" in wrong.outputs[0].problem
    assert compare(tensorflow, (cut, 20_000), (cut, 20_000)).verdict == "equal"
    before = litefuse.convert(tensorflow.save(cut, ROWS)).save(tmp_path / "before.tflite")
    after = litefuse.convert(tensorflow.save(cut, 20_000))
    assert litefuse.verify_model(after, before).verdict == "differs"


def classifier(tf: Any, words: str, masked: bool = True, default: bool = False) -> Any:
    keras = keras_of(tf, "keras")
    vectorization = keras.layers.TextVectorization(output_sequence_length=6)
    vectorization.set_vocabulary(words.split())
    text = keras.Input((), dtype="string")
    table = np.random.default_rng(0).standard_normal([40, 8]).astype(np.float32)
    if default:
        table[1] += 1
    embedded = keras.layers.Embedding(40, 8, weights=[table], mask_zero=masked)(vectorization(text))
    layer = keras.layers.Dense(3, kernel_initializer=keras.initializers.RandomNormal(seed=1))
    return keras.Model(text, layer(keras.layers.GlobalAveragePooling1D()(embedded)))


WORDS = "the quick brown fox jumps over lazy dog pack my box with five dozen liquor jugs"


def test_a_text_classifier(tensorflow: TensorFlow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # models of one process share their tables, if these have the same names
    right = compare(tensorflow, (classifier, WORDS), (classifier, WORDS))
    assert right.verdict == "equal", str(right)
    assert [(each.reached, each.size) for each in right.coverage] == [(16, 16)]
    for wrong in (
        (classifier, WORDS.replace("quick brown", "brown quick")),
        (classifier, WORDS.removesuffix(" jugs")),
        (classifier, WORDS, False),
        (classifier, WORDS, True, True),
    ):
        assert compare(tensorflow, wrong, (classifier, WORDS)).verdict == "differs", wrong


def lookups(tf: Any, default: int, offset: int = 0) -> Any:
    keys = tf.constant([10, 20, 30], tf.int64)
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(keys, tf.constant([1, 2, 3 + offset], tf.int64)), default
    )
    module = tf.Module()
    module.table = table
    spec = [tf.TensorSpec([None], tf.int64, name="key")]
    module.serve = tf.function(lambda key: {"y": table.lookup(key)}, input_signature=spec)
    return module, {"serving_default": module.serve}


def test_a_lookup(tensorflow: TensorFlow) -> None:
    assert compare(tensorflow, (lookups, -1), (lookups, -1)).verdict == "equal"
    assert compare(tensorflow, (lookups, -2), (lookups, -1)).verdict == "differs"
    assert compare(tensorflow, (lookups, -1, 1), (lookups, -1)).verdict == "differs"


def mobile(tf: Any, scale: float, scaling: float = 1 / 127.5) -> Any:
    keras = keras_of(tf, "keras")
    keras.utils.set_random_seed(0)
    image = keras.Input((32, 32, 3))
    scaled = keras.layers.Rescaling(scaling, -1)(image)
    body = keras.applications.MobileNet((32, 32, 3), alpha=0.25, weights=None, classes=50, dropout=0)
    if scale != 1:
        weights = [scale * each if each.ndim > 1 else each for each in body.get_weights()]
        body.set_weights(weights)
    return keras.Model(image, body(scaled))


def test_an_untrained_image_classifier(tensorflow: TensorFlow) -> None:
    untrained = compare(tensorflow, (mobile, 1.0), (mobile, 1.0))
    assert untrained.verdict == "inconclusive"
    assert untrained.outputs[0].problem == "it did not move with the inputs"
    assert untrained.outputs[0].moved == 0
    assert untrained.outputs[0].comparable > 2
    assert compare(tensorflow, (mobile, 3.0), (mobile, 3.0)).verdict == "equal"
    assert compare(tensorflow, (mobile, 3.0, 1 / 255), (mobile, 3.0)).verdict == "differs"


def several(tf: Any, swapped: bool) -> Any:
    """Ids of two tables of different sizes in one input, lengths, classes and a mask."""
    random = np.random.default_rng(0)
    first = random.standard_normal([300, 4]).astype(np.float32)
    second = random.standard_normal([7, 4]).astype(np.float32)
    if swapped:
        first[[298, 299]] = first[[299, 298]]
    module = tf.Module()

    def serve(ids: Any, length: Any, kind: Any, mask: Any) -> Any:
        found = tf.gather(first, ids[:, 0]) + tf.gather(second, ids[:, 1])
        places = tf.cast(tf.sequence_mask(length, 5), tf.float32)
        return {
            "y": found,
            "places": places,
            "classes": tf.one_hot(kind, 6),
            "attention": tf.nn.softmax(tf.where(mask, tf.range(8, dtype=tf.float32), -1e9)),
        }

    module.serve = tf.function(
        serve,
        input_signature=[
            tf.TensorSpec([None, 2], tf.int32, name="ids"),
            tf.TensorSpec([None], tf.int32, name="length"),
            tf.TensorSpec([None], tf.int64, name="kind"),
            tf.TensorSpec([None, 8], tf.bool, name="mask"),
        ],
    )
    return module, {"serving_default": module.serve}


def test_several_meanings_in_one_model(tensorflow: TensorFlow) -> None:
    right = compare(tensorflow, (several, False), (several, False))
    assert right.verdict == "equal", str(right)
    assert every(each.complete for each in right.coverage)
    assert {each.size for each in right.coverage} >= {300, 7, 6}
    wrong = compare(tensorflow, (several, True), (several, False))
    assert [each.name for each in wrong.outputs if each.verdict == "differs"] == ["y"]


def still(tf: Any, tiny: float) -> Any:
    module = tf.Module()
    spec = [tf.TensorSpec([None, 3], tf.float32, name="x")]
    constant = np.arange(4, dtype=np.float32)
    module.serve = tf.function(
        lambda x: {"still": 1 + tiny * tf.tanh(x), "y": 2 * x, "constant": tf.constant(constant), "size": tf.shape(x)},
        input_signature=spec,
    )
    return module, {"serving_default": module.serve}


def test_outputs_that_stand_still_and_constants(tensorflow: TensorFlow) -> None:
    verification = compare(tensorflow, (still, 1e-20), (still, 1e-20))
    assert {each.name: each.verdict for each in verification.outputs} == {
        "still": "inconclusive",
        "y": "equal",
        "constant": "equal",
        "size": "equal",
    }
    assert verification.verdict == "inconclusive"


def test_inputs_that_are_given(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(still, 1e-20)
    result = litefuse.convert(path)
    x = np.ones([1, 3], np.float32)
    one = litefuse.verify_model(result, path, inputs={"x": x})
    assert one.verdict == "equal"  # that was asked: what else there is, nobody knows
    assert {each.comparable for each in one.outputs} == {0}
    several = litefuse.verify_model(result, path, inputs=[{"x": x}, {"x": 2 * x}], repeat=1)
    assert {each.name: each.verdict for each in several.outputs if each.verdict != "equal"} == {"still": "inconclusive"}
    wrong = litefuse.verify_model(result, tensorflow.save(still, 1.0), inputs=[{"x": x}, {"x": 2 * x}])
    assert wrong.verdict == "differs"


def branching(tf: Any, limit: float, bias: float = 0.0) -> Any:
    """A branch that is taken where the inputs are large enough."""
    kernel = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
    return serving(
        tf,
        lambda x: {
            "y": tf.cond(
                tf.reduce_sum(x) > limit,
                lambda: tf.matmul(x, kernel) + tf.constant(bias),
                lambda: tf.matmul(tf.tanh(x), kernel * 2),
            )
        },
        ("x", [None, 4], "float32"),
    )


def test_branches(tensorflow: TensorFlow) -> None:
    for limit, verdict in ((0.0, "equal"), (50.0, "equal"), (1e9, "inconclusive")):
        found = compare(tensorflow, (branching, limit), (branching, limit))
        assert found.verdict == verdict
        assert [(each.kind, each.reached, each.size) for each in found.coverage] == [
            ("branches", 1 if verdict == "inconclusive" else 2, 2)
        ]
        assert ("branches covered 1 of 2" in str(found)) == (verdict == "inconclusive")
    for limit in (0.0, 50.0):
        assert compare(tensorflow, (branching, limit, 100.0), (branching, limit)).verdict == "differs"
