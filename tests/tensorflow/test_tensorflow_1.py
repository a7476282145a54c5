# pyright: reportUnknownLambdaType=false
"""Models of TensorFlow 1: signatures of the top-level graph, with variables of both kinds, tables and state."""

from __future__ import annotations

import importlib
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.errors import SavedModelError, SignatureError
from tests.tensorflow.checking import check, check_calls, difference, interpreter, normal, op_counts, run_calls

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


@pytest.mark.parametrize("suffix", [".pb", ".pbtxt"])
def test_frozen_graph(tensorflow: TensorFlow, tmp_path: Path, suffix: str) -> None:
    tensorflow.call(convolutional, str(tmp_path / "model"), True, False)
    frozen = tmp_path / f"model{suffix}"
    result = litefuse.convert(frozen, graph=litefuse.Graph(inputs=["net/x"], outputs=["net/logits", "net/scaled:0"]))
    assert op_counts(result.model_bytes)["FULLY_CONNECTED"] == 1
    calls = [("serving_default", {"images": each["images"]}) for each in IMAGES]
    fed = [("serving_default", {"net/x": each["images"]}) for each in IMAGES for _ in range(2)]
    expected = tensorflow.run_calls(tmp_path / "model", [call for call in calls for _ in range(2)])
    for ours, theirs in zip(run_calls(result.model_bytes, fed), expected, strict=True):
        assert not difference(ours["net/logits"], theirs["logits"], rtol=1e-5)
        assert not difference(ours["net/scaled:0"], theirs["scaled"], rtol=1e-5)
    assert litefuse.convert(frozen).report.signatures == ("serving_default",)  # one output that nothing reads
    # The other form than the name says, and a shape for the input as a tensor.
    other = frozen.rename(tmp_path / f"other{'.pb' if suffix == '.pbtxt' else '.pbtxt'}")
    fixed = litefuse.convert(other, shapes={"net/x:0": (4, 8, 8, 3)}, graph=litefuse.Graph(outputs=["net/logits"]))
    assert interpreter(fixed.model_bytes).get_input_details()[0]["shape"].tolist() == [4, 8, 8, 3]
    fixed = litefuse.convert(other, shapes={"net/x": (4, 8, 8, 3)}, graph=litefuse.Graph(inputs=["net/x:0"]))
    assert interpreter(fixed.model_bytes).get_input_details()[0]["shape"].tolist() == [4, 8, 8, 3]
    with pytest.raises(SignatureError, match="no input is called 'net/x:1'"):
        litefuse.convert(other, shapes={"net/x:1": (4, 8, 8, 3)})
    other.write_bytes(b"no graph")
    with pytest.raises(SavedModelError, match="damaged, or not a frozen graph"):
        litefuse.convert(other)


@pytest.mark.parametrize(
    ("arrays", "message", "hint"),
    [
        (
            {"graph": litefuse.Graph(outputs=["nowhere"])},
            "unknown node 'nowhere'",
            "'net/x'; the nodes that nothing reads are 'net/",
        ),
        ({"graph": litefuse.Graph(outputs=["net/logits:3"])}, "has no output 3", ""),
        ({"graph": litefuse.Graph(inputs=[], outputs=["net/logits"])}, "depends on the placeholder 'net/x'", "input"),
        ({"graph": litefuse.Graph(tags=["serve"])}, "a frozen graph has no tags", ""),
    ],
)
def test_tensors_that_a_frozen_graph_lacks(
    tensorflow: TensorFlow, tmp_path: Path, arrays: dict[str, Any], message: str, hint: str
) -> None:
    tensorflow.call(convolutional, str(tmp_path / "model"), True, False)
    with pytest.raises(SavedModelError, match=message) as caught:
        litefuse.convert(tmp_path / "model.pb", **arrays)
    assert hint in caught.value.hint
    assert not list(tmp_path.glob("*.part"))


