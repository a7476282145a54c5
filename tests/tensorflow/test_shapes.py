# pyright: reportUnknownLambdaType=false
"""Shapes: a batch that stays open costs nothing, and sizes that are asked for reach all that depends on them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.errors import GraphError, LitefuseError, SignatureError
from tests.every import every
from tests.tensorflow.checking import check, interpreter, normal, op_counts, partition_count

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tests.tensorflow.process import TensorFlow

# What only carries sizes along.
ARITHMETIC = frozenset(
    {
        "BROADCAST_ARGS",
        "BROADCAST_TO",
        "CONCATENATION",
        "FILL",
        "GATHER",
        "PACK",
        "REDUCE_PROD",
        "SHAPE",
        "STRIDED_SLICE",
    }
)


def weights(*shape: int, seed: int = 1) -> Any:
    return (np.random.default_rng(seed).standard_normal(shape) * 0.5).astype(np.float32)


def serving(tf: Any, function: Callable[..., Any], shapes: Mapping[str, Sequence[int | None]]) -> Any:
    module = tf.Module()
    specs = [tf.TensorSpec(shape, tf.float32, name=name) for name, shape in shapes.items()]
    module.serve = tf.function(function, input_signature=specs)
    return module, {"serving_default": module.serve}


def flatten(tf: Any, x: Any) -> Any:
    return tf.reshape(x, [tf.shape(x)[0], -1]) @ weights(60, 3)


def dense_of_rank_3(tf: Any, x: Any) -> Any:
    return tf.nn.relu(tf.tensordot(tf.reshape(x, [-1, 12, 5]), weights(5, 6), [[2], [0]]) + weights(6))


def dense_of_rank_4(tf: Any, x: Any) -> Any:
    y = tf.tensordot(x, weights(5, 6), [[3], [0]]) + weights(6)
    return tf.tensordot(tf.nn.relu(y), weights(6, 2), [[3], [0]])


def squeeze_and_excite(tf: Any, x: Any) -> Any:
    batch = tf.shape(x)[0]
    y = tf.reshape(tf.reduce_mean(x, [1, 2]), tf.stack([batch, 1, 1, 5]))
    return x * tf.sigmoid(tf.nn.conv2d(y, weights(1, 1, 5, 5), 1, "SAME"))


def attention(tf: Any, x: Any) -> Any:
    y = tf.reshape(x, [-1, 12, 5])
    batch = tf.shape(y)[0]

    def heads(seed: int) -> Any:
        projected = tf.tensordot(y, weights(5, 8, seed=seed), [[2], [0]])
        return tf.reshape(projected, tf.stack([batch, 12, 2, 4])) + weights(2, 4, seed=seed)

    query, key, value = heads(1), heads(2), heads(3)
    scores = tf.einsum("bqhd,bkhd->bhqk", query, key)
    mask = tf.broadcast_to(tf.linalg.band_part(tf.ones([12, 12]), -1, 0) > 0, tf.stack([batch, 2, 12, 12]))
    found = tf.einsum("bhqk,bkhd->bqhd", tf.nn.softmax(tf.where(mask, scores, -1e9)), value)
    return tf.reshape(found, tf.stack([batch, 12, 8]))


def token(tf: Any, x: Any) -> Any:
    y = tf.reshape(x, [-1, 12, 5])
    first = tf.tile(tf.constant(weights(1, 1, 5)), [tf.shape(y)[0], 1, 1])
    return tf.concat([first, y, first], 1) + weights(14, 5, seed=2)


def arithmetic(tf: Any, x: Any) -> Any:
    shape = tf.shape(x, tf.int64)
    rows = tf.cast(tf.maximum(shape[1] * shape[2] // 2, 1), tf.int32)
    sizes = tf.concat([[-1, rows], tf.cast(shape[::-1][:1], tf.int32) * 2], 0)
    return (
        tf.reshape(x[:, ::2], [tf.shape(x)[0], -1])[:, : tf.size(sizes) * 10]
        + tf.reduce_sum(tf.reshape(x, sizes), [1, 2], keepdims=True)[:, 0]
    )


MODELS = [
    flatten,
    dense_of_rank_3,
    dense_of_rank_4,
    squeeze_and_excite,
    attention,
    token,
    arithmetic,
]


def models(tf: Any, batch: int | None) -> Any:
    """One signature for each model."""
    module = tf.Module()
    spec = tf.TensorSpec([batch, 3, 4, 5], tf.float32, name="x")

    def served(model: Callable[..., Any]) -> Any:
        return tf.function(lambda x: {"y": model(tf, x)}, input_signature=[spec])

    module.functions = {each.__name__: served(each) for each in MODELS}
    return module, dict(module.functions)


@pytest.mark.parametrize("name", [each.__name__ for each in MODELS])
def test_an_open_batch_costs_nothing(tensorflow: TensorFlow, name: str) -> None:
    inputs = normal({"x": (None, 3, 4, 5)})
    result = check(tensorflow, tensorflow.save(models, None), inputs, signature=name, signatures=[name])
    counts = op_counts(result.model_bytes)
    fixed = op_counts(litefuse.convert(tensorflow.save(models, 1), signatures=[name]).model_bytes)
    assert counts.total() <= fixed.total(), (counts, fixed)
    assert not ARITHMETIC & counts.keys() - fixed.keys(), counts
    asked = litefuse.convert(tensorflow.save(models, None), signatures=[name], batch=1).model_bytes
    assert op_counts(asked) == fixed


def test_a_dense_layer_is_one_op(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(models, None)
    four = litefuse.convert(path, signatures=["dense_of_rank_4"]).model_bytes
    assert op_counts(four) == {"FULLY_CONNECTED": 2}


def sequences(tf: Any) -> Any:
    """Batch and length are open: sizes are computed once."""

    def serve(x: Any) -> Any:
        y = tf.tensordot(x, weights(4, 8), [[2], [0]])
        for seed in range(3):
            shape = tf.shape(y)
            heads = tf.reshape(y, tf.stack([shape[0], shape[1], 2, 4])) * weights(4, seed=seed)
            y = tf.reshape(heads, tf.stack([shape[0], shape[1], 8]))
        return {"y": y}

    return serving(tf, serve, {"x": [None, None, 4]})


def test_of_two_open_sizes_the_shape_is_computed_once(tensorflow: TensorFlow) -> None:
    random = np.random.default_rng(3)
    inputs = [{"x": random.standard_normal((b, n, 4)).astype(np.float32)} for b, n in ((1, 5), (3, 2), (1, 5))]
    counts = op_counts(check(tensorflow, tensorflow.save(sequences), inputs).model_bytes)
    assert counts["SHAPE"] == 1
    assert counts["FULLY_CONNECTED"] == 1
    assert counts["PACK"] <= 2


def heads_by_reshape(tf: Any, x: Any) -> Any:
    """Attention as many write it: dense layers, and reshapes whose sizes are taken from the tensors."""
    batch = tf.shape(x)[0]

    def dense(y: Any, seed: int) -> Any:
        return tf.tensordot(y, weights(6, 6, seed=seed), [[2], [0]]) + weights(6, seed=seed)

    def heads(seed: int) -> Any:
        return tf.transpose(tf.reshape(dense(x, seed), tf.stack([batch, -1, 2, 3])), [0, 2, 1, 3])

    scores = tf.matmul(heads(1) * 0.5, heads(2), transpose_b=True)
    found = tf.transpose(tf.matmul(tf.nn.softmax(scores), heads(3)), [0, 2, 1, 3])
    return x + dense(tf.reshape(found, tf.stack([batch, -1, 6])), 4)


def heads_by_einsum(tf: Any, x: Any) -> Any:
    """As Keras does it, with the parts of the constants in another order, and a mask with new axes."""
    length = tf.shape(x)[1]
    query = tf.einsum("btd,ndh->btnh", x, weights(2, 6, 3)) + weights(2, 3)
    key, value = (tf.einsum("abc,cde->abde", x, weights(6, 2, 3, seed=seed)) for seed in (2, 3))
    scores = tf.einsum("aecd,abcd->acbe", key, query)
    mask = (tf.range(length)[:, None] >= tf.range(length))[None, None]
    found = tf.einsum("acbe,aecd->abcd", tf.nn.softmax(scores - 100.0 * tf.cast(~mask, tf.float32)), value)
    return x + tf.einsum("abcd,cde->abe", found, weights(2, 3, 6)) + weights(6)


def convolution_of_rank_1(tf: Any, x: Any) -> Any:
    return tf.nn.relu(tf.nn.conv1d(x, weights(3, 6, 4), 1, "SAME") + weights(4))


def rotation(tf: Any, x: Any) -> Any:
    """What rotary embeddings do with the halves of each head."""
    first, second = tf.split(x, 2, 2)
    shape = tf.shape(x)
    rotated = tf.reshape(tf.stack([-second, first], 2), shape)
    return tf.squeeze(tf.reshape(rotated * 0.5 + x, tf.stack([shape[0], shape[1], 1, 6])), [2])


LONG_MODELS = [heads_by_reshape, heads_by_einsum, convolution_of_rank_1, rotation]


def long_models(tf: Any) -> Any:
    """One signature for each model; batch and length are open."""
    module = tf.Module()
    spec = tf.TensorSpec([None, None, 6], tf.float32, name="x")

    def served(model: Callable[..., Any]) -> Any:
        return tf.function(lambda x: {"y": model(tf, x)}, input_signature=[spec])

    module.functions = {each.__name__: served(each) for each in LONG_MODELS}
    return module, dict(module.functions)


@pytest.mark.parametrize("name", [each.__name__ for each in LONG_MODELS])
def test_an_open_batch_costs_nothing_where_the_length_is_open(tensorflow: TensorFlow, name: str) -> None:
    random = np.random.default_rng(3)
    sizes = [(1, 5), (3, 2), (1, 1), (3, 7)]
    inputs = [{"x": random.standard_normal((b, n, 6)).astype(np.float32)} for b, n in sizes]
    path = tensorflow.save(long_models)
    result = check(tensorflow, path, inputs, signature=name, signatures=[name]).model_bytes
    one = litefuse.convert(path, signatures=[name], batch=1).model_bytes
    counts, fixed = op_counts(result), op_counts(one)
    assert counts.total() <= fixed.total(), (counts - fixed, fixed - counts)
    assert not ARITHMETIC & counts.keys() - fixed.keys(), counts
    parts = [partition_count(model, inputs[0], signature=name) for model in (result, one)]
    assert parts[0] <= parts[1]


def test_split_heads_without_xnnpack(tensorflow: TensorFlow) -> None:
    """LiteRT's own kernels compute the same, of an empty batch as well, which XNNPACK refuses."""
    path = tensorflow.save(long_models)
    model = litefuse.convert(path, signatures=["heads_by_einsum"]).model_bytes
    stock: Any = importlib.import_module("ai_edge_litert.interpreter")
    plain = stock.Interpreter(
        model_content=model, experimental_op_resolver_type=stock.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    ).get_signature_runner("heads_by_einsum")
    x = np.random.default_rng(3).standard_normal((3, 5, 6)).astype(np.float32)
    expected = interpreter(model).get_signature_runner("heads_by_einsum")(x=x)["y"]
    np.testing.assert_allclose(plain(x=x)["y"], expected, atol=1e-5)
    assert plain(x=x[:0])["y"].shape == (0, 5, 6)
    with pytest.raises(RuntimeError, match="XNNPack"):
        interpreter(model).get_signature_runner("heads_by_einsum")(x=x[:0])


