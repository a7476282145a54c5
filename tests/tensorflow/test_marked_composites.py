"""Composites that a user marks to become one op of LiteRT, against TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

from tests.tensorflow.checking import check, normal, op_counts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from tests.tensorflow.process import TensorFlow


def attribute(name: str, value: Any) -> str:
    """An attribute of a NameAttrList in protobuf's text format."""
    if isinstance(value, list):
        text = "list { " + " ".join(f"i: {item}" for item in value) + " }"  # pyright: ignore[reportUnknownVariableType]
    elif isinstance(value, bool):
        text = f"b: {str(value).lower()}"
    else:
        text = f's: "{value}"'
    return f'attr {{ key: "{name}" value {{ {text} }} }}'


def marked(
    tf: Any,
    annotation: tuple[str, dict[str, Any]],
    body: Callable[..., Any],
    shape: tuple[int | None, ...],
    weights: Sequence[npt.NDArray[Any]],
) -> Any:
    """A model that calls a marked function twice, with weights that are variables."""
    name, attributes = annotation
    text = " ".join([f'name: "{name}"', *(attribute(*item) for item in attributes.items())]) if attributes else name
    function = tf.function(body, experimental_implements=text, autograph=False)
    module = tf.Module()
    module.weights = [tf.Variable(weight) for weight in weights]

    @tf.function(input_signature=[tf.TensorSpec(shape, tf.float32, name="x")], autograph=False)
    def serve(x: Any) -> Any:
        outputs: dict[str, Any] = {}
        for number, value in enumerate((x, -2.0 * x)):
            results = function(value, *(tf.convert_to_tensor(weight) for weight in module.weights))
            listed: tuple[Any, ...] = tuple(cast("Any", results)) if isinstance(results, (list, tuple)) else (results,)
            outputs |= {f"y{number}_{index}": result for index, result in enumerate(listed)}
        return outputs

    module.serve = serve
    return module, {"serving_default": serve}


def random(*shapes: tuple[int, ...]) -> list[npt.NDArray[Any]]:
    generator = np.random.default_rng(5)
    return [generator.normal(0, 0.7, shape).astype(np.float32) for shape in shapes]


def steps(tf: Any, x: Any, h: Any, c: Any, kernel: Any, recurrent: Any, bias: Any, *, backwards: bool) -> Any:
    """All outputs of an LSTM ``[batch, time, units]``, unrolled."""
    outputs: list[Any] = []
    order = range(x.shape[1])
    for step in reversed(order) if backwards else order:
        i, f, g, o = tf.split(x[:, step] @ kernel + h @ recurrent + bias, 4, 1)
        c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
        h = tf.sigmoid(o) * tf.tanh(c)
        outputs.append(h)
    return tf.stack(outputs[::-1] if backwards else outputs, 1)


def bidirectional(
    tf: Any, shape: tuple[int | None, ...], time_major: bool, results: int, states: bool, wrong: bool = False
) -> Any:
    def body(x: Any, *arguments: Any) -> Any:
        x = tf.transpose(x, [1, 0, 2]) if time_major else x
        initial = list(arguments[6:]) or [tf.zeros([tf.shape(x)[0], 4]) for _ in range(4)]
        outputs = [
            steps(tf, x, *initial[2 * index : 2 * index + 2], *arguments[3 * index : 3 * index + 3], backwards=back)
            for index, back in enumerate((False, not wrong))
        ]
        outputs = [tf.transpose(each, [1, 0, 2]) for each in outputs] if time_major else outputs
        return tuple(outputs) if results == 2 else tf.concat(outputs, 2)

    weights = random(*[(3, 16), (4, 16), (16,)] * 2)
    if states:
        batch = shape[1 if time_major else 0] or 0
        weights += [10 * each for each in random(*[(batch, 4)] * 4)]
    attributes = {"time_major": True} if time_major else {}
    return marked(tf, ("bidirectional_sequence_lstm", attributes), body, shape, weights)


@pytest.mark.parametrize(
    ("shape", "time_major", "results", "states"),
    [
        ((None, 5, 3), False, 1, False),
        ((3, 5, 3), False, 2, True),
        ((5, None, 3), True, 2, False),
        ((5, 3, 3), True, 1, True),
    ],
    ids=str,
)
def test_bidirectional(
    tensorflow: TensorFlow, shape: tuple[int | None, ...], time_major: bool, results: int, states: bool
) -> None:
    path = tensorflow.save(bidirectional, shape, time_major, results, states)
    batches = (1, 3, 3) if None in shape else (3, 3)
    result = check(tensorflow, path, normal({"x": shape}, batches=batches), require_fused=True)
    (composite,) = result.report.composites
    assert composite.fused_into == "BIDIRECTIONAL_SEQUENCE_LSTM"
    assert composite.unchecked is None
    counts = op_counts(result.model_bytes)
    assert counts["BIDIRECTIONAL_SEQUENCE_LSTM"] == 2
    assert (counts["FILL"], counts["BROADCAST_TO"]) == ((0, 8) if states else (8, 0))  # the states' initial values
    assert counts["TRANSPOSE"] == counts["TANH"] == 0


