# pyright: reportUnknownLambdaType=false
"""Models of TensorFlow 1: signatures of the top-level graph, with variables of both kinds, tables and state."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.errors import GraphError, SavedModelError
from tests.tensorflow.checking import check, check_calls, normal, op_counts

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow

IMAGES = normal({"images": (None, 8, 8, 3)})


def convolutional(tf: Any, path: str, resource: bool, partitioned: bool) -> None:
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        v1.set_random_seed(3)
        partitioner = v1.fixed_size_partitioner(2) if partitioned else None
        random = v1.random_normal_initializer(stddev=0.3)
        with v1.variable_scope("net", use_resource=resource, partitioner=partitioner):
            x = v1.placeholder(tf.float32, [None, 8, 8, 3], "x")
            kernel = v1.get_variable("kernel", [3, 3, 3, 4], initializer=random)
            bias = v1.get_variable("bias", [4], initializer=random)
            y = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, kernel, 1, "SAME"), bias))
            weights = v1.get_variable("weights", [256, 5], initializer=random)
            logits = tf.identity(tf.reshape(y, [-1, 256]) @ weights, "logits")
            keep = v1.placeholder_with_default(tf.constant(0.5), [], "keep")
            scaled = tf.multiply(tf.nn.softmax(logits), keep, "scaled")
        session.run(v1.global_variables_initializer())
        v1.saved_model.simple_save(session, path, {"images": x}, {"logits": logits, "scaled": scaled})
        frozen = v1.graph_util.convert_variables_to_constants(session, session.graph_def, ["net/logits", "net/scaled"])
        Path(f"{path}.pb").write_bytes(frozen.SerializeToString())
        Path(f"{path}.pbtxt").write_text(str(frozen))


@pytest.mark.parametrize("partitioned", [False, True], ids=["whole", "partitioned"])
@pytest.mark.parametrize("resource", [False, True], ids=["reference", "resource"])
def test_variables(tensorflow: TensorFlow, tmp_path: Path, resource: bool, partitioned: bool) -> None:
    tensorflow.call(convolutional, str(tmp_path / "model"), resource, partitioned)
    result = check(tensorflow, tmp_path / "model", IMAGES)
    assert op_counts(result.model_bytes) == {
        "CONV_2D": 1,
        "RESHAPE": 1,
        "FULLY_CONNECTED": 1,
        "SOFTMAX": 1,
        "MUL": 1,
    }


def stateful(tf: Any, path: str, resource: bool) -> None:
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [2], "x")
        count = v1.get_variable("count", initializer=tf.constant([1.0, 2.0]), use_resource=resource)
        before = tf.add(count, 0.0, "before")  # an Identity of a reference may see what is written later
        with tf.control_dependencies([before]):
            after = tf.identity(v1.assign_add(count, x) * 2.0, "after")
        with tf.control_dependencies([v1.assign(count, x - count)]):
            replaced = tf.add(count.read_value(), 0.0, "replaced")
        session.run(v1.global_variables_initializer())
        predict = v1.saved_model.predict_signature_def
        builder = v1.saved_model.Builder(path)
        signatures = {
            "add": predict({"x": x}, {"before": before, "after": after}),
            "replace": predict({"x": x}, {"replaced": replaced}),
        }
        builder.add_meta_graph_and_variables(session, ["serve"], signatures)
        builder.save()


@pytest.mark.parametrize("resource", [False, True], ids=["reference", "resource"])
def test_state_is_kept_between_calls_and_shared(tensorflow: TensorFlow, tmp_path: Path, resource: bool) -> None:
    tensorflow.call(stateful, str(tmp_path / "model"), resource)
    x = {"x": np.array([0.5, -3.0], np.float32)}
    check_calls(tensorflow, tmp_path / "model", [("add", x), ("add", x), ("replace", x), ("add", x), ("replace", x)])


def with_table(tf: Any, path: str) -> None:
    v1 = tf.compat.v1
    vocabulary = Path(f"{path}.txt")
    vocabulary.write_text("a\nb\nc\n")
    index = tf.lookup.TextFileIndex
    with tf.Graph().as_default(), v1.Session() as session:
        words = v1.placeholder(tf.string, [None], "words")
        filled = tf.lookup.TextFileInitializer(
            str(vocabulary), tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER
        )
        ids = tf.lookup.StaticHashTable(filled, -1).lookup(words)
        session.run(v1.tables_initializer())
        builder = v1.saved_model.Builder(path)
        builder.add_meta_graph_and_variables(
            session,
            ["serve"],
            {"serving_default": v1.saved_model.predict_signature_def({"words": words}, {"ids": ids})},
            assets_collection=v1.get_collection(v1.GraphKeys.ASSET_FILEPATHS),
            main_op=v1.tables_initializer(),
        )
        builder.save()


def test_table_from_an_asset(tensorflow: TensorFlow, tmp_path: Path) -> None:
    tensorflow.call(with_table, str(tmp_path / "model"))
    check(tensorflow, tmp_path / "model", {"words": np.array([b"b", b"x", b"a"], object)})


def refused(tf: Any, path: str, kind: str) -> None:
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [2], "x")
        if kind == "scatter":
            count = v1.get_variable("count", initializer=tf.constant([1.0, 2.0]), use_resource=False)
            y = v1.scatter_add(count, [0], x[:1])
        elif kind == "unfed":
            y = x + v1.placeholder(tf.float32, [2], "other")
        else:
            v1.disable_control_flow_v2()
            y = v1.while_loop(lambda a: tf.reduce_sum(a) < 9.0, lambda a: a + 1.0, [x])
        session.run(v1.global_variables_initializer())
        v1.saved_model.simple_save(session, path, {"x": x}, {"y": y})


@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        ("scatter", SavedModelError, "ScatterAdd changes a reference variable"),
        ("unfed", SavedModelError, "depends on the placeholder 'other'"),
        ("loop", GraphError, "control flow of TensorFlow 1"),
    ],
)
def test_refused(tensorflow: TensorFlow, tmp_path: Path, kind: str, error: type[Exception], message: str) -> None:
    tensorflow.call(refused, str(tmp_path / "model"), kind)
    with pytest.raises(error, match=message):
        litefuse.convert(tmp_path / "model")
