"""The small TensorFlow models that the fuzzer mutates: what a model may be made of, in as few nodes as it takes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any


def dense(tf: Any) -> Any:
    return tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2, activation="relu")])


def convolution(tf: Any) -> Any:
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [tf.keras.Input((6, 6, 1)), layers.Conv2D(2, 3), layers.MaxPooling2D(), layers.Flatten(), layers.Softmax()]
    )


def recurrent(tf: Any) -> Any:
    return tf.keras.Sequential([tf.keras.Input((3, 2)), tf.keras.layers.LSTM(2)])


def _serving(tf: Any, function: Any, *specs: tuple[list[int | None], str]) -> Any:
    module = tf.Module()
    names = "xyzuv"
    module.serve = tf.function(
        function,
        input_signature=[tf.TensorSpec(shape, dtype, name=names[i]) for i, (shape, dtype) in enumerate(specs)],
    )
    return module, {"serving_default": module.serve}


def composites(tf: Any) -> Any:
    custom = 'name: "scaled" attr { key: "tfl_fusable_op" value { b: true } } attr { key: "by" value { i: 3 } }'

    @tf.function(experimental_implements=custom)
    def scaled(x: Any) -> Any:
        return x * 3.0

    @tf.function(experimental_implements="embedding_lookup")
    def lookup(table: Any, ids: Any) -> Any:
        return tf.gather(table, ids)

    def serve(x: Any, ids: Any) -> Any:
        return {"scaled": scaled(x), "rows": lookup(tf.constant([[1.0, 2.0], [3.0, 4.0]]), ids)}

    return _serving(tf, serve, ([None, 2], "float32"), ([None], "int32"))


def control_flow(tf: Any) -> Any:
    def serve(x: Any, n: Any) -> Any:
        y = tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2.0, lambda: x - 1.0)
        chosen = tf.switch_case(n, [lambda: y, lambda: -y, lambda: y + 1.0])

        def more(i: Any, _total: Any) -> Any:
            return i < n

        def step(i: Any, total: Any) -> Any:
            return i + 1, total + chosen

        _, total = tf.while_loop(more, step, [0, tf.zeros_like(x)])
        return {"total": total, "mapped": tf.map_fn(tf.square, x)}

    return _serving(tf, serve, ([None, 2], "float32"), ([], "int32"))


def state(tf: Any) -> Any:
    module = tf.Module()
    module.count = tf.Variable(0, name="count")
    module.weight = tf.Variable([[1.0, 2.0]], name="weight")

    @tf.function(input_signature=[tf.TensorSpec([None, 2], "float32", name="x")])
    def step(x: Any) -> Any:
        module.count.assign_add(1)
        module.weight.assign(module.weight + tf.reduce_mean(x, 0, keepdims=True))
        return {"y": x * module.weight, "count": module.count.read_value()}

    @tf.function(input_signature=[])
    def read() -> Any:
        return {"weight": module.weight.read_value()}

    module.step, module.read = step, read
    return module, {"step": step, "read": read}


def tables(tf: Any) -> Any:
    path = Path(tempfile.mkdtemp(), "vocabulary.txt")
    path.write_text("a\nbb\nccc\n")
    module = tf.Module()
    lookup = tf.lookup
    module.file = lookup.StaticHashTable(
        lookup.TextFileInitializer(
            str(path), "string", lookup.TextFileIndex.WHOLE_LINE, "int64", lookup.TextFileIndex.LINE_NUMBER
        ),
        -1,
    )
    module.pairs = lookup.StaticHashTable(
        lookup.KeyValueTensorInitializer(tf.constant([1, 2], tf.int64), tf.constant([0.5, 1.5])), 0.0
    )

    @tf.function(input_signature=[tf.TensorSpec([None], "string", name="x")])
    def serve(x: Any) -> Any:
        ids = module.file.lookup(x)
        return {"ids": ids, "values": module.pairs.lookup(ids)}

    module.serve = serve
    return module, {"serving_default": serve}


def strings(tf: Any) -> Any:
    def serve(x: Any) -> Any:
        lower = tf.strings.lower(x)
        replaced = tf.strings.regex_replace(lower, "[a-c]+", "x")
        return {
            "replaced": replaced,
            "words": tf.strings.split(replaced).to_tensor(""),
            "hash": tf.strings.to_hash_bucket_fast(x, 10),
            "length": tf.strings.length(x),
            "joined": tf.strings.join([x, lower], "-"),
        }

    return _serving(tf, serve, ([None], "string"))


def lacking_ops(tf: Any) -> Any:
    def serve(x: Any) -> Any:
        return {
            "patches": tf.image.extract_patches(x, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID"),
            "rolled": tf.roll(x, [1], [1]),
            "product": tf.math.cumprod(x, 1),
            "erf": tf.math.erf(x),
            "resized": tf.image.resize(x, [2, 2]),
            "top": tf.math.top_k(tf.reshape(x, [-1, 16]), 2).values,
        }

    return _serving(tf, serve, ([None, 4, 4, 1], "float32"))


def arithmetic(tf: Any) -> Any:
    def serve(x: Any, y: Any) -> Any:
        z = tf.transpose(tf.matmul(x, y, transpose_b=True))
        s = tf.shape(x)
        return {
            "z": tf.concat([z, tf.nn.softmax(z)], 0)[:, :1],
            "s": tf.reshape(x, [s[1], -1]) / 2.0,
            "t": tf.stack(tf.split(tf.pad(x, [[0, 0], [1, 1]]), 2, 1)),
            "g": tf.gather(x, tf.argmax(x, 1), axis=1, batch_dims=1),
            "w": tf.where(x > 0.0, x, tf.exp(x)),
        }

    return _serving(tf, serve, ([None, 2], "float32"), ([3, 2], "float32"))


def arrays(tf: Any) -> Any:
    def serve(x: Any) -> Any:
        array = tf.TensorArray("float32", 0, dynamic_size=True, clear_after_read=False)

        def more(i: Any, _array: Any) -> Any:
            return i < tf.shape(x)[0]

        def step(i: Any, array: Any) -> Any:
            return i + 1, array.write(i, x[i] + 1.0)

        _, array = tf.while_loop(more, step, [0, array])
        return {"y": array.stack(), "scanned": tf.scan(tf.add, x)}

    return _serving(tf, serve, ([None, 2], "float32"))


BUILDERS: Mapping[str, Callable[[Any], Any]] = {
    each.__name__: each
    for each in (
        *(dense, convolution, recurrent, composites, control_flow, state, tables, strings, lacking_ops),
        *(arithmetic, arrays),
    )
}


def save_version_1(tf: Any, folder: str) -> None:
    """A SavedModel of TensorFlow 1, with conditions and loops of version 1, variables and a table."""
    v1 = tf.compat.v1
    v1.disable_control_flow_v2()
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder("float32", [None, 2], "x")
        w = v1.get_variable("w", initializer=[[1.0, 2.0]], use_resource=False)
        y = v1.cond(tf.reduce_sum(x) > 0, lambda: x * w, lambda: x - w)

        def more(i: Any, _total: Any) -> Any:
            return i < 3

        def step(i: Any, total: Any) -> Any:
            return i + 1, total + y

        _, z = v1.while_loop(more, step, [0, tf.zeros_like(x)])
        session.run(v1.global_variables_initializer())
        v1.saved_model.simple_save(session, folder, {"x": x}, {"z": z})


def save_keras(tf: Any, folder: str) -> None:
    """Two files of Keras's in each of its formats."""
    tf.keras.utils.set_random_seed(0)
    for name, build in (("dense", dense), ("recurrent", recurrent)):
        for suffix in (".keras", ".h5"):
            build(tf).save(str(Path(folder, name + suffix)))


def save_all(tf: Any, folder: str) -> None:
    """All the SavedModels, each in a folder of its name."""
    from tests.tensorflow.saved_models import save

    for name, build in BUILDERS.items():
        save(tf, str(Path(folder, name)), build, ())
    save_version_1(tf, str(Path(folder, "version_1")))