def sized_by_length(tf: Any) -> Any:
    kernel, table = weights(16, 16), weights(12, 16)

    def serve(x: Any) -> Any:
        batch, length = tf.shape(x)[0], tf.shape(x)[1]
        x += tf.slice(table, [0, 0], [length, -1])
        angles = tf.range(0.0, tf.cast(length, tf.float32), 1.0)[:, None, None] * tf.constant([1.0, 0.3])
        heads = tf.reshape(tf.matmul(x, kernel), [batch, length, 8, 2]) * tf.cos(angles)
        scores = tf.nn.softmax(tf.einsum("bqhd,bkhd->bhqk", heads, heads))
        mixed = tf.einsum("bhqk,bkhd->bqhd", scores, heads)
        wide = tf.reshape(mixed, [batch * length, 16]) + tf.fill([batch * length, 16], 0.5)
        return {"y": tf.reshape(wide, [batch, length, 16])}

    return serving(tf, serve, {"x": [None, None, 16]})


def test_shapes_are_known_before_the_model_runs(tensorflow: TensorFlow) -> None:
    sets = [normal({"x": (None, length, 16)}, batches=[batch])[0] for batch, length in ((2, 8), (3, 5))]
    model = check(tensorflow, tensorflow.save(sized_by_length), sets).model_bytes
    runner = importlib.import_module("ai_edge_litert.interpreter")
    # XNNPACK does not show the tensors within what it runs.
    plain = runner.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    engine = runner.Interpreter(model_content=model, experimental_op_resolver_type=plain)
    engine.resize_tensor_input(engine.get_input_details()[0]["index"], (3, 5, 16))
    engine.allocate_tensors()
    before = [each["shape"].tolist() for each in engine.get_tensor_details()]
    engine.set_tensor(engine.get_input_details()[0]["index"], sets[1]["x"])
    engine.invoke()
    assert [each["shape"].tolist() for each in engine.get_tensor_details()] == before
    assert "RANGE" in op_counts(model)
    assert "PACK" not in op_counts(model)


