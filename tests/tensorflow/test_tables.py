"""Hash tables: what they hold comes from constants, files or the checkpoint, and lookups give what TensorFlow gives."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from litefuse.errors import ConversionError
from tests.tensorflow.checking import check, check_calls, op_counts

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow

WORDS = np.array([b"a", b"unknown", b"c", b"", b"b"], object)
NUMBERS = np.array([[3, -1, 2**40], [0, 7, 3]])

# Keys and values of one table, and the default.
TABLES = {
    "string_int64": (["a", "b", ""], [5, -6, 7], "string", "int64", -1),
    "int64_string": ([3, 7, 2**40], ["three", "seven", "big"], "int64", "string", "?"),
    "int64_int64": ([3, 7, 2**40], [1, 2, 3], "int64", "int64", 0),
    "int64_float": ([3, 7, -1], [0.5, 1.5, 2.5], "int64", "float32", -1.0),
    "string_string": (["a", "b"], ["x", "y\0z"], "string", "string", "none"),
    "string_float": (["a", "c"], [0.25, 4.0], "string", "float32", 9.0),
    "int32_int32": ([3, 7], [30, 70], "int32", "int32", -1),
}


def looking_up(table: Any) -> Any:
    def serve(x: Any) -> Any:
        return {"y": table.lookup(x), "size": table.size()}

    return serve


def static_tables(tf: Any, chosen: list[str]) -> Any:
    module = tf.Module()
    module.tables = {}
    signatures: dict[str, Any] = {}
    for name in chosen:
        keys, values, key_dtype, value_dtype, default = TABLES[name]
        filled = tf.lookup.KeyValueTensorInitializer(keys, values, key_dtype, value_dtype)
        table = module.tables[name] = tf.lookup.StaticHashTable(filled, default)
        spec = tf.TensorSpec([None] if key_dtype == "string" else [None, 3], key_dtype, name="x")
        signatures[name] = tf.function(looking_up(table), input_signature=[spec])
    module.functions = signatures
    return module, signatures


def test_tables_of_all_dtypes_in_one_model(tensorflow: TensorFlow) -> None:
    calls = [
        (name, {"x": WORDS if key_dtype == "string" else NUMBERS.astype(key_dtype)})
        for name, (_, _, key_dtype, _, _) in TABLES.items()
        if key_dtype != "int32"
    ]
    calls.append(("int32_int32", {"x": np.array([[3, 4, 7]], np.int32)}))
    result = check_calls(tensorflow, tensorflow.save(static_tables, list(TABLES)), [*calls, *calls])
    assert not result.report.custom_ops


def test_a_table_that_the_runtime_has_is_one_lookup(tensorflow: TensorFlow) -> None:
    result = check(tensorflow, tensorflow.save(static_tables, ["string_int64"]), {"x": WORDS}, signature="string_int64")
    assert op_counts(result.model_bytes)["HASHTABLE_FIND"] == 1
    assert "GATHER" not in op_counts(result.model_bytes)


def vocabulary_files(tf: Any, folder: str) -> Any:
    lines = Path(folder, "words.txt")
    lines.write_bytes(b"a\r\nc\nb\n")
    rows = Path(folder, "rows.tsv")
    rows.write_bytes(b"1;a;x\n2;b;y\n3;c;x\n4;d;z\n")
    index = tf.lookup.TextFileIndex
    module = tf.Module()
    by_line = tf.lookup.TextFileInitializer(str(lines), tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER)
    module.words = tf.lookup.StaticHashTable(by_line, -1)
    columns = tf.lookup.TextFileInitializer(str(rows), tf.string, 1, tf.int64, 0, vocab_size=3, delimiter=";")
    module.rows = tf.lookup.StaticHashTable(columns, -1)

    def serve(x: Any) -> Any:
        return {"words": module.words.lookup(x), "rows": module.rows.lookup(x)}

    module.serve = tf.function(serve, input_signature=[tf.TensorSpec([None], tf.string, name="x")])
    return module, {"serving_default": module.serve}


def test_vocabulary_files(tensorflow: TensorFlow, tmp_path: Path) -> None:
    path = tensorflow.save(vocabulary_files, str(tmp_path))
    for file in tmp_path.iterdir():  # the SavedModel has its own copies
        if file.is_file():
            file.unlink()
    check(tensorflow, path, [{"x": WORDS}, {"x": np.array([b"d", b"x"], object)}])


def mutable_tables(tf: Any) -> Any:
    module = tf.Module()
    module.plain = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    module.plain.insert(["a", "b"], tf.constant([5, 6], tf.int64))
    module.dense = tf.lookup.experimental.DenseHashTable(tf.string, tf.int64, -1, "<empty>", "<deleted>")
    module.dense.insert(["b", "c"], tf.constant([7, 8], tf.int64))

    def serve(x: Any) -> Any:
        return {"plain": module.plain.lookup(x), "dense": module.dense.lookup(x), "size": module.dense.size()}

    def learn(x: Any) -> Any:
        module.plain.insert(x, tf.ones_like(x, tf.int64))
        return {"y": module.plain.lookup(x)}

    spec = [tf.TensorSpec([None], tf.string, name="x")]
    module.serve = tf.function(serve, input_signature=spec)
    module.learn = tf.function(learn, input_signature=spec)
    return module, {"serving_default": module.serve, "learn": module.learn}


def test_mutable_tables_that_nothing_writes(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(mutable_tables)
    check(tensorflow, path, {"x": WORDS}, signatures=["serving_default"])
    with pytest.raises(ConversionError, match="'plain' is written by LookupTableInsertV2") as caught:
        check(tensorflow, path, {"x": WORDS}, signature="learn", signatures=["learn"])
    assert "Leave what changes the table out" in caught.value.hint


def in_branches_and_loops(tf: Any) -> Any:
    module = tf.Module()
    filled = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2], tf.string, tf.int64)
    module.table = tf.lookup.StaticHashTable(filled, -1)
    module.scale = tf.Variable(3, dtype=tf.int64)

    @tf.function
    def nested(x: Any) -> Any:
        return module.table.lookup(x) * module.scale

    def serve(x: Any, n: Any) -> Any:
        total = nested(x)
        if n > 2:
            total += module.table.lookup(x)
        for _ in tf.range(n):
            total += nested(x)
        return {"y": total}

    spec = [tf.TensorSpec([None], tf.string, name="x"), tf.TensorSpec([], tf.int32, name="n")]
    module.serve = tf.function(serve, input_signature=spec)
    return module, {"serving_default": module.serve}


def test_in_branches_and_loops(tensorflow: TensorFlow) -> None:
    calls = [{"x": WORDS, "n": np.array(n, np.int32)} for n in (0, 2, 3)]
    check(tensorflow, tensorflow.save(in_branches_and_loops), calls)


def keras_lookups(tf: Any, path: str) -> None:
    keras: Any = importlib.import_module("keras")
    words = keras.Input((), dtype="string", name="words")
    numbers = keras.Input((), dtype="int64", name="numbers")
    outputs = {
        "word": keras.layers.StringLookup(vocabulary=["a", "b", "c"], num_oov_indices=1)(words),
        "number": keras.layers.IntegerLookup(vocabulary=[3, 5, 7])(numbers),
        "name": keras.layers.StringLookup(vocabulary=["x", "y"], invert=True)(numbers),
    }
    keras.Model({"words": words, "numbers": numbers}, outputs).export(path, verbose=False)


def test_lookup_layers_of_keras(tensorflow: TensorFlow, tmp_path: Path) -> None:
    tensorflow.call(keras_lookups, str(tmp_path / "model"))
    inputs = {"words": WORDS[:3], "numbers": np.array([5, 1, 4])}
    check(tensorflow, tmp_path / "model", inputs)
