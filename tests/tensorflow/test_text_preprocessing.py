"""Keras's layers of texts and categories, from raw strings on, and what tf.strings cuts and joins."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.errors import UnsupportedOpsError
from litefuse.kernels import native_library
from tests.kernels.pack.one_op import FORMS
from tests.tensorflow.checking import check, op_counts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.tensorflow.process import TensorFlow

TEXTS = [
    "The quick, brown fox! jumps.",
    "over the lazy dog's back; the end",
    "",
    "Hello   World",
    "Ünï cödé the",
    "...",
]
WORDS = ["a", "b", "c", "d"]


def strings(values: Any, shape: Sequence[int]) -> np.ndarray[Any, Any]:
    array = np.empty(len(values), object)
    array[:] = [value.encode() for value in values]
    return np.resize(array, shape)


def texts(*shape: int) -> list[dict[str, Any]]:
    """Batches of texts, one of them without any word."""
    batches = [strings(TEXTS[:2], [1, *shape]), strings(TEXTS, [6, *shape]), strings(["...", ""], [2, *shape])]
    return [{"text": batch} for batch in batches]


# TextVectorization in its output modes, of standardizations, splits and n-grams.
VECTORIZATIONS: dict[str, dict[str, dict[str, Any]]] = {
    "integers": {
        "words": {},
        "padded": {"output_sequence_length": 6, "max_tokens": 9},
        "pairs": {"ngrams": 2, "standardize": "lower"},
        "letters": {"split": "character", "standardize": "strip_punctuation", "output_sequence_length": 10},
    },
    "numbers": {
        "hot": {"output_mode": "multi_hot", "max_tokens": 40, "pad_to_max_tokens": True},
        "count": {"output_mode": "count"},
        "weighted": {"output_mode": "tf_idf"},
        "triples": {"output_mode": "count", "standardize": None, "ngrams": (1, 3)},
        "hot_letters": {"output_mode": "multi_hot", "standardize": "lower_and_strip_punctuation", "split": "character"},
    },
}


def vectorizing(tf: Any, group: str, rank: int) -> Any:
    keras = tf.keras
    text = keras.Input([1] * (rank - 1), dtype="string", name="text")
    outputs: dict[str, Any] = {}
    for name, options in VECTORIZATIONS[group].items():
        layer = keras.layers.TextVectorization(**options)
        layer.adapt(TEXTS)
        outputs[name] = layer(text)
    return keras.Model(text, outputs)


@pytest.mark.parametrize(("group", "rank"), [("integers", 1), ("integers", 2), ("numbers", 1)])
def test_text_vectorization(tensorflow: TensorFlow, group: str, rank: int) -> None:
    result = check(tensorflow, tensorflow.save(vectorizing, group, rank), texts(*[1] * (rank - 1)), kernel_pack=True)
    assert {"StaticRegexReplace", "StringSplitV2", "StringNGrams", "UnicodeDecode"} <= {*result.report.custom_ops}
    assert {*result.report.python_kernels} == {"UnicodeDecode", "UnicodeEncode"}
    assert "UnicodeDecode, UnicodeEncode (in litefuse's pack, in Python only)" in result.report.details()


def looking_up(tf: Any) -> Any:
    keras, layers = tf.keras, tf.keras.layers
    word = keras.Input([3], dtype="string", name="word")
    number = keras.Input([3], dtype="int64", name="number")
    index = keras.Input([3], dtype="int64", name="index")
    one = keras.Input([1], dtype="string", name="one")
    other = keras.Input([1], dtype="string", name="other")
    outputs = {
        "words": layers.StringLookup(vocabulary=WORDS)(word),
        "buckets": layers.StringLookup(vocabulary=WORDS, num_oov_indices=3)(word),
        "hot": layers.StringLookup(vocabulary=WORDS, output_mode="multi_hot")(word),
        "masked": layers.StringLookup(vocabulary=WORDS, mask_token="", output_mode="count")(word),
        "one_hot": layers.StringLookup(vocabulary=WORDS, output_mode="one_hot")(one),
        "inverse": layers.StringLookup(vocabulary=WORDS, invert=True)(index),
        "numbers": layers.IntegerLookup(vocabulary=[10, 20, 30])(number),
        "counts": layers.IntegerLookup(vocabulary=[10, 20, 30], num_oov_indices=2, output_mode="count")(number),
        "hashed": layers.Hashing(num_bins=7)(word),
        "hashed_numbers": layers.Hashing(num_bins=7)(number),
        "salted": layers.Hashing(num_bins=7, salt=[133, 137])(word),
        "hashed_counts": layers.Hashing(num_bins=7, mask_value="", output_mode="count")(word),
        "crossed": layers.HashedCrossing(num_bins=9)((one, other)),
        "crossed_hot": layers.HashedCrossing(num_bins=9, output_mode="one_hot")((one, other)),
        "encoded": layers.CategoryEncoding(num_tokens=7)(index),
        "encoded_counts": layers.CategoryEncoding(num_tokens=7, output_mode="count")(index),
        "weighted": layers.CategoryEncoding(num_tokens=7, output_mode="count")(
            index, count_weights=layers.Rescaling(0.5)(index)
        ),
    }
    return keras.Model([word, number, index, one, other], outputs)


def test_lookups_hashes_and_encodings(tensorflow: TensorFlow) -> None:
    random = np.random.default_rng(3)
    batches: list[dict[str, Any]] = []
    for batch in (1, 4, 2):
        chosen = random.choice(["", "other", "täg", *WORDS], [5, batch, 3])
        batches.append(
            {
                "word": strings(chosen[0].ravel().tolist(), [batch, 3]),
                "one": strings(chosen[1, :, 0].tolist(), [batch, 1]),
                "other": strings(chosen[2, :, 0].tolist(), [batch, 1]),
                "number": random.choice([10, 20, 30, 7, 8, 2**40], [batch, 3]),
                "index": random.integers(0, 5, [batch, 3]),
            }
        )
    result = check(tensorflow, tensorflow.save(looking_up), batches, kernel_pack=True)
    kernels = {"AsString", "SparseCross", "StringToHashBucketFast", "StringToHashBucketStrong"}
    assert {*result.report.custom_ops} == {*result.report.pack_kernels} == kernels
    assert {*result.report.python_kernels} == kernels - {"StringToHashBucketFast"}


def cutting(tf: Any) -> Any:
    """What is done to texts in plain TensorFlow: ragged pieces, as a matrix and joined again."""

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="text")])
    def serve(text: Any) -> Any:
        clean = tf.strings.regex_replace(tf.strings.lower(text, "utf-8"), r"[^\pL\s]+", "")
        pieces = tf.strings.split(clean)
        first = tf.strings.substr(pieces, 0, 1, "UTF8_CHAR")
        letters = tf.strings.unicode_split(clean, "UTF-8")
        same = tf.strings.regex_full_match(text, r"(?i)h.*|\.+")
        return {
            "pieces": pieces.to_tensor("<pad>"),
            "sparse": tf.sparse.to_dense(tf.compat.v1.string_split(clean, " ")),
            "counts": pieces.row_lengths(),
            "twice": tf.concat([pieces, pieces], 1).to_tensor(),
            "constant": tf.strings.split("1,2,3", ","),
            "initials": tf.strings.reduce_join(first, 1, separator="."),
            "joined": tf.strings.join([text, clean], ": "),
            "both": tf.concat([text, clean], 0),
            "chosen": tf.where(same, "match", clean),
            "stacked": tf.stack([text, tf.strings.strip(text)], 1),
            "reversed": tf.strings.reduce_join(tf.reverse(letters.to_tensor(), [1]), 1),
            "lengths": tf.strings.length(text, "UTF8_CHAR"),
            "numbers": tf.strings.to_number(tf.strings.as_string(tf.strings.length(text)), tf.float32),
            "words": tf.strings.as_string(pieces.row_lengths()),
            "buckets": tf.strings.to_hash_bucket_fast(pieces, 1000).to_tensor(),
            "padded": tf.pad(text, [[0, 2]], constant_values="-"),
        }

    module = tf.Module()
    module.serve = serve
    return module, {"serving_default": serve}


def test_texts_that_are_cut_and_joined(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(cutting)
    batches: list[dict[str, Any]] = [{"text": strings(each, [len(each)])} for each in (TEXTS[:2], TEXTS, TEXTS[3:4])]
    result = check(tensorflow, path, batches, kernel_pack=True)
    assert {*result.report.pack_kernels} == {*result.report.custom_ops}
    assert {"StaticRegexFullMatch", "StaticRegexReplace", "StringLower"} <= {*result.report.python_kernels}
    moved = {"ConcatV2", "Pack", "PadV2", "RaggedTensorToTensor", "ReduceJoin", "SelectV2", "UnsortedSegmentJoin"}
    assert moved <= op_counts(result.model_bytes).keys()
    with pytest.raises(UnsupportedOpsError, match=r"no op for AsString, ConcatV2, .*StaticRegexReplace"):
        litefuse.convert(path, allow_custom_ops="never")


def classifying(tf: Any, framework: str) -> Any:
    keras = tf.keras if framework == "keras" else __import__(framework)
    vectorize = keras.layers.TextVectorization(output_sequence_length=8)
    vectorize.adapt(TEXTS)
    inputs = keras.Input([1], dtype="string", name="text")
    x = keras.layers.Embedding(vectorize.vocabulary_size(), 5)(vectorize(inputs))
    x = keras.layers.GlobalAveragePooling1D()(x)
    model = keras.Model(inputs, keras.layers.Dense(2, "softmax", bias_initializer="random_normal")(x))
    random = np.random.default_rng(2)
    for variable in model.trainable_variables:
        variable.assign(random.normal(0, 1, variable.shape))
    if framework == "keras":
        return model

    @tf.function(input_signature=[tf.TensorSpec([None, 1], tf.string, name="text")])
    def serve(text: Any) -> Any:
        return {"y": model(text)}

    return model, {"serving_default": serve}


def test_a_classifier_of_raw_texts(tensorflow: TensorFlow) -> None:
    check(tensorflow, tensorflow.save(classifying, "keras"), texts(1), kernel_pack=True)


def test_a_classifier_of_keras_2(tensorflow: TensorFlow) -> None:
    check(tensorflow, tensorflow.save(classifying, "tf_keras"), texts(1), kernel_pack=True)


def replacing(tf: Any, pattern: str) -> Any:
    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="text")])
    def serve(text: Any) -> Any:
        return {"y": tf.strings.regex_replace(text, pattern, "")}

    module = tf.Module()
    module.serve = serve
    return module, {"serving_default": serve}


@pytest.mark.parametrize("pattern", [r"\p{Greek}", r"a\C"], ids=["script", "byte"])
def test_an_expression_that_only_google_re2_knows(tensorflow: TensorFlow, pattern: str) -> None:
    text = np.array(["aΩb".encode(), b"a\xc3\xa9 ab a", b"\xce\xa9\xff"], object)
    check(tensorflow, tensorflow.save(replacing, pattern), [{"text": text}], kernel_pack=True)


@pytest.mark.parametrize("form", FORMS)
def test_a_classifier_in_the_stock_interpreter(tensorflow: TensorFlow, form: str) -> None:
    path = tensorflow.save(classifying, "keras")
    result = litefuse.convert(path)
    stock: Any = importlib.import_module("ai_edge_litert.interpreter")
    native = form == "native"
    assert not result.report.python_kernels
    delegate = stock.load_delegate(str(native_library())) if native else litefuse.delegate()
    engine = stock.Interpreter(model_content=result.model_bytes, experimental_delegates=[delegate])
    run: Callable[..., dict[str, Any]] = engine.get_signature_runner()
    for inputs in texts(1):
        (expected,) = tensorflow.run(path, inputs, calls=1)
        for _ in range(2):
            np.testing.assert_allclose(run(**inputs)["output_0"], expected["output_0"], rtol=1e-5)
