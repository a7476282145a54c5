# pyright: reportUnknownLambdaType=false
"""Annotated functions: fused into the op that the annotation asks for, or kept and reported with the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.errors import ConversionError, NotFusedError
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec, custom_op
from tests.tensorflow.checking import check, check_calls, custom_options, normal, op_counts, op_histogram
from tests.tensorflow.saved_models import serving

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow

EXAMPLE = (
    'name: "my_custom_fused_op" attr { key: "tfl_fusable_op" value { b: true } } '
    'attr { key: "example_option" value { i: 10 } }'
)


def implements(name: str, *attributes: str) -> str:
    """An annotation that asks for the custom op ``name``; each attribute is ``key: value`` in text format."""
    pairs = ["tfl_fusable_op: b: true", *attributes]
    text = "".join(
        f' attr {{ key: "{key}" value {{ {value.strip()} }} }}'
        for key, _, value in (pair.partition(":") for pair in pairs)
    )
    return f'name: "{name}"{text}'


@custom_op("my_custom_fused_op")
class MyCustomFusedOp(CustomOp):
    """``relu(a - b) + b * example_option``, in the inputs' dtype."""

    def prepare(self, a: TensorSpec, b: TensorSpec) -> TensorSpec:
        assert a.shape is not None
        assert b.shape is not None
        return TensorSpec(np.broadcast_shapes(a.shape, b.shape), a.dtype)

    def invoke(self, inputs: Any, outputs: Any, *, example_option: int) -> None:
        a, b = inputs
        outputs[0][...] = np.maximum(a - b, 0) + b * a.dtype.type(example_option)


@custom_op("SumAndDifference")
class SumAndDifference(CustomOp):
    """``a + b``, ``a - b`` and the number of negative elements of ``a``."""

    def prepare(self, a: TensorSpec, b: TensorSpec) -> list[TensorSpec]:
        del b
        return [TensorSpec(a.shape, a.dtype), TensorSpec(a.shape, a.dtype), TensorSpec((), np.int32)]

    def invoke(self, inputs: Any, outputs: Any) -> None:
        a, b = inputs
        outputs[0][...] = a + b
        outputs[1][...] = a - b
        outputs[2][...] = np.count_nonzero(a < 0)


def custom(tf: Any, annotation: str = EXAMPLE, option: int = 10) -> Any:
    """What ``MyCustomFusedOp`` computes, as an annotated function."""

    @tf.function(experimental_implements=annotation)
    def my_custom_fused_op(input_1: Any, input_2: Any) -> Any:
        return tf.nn.relu(input_1 - input_2) + input_2 * tf.cast(option, input_2.dtype)

    return my_custom_fused_op


def two_convolutions(tf: Any, annotation: str) -> Any:
    random = np.random.default_rng(1)
    fused = custom(tf, annotation)
    module = tf.Module()
    module.filters = [tf.Variable(random.standard_normal([3, 3, 2, 4]).astype(np.float32)) for _ in range(2)]
    module.biases = [tf.Variable(random.standard_normal([4]).astype(np.float32)) for _ in range(2)]

    @tf.function(input_signature=[tf.TensorSpec([None, 8, 8, 2], tf.float32, name="image")])
    def serve(image: Any) -> Any:
        first, second = (
            tf.nn.bias_add(tf.nn.conv2d(image, filters, strides=2, padding="SAME"), bias)
            for filters, bias in zip(module.filters, module.biases, strict=True)
        )
        return {"fused": fused(first, second)}

    module.serve = serve
    return module, {"serving_default": serve}


IMAGES = normal({"image": (None, 8, 8, 2)})