def without_shapes(tf: Any, path: str, kind: str) -> None:
    """A SavedModel, and the graph of its signature frozen: its nodes say nothing of shapes."""
    random = np.random.default_rng(5)
    module = tf.Module()
    if kind == "layer":
        module.layer = importlib.import_module("keras").layers.LSTM(4, return_sequences=True)
        module.layer.build((None, None, 3))
        for weight in module.layer.weights:
            weight.assign(random.normal(size=weight.shape))
        serve, specification = module.layer, tf.TensorSpec([None, None, 3], tf.float32, "x")
    elif kind == "scan":
        specification = tf.TensorSpec([None, None, 3], tf.float32, "x")
        module.initial = tf.Variable([0.5, 1.0, -1.0])

        def serve(x: Any) -> Any:
            first = tf.zeros_like(x[:, 0]) + module.initial
            states = tf.scan(lambda state, each: state * 0.5 + each, tf.transpose(x, [1, 0, 2]), first)
            return tf.map_fn(lambda state: tf.reduce_max(state, 1), states)
    elif kind == "words":
        specification = tf.TensorSpec([None, None, 3], tf.float32, "x")
        module.words = tf.constant([b"cat", b"dog", b"bird"])

        def serve(x: Any) -> Any:
            return tf.gather(module.words, tf.argmax(x, -1))
    else:
        module.tables = [tf.Variable(random.normal(size=(5, 4)), dtype=tf.float32) for _ in range(3)]

        def serve(x: Any) -> Any:
            if kind == "partitioned":
                return tf.nn.relu(tf.compat.v1.nn.embedding_lookup(module.tables, x))
            places = tf.stack([x // 4, x % 4], 1)
            sparse = tf.SparseTensor(tf.cast(places, tf.int64), x, [5, 4])
            return tf.compat.v1.nn.safe_embedding_lookup_sparse(module.tables, sparse, combiner="sqrtn")

        specification = tf.TensorSpec([None], tf.int32, "x")
    module.serve = tf.function(serve, input_signature=[specification])
    concrete = module.serve.get_concrete_function()
    tf.saved_model.save(module, path, concrete)
    freezing = importlib.import_module("tensorflow.python.framework.convert_to_constants")
    frozen = freezing.convert_variables_to_constants_v2(concrete, lower_control_flow=False)
    Path(f"{path}.pb").write_bytes(frozen.graph.as_graph_def().SerializeToString())


@pytest.mark.parametrize("kind", ["layer", "scan", "words", "partitioned", "sparse"])
def test_frozen_graph_without_shapes(tensorflow: TensorFlow, tmp_path: Path, kind: str) -> None:
    tensorflow.call(without_shapes, str(tmp_path / "model"), kind)
    random = np.random.default_rng(6)
    if kind in {"layer", "scan", "words"}:
        inputs = [random.normal(size=(batch, time, 3)).astype(np.float32) for batch, time in ((1, 5), (3, 7))]
    else:
        inputs = [np.array(ids, np.int32) for ids in ([0, 13, 7, 14], [2], [3, 4, 6, 9, 11, 12])]
    result = litefuse.convert(tmp_path / "model.pb")
    assert [each.name for each in result.report.composites] == ["lstm_loop"] * (kind == "layer")
    calls = [("serving_default", {"x": each}) for each in inputs for _ in range(2)]
    expected = tensorflow.run_calls(tmp_path / "model", calls)
    for ours, theirs in zip(run_calls(result.model_bytes, calls), expected, strict=True):
        (got,), (wanted,) = ours.values(), theirs.values()
        if kind == "words":
            assert got.tolist() == wanted.tolist()
        else:
            assert not difference(got, wanted, rtol=1e-5)


def test_graph_with_variables_is_not_frozen(tensorflow: TensorFlow, tmp_path: Path) -> None:
    tensorflow.call(graph_with_variables, str(tmp_path / "graph.pb"))
    with pytest.raises(SavedModelError, match="has the variable 'w'"):
        litefuse.convert(tmp_path / "graph.pb", graph=litefuse.Graph(outputs=["y"]))


def test_arrays_are_for_frozen_graphs(tensorflow: TensorFlow, tmp_path: Path) -> None:
    tensorflow.call(stateful, str(tmp_path / "model"), True)
    with pytest.raises(SavedModelError, match="named for a frozen graph only"):
        litefuse.convert(tmp_path / "model", graph=litefuse.Graph(outputs=["after"]))


def graph_with_variables(tf: Any, path: str) -> None:
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        tf.add(v1.placeholder(tf.float32, [2], "x"), v1.get_variable("w", [2]), "y")
        Path(path).write_bytes(graph.as_graph_def().SerializeToString())


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


def written_references(tf: Any, path: str) -> None:
    """What is read of reference variables after they are written, in each of the ways that there are."""
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, 2], "x")
        y: dict[str, Any] = {}
        for name in ("identity", "computed", "beside", "result", "twice"):
            count = v1.get_variable(name, initializer=tf.constant([1.0, -2.0]), use_resource=False)
            added = v1.assign_add(count, tf.reduce_sum(x, 0))
            with tf.control_dependencies([added]):
                if name == "identity":
                    y[name] = tf.identity(count)
                elif name == "computed":
                    y[name] = count * 1.5
                elif name == "beside":
                    y[name] = x + count
                elif name == "result":
                    y[name] = tf.identity(added)
                else:
                    doubled = v1.assign(count, count * 2.0)
                    with tf.control_dependencies([doubled]):
                        y[name] = count + 0.5
        average = v1.get_variable("average", initializer=tf.constant([0.0, 4.0]), use_resource=False)
        moved = v1.assign_sub(average, (average - tf.reduce_mean(x, 0)) * 0.1)
        with tf.control_dependencies([moved]):
            y["normal"] = x - average
        session.run(v1.global_variables_initializer())
        v1.saved_model.simple_save(session, path, {"x": x}, y)