def growing(tf: Any) -> Any:
    """Of the loop's variables one grows and one keeps its shape; the branches differ in shape."""

    def serve(x: Any) -> Any:
        def body(i: Any, kept: Any, grown: Any) -> Any:
            kept = tf.reshape(tf.tensordot(kept, weights(4, 4), [[2], [0]]), tf.shape(kept))
            return i + 1, kept, tf.concat([grown, kept[:, :1, 0] * tf.cast(tf.shape(grown)[1], tf.float32)], 1)

        start = x[:, :1, 0]
        shapes = [tf.TensorShape([]), tf.TensorShape([None, 3, 4]), tf.TensorShape([None, None])]
        _, kept, grown = tf.while_loop(lambda i, _k, _g: i < 3, body, [tf.constant(0), x, start], shapes)
        chosen = tf.cond(tf.reduce_sum(x) > 0.0, lambda: tf.concat([kept, kept], 1), lambda: kept)
        return {"kept": kept, "grown": grown, "chosen": chosen, "last": tf.reshape(kept, [tf.shape(x)[0], -1])}

    return serving(tf, serve, {"x": [None, 3, 4]})


def test_loops_and_branches_whose_shapes_change(tensorflow: TensorFlow) -> None:
    check(tensorflow, tensorflow.save(growing), normal({"x": (None, 3, 4)}))