def test_two_convolutions_into_a_custom_op(tensorflow: TensorFlow) -> None:
    result = check(tensorflow, tensorflow.save(two_convolutions, EXAMPLE), IMAGES, custom_ops=[MyCustomFusedOp])
    assert op_counts(result.model_bytes) == {"CONV_2D": 2, "my_custom_fused_op": 1}
    (composite,) = result.report.composites
    assert composite.name == "my_custom_fused_op"
    assert composite.outcome == "fused"
    assert composite.fused_into == "my_custom_fused_op"
    assert result.report.custom_ops == ("my_custom_fused_op",)
    assert custom_options(result.model_bytes) == {"my_custom_fused_op": [{"example_option": 10}]}


@pytest.mark.parametrize(
    "value",
    [
        *(10, -3, 2**40, 1.5, 'text with "quotes" and ü', "", True, False),
        *([1, -2, 300], [7], [0.5, -1.25], ["a", "bc", ""], [True, False, True], []),
    ],
)
def test_option_of_every_kind(tensorflow: TensorFlow, value: Any) -> None:
    annotation = litefuse.annotation("my_custom_fused_op", tfl_fusable_op=True, example_option=10, other=value)
    result = check(tensorflow, tensorflow.save(two_convolutions, annotation), IMAGES[0], custom_ops=[MyCustomFusedOp])
    (options,) = custom_options(result.model_bytes)["my_custom_fused_op"]
    assert options == {"example_option": 10, "other": value}
    assert type(options["other"]) is type(value)
    assert repr(options["other"]) == repr(value)  # True is not 1


@pytest.mark.parametrize(
    "value",
    [np.float32, (None, 3), np.array(1, np.int32), [np.float32, np.int32], [(None, 3)]],
    ids=["type", "shape", "tensor", "list-of-type", "list-of-shape"],
)
def test_option_of_a_kind_without_a_form_is_an_error_that_names_it(tensorflow: TensorFlow, value: Any) -> None:
    annotation = litefuse.annotation("my_custom_fused_op", tfl_fusable_op=True, example_option=10, no_such_kind=value)
    with pytest.raises(ConversionError, match="no_such_kind"):
        litefuse.convert(tensorflow.save(two_convolutions, annotation))


def test_option_that_is_a_function_is_an_error_that_names_it(tensorflow: TensorFlow) -> None:
    annotation = implements("my_custom_fused_op", "example_option: i: 10", 'no_such_kind: func { name: "another" }')
    with pytest.raises(ConversionError, match="no_such_kind"):
        litefuse.convert(tensorflow.save(two_convolutions, annotation))


def test_fusable_op_that_says_no_is_inlined(tensorflow: TensorFlow) -> None:
    annotation = 'name: "my_custom_fused_op" attr { key: "tfl_fusable_op" value { b: false } }'
    result = check(tensorflow, tensorflow.save(two_convolutions, annotation), IMAGES)
    (composite,) = result.report.composites
    assert (composite.name, composite.outcome, composite.fused_into) == ("my_custom_fused_op", "inlined", None)
    assert composite.reason is not None
    assert "tfl_fusable_op" in composite.reason
    assert result.report.custom_ops == ()


def test_annotation_that_nobody_knows_is_inlined_and_reported(tensorflow: TensorFlow) -> None:
    result = check(tensorflow, tensorflow.save(two_convolutions, "nobody_knows_this"), IMAGES)
    (composite,) = result.report.composites
    assert (composite.name, composite.outcome, composite.fused_into) == ("nobody_knows_this", "inlined", None)
    assert composite.reason
    assert "nobody_knows_this" in result.report.details()
    assert "nobody_knows_this" in repr(result.report.to_json())


@pytest.mark.parametrize("require", [True, ["nobody_knows_this"], ("other", "nobody_knows_this")])
def test_required_composite_that_is_not_fused_is_an_error(tensorflow: TensorFlow, require: Any) -> None:
    with pytest.raises(NotFusedError, match="nobody_knows_this"):
        litefuse.convert(tensorflow.save(two_convolutions, "nobody_knows_this"), require_fused=require)