def test_two_forward_lstms_are_kept(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(bidirectional, (3, 5, 3), False, 1, False, True)
    result = check(tensorflow, path, normal({"x": (3, 5, 3)}))
    (composite,) = result.report.composites
    assert "it computes something else" in str(composite.reason)


def convolution(tf: Any, attributes: dict[str, Any], relu: str, shape: tuple[int | None, ...], body: str = "") -> Any:
    def compute(x: Any, filters: Any, bias: Any) -> Any:
        strides = attributes.get("strides", [1, 1])
        y = (
            tf.nn.conv2d(x, filters, strides, attributes["padding"], dilations=attributes.get("dilations", [1, 1]))
            + bias
        )
        return getattr(tf.nn, body or relu)(y)

    return marked(tf, (f"conv_2d_bias_{relu}", attributes), compute, shape, random((3, 2, 4, 5), (5,)))


@pytest.mark.parametrize(
    ("attributes", "relu", "shape"),
    [
        ({"padding": "SAME"}, "relu", (None, 7, 8, 4)),
        ({"padding": "VALID", "strides": [2, 3]}, "relu6", (None, None, None, 4)),
        ({"padding": "SAME", "strides": [2, 1]}, "relu6", (3, 7, 8, 4)),
        ({"padding": "VALID", "dilations": [2, 3]}, "relu", (None, 7, 8, 4)),
    ],
    ids=str,
)
def test_convolution(
    tensorflow: TensorFlow, attributes: dict[str, Any], relu: str, shape: tuple[int | None, ...]
) -> None:
    path = tensorflow.save(convolution, attributes, relu, shape)
    batches = (1, 3) if shape[0] is None else (3,)
    inputs = [{"x": 5 * each["x"]} for each in normal({"x": (None, 7, 8, 4)}, batches=batches)]
    result = check(tensorflow, path, inputs, require_fused=True)
    (composite,) = result.report.composites
    assert (composite.fused_into, composite.unchecked) == ("CONV_2D", None)
    assert op_counts(result.model_bytes) == {"CONV_2D": 2}


def test_convolution_of_another_activation_is_kept(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(convolution, {"padding": "SAME"}, "relu6", (None, 7, 8, 4), "relu")
    result = check(tensorflow, path, [{"x": 9 * each["x"]} for each in normal({"x": (None, 7, 8, 4)})])
    (composite,) = result.report.composites
    assert "it computes something else" in str(composite.reason)


def dense(tf: Any, relu: str, shape: tuple[int | None, ...]) -> Any:
    def compute(x: Any, weights: Any, bias: Any) -> Any:
        return getattr(tf.nn, relu)(tf.matmul(x, weights) + bias)

    return marked(tf, (f"fully_connected_bias_{relu}", {}), compute, shape, random((4, 5), (5,)))


@pytest.mark.parametrize(("relu", "shape"), [("relu", (None, 4)), ("relu6", (3, 4)), ("relu6", (None, 6, 4))], ids=str)
def test_fully_connected(tensorflow: TensorFlow, relu: str, shape: tuple[int | None, ...]) -> None:
    path = tensorflow.save(dense, relu, shape)
    batches = (1, 3) if shape[0] is None else (3,)
    inputs = [{"x": 5 * each["x"]} for each in normal({"x": (None, *shape[1:])}, batches=batches)]
    result = check(tensorflow, path, inputs, require_fused=True)
    (composite,) = result.report.composites
    assert (composite.fused_into, composite.unchecked) == ("FULLY_CONNECTED", None)
    assert op_counts(result.model_bytes) == {"FULLY_CONNECTED": 2}


def captured(tf: Any, kind: str) -> str:
    """What litefuse says of a composite that depends on more than its arguments."""
    import litefuse
    from litefuse.errors import LitefuseError
    from litefuse.frontends.function import concrete_function

    variable, constant = tf.Variable([1.0, 2.0], name="weight"), tf.constant([1.0, 2.0])
    initializer = tf.lookup.KeyValueTensorInitializer(tf.constant([1], tf.int64), tf.constant([2.0]))
    table = tf.lookup.StaticHashTable(initializer, 0.0)
    annotation = litefuse.annotation("mine", scale=1.0) if kind == "read" else "mine"

    def serve(x: Any) -> Any:
        outer = x + 1.0
        bodies: dict[str, Callable[[Any], Any]] = {
            "read": lambda y: y * variable,
            "assigned": lambda y: y * variable.assign_add([1.0, 1.0]),
            "constant": lambda y: y * constant,
            "outer": lambda y: y * outer,
            "table": lambda y: table.lookup(tf.cast(y, tf.int64)),
        }
        return tf.function(bodies[kind], experimental_implements=annotation, autograph=False)(x)

    try:
        concrete_function(tf.function(serve, input_signature=[tf.TensorSpec([None, 2], tf.float32)]))
    except LitefuseError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        ("read", "captures the variable 'weight/"),
        ("assigned", "captures the variable 'weight/"),
        ("constant", "captures a float32 tensor of shape (2,)"),
        ("outer", "captures the tensor 'add:0'"),
        ("table", "captures the table '"),
    ],
)
def test_composites_that_depend_on_more_than_their_arguments(tensorflow: TensorFlow, kind: str, what: str) -> None:
    message = tensorflow.call(captured, kind)
    assert "the composite 'mine' (function <lambda>) " + what in message
    assert "Pass what its body captures as an argument" in message
