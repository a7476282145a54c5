# pyright: reportUnknownLambdaType=false
"""Originals that do more than compute: refused before TensorFlow loads them, unless that is allowed."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner

import litefuse
from litefuse.conversion.verify.side_effects import refuse_side_effects
from litefuse.errors import LitefuseError
from litefuse.frontends.saved_model.messages import SavedModel
from litefuse.tools.cli.app import app
from litefuse.tools.cli.failures import ExitCode

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow


def doubled(tf: Any, _: str = "") -> Any:
    """What is converted: the same without side effects."""
    module = tf.Module()
    module.f = tf.function(lambda x: {"y": x * 2.0}, input_signature=[tf.TensorSpec([2], tf.float32, name="x")])
    return module, {"serving_default": module.f}


def in_signature(tf: Any, kind: str, canary: str) -> Any:
    """The same with a side effect in a signature, or in what it calls."""
    module = tf.Module()

    def write() -> Any:
        tf.io.write_file(canary, "written")

    def act(x: Any) -> Any:
        if kind == "in the signature":
            write()
        elif kind == "in a function":
            tf.function(tf.function(write))()
        elif kind == "in a branch":
            tf.cond(tf.reduce_sum(x) < 1e9, lambda: (write(), 0)[1], lambda: 0)
        elif kind == "in a loop":
            tf.while_loop(lambda i: i < 1, lambda i: (write(), i + 1)[1], [tf.constant(0)])
        elif kind == "in a data set":
            tf.data.Dataset.range(1).map(lambda i: (write(), i)[1]).reduce(tf.constant(0, tf.int64), lambda a, b: a + b)
        elif kind == "a message":
            tf.print("written", output_stream=f"file://{canary}")
        elif kind == "a checkpoint":
            tf.raw_ops.SaveV2(prefix=canary, tensor_names=["x"], shape_and_slices=[""], tensors=[x])
        elif kind == "a file that is read":
            return 0.0 * tf.cast(tf.strings.length(tf.io.read_file(canary)), tf.float32)
        return 0.0

    def f(x: Any) -> Any:
        return {"y": x * 2.0 + act(x)}

    module.f = tf.function(f, input_signature=[tf.TensorSpec([2], tf.float32, name="x")])
    return module, {"serving_default": module.f}


KINDS = {
    "in the signature": "WriteFile",
    "in a function": "WriteFile",
    "in a branch": "WriteFile",
    "in a loop": "WriteFile",
    "in a data set": "WriteFile",
    "a message": "PrintV2",
    "a checkpoint": "SaveV2",
    "a file that is read": "ReadFile",
}


def converted(tensorflow: TensorFlow) -> litefuse.ConversionResult:
    return litefuse.convert(tensorflow.save(doubled))


@pytest.mark.parametrize("kind", KINDS)
def test_a_signature(tensorflow: TensorFlow, tmp_path: Path, kind: str) -> None:
    canary = tmp_path / "canary"
    if kind == "a file that is read":
        canary.write_text("text")
    path = tensorflow.save(in_signature, kind, str(canary))
    before = canary.exists()
    model = converted(tensorflow)
    with pytest.raises(
        LitefuseError, match=rf"does more than compute when it is run: the op {KINDS[kind]}, node '"
    ) as e:
        litefuse.verify_model(model, path)
    assert f"{path}: the original" in str(e.value)
    assert " of function '" in str(e.value)
    assert "--allow-side-effects, or allow_side_effects=True" in str(e.value)
    assert canary.exists() == before
    assert litefuse.verify_model(model, path, allow_side_effects=True).ok
    if kind != "a checkpoint":
        assert canary.exists()


def in_initializer(tf: Any, canary: str) -> Any:
    """A table that is filled from a file, whose initializer also writes one."""
    module, signatures = doubled(tf)

    class Writing(tf.saved_model.experimental.TrackableResource):
        def _create_resource(self) -> Any:
            return tf.raw_ops.MutableHashTableV2(key_dtype=tf.string, value_dtype=tf.int64)

        def _initialize(self) -> Any:
            tf.io.write_file(canary, "written")

    module.resource = Writing()
    return module, signatures


def test_an_initializer(tensorflow: TensorFlow, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    path = tensorflow.save(in_initializer, str(canary))
    canary.unlink(missing_ok=True)  # it was run when it was made
    with pytest.raises(LitefuseError, match=r"the op WriteFile, node '.*' of function '__inference__initializer"):
        litefuse.verify_model(converted(tensorflow), path)
    assert not canary.exists()
    assert litefuse.verify_model(converted(tensorflow), path, allow_side_effects=True).ok
    assert canary.exists()


def with_others(tf: Any, canary: str, words: str) -> Any:
    """A signature that only computes, in a model that can save itself, has a table of a file, and others that write."""
    Path(words).write_text("a\nb\n")
    module, _ = in_signature(tf, "in the signature", canary)
    module.v = tf.Variable([2.0, 2.0])
    initializer = tf.lookup.TextFileInitializer(
        words, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER
    )
    module.table = tf.lookup.StaticHashTable(initializer, -1)

    def g(x: Any) -> Any:
        return {"y": x * module.v + 0.0 * tf.cast(module.table.lookup(tf.constant("b")), tf.float32)}

    module.g = tf.function(g, input_signature=[tf.TensorSpec([2], tf.float32, name="x")])
    return module, {"serving_default": module.g, "writing": module.f}


def test_what_is_not_run_does_not_count(tensorflow: TensorFlow, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    path = tensorflow.save(with_others, str(canary), str(tmp_path / "words.txt"))
    assert litefuse.verify_model(converted(tensorflow), path).ok
    assert not canary.exists()
    with pytest.raises(LitefuseError, match="the op WriteFile"):
        refuse_side_effects(path, None, {"writing": ("y",)}, "model")


def save_of_1(tf: Any, path: str, canary: str, where: str) -> None:
    """A model of TensorFlow 1 that writes in its signature, its initialization or its restoring; or not at all."""
    v1 = tf.compat.v1
    with v1.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [2], name="x")
        variable = v1.get_variable("v", initializer=[2.0, 2.0], use_resource=True)
        y = x * variable
        session.run(v1.global_variables_initializer())
        saver = v1.train.Saver()
        write = tf.io.write_file(canary, "written") if where else None
        if where == "signature":
            with v1.control_dependencies([write]):
                y = tf.identity(y)
        if where == "restoring":
            v1.get_default_graph().get_operation_by_name("save/restore_all")._add_control_input(write)  # noqa: SLF001
        builder = v1.saved_model.Builder(path)
        signature = v1.saved_model.predict_signature_def({"x": x}, {"y": y})
        main = write if where == "initialization" else None
        builder.add_meta_graph_and_variables(
            session, ["serve"], {"serving_default": signature}, main_op=main, saver=saver
        )
        builder.save()


@pytest.mark.parametrize("where", ["signature", "initialization", "restoring"])
def test_a_model_of_tensorflow_1(tensorflow: TensorFlow, tmp_path: Path, where: str) -> None:
    path, canary = tmp_path / "model", tmp_path / "canary"
    tensorflow.call(save_of_1, str(path), str(canary), where)
    with pytest.raises(LitefuseError, match="the op WriteFile, node 'WriteFile', writes files"):
        litefuse.verify_model(converted(tensorflow), path)
    assert not canary.exists()
    assert litefuse.verify_model(converted(tensorflow), path, allow_side_effects=True).ok
    assert canary.exists()


def test_an_asset_that_is_elsewhere(tensorflow: TensorFlow, tmp_path: Path) -> None:
    path = tensorflow.save(with_others, str(tmp_path / "canary"), str(tmp_path / "words.txt"))
    copy = Path(shutil.copytree(path, tmp_path / "copy"))
    saved = SavedModel.FromString((copy / "saved_model.pb").read_bytes())
    saved.meta_graphs[0].asset_file_def[0].filename = "../../words.txt"
    (copy / "saved_model.pb").write_bytes(saved.SerializeToString())
    with pytest.raises(LitefuseError, match=r"'\.\./\.\./words\.txt' is not the name of a file inside the folder"):
        litefuse.verify_model(converted(tensorflow), copy)


@pytest.mark.parametrize("form", ["sparse", "composite"])
def test_an_output_of_several_tensors(tensorflow: TensorFlow, tmp_path: Path, form: str) -> None:
    tensorflow.call(save_of_1, str(tmp_path / "model"), str(tmp_path / "canary"), "signature")
    file = tmp_path / "model" / "saved_model.pb"
    saved = SavedModel.FromString(file.read_bytes())
    output = saved.meta_graphs[0].signature_def["serving_default"].outputs["y"]
    name = output.name
    if form == "sparse":
        output.coo_sparse.values_tensor_name = name
    else:
        output.composite_tensor.components.add().name = name
    assert output.name == ""
    file.write_bytes(saved.SerializeToString())
    with pytest.raises(LitefuseError, match="the op WriteFile"):
        refuse_side_effects(file.parent, None, {"serving_default": ("y",)}, "model")


def test_a_model_of_tensorflow_1_that_only_computes(tensorflow: TensorFlow, tmp_path: Path) -> None:
    tensorflow.call(save_of_1, str(tmp_path / "model"), "", "")
    assert litefuse.verify_model(converted(tensorflow), tmp_path / "model").ok


def freeze(tf: Any, path: str, canary: str) -> None:
    v1 = tf.compat.v1
    with v1.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [2], name="x")
        with v1.control_dependencies([tf.io.write_file(canary, "written")]):
            tf.identity(x * 2.0, name="y")
        tf.identity(x * 2.0, name="z")
        Path(path).write_bytes(graph.as_graph_def().SerializeToString())


def test_a_frozen_graph(tensorflow: TensorFlow, tmp_path: Path) -> None:
    path, canary = tmp_path / "model.pb", tmp_path / "canary"
    tensorflow.call(freeze, str(path), str(canary))
    with pytest.raises(LitefuseError, match="the op WriteFile, node 'WriteFile', writes files"):
        refuse_side_effects(path, None, {"serving_default": ("y",)}, "model")
    refuse_side_effects(path, None, {"serving_default": ("z",)}, "model")
    result = litefuse.convert(path, graph=litefuse.Graph(outputs=["z"]))
    assert litefuse.verify_model(result, path).ok
    assert not canary.exists()


def test_the_command(tensorflow: TensorFlow, tmp_path: Path) -> None:
    canary, model = tmp_path / "canary", tmp_path / "model.tflite"
    path = tensorflow.save(in_signature, "in the signature", str(canary))
    converted(tensorflow).save(model)
    outcome = CliRunner().invoke(app, ["verify", str(model), str(path)])
    assert outcome.exit_code == ExitCode.NOT_COMPARED
    assert outcome.stderr.startswith(f"error: {path}: the original does more than compute")
    assert not canary.exists()
    outcome = CliRunner().invoke(app, ["verify", str(model), str(path), "--allow-side-effects"])
    assert outcome.exit_code == 0, outcome.output
    assert canary.exists()


def alike(tf: Any, canary: str) -> Any:
    """A function in whose place TensorFlow may run another one."""
    module = tf.Module()
    spec = [tf.TensorSpec([2], tf.float32, name="x")]

    def write(x: Any) -> Any:
        tf.io.write_file(canary, "written")
        return x * 2.0

    def make(function: Any) -> Any:
        return tf.function(function, input_signature=spec, experimental_attributes={"api_implements": "mine"})

    module.other = make(write)
    module.same = make(lambda x: x * 2.0)
    module.f = tf.function(lambda x: {"y": module.same(x)}, input_signature=spec)
    return module, {"serving_default": module.f}


def test_a_function_that_may_be_run_in_place_of_another(tensorflow: TensorFlow, tmp_path: Path) -> None:
    path = tensorflow.save(alike, str(tmp_path / "canary"))
    with pytest.raises(LitefuseError, match="the op WriteFile"):
        litefuse.verify_model(converted(tensorflow), path)


def computed_name(tf: Any, how: str) -> Any:
    """A table that is filled from a file of a computed name, here or in a function that gets it."""
    module = tf.Module()

    def fill(name: Any) -> Any:
        table = tf.raw_ops.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64)
        tf.raw_ops.InitializeTableFromTextFileV2(
            table_handle=table, filename=name, key_index=-2, value_index=-1, vocab_size=-1, delimiter="\t", offset=0
        )
        return 0.0

    def f(x: Any) -> Any:
        name = tf.strings.join(["/tmp/", tf.strings.as_string(x[0])])
        return {"y": x * 2.0 + (fill(name) if how == "here" else tf.function(fill)(name))}

    module.f = tf.function(f, input_signature=[tf.TensorSpec([2], tf.float32, name="x")])
    return module, {"serving_default": module.f}


@pytest.mark.parametrize("how", ["here", "in a function"])
def test_a_table_of_a_file_of_a_computed_name(tensorflow: TensorFlow, how: str) -> None:
    path = tensorflow.save(computed_name, how)
    with pytest.raises(LitefuseError, match=r"the op InitializeTableFromTextFileV2, node .* reads files"):
        litefuse.verify_model(converted(tensorflow), path, inputs={"x": np.zeros(2, np.float32)})