def uncalled(tf: Any, recognized: bool) -> Any:
    """A composite whose only caller is no signature, beside nothing or an LSTM layer that nobody annotated."""
    fused = custom(tf)
    module = tf.Module()
    module.other = tf.function(lambda a: fused(a, a), input_signature=[tf.TensorSpec([None, 3], tf.float32)])
    layer = tf.keras.layers.LSTM(4)
    layer.build((None, 5, 3))
    module.layer = layer

    @tf.function(input_signature=[tf.TensorSpec([None, 5, 3], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        return {"y": layer(x) if recognized else x * 2.0}

    module.serve = serve
    return module, {"serving_default": serve}


def test_composites_are_required_and_there_is_none(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(uncalled, False)
    with pytest.raises(NotFusedError, match="no composite could be fused") as caught:
        litefuse.convert(path, require_fused=True)
    assert "'my_custom_fused_op' (function __inference_my_custom_fused_op_" in str(caught.value)
    assert "Annotate the function" in caught.value.hint
    litefuse.convert(path, require_fused=[])
    # A layer that was recognized and fused is a composite, too.
    result = litefuse.convert(tensorflow.save(uncalled, True), require_fused=True)
    assert [each.outcome for each in result.report.composites if each.call_sites] == ["fused"]


def test_only_the_required_composites_must_fuse(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(two_convolutions, EXAMPLE)
    check(tensorflow, path, IMAGES, custom_ops=[MyCustomFusedOp], require_fused=True)
    check(tensorflow, path, IMAGES, custom_ops=[MyCustomFusedOp], require_fused=["my_custom_fused_op"])


def call_sites(tf: Any) -> Any:
    fused = custom(tf)

    def serve(x: Any, y: Any) -> Any:
        a = fused(x, y)
        b = fused(a, x)
        return {"a": a, "b": b, "c": fused(fused(y, y), b)}

    return serving(tf, serve, ("x", [None, 3], "float32"), ("y", [None, 3], "float32"))


PAIRS = normal({"x": (None, 3), "y": (None, 3)})


def test_several_call_sites(tensorflow: TensorFlow) -> None:
    result = check(tensorflow, tensorflow.save(call_sites), PAIRS, custom_ops=[MyCustomFusedOp])
    assert op_counts(result.model_bytes) == {"my_custom_fused_op": 4}
    assert sum(composite.call_sites for composite in result.report.composites) == 4
    assert {composite.outcome for composite in result.report.composites} == {"fused"}


def shapes(tf: Any) -> Any:
    fused = custom(tf)

    def serve(x: Any) -> Any:
        return {"rows": fused(x, x + 1.0), "column": fused(tf.reduce_sum(x, 1), tf.reduce_max(x, 1))}

    return serving(tf, serve, ("x", [None, 3], "float32"))


def test_call_sites_of_different_rank(tensorflow: TensorFlow) -> None:
    result = check(tensorflow, tensorflow.save(shapes), normal({"x": (None, 3)}), custom_ops=[MyCustomFusedOp])
    assert op_counts(result.model_bytes)["my_custom_fused_op"] == 2


def typed(tf: Any, dtype: str) -> Any:
    fused = custom(tf, implements("my_custom_fused_op", "example_option: i: 3"), 3)
    return serving(tf, lambda x, y: {"z": fused(x, y)}, ("x", [None, 3], dtype), ("y", [None, 3], dtype))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int16", "int32", "int64"])
def test_dtype(tensorflow: TensorFlow, dtype: str) -> None:
    random = np.random.default_rng(5)
    inputs = [{name: (random.standard_normal([n, 3]) * 9).astype(dtype) for name in ("x", "y")} for n in (1, 3, 1)]
    result = check(
        tensorflow,
        tensorflow.save(typed, dtype),
        inputs,
        custom_ops=[MyCustomFusedOp],
        rtol=1e-3 if dtype == "float16" else 1e-6,
    )
    assert op_counts(result.model_bytes) == {"my_custom_fused_op": 1}


def calls_another(tf: Any, outer: str) -> Any:
    inner = custom(tf)

    @tf.function(experimental_implements=outer)
    def combined(a: Any, b: Any) -> Any:
        return tf.nn.relu(inner(a, b) - inner(b, a)) + inner(b, a) * 10.0

    return serving(tf, lambda x, y: {"z": combined(x, y)}, ("x", [None, 3], "float32"), ("y", [None, 3], "float32"))


@custom_op("OuterOp")
class OuterOp(CustomOp):
    def prepare(self, a: TensorSpec, b: TensorSpec) -> TensorSpec:
        del b
        return TensorSpec(a.shape, a.dtype)

    def invoke(self, inputs: Any, outputs: Any) -> None:
        a, b = inputs
        first, second = np.maximum(a - b, 0) + b * 10, np.maximum(b - a, 0) + a * 10
        outputs[0][...] = np.maximum(first - second, 0) + second * 10


def test_composite_inside_a_fused_composite_goes_with_it(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(calls_another, implements("OuterOp"))
    result = check(tensorflow, path, PAIRS, custom_ops=[OuterOp])
    assert op_counts(result.model_bytes) == {"OuterOp": 1}
    into = {composite.name: (composite.fused_into, composite.call_sites) for composite in result.report.composites}
    assert into == {"OuterOp": ("OuterOp", 1), "my_custom_fused_op": ("the composite around it", 0)}


def test_composite_inside_an_inlined_composite_is_fused(tensorflow: TensorFlow) -> None:
    result = check(tensorflow, tensorflow.save(calls_another, "nobody_knows_this"), PAIRS, custom_ops=[MyCustomFusedOp])
    assert 2 <= op_counts(result.model_bytes)["my_custom_fused_op"] <= 3  # two of the three calls are equal
    assert {composite.name: composite.outcome for composite in result.report.composites} == {
        "my_custom_fused_op": "fused",
        "nobody_knows_this": "inlined",
    }


def in_while(tf: Any) -> Any:
    fused = custom(tf, implements("my_custom_fused_op", "example_option: i: 1"), 1)

    def serve(x: Any, y: Any) -> Any:
        _, z = tf.while_loop(
            lambda i, _: i < 3, lambda i, z: (i + 1, fused(z, y) - tf.cast(i, tf.float32)), [tf.constant(0), x]
        )
        return {"z": z}

    return serving(tf, serve, ("x", [None, 3], "float32"), ("y", [None, 3], "float32"))


def test_composite_in_a_while_body(tensorflow: TensorFlow) -> None:
    result = check(tensorflow, tensorflow.save(in_while), PAIRS, custom_ops=[MyCustomFusedOp])
    histogram = op_histogram(result.model_bytes)
    assert [count for (_, op), count in histogram.items() if op == "my_custom_fused_op"] == [1]
    assert op_counts(result.model_bytes)["WHILE"] == 1
    (composite,) = result.report.composites
    assert composite.outcome == "fused"


def in_cond(tf: Any) -> Any:
    fused = custom(tf)

    def serve(x: Any, y: Any) -> Any:
        return {"z": tf.cond(tf.reduce_sum(x) > 0.0, lambda: fused(x, y), lambda: x - y)}

    return serving(tf, serve, ("x", [None, 3], "float32"), ("y", [None, 3], "float32"))


def test_composite_in_a_branch(tensorflow: TensorFlow) -> None:
    inputs = normal({"x": (None, 3), "y": (None, 3)}, batches=(1, 3, 1, 4), seed=11)
    assert len({bool(each["x"].sum() > 0) for each in inputs}) == 2  # both branches are taken
    result = check(tensorflow, tensorflow.save(in_cond), inputs, custom_ops=[MyCustomFusedOp])
    counts = op_counts(result.model_bytes)
    assert (counts["IF"], counts["my_custom_fused_op"]) == (1, 1)


def several_outputs(tf: Any, used: tuple[int, ...]) -> Any:
    @tf.function(experimental_implements=implements("SumAndDifference"))
    def both(a: Any, b: Any) -> Any:
        return a + b, a - b, tf.math.count_nonzero(a < 0.0, dtype=tf.int32)

    def serve(x: Any, y: Any) -> Any:
        outputs = both(x, y)
        return {f"output_{i}": outputs[i] for i in used}

    return serving(tf, serve, ("x", [None, 3], "float32"), ("y", [None, 3], "float32"))


@pytest.mark.parametrize("used", [(0, 1, 2), (1,), (2,), (2, 0)])
def test_several_outputs(tensorflow: TensorFlow, used: tuple[int, ...]) -> None:
    result = check(tensorflow, tensorflow.save(several_outputs, used), PAIRS, custom_ops=[SumAndDifference])
    assert op_counts(result.model_bytes) == {"SumAndDifference": 1}


def shared(tf: Any) -> Any:
    fused = custom(tf)
    module = tf.Module()
    module.bias = tf.Variable([0.5, -1.0, 2.0])
    spec = [tf.TensorSpec([None, 3], tf.float32, name="x")]
    module.one = tf.function(lambda x: {"z": fused(x, module.bias)}, input_signature=spec)
    module.two = tf.function(lambda x: {"z": tf.tanh(fused(module.bias + x, x))}, input_signature=spec)
    return module, {"one": module.one, "two": module.two}


def test_signatures_that_share_a_composite(tensorflow: TensorFlow) -> None:
    calls = [(name, each) for each in normal({"x": (None, 3)}) for name in ("one", "two", "two", "one")]
    result = check_calls(tensorflow, tensorflow.save(shared), calls, custom_ops=[MyCustomFusedOp])
    assert [count for (_, op), count in op_histogram(result.model_bytes).items() if op == "my_custom_fused_op"] == [
        1,
        1,
    ]


def annotated_signature(tf: Any) -> Any:
    """The signature itself is the annotated function."""
    module = tf.Module()
    module.serve = tf.function(
        lambda x, y: tf.nn.relu(x - y) + y * 10.0,
        experimental_implements=EXAMPLE,
        input_signature=[tf.TensorSpec([None, 3], tf.float32, name=name) for name in ("x", "y")],
    )
    return module, {"serving_default": module.serve}


def test_signature_that_is_itself_a_composite(tensorflow: TensorFlow) -> None:
    result = check(tensorflow, tensorflow.save(annotated_signature), PAIRS, custom_ops=[MyCustomFusedOp])
    assert op_counts(result.model_bytes) == {"my_custom_fused_op": 1}


def copied_by_tensorflow(tf: Any, how: str) -> Any:
    """A composite whose copies TensorFlow calls, which have no annotation."""
    sine = tf.function(lambda x: tf.sin(x) * 2.0, experimental_implements=implements("Sine"), autograph=False)
    other = custom(tf)

    def serve(x: Any) -> Any:
        if how == "map":
            return {"y": tf.vectorized_map(sine, x), "other": other(x, x)}
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = sine(x)
        return {"y": y, "gradient": tape.gradient(y, x), "other": other(x, x)}

    return serving(tf, serve, ("x", [None, 3], "float32"))


@pytest.mark.parametrize("how", ["map", "gradient"])
def test_composite_that_nobody_calls_is_reported(tensorflow: TensorFlow, how: str) -> None:
    path = tensorflow.save(copied_by_tensorflow, how)
    inputs = normal({"x": (None, 3)}, batches=(1, 3))
    result = check(tensorflow, path, inputs, custom_ops=[MyCustomFusedOp], require_fused=True)
    found = {composite.name: composite for composite in result.report.composites}
    assert found.keys() == {"my_custom_fused_op", "Sine"}
    assert found["my_custom_fused_op"].outcome == "fused"
    assert (found["Sine"].outcome, found["Sine"].call_sites) == ("inlined", 0)
    assert "no signature that is converted calls the function" in result.report.details()
    with pytest.raises(NotFusedError, match=r"'Sine'.*no signature that is converted calls the function"):
        litefuse.convert(path, require_fused=["Sine"])