def test_references_are_read_after_what_writes_them(tensorflow: TensorFlow, tmp_path: Path) -> None:
    tensorflow.call(written_references, str(tmp_path / "model"))
    random = np.random.default_rng(3)
    check(tensorflow, tmp_path / "model", [{"x": random.normal(size=(n, 2)).astype(np.float32)} for n in (3, 1, 2)])


def with_tables_of_lists(tf: Any, path: str) -> None:
    lookup_ops: Any = importlib.import_module("tensorflow.python.ops.lookup_ops")
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        words, ids = v1.placeholder(tf.string, [None], "words"), v1.placeholder(tf.int64, [None], "ids")
        names = ["a", "bb", "ccc"]
        tables: list[Any] = [
            lookup_ops.index_table_from_tensor(names, default_value=-1).lookup(words),
            lookup_ops.index_to_string_table_from_tensor(names, default_value="?").lookup(ids),
            tf.lookup.StaticHashTable(
                tf.lookup.KeyValueTensorInitializer(tf.cast(tf.range(10, 16, 2) - 4, tf.int64), names), "none"
            ).lookup(ids),
        ]
        session.run(v1.tables_initializer())
        outputs = {f"y{number}": value for number, value in enumerate(tables)}
        builder = v1.saved_model.Builder(path)
        signature = v1.saved_model.predict_signature_def({"words": words, "ids": ids}, outputs)
        builder.add_meta_graph_and_variables(
            session, ["serve"], {"serving_default": signature}, main_op=v1.tables_initializer()
        )
        builder.save()


def test_tables_of_positions(tensorflow: TensorFlow, tmp_path: Path) -> None:
    """TensorFlow 1 fills a table of a list with ``Range(0, Size(list))``."""
    tensorflow.call(with_tables_of_lists, str(tmp_path / "model"))
    inputs = {"words": np.array([b"bb", b"x", b"a", b"ccc"], object), "ids": np.array([2, 0, 8, 6, 7], np.int64)}
    check(tensorflow, tmp_path / "model", inputs)