def two_inputs(tf: Any) -> Any:
    def serve(x: Any, y: Any) -> Any:
        return {"sum": x + y, "flat": tf.reshape(x, [tf.shape(x)[0], -1]) @ weights(6, 2)}

    module, _ = serving(tf, serve, {"x": [None, None, 3], "y": [None, 2, 3]})
    return module, {"one": module.serve, "two": module.serve}


def details(model: bytes) -> dict[str, Any]:
    engine = interpreter(model)
    found: dict[str, Any] = {}
    for key in engine.get_signature_list():
        runner = engine.get_signature_runner(key)
        for each in (runner.get_input_details(), runner.get_output_details()):
            found |= {f"{key}:{name}": tuple(detail["shape_signature"]) for name, detail in each.items()}
    return found


def test_shapes_that_are_asked_for_reach_the_outputs(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(two_inputs)
    one = litefuse.convert(path, signatures=["one"], shapes={"x": (4, 2, 3), "y": (None, 2, 3)})
    assert details(one.model_bytes)["one:x"] == (4, 2, 3)
    assert details(one.model_bytes)["one:y"] == (-1, 2, 3)
    assert details(one.model_bytes)["one:flat"] == (4, 2)
    both = details(litefuse.convert(path, batch=5, shapes={"x": (None, 2, 3), "two:x": (1, 2, 3)}).model_bytes)
    assert [both[name] for name in ("one:x", "one:flat", "two:x", "two:y", "two:flat", "two:sum")] == [
        *((5, 2, 3), (5, 2), (1, 2, 3), (5, 2, 3), (1, 2), (5, 2, 3))
    ]


@pytest.mark.parametrize(
    ("options", "error", "messages"),
    [
        ({"shapes": {"z": (1,)}}, SignatureError, ["'z'", "one: x, y; two: x, y"]),
        ({"shapes": {"y": (1, 4, 3)}}, SignatureError, ["'y'", "[1,4,3]", "[?,2,3]"]),
        ({"shapes": {"y": (1, 2)}}, SignatureError, ["'y'", "[1,2]", "[?,2,3]"]),
        ({"shapes": {"x": (1, 4, 3)}}, GraphError, ["AddV2", "[1,4,3]", "[?,2,3]"]),
        ({"shapes": {"x": (1, 2, 3), "y": (2, 2, 3)}, "batch": 0}, LitefuseError, ["batch size", "0"]),
        ({"shapes": {"x": "1,2,3"}}, LitefuseError, ["'x'", "'1,2,3'"]),
        ({"shapes": {"x": (-1, 2, 3)}}, LitefuseError, ["'x'", "(-1, 2, 3)"]),
    ],
)
def test_shapes_that_do_not_fit_are_refused(
    tensorflow: TensorFlow, options: dict[str, Any], error: type[Exception], messages: list[str]
) -> None:
    with pytest.raises(error) as caught:
        litefuse.convert(tensorflow.save(two_inputs), **options)
    assert every(message in str(caught.value) for message in messages), str(caught.value)


def quantiles(tf: Any) -> Any:
    """As Keras writes them: positions in float64, from the size and the fractions that are asked for."""

    def serve(x: Any) -> Any:
        positions = (tf.cast(tf.shape(x)[1], tf.float64) - 1.0) * tf.cast(tf.constant([0.25, 0.7]), tf.float64)
        above = tf.minimum(tf.cast(tf.math.ceil(positions), tf.int32), tf.shape(x)[1] - 1)
        part = tf.cast(tf.cast(above, tf.float64) - positions, tf.float32)
        ordered = tf.sort(x, 1)
        lower = tf.gather(ordered, tf.maximum(above - 1, 0), axis=1)
        return {"y": tf.gather(ordered, above, axis=1) * (1.0 - part) + lower * part}

    return serving(tf, serve, {"x": (None, 6)})


def test_parameters_of_float64_are_computed_before(tensorflow: TensorFlow) -> None:
    check(tensorflow, tensorflow.save(quantiles), normal({"x": (None, 6)}))


def with_empty_parts(tf: Any, x: Any) -> Any:
    """Of x: float32[?, 3]."""
    halves = tf.split(x, [0, 2, 1], 1)
    integers = tf.cast(4 * x, tf.int32)
    return {
        "between": tf.concat([x, x[:, :0], x * 2], 1),
        "all but one": tf.concat([x[:, 3:], tf.sin(x)], -1),
        "split": tf.concat(halves[::-1], 1),
        "integers": tf.concat([integers, integers[:, :0], integers + 1], 1),
        "rows": tf.concat([tf.zeros([0, 3]), x, x], 0),
        "rolled": tf.roll(x, [3, 1], [1, 0]),
        "rolled back": tf.roll(x, -6, -1),
    }


def squeezed_after_transposition(tf: Any, x: Any) -> Any:
    """Of x: float32[?, ?, 4]."""
    truths = tf.transpose(x[..., tf.newaxis] > 0, [2, 3, 1, 0])
    integers = tf.transpose(tf.cast(4 * x, tf.int32)[tf.newaxis, ..., tf.newaxis], [4, 3, 0, 2, 1])
    return {
        "truths": tf.squeeze(truths, 1),
        "reshaped": tf.reshape(tf.squeeze(truths, -3), [4, -1]),
        "integers": tf.squeeze(integers, [2, 0]),
        "in order": tf.squeeze(tf.transpose(x[..., tf.newaxis] > 0, [3, 0, 1, 2]), 0),
    }


def diagonals(tf: Any, x: Any) -> Any:
    """Of x: float32[?, ?, 4]."""
    return {
        "main": tf.linalg.diag_part(x),
        "above": tf.linalg.diag_part(x, k=1),
        "below": tf.linalg.diag_part(tf.transpose(x, [0, 2, 1]), k=-1),
        "trace": tf.linalg.trace(x),
        "matrices": tf.linalg.diag(tf.transpose(x, [0, 2, 1]), k=-2),
        "integers": tf.linalg.diag(tf.cast(4 * x[:, :, 0], tf.int32), k=1),
        "replaced": tf.linalg.set_diag(x, 2 * tf.linalg.diag_part(x, k=-1), k=-1),
        "one": tf.eye(tf.shape(x)[1]),
    }


def repeated_parts(tf: Any, x: Any) -> Any:
    """Constants that are repeated for each row and along the axis on which they stand beside x: float32[?, 3, 4]."""
    batch = tf.shape(x)[0]
    one, two, row = (tf.constant(weights(*shape)) for shape in ((1, 1, 4), (1, 2, 4), (4,)))
    return {
        "behind": tf.concat([x, tf.tile(one, [batch, 5, 1])], 1),
        "before": tf.concat([tf.broadcast_to(one, [batch, 5, 4]), x], 1),
        "around": tf.concat([tf.tile(one, [batch, 2, 1]), x, tf.tile(two, [batch, 1, 1])], 1),
        "of rank 1": tf.concat([x, tf.broadcast_to(row, [batch, 3, 4])], 1),
        "of rank 2": tf.concat([x, tf.broadcast_to(two[0], [batch, 2, 4]), tf.broadcast_to(one, [batch, 1, 4])], 1),
        "square": tf.concat([x, tf.broadcast_to(tf.constant(weights(4, 4)), [batch, 4, 4])], 1),
        "last": tf.concat([x, tf.tile(one[:, :, :1], [batch, 3, 2])], -1),
        "in parts": tf.concat([x, tf.tile(two, [batch, 2, 1])], 1),
        "added to": tf.concat([x, tf.tile(one, [batch, 5, 1])], 1) + tf.constant(weights(8, 4, seed=3)),
    }


OPEN_FORMS = {
    "repeated_parts": (repeated_parts, (None, 3, 4)),
    "with_empty_parts": (with_empty_parts, (None, 3)),
    "squeezed_after_transposition": (squeezed_after_transposition, (None, None, 4)),
    "diagonals": (diagonals, (None, None, 4)),
}


def open_form(tf: Any, name: str) -> Any:
    function, shape = OPEN_FORMS[name]
    module = tf.Module()
    specification = tf.TensorSpec(shape, tf.float32, name="x")
    module.serve = tf.function(lambda x: function(tf, x), input_signature=[specification], autograph=False)
    return module, {"serving_default": module.serve}


@pytest.mark.parametrize("name", OPEN_FORMS)
def test_open_form(tensorflow: TensorFlow, name: str) -> None:
    _, shape = OPEN_FORMS[name]
    check(tensorflow, tensorflow.save(open_form, name), normal({"x": shape}, batches=(2, 5, 3)))
