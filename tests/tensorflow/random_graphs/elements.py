# pyright: reportUnknownLambdaType=false
"""Steps that compute element by element, and along axes."""

from __future__ import annotations

from typing import Any

from tests.tensorflow.random_graphs.graph import ANY, INTEGERS, NUMBERS, Graph, step


@step()
def function(g: Graph, x: Any) -> Any:
    """A function of one number; what grows fast is kept small."""
    tf = g.tf
    bounded = tf.clip_by_value(x, -3.0, 3.0)
    return g.pick(
        [
            lambda: tf.tanh(x),
            lambda: tf.sigmoid(x),
            lambda: tf.abs(x),
            lambda: -x,
            lambda: tf.square(bounded),
            lambda: tf.sin(x),
            lambda: tf.math.softplus(x),
            lambda: tf.exp(bounded),
            lambda: tf.math.rsqrt(tf.abs(x) + 0.5),
            lambda: tf.sqrt(tf.abs(x)),
            lambda: tf.math.log1p(tf.abs(x)),
            lambda: tf.math.erf(x),
            lambda: tf.pow(bounded, 3.0),
            lambda: tf.math.reciprocal(tf.abs(x) + 1.0),
        ]
    )()


@step()
def activation(g: Graph, x: Any) -> Any:
    """An activation function."""
    nn = g.tf.nn
    return g.pick(
        [
            lambda: nn.relu(x),
            lambda: nn.relu6(x),
            lambda: nn.leaky_relu(x),
            lambda: nn.elu(x),
            lambda: nn.selu(x),
            lambda: nn.swish(x),
            lambda: nn.gelu(x),
            lambda: nn.gelu(x, approximate=True),
            lambda: x * nn.relu6(x + 3.0) / 6.0,
            lambda: nn.relu(x) - nn.relu(-x),
            lambda: g.tf.maximum(x, 0.1 * x),
        ]
    )()


@step()
def clipped(g: Graph, x: Any) -> Any:
    """Bounds on both sides or on one."""
    tf = g.tf
    return g.pick(
        [
            lambda: tf.clip_by_value(x, -1.0, 1.0),
            lambda: tf.maximum(tf.minimum(x, 1.0), -1.0),
            lambda: tf.minimum(tf.nn.relu(x), 6.0),
            lambda: tf.maximum(x, 0.0),
            lambda: tf.clip_by_value(x, 0.0, 1.0),
        ]
    )()


@step(NUMBERS)
def arithmetic(g: Graph, x: Any) -> Any:
    """A binary op with a value or a constant on either side."""
    tf, other = g.tf, g.operand(x)
    return g.pick(
        [
            lambda: x + other,
            lambda: x - other,
            lambda: other - x,
            lambda: tf.clip_by_value(x, -4, 4) * tf.clip_by_value(other, -4, 4),
            lambda: tf.maximum(x, other),
            lambda: tf.minimum(other, x),
        ]
    )()


@step()
def product(g: Graph, x: Any) -> Any:
    """A factor, a quotient, or both and a sum."""
    tf, other = g.tf, g.operand(x)
    return g.pick(
        [
            lambda: x * other,
            lambda: x / (tf.abs(other) + 0.5),
            lambda: other / (tf.abs(x) + 0.5),
            lambda: x * other + g.constant(g.broadcastable(x)),
            lambda: other - (x * 2.0 - other) / (tf.abs(other) + 1.0),
            lambda: tf.math.squared_difference(tf.tanh(x), tf.tanh(other)),
            lambda: tf.math.divide_no_nan(x, tf.nn.relu(other - 0.5)),
        ]
    )()


@step(INTEGERS)
def integer_arithmetic(g: Graph, x: Any) -> Any:
    """Quotients and remainders by a constant, signs and differences."""
    tf, divisor = g.tf, g.number(1, 5)
    return g.pick(
        [
            lambda: x // divisor,
            lambda: x % divisor,
            lambda: tf.abs(x) - x,
            lambda: tf.sign(x),
            lambda: divisor - x,
            lambda: tf.bitwise.bitwise_and(x, 3),
            lambda: tf.where(x > 0, x, divisor),
        ]
    )()


@step(frozenset({"bool"}))
def logic(g: Graph, x: Any) -> Any:
    """Logic."""
    tf, other = g.tf, g.operand(x)
    return g.pick(
        [
            lambda: tf.logical_and(x, other),
            lambda: tf.logical_or(other, x),
            lambda: tf.logical_not(x),
            lambda: tf.equal(x, other),
            lambda: tf.math.logical_xor(x, other),
        ]
    )()