def ending_in_a_call(tf: Any, path: str) -> None:
    v1 = tf.compat.v1

    @importlib.import_module("tensorflow.python.framework.function").Defun(tf.float32)
    def squares(x: Any) -> Any:
        return x * x + 0.25

    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [None, 3], "x")
        squares(x, name="y")
        Path(path).write_bytes(graph.as_graph_def().SerializeToString())


def test_an_output_that_is_a_call(tensorflow: TensorFlow, tmp_path: Path) -> None:
    tensorflow.call(ending_in_a_call, str(tmp_path / "model.pb"))
    result = litefuse.convert(tmp_path / "model.pb", graph=litefuse.Graph(outputs=["y"]))
    x = np.random.default_rng(1).normal(size=(4, 3)).astype(np.float32)
    for outputs in run_calls(result.model_bytes, [("serving_default", {"x": x})] * 2):
        np.testing.assert_allclose(outputs["y"], x * x + 0.25, rtol=1e-6)


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


def frozen_tables(tf: Any, folder: str) -> None:
    """Graphs with tables: with what fills them, and without; and that of a function of TensorFlow 2."""
    lookup_ops: Any = importlib.import_module("tensorflow.python.ops.lookup_ops")
    freezing: Any = importlib.import_module("tensorflow.python.framework.convert_to_constants")
    v1, where = tf.compat.v1, Path(folder)
    vocabulary = where / "made_here" / "vocabulary.txt"
    vocabulary.parent.mkdir()
    vocabulary.write_text("a\nb\nccc\n")
    with tf.Graph().as_default() as graph, v1.Session() as session:
        words = v1.placeholder(tf.string, [None], "words")
        of_file = lookup_ops.index_table_from_file(str(vocabulary), default_value=-1).lookup(words)
        of_list = lookup_ops.index_table_from_tensor(["b", "a"], default_value=7).lookup(words)
        tf.stack([of_file, of_list], name="ids")
        fill = [each.name for each in graph.get_operations() if "Initialize" in each.type or "Import" in each.type]
        for name, outputs in {"kept": ["ids", *fill], "pruned": ["ids"]}.items():
            frozen = v1.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), outputs)
            (where / f"{name}.pb").write_bytes(frozen.SerializeToString())
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), 0)
    captured = tf.function(table.lookup, input_signature=[tf.TensorSpec([None], tf.string)]).get_concrete_function()
    frozen = freezing.convert_variables_to_constants_v2(captured)
    (where / "function.pb").write_bytes(frozen.graph.as_graph_def().SerializeToString())


def test_tables_of_frozen_graphs(tensorflow: TensorFlow, tmp_path: Path) -> None:
    tensorflow.call(frozen_tables, str(tmp_path))
    words = {"words": np.array([b"ccc", b"", b"a", b"b"], object)}
    kept, ids = tmp_path / "kept.pb", [[2, -1, 0, 1], [7, 7, 1, 0]]
    for outputs in run_calls(litefuse.convert(kept).model_bytes, [("serving_default", words)] * 2):
        assert outputs["ids"].tolist() == ids
    # On another machine the file lies beside the graph, and is read nowhere else.
    moved = tmp_path / "elsewhere" / "kept.pb"
    moved.parent.mkdir()
    kept.rename(moved)
    with pytest.raises(
        SavedModelError, match=r"made_here/vocabulary\.txt' that fills table .* not beside the graph"
    ) as no:
        litefuse.convert(moved)
    assert f"Put vocabulary.txt into the folder {moved.parent}" in no.value.hint
    (tmp_path / "made_here" / "vocabulary.txt").rename(moved.with_name("vocabulary.txt"))
    for outputs in run_calls(litefuse.convert(moved).model_bytes, [("serving_default", words)]):
        assert outputs["ids"].tolist() == ids


@pytest.mark.parametrize(
    ("graph", "message", "hint"),
    [
        ("pruned", "is filled by nothing in the graph", "Name the op that fills the table among the outputs"),
        ("function", "table_handle' is a resource", "leaves its tables out: convert the SavedModel"),
    ],
)
def test_frozen_graphs_that_lost_their_tables(
    tensorflow: TensorFlow, tmp_path: Path, graph: str, message: str, hint: str
) -> None:
    tensorflow.call(frozen_tables, str(tmp_path))
    with pytest.raises(SavedModelError, match=message) as caught:
        litefuse.convert(tmp_path / f"{graph}.pb")
    assert hint in caught.value.hint


def with_local_variables(tf: Any, path: str, kind: str) -> None:
    """Variables that no checkpoint holds, and one that is set to something else than it was saved as."""
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, 2], "x")
        resource = kind != "reference"
        saved = v1.get_variable("saved", initializer=tf.constant([3.0, 4.0]), use_resource=resource)
        local = v1.get_local_variable("local", initializer=np.array([0.5, -2.0], np.float32), use_resource=resource)
        zeros = v1.get_local_variable("zeros", [300, 2], initializer=v1.zeros_initializer(), use_resource=resource)
        y = x * local + zeros[0] + (0.0 if kind == "alone" else saved)
        if kind == "random":
            y += v1.get_local_variable("random", [2], initializer=v1.random_normal_initializer(), use_resource=True)
        session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        main = [v1.local_variables_initializer()]
        if kind == "reset":
            main.append(v1.assign(saved, [7.0, 8.0]).op)
        signature = v1.saved_model.predict_signature_def({"x": x}, {"y": y})
        builder = v1.saved_model.Builder(path)
        saver = None if kind != "alone" else v1.train.Saver([saved])
        builder.add_meta_graph_and_variables(
            session, ["serve"], {"serving_default": signature}, main_op=tf.group(main), saver=saver
        )
        builder.save()


@pytest.mark.parametrize("kind", ["resource", "reference", "reset", "alone"])
def test_variables_that_the_model_sets_when_it_is_loaded(tensorflow: TensorFlow, tmp_path: Path, kind: str) -> None:
    tensorflow.call(with_local_variables, str(tmp_path / "model"), kind)
    if kind == "alone":
        shutil.rmtree(tmp_path / "model" / "variables")
    x = np.array([[1, 2], [3, -4], [5, 6]], np.float32)
    saved = {"alone": [0, 0], "reset": [7, 8]}.get(kind, [3, 4])
    model = litefuse.convert(tmp_path / "model").model_bytes
    for outputs in run_calls(model, [("serving_default", {"x": x[:rows]}) for rows in (1, 3)]):
        np.testing.assert_array_equal(outputs["y"], x[: len(outputs["y"])] * [0.5, -2.0] + saved)


def test_variable_whose_first_value_is_computed(tensorflow: TensorFlow, tmp_path: Path) -> None:
    tensorflow.call(with_local_variables, str(tmp_path / "model"), "random")
    with pytest.raises(SavedModelError, match=r"initial value of variable 'random' is not known: \w+") as caught:
        litefuse.convert(tmp_path / "model")
    assert "GLOBAL_VARIABLES" in caught.value.hint


def refused(tf: Any, path: str, kind: str) -> None:
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [2], "x")
        if kind == "scatter":
            count = v1.get_variable("count", initializer=tf.constant([1.0, 2.0]), use_resource=False)
            y = v1.scatter_add(count, [0], x[:1])
        else:
            y = x + v1.placeholder(tf.float32, [2], "other")
        session.run(v1.global_variables_initializer())
        v1.saved_model.simple_save(session, path, {"x": x}, {"y": y})


@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        ("scatter", SavedModelError, "ScatterAdd changes a reference variable"),
        ("unfed", SavedModelError, "depends on the placeholder 'other'"),
    ],
)
def test_refused(tensorflow: TensorFlow, tmp_path: Path, kind: str, error: type[Exception], message: str) -> None:
    tensorflow.call(refused, str(tmp_path / "model"), kind)
    with pytest.raises(error, match=message):
        litefuse.convert(tmp_path / "model")