@step(frozenset({"bool"}), range(1, 6))
def any_or_all(g: Graph, x: Any) -> Any:
    """Whether any or all are true along an axis."""
    reduce = g.pick([g.tf.reduce_any, g.tf.reduce_all])
    return reduce(x, g.axis(x), keepdims=g.chance(0.5))


@step(NUMBERS)
def comparison(g: Graph, x: Any) -> Any:
    """A comparison with a constant."""
    tf = g.tf
    compare = g.pick([tf.greater, tf.less, tf.greater_equal, tf.less_equal])
    return compare(x, g.tf.constant(g.pick([0.3, -0.4, 1.1]) if x.dtype.is_floating else g.number(-1, 2), x.dtype))


@step(NUMBERS)
def choice(g: Graph, x: Any) -> Any:
    """One of two by a condition."""
    tf, other = g.tf, g.operand(x)
    bound = tf.cast(0.3 if x.dtype.is_floating else 1, x.dtype)
    return g.pick(
        [
            lambda: tf.where(x > bound, x, other),
            lambda: tf.where(other < bound, tf.cast(0, x.dtype), x),
            lambda: tf.where(tf.logical_or(x > bound, x < -bound), x, -x),
        ]
    )()


@step(NUMBERS, range(1, 6))
def reduction(g: Graph, x: Any) -> Any:
    """A reduction over some axes."""
    tf = g.tf
    axes = g.random.choice(x.shape.rank, size=g.number(1, x.shape.rank), replace=False).tolist()
    axes = [axis - x.shape.rank if g.chance(0.4) else axis for axis in axes]
    reduce = g.pick(
        [tf.reduce_sum, tf.reduce_max, tf.reduce_min, tf.reduce_mean if x.dtype.is_floating else tf.reduce_sum]
    )
    return reduce(x, axes if g.chance(0.7) else axes[0], keepdims=g.chance(0.5))


@step(ranks=range(1, 6))
def normalized(g: Graph, x: Any) -> Any:
    """A softmax, a norm, or a share between the least and the largest."""
    tf, axis = g.tf, g.axis(x)
    least, largest = tf.reduce_min(x, axis, keepdims=True), tf.reduce_max(x, axis, keepdims=True)
    return g.pick(
        [
            lambda: tf.nn.softmax(x, axis),
            lambda: tf.nn.log_softmax(x, axis),
            lambda: tf.math.l2_normalize(x, axis, epsilon=1e-3),
            lambda: (x - least) / (largest - least + 0.5),
            lambda: tf.reduce_logsumexp(x, axis, keepdims=True),
        ]
    )()


@step(NUMBERS, range(1, 6))
def accumulated(g: Graph, x: Any) -> Any:
    """Cumulative sums."""
    return g.tf.cumsum(x, g.axis(x), exclusive=g.chance(0.5), reverse=g.chance(0.3))


@step(ANY)
def cast(g: Graph, x: Any) -> Any:
    """Another element type; numbers are made whole and small before."""
    tf = g.tf
    other = g.pick(["float32", "float32", "float32", "int32", "int64", "bool", "int8", "uint8", "float16"])
    if other == x.dtype.name:
        return -x if other == "float32" else tf.identity(x)
    if x.dtype.is_floating and other == "bool":
        return x > tf.cast(0.2, x.dtype)
    if x.dtype.is_floating and other != "float16":
        x = tf.cast(tf.floor(tf.clip_by_value(tf.cast(x, tf.float32), -9.0, 9.0) * 2.0 + 0.2), tf.int32)
    if other == "uint8" and x.dtype.name != "bool":
        x = tf.abs(tf.cast(x, tf.int32))
    return tf.cast(x, other)


@step(NUMBERS, range(1, 6))
def position(g: Graph, x: Any) -> Any:
    """Where the largest stands, of integers whose order is that of their places too."""
    tf, axis = g.tf, g.axis(x)
    if x.dtype.is_floating:
        x = tf.cast(tf.floor(tf.clip_by_value(x, -9.0, 9.0) * 2.0 + 0.2), tf.int32)
    find = g.pick([tf.argmax, tf.argmin])
    return find(x, axis, output_type=g.pick([tf.int32, tf.int64]))
