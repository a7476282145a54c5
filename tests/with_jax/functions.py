"""Functions of JAX, by name: each with the shape of its input without the batch, and its dtype.

They run in a process of their own (``make.py``), which alone imports this module and JAX.
"""

# JAX is not typed here: it is no dependency of the type check.
# pyright: reportUnknownLambdaType=false

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

jax: Any = importlib.import_module("jax")
jnp: Any = importlib.import_module("jax.numpy")
lax: Any = importlib.import_module("jax.lax")

_RANDOM = np.random.default_rng(3)


def _weights(*shape: int) -> Any:
    return _RANDOM.normal(size=shape).astype(np.float32)


_VECTOR, _IMAGE, _SEQUENCE = (16,), (8, 8, 3), (6, 8)
_DENSE, _BIAS = _weights(16, 8), _weights(8)
_KERNEL, _DEPTHWISE, _TRANSPOSED, _GROUPED = (
    _weights(3, 3, 3, 8),
    _weights(3, 3, 1, 3),
    _weights(3, 3, 3, 4),
    _weights(3, 3, 3, 8),
)
_VOLUMES = _weights(2, 3, 3, 1, 6)
_TABLE = _weights(20, 5)
_QUERY, _KEY, _VALUE = _weights(8, 8), _weights(8, 8), _weights(8, 8)
_INPUT, _STATE = _weights(8, 4), _weights(4, 4)
_OF_INPUT, _OF_OUTPUT = [_weights(8, 4) for _ in range(4)], [_weights(4, 4) for _ in range(4)]
_BIASES = [_weights(4) for _ in range(4)]
_NHWC = ("NHWC", "HWIO", "NHWC")


def _convolution(x: Any, kernel: Any, strides: tuple[int, int], padding: Any, **options: Any) -> Any:
    return lax.conv_general_dilated(x, kernel, strides, padding, dimension_numbers=_NHWC, **options)


def _windows(x: Any, start: float, combine: Any, size: int, stride: int, padding: str) -> Any:
    return lax.reduce_window(x, start, combine, (1, size, size, 1), (1, stride, stride, 1), padding)


def _attention(x: Any) -> Any:
    heads = [(x @ weights).reshape(x.shape[0], 6, 2, 4) for weights in (_QUERY, _KEY, _VALUE)]
    scores = jnp.einsum("bqhd,bkhd->bhqk", heads[0], heads[1]) / 2
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), heads[2]).reshape(x.shape[0], 6, 8)


def _scan(x: Any, *, reverse: bool = False) -> Any:
    def step(state: Any, item: Any) -> tuple[Any, Any]:
        state = jnp.tanh(item @ _INPUT + state @ _STATE)
        return state, state

    start = jnp.zeros((x.shape[0], 4))
    last, steps = lax.scan(step, start, jnp.swapaxes(x, 0, 1), reverse=reverse)
    return last, jnp.swapaxes(steps, 0, 1)


def _lstm_like_flax(x: Any) -> Any:
    """With a matrix for each gate, put together in every step, and each product split by itself."""

    def step(state: tuple[Any, Any], item: Any) -> tuple[Any, Any]:
        c, h = state
        of_h = jnp.split(h @ jnp.concatenate(_OF_OUTPUT, 1) + jnp.concatenate(_BIASES), 4, axis=-1)
        of_x = jnp.split(item @ jnp.concatenate(_OF_INPUT, 1), 4, axis=-1)
        i, f, g, o = (one + other for one, other in zip(of_h, of_x, strict=True))
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (c, h), h

    start = jnp.zeros((x.shape[0], 4))
    return jnp.swapaxes(lax.scan(step, (start, start), jnp.swapaxes(x, 0, 1))[1], 0, 1)


_ROWS, _ROWS_OF_OUTPUT, _ALL_BIASES, _ALL_BIASES_AGAIN = _weights(16, 8), _weights(16, 4), _weights(16), _weights(16)


def _lstm(gates: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """An LSTM of four units, by what its gates are of a step's input and the last output."""

    def step(state: tuple[Any, Any], item: Any) -> tuple[Any, Any]:
        c, h = state
        i, f, g, o = gates(item, h)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (c, h), h

    def layer(x: Any) -> Any:
        start = jnp.zeros((x.shape[0], 4))
        return jnp.swapaxes(lax.scan(step, (start, start), jnp.swapaxes(x, 0, 1))[1], 0, 1)

    return layer


def _matrix_per_gate(x: Any, h: Any) -> Any:
    return [x @ one + (h @ other + bias) for one, other, bias in zip(_OF_INPUT, _OF_OUTPUT, _BIASES, strict=True)]


def _joint_gates(x: Any, h: Any) -> Any:
    """Haiku's: one kernel, the gates in another order, and a number added to the forget gate."""
    kernel = jnp.concatenate([_ROWS, _ROWS_OF_OUTPUT], 1).T
    i, g, f, o = jnp.split(jnp.concatenate([x, h], -1) @ kernel + _ALL_BIASES, 4, axis=-1)
    return i, f + 1, g, o


def _columns(x: Any, h: Any) -> Any:
    """Equinox's, of one row of the batch at a time."""
    return jax.vmap(lambda x, h: jnp.split(_ROWS @ x + _ROWS_OF_OUTPUT @ h + _ALL_BIASES, 4))(x, h)


def _rows_of_weights(x: Any, h: Any) -> Any:
    """PyTorch's."""
    return jnp.split(x @ _ROWS.T + _ALL_BIASES + (h @ _ROWS_OF_OUTPUT.T + _ALL_BIASES_AGAIN), 4, axis=-1)


def _uneven_loop(x: Any) -> Any:
    """Loop variables change places, and one is of a dtype that few ops have."""

    def body(state: Any) -> Any:
        count, a, b, bits = state
        return count + 1, b, a + 1, bits ^ jnp.uint32(count)

    _, a, b, bits = lax.while_loop(lambda state: state[0] < 5, body, (0, x, -x, jnp.uint32(7)))
    return a, b, bits.astype(jnp.int32)


def _items_in_a_loop(x: Any) -> Any:
    x = jnp.asarray(x)
    return lax.fori_loop(0, 6, lambda i, total: total + x[:, i] * i, jnp.zeros((x.shape[0], 8)))


def _normalized(x: Any) -> Any:
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-6)


def _own_reduction(x: Any) -> Any:
    return lax.reduce(x, np.float32(-np.inf), jnp.logaddexp, (1,))


def _lookup(ids: Any) -> Any:
    return jnp.asarray(_TABLE)[ids]


def _composite(x: Any) -> Any:
    scaled = lax.composite(lambda a, *, scale: a * jax.nn.sigmoid(a * scale), name="test.scaled_swish")
    return scaled(x, scale=1.5) + 1


def _definite(x: Any) -> Any:
    return x @ jnp.swapaxes(x, -1, -2) + 3 * jnp.eye(4)


def _eigenvectors(x: Any) -> Any:
    """Vectors are determined up to their signs."""
    values, vectors = jnp.linalg.eigh(_definite(x))
    return values, jnp.abs(vectors), (vectors * values[:, None]) @ jnp.swapaxes(vectors, -1, -2)


def _singular_vectors(x: Any) -> Any:
    x = x[:, :, :3]
    left, values, right = jnp.linalg.svd(x)
    product = (left[:, :, :3] * values[:, None]) @ right
    return product, jnp.abs(right), left @ jnp.swapaxes(left, -1, -2), jnp.linalg.pinv(x)


def _approximated(x: Any) -> Any:
    return (*lax.approx_max_k(x, 3), *lax.approx_min_k(x, 2))


def _convolved_integers(x: Any) -> Any:
    """In 2 and in 4 dimensions, of integers, and in none."""
    i, k = (x * 9).astype(jnp.int8), (_KERNEL * 9).astype(jnp.int8)
    deep = lax.conv_general_dilated(x[:, None, None, :4, :5], _VOLUMES.reshape(6, 1, 1, 2, 3, 3), (1,) * 4, "SAME")
    flat = lax.conv_general_dilated(x[:, 0, 0], _KERNEL[0, 0].T, (), [])
    return _convolution(i, k, (2, 1), "SAME", preferred_element_type=jnp.int32), deep, flat


def _gradient_of_poolings(x: Any) -> Any:
    def loss(v: Any) -> Any:
        most = _windows(v, -jnp.inf, lax.max, 3, 2, "SAME")
        return jnp.sum(most**2) + jnp.sum(_windows(jnp.round(v), jnp.inf, lax.min, 2, 1, "VALID") ** 3)

    return jax.grad(loss)(x)


def _keys(x: Any) -> Any:
    """Keys of 2^31 and more, of negative seeds, and of an input; several shapes and dtypes."""
    key = jax.random.fold_in(jax.random.key(-3), 3213575472)
    first, second = jax.random.split(jax.random.wrap_key_data(jnp.uint32(x[0, :2] * 0) + jnp.uint32(4000000000)))
    return (
        jax.random.uniform(key, (3, 4)),
        jax.random.bernoulli(first, 0.3, (2, 2, 3)),
        jax.random.permutation(second, x[:, :5], axis=1),
        jax.random.randint(key, (2, 3), -5, 100),
    )


def _narrow(x: Any) -> Any:
    i, f = (x * 9).astype(jnp.int8), x.astype("float8_e4m3fn")
    u = i.astype(jnp.uint8)
    return [
        i @ i.T,
        u @ u.T,
        (x > 0) @ (x.T > 0),
        i % 7,
        -u,
        (x > 0) < (x > 1),
        (f * f + f).astype(jnp.float32),
        lax.reduce_precision(x, 4, 3),
        jnp.tile(u.astype(jnp.uint16), 2),
    ]


def _running_along_the_batch(x: Any) -> Any:
    pairs = lax.reduce(
        (x, x * 2), (jnp.float32(1), jnp.float32(0)), lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]), (0,)
    )
    return (
        lax.cummax(x, 0),
        lax.cummin(x, 0, reverse=True),
        lax.cumlogsumexp(x, 0),
        *pairs,
        lax.reduce((x * 9).astype(jnp.int32), jnp.int32(0), lax.bitwise_xor, (0,)),
    )


def _scattered_by_functions(x: Any) -> Any:
    i = jnp.array([1, 3, 1, 99])
    return [
        x[0].at[i].multiply(x[1, :4]),
        x[0].at[i].apply(jnp.sin),
        (x[0] > 0).at[i].max(True),
        jax.ops.segment_prod(x.T, jnp.array([0, 1, 2, 0] * 4), 3).T,
        lax.complex(x, -x).at[1].set(2).real,
    ]


def _sorted_by_keys(x: Any) -> Any:
    pairs = lax.sort((jnp.round(x), -jnp.round(x * 2), x), dimension=1, num_keys=2)
    complex_numbers = jnp.sort(lax.complex(jnp.round(x), -x), axis=0)
    return [*pairs, complex_numbers.real, complex_numbers.imag, jnp.lexsort((x[0], jnp.round(x[1])))]


def _windows_of_pairs(x: Any) -> Any:
    def larger(a: Any, b: Any) -> Any:
        return tuple(jnp.where(a[0] >= b[0], one, other) for one, other in zip(a, b, strict=True))

    places = lax.broadcasted_iota("int32", x.shape, 1)
    pairs = lax.reduce_window((x, places), (-jnp.inf, jnp.int32(-1)), larger, (1, 4), (1, 4), "VALID")
    return (*pairs, lax.reduce_window(x, 1.5, lax.add, (1, 4), (1, 2), "SAME"))


Function = tuple[Callable[[Any], Any], tuple[int, ...], str]

_ON_VECTORS: dict[str, Callable[[Any], Any]] = {
    "all_of_conditions": lambda x: ((x > 0).all(1), (x > 0).any(1), jnp.logical_xor(x > 0, x > 1), jnp.isnan(x)),
    "approximated": _approximated,
    "argmax": lambda x: (jnp.argmax(x, -1), jnp.argmin(x, -1)),
    "argsort": lambda x: jnp.argsort(x, axis=-1),
    "batch_statistics": lambda x: (x - x.mean(0)) / (x.std(0) + 1e-3),
    "branches": lambda x: lax.switch(
        jnp.int32(jnp.clip(x[0, 0], 0, 2)), [lambda v: v, lambda v: -v, lambda v: v * 3], x
    ),
    "clamp": lambda x: (jnp.clip(x, -0.5, 0.5), jax.nn.relu6(x * 4), jax.nn.hard_sigmoid(x)),
    "complex": lambda x: (jnp.abs(jnp.exp(1j * x)), jnp.real(x[:, :3] * np.array([1 + 2j, 3 - 1j, 1j], np.complex64))),
    "composite": _composite,
    "concatenated": lambda x: jnp.concatenate([x, x[:, ::-1]], 1),
    "condition": lambda x: lax.cond(jnp.sum(x) > 0, lambda v: v * 2, lambda v: v - 1, x),
    "cumulative": lambda x: (jnp.cumsum(x, 1), lax.cumsum(x, 1, reverse=True), jnp.cumprod(x, 1), lax.cummax(x, 1)),
    "cumulative_logsumexp": lambda x: lax.cumlogsumexp(x, 1),
    "cumulative_along_the_batch": lambda x: (lax.cumprod(x, 0), lax.cumprod(x, 0, reverse=True), jnp.cumsum(x, 0)),
    "dense": lambda x: jax.nn.softmax(jax.nn.relu(x @ _DENSE + _BIAS)),
    "dynamic_write": lambda x: jnp.asarray(x).at[:, jnp.int32(jnp.abs(x[0, 0]))].add(1.0),
    "fourier": lambda x: jnp.abs(jnp.fft.rfft(x)),
    "gamma": lambda x: (jax.scipy.special.gammaln(jnp.abs(x) + 0.1), jax.scipy.special.digamma(jnp.abs(x) + 0.1)),
    "gelu": lambda x: jax.nn.gelu(x @ _DENSE, approximate=False),
    "gelu_by_tanh": lambda x: jax.nn.gelu(x @ _DENSE),
    "gradient": jax.grad(lambda v: jnp.sum(jnp.tanh(v @ _DENSE) ** 2)),
    "histogram": lambda x: (jnp.histogram(x, range=(0.0, 1.0))[0], jnp.concatenate([jnp.atleast_1d(x.max()), x[0]])),
    "interpolated": lambda x: jnp.interp(x, jnp.array([-1.0, 0, 1]), jnp.array([2.0, 0, 5])),
    "keys": _keys,
    "layer_norm": _normalized,
    "log_softmax": lambda x: (jax.nn.log_softmax(x), jax.scipy.special.logsumexp(x, axis=-1)),
    "loop_that_moves": _uneven_loop,
    "masked": lambda x: jnp.where(jnp.tril(jnp.ones((16, 16), bool)), x[:, None, :], -1e9),
    "median": lambda x: (jnp.median(x, axis=1), jnp.quantile(x, 0.3, axis=1)),
    "narrow": _narrow,
    "norm": lambda x: x / jnp.linalg.norm(x, axis=-1, keepdims=True),
    "outer": lambda x: jnp.einsum("bi,bj->bij", x, x),
    "own_reduction": _own_reduction,
    "padded": lambda x: (
        jnp.pad(x, ((0, 0), (1, 2)), constant_values=3.0),
        jax.vmap(lambda row: jnp.pad(row, (1, 2), mode="reflect"))(x),
    ),
    "random": lambda x: x + jax.random.uniform(jax.random.PRNGKey(0), (16,)),
    "precisions": lambda x: (
        (x.astype(jnp.bfloat16) * 3).astype(jnp.float32),
        (x.astype(jnp.float16) + 1).astype(jnp.float32),
        (x * 10).astype(jnp.int8) * 3,
        (x > 0).astype(jnp.float32) * jnp.int32(2.9),
    ),
    "reductions": lambda x: (x.max(1), x.min(1), x.prod(1), x.std(1), jnp.var(x, axis=1, ddof=1)),
    "remainders": lambda x: (jnp.fmod(x, 0.75), jnp.mod(x, -0.75), jnp.mod((x * 9).astype(jnp.int32), -4)),
    "rotated": lambda x: jnp.concatenate([-jnp.split(x, 2, axis=-1)[1], jnp.split(x, 2, axis=-1)[0]], -1),
    "running_along_the_batch": _running_along_the_batch,
    "scatter": lambda x: (
        jnp.zeros((10,)).at[jnp.array([1, 3, 1])].add(x[0, :3]),
        jnp.asarray(x).at[:, 2].set(0.0),
        jax.ops.segment_sum(x.T, jnp.array([0, 1, 2, 0] * 4), 3).T,
    ),
    "segments_of_infinities": lambda x: (
        jax.ops.segment_max(jnp.where(x > 0, x, -jnp.inf).T, jnp.array([0, 1, 2, 0] * 4), 5).T,
        jax.ops.segment_min(jnp.where(x > 0, jnp.inf, x).T, jnp.array([0, 1, 2, 0] * 4), 5).T,
    ),
    "scattered_by_functions": _scattered_by_functions,
    "sorted": lambda x: (jnp.sort(x, axis=-1), -jnp.sort(-x, axis=0), *lax.top_k(x, 3)),
    "sorted_by_key": lambda x: lax.sort((jnp.round(x), x * 2), dimension=1, num_keys=1),
    "sorted_by_several_keys": _sorted_by_keys,
    "one_element_written": lambda x: (
        jnp.asarray(x)[0].at[3].set(1.5),
        jnp.zeros(16).at[jnp.int32(jnp.abs(x[0, 0]))].add(1.0),
    ),
    "rolled": lambda x: (jnp.roll(x, 1, 0), jnp.repeat(x, 2, 0), jnp.roll(jnp.stack([x, x], 1), -1, 0)),
    "searched": lambda x: (jnp.searchsorted(jnp.asarray([-1.0, 0.0, 0.5]), x[:, 0])[1:], jnp.searchsorted(x[0] * 0, x)),
    "strided": lambda x: (x[::-1, ::2], jnp.roll(x, 2, 1), jnp.tile(x, (1, 3)), jnp.stack([x, x * 2], 1)),
    "swish": lambda x: jax.nn.silu(x @ _DENSE),
    "taken": lambda x: (jnp.take(x, jnp.array([2, 0, 1]), axis=1), jnp.take_along_axis(x, jnp.argsort(x, 1), 1)),
    "trigonometry": lambda x: (
        jnp.sin(x) + jnp.cos(x) + jnp.arctan2(x, x + 1) + jnp.tan(x / 9) + jnp.sinh(x) + jnp.cosh(x) + jnp.arcsinh(x)
    ),
    "unary": lambda x: (
        jnp.log1p(jnp.abs(x)) + jnp.expm1(x) + jnp.cbrt(x) + jnp.floor(x) + jnp.ceil(x) + jnp.round(x) + jnp.sign(x)
    ),
    "erfs": lambda x: (jax.scipy.special.erf(x), jax.scipy.special.erfc(x), jax.scipy.special.erfinv(jnp.tanh(x) / 2)),
    "vectors": lambda x: (jnp.dot(x[0], x[1]), x[0] @ _DENSE, jnp.tensordot(x[:2], x[:2], 2), jnp.vdot(x[0], x[2])),
    "vmapped": jax.vmap(lambda row: jnp.outer(row, row) @ _DENSE),
    "windows_of_pairs": _windows_of_pairs,
    "while": lambda x: lax.while_loop(lambda c: jnp.sum(c) < 100.0, lambda c: c * 2 + 1, jnp.abs(x)),
}
_ON_IMAGES: dict[str, Callable[[Any], Any]] = {
    "average_pool": lambda x: _windows(x, 0.0, lax.add, 2, 2, "VALID") / 4,
    "average_pool_of_what_is_inside": lambda x: (
        _windows(x, 0.0, lax.add, 3, 2, "SAME") / _windows(jnp.ones_like(x), 0.0, lax.add, 3, 2, "SAME")
    ),
    "convolution": lambda x: jax.nn.relu(_convolution(x, _KERNEL, (2, 2), "SAME")),
    "convolved_integers": _convolved_integers,
    "convolution_channels_first": lambda x: lax.conv_general_dilated(
        jnp.transpose(x, (0, 3, 1, 2)), jnp.transpose(_KERNEL, (3, 2, 0, 1)), (1, 1), "VALID"
    ),
    "gradient_of_poolings": _gradient_of_poolings,
    "volume_transforms": lambda x: (
        jnp.abs(jnp.fft.rfftn(x[..., :2], axes=(1, 2, 3))),
        jnp.fft.irfftn(jnp.fft.rfftn(x[..., :2], axes=(3, 1, 2)) * 2, axes=(3, 1, 2)),
    ),
    "depthwise": lambda x: _convolution(x, _DEPTHWISE, (1, 1), "SAME", feature_group_count=3),
    "dilated": lambda x: _convolution(x, _KERNEL, (1, 1), "SAME", rhs_dilation=(2, 2)),
    "grouped": lambda x: _convolution(jnp.tile(x, (1, 1, 1, 2)), _GROUPED, (1, 1), "SAME", feature_group_count=2),
    "max_pool": lambda x: (_windows(x, -jnp.inf, lax.max, 2, 2, "VALID"), _windows(x, -jnp.inf, lax.max, 3, 2, "SAME")),
    "min_pool": lambda x: _windows(x, jnp.inf, lax.min, 3, 1, "SAME"),
    "product_of_windows": lambda x: _windows(x, 1.0, lax.mul, 2, 1, "SAME"),
    "resized": lambda x: jax.image.resize(x, (x.shape[0], 12, 12, 3), "bilinear"),
    "resized_to_nearest": lambda x: jax.image.resize(x, (x.shape[0], 16, 16, 3), "nearest"),
    "strange_padding": lambda x: _convolution(x, _KERNEL, (1, 1), [(2, 0), (-1, 3)]),
    "transposed_convolution": lambda x: (
        lax.conv_transpose(x, _TRANSPOSED, (2, 2), "SAME"),
        lax.conv_transpose(x, _TRANSPOSED, (2, 2), "VALID"),
        lax.conv_transpose(x, _TRANSPOSED, (3, 2), [(1, 2), (0, 1)]),
    ),
    "volumes_in_groups": lambda x: lax.conv_general_dilated(
        jnp.stack([x, 2 * x, x - 1], 1),
        _VOLUMES,
        (1, 2, 2),
        "SAME",
        dimension_numbers=("NDHWC", "DHWIO", "NDHWC"),
        feature_group_count=3,
    ),
}
_ON_SEQUENCES: dict[str, Callable[[Any], Any]] = {
    "attention": _attention,
    "flax_lstm": _lstm_like_flax,
    "lstm_by_gate": _lstm(_matrix_per_gate),
    "lstm_of_columns": _lstm(_columns),
    "lstm_of_joint_kernel": _lstm(_joint_gates),
    "lstm_of_rows": _lstm(_rows_of_weights),
    "lstm_without_training": _lstm(lambda x, h: [gate + jnp.zeros(4) for gate in _joint_gates(x, h)]),
    "items_in_a_loop": _items_in_a_loop,
    "mapped": lambda x: lax.map(lambda row: jnp.sum(row) * row, x),
    "matrix_first": jax.vmap(jax.vmap(lambda row: jax.nn.relu(_QUERY.T @ (_QUERY @ row)))),
    "scan": _scan,
    "scan_backwards": lambda x: _scan(x, reverse=True),
}
_ON_MATRICES: dict[str, Callable[[Any], Any]] = {
    "cholesky": lambda x: (jnp.linalg.cholesky(_definite(x)), jnp.linalg.cholesky(_definite(x), upper=True)),
    "cholesky_of_none": lambda x: jnp.linalg.cholesky(-_definite(x)),
    "determinant": lambda x: (jnp.linalg.det(x), *jnp.linalg.slogdet(x)),
    "eigenvectors": _eigenvectors,
    "exponential": lambda x: jax.scipy.linalg.expm(x / 4),
    "inverse": lambda x: jnp.linalg.inv(_definite(x)),
    "inverse_gradient": jax.grad(lambda x: jnp.sum(jnp.linalg.inv(_definite(x)) ** 2)),
    "least_squares": jax.vmap(lambda x: jnp.linalg.lstsq(x[:, :2], x[:, 2:])[0]),
    "lu": jax.vmap(jax.scipy.linalg.lu),
    "normal": jax.vmap(lambda x: jax.scipy.stats.multivariate_normal.logpdf(x[:2], x[2], _definite(x))),
    "orthogonal": lambda x: (*jnp.linalg.qr(x[:, :, :3]), *jnp.linalg.qr(x[:, :3]), *jnp.linalg.qr(x, mode="complete")),
    "singular_values": lambda x: (jnp.linalg.svd(x, compute_uv=False), jnp.linalg.matrix_rank(x)),
    "singular_vectors": _singular_vectors,
    "solution": lambda x: jnp.linalg.solve(_definite(x), x[:, :, :1]),
    "triangular": lambda x: (
        lax.linalg.triangular_solve(_definite(x), x[:, :2], lower=True),
        lax.linalg.triangular_solve(_definite(x), x[:, :2], transpose_a=True),
        lax.linalg.triangular_solve(_definite(x), x, left_side=True, lower=True, unit_diagonal=True),
        lax.linalg.triangular_solve(_definite(x), x, left_side=True, transpose_a=True),
    ),
    "tridiagonal": lambda x: lax.linalg.tridiagonal_solve(x[:, 0], x[:, 1] + 4, x[:, 2], jnp.swapaxes(x, 1, 2)),
}
_ON_INTEGERS: dict[str, Callable[[Any], Any]] = {
    "bits": lambda i: [
        count(jnp.append(jnp.array([0, 1, -1, -128, 64]).astype(dtype), (i[:, 0] * 1234567).astype(dtype))).astype(
            "int32"
        )
        for dtype in ("int8", "int16", "int32", "uint8", "uint16", "uint32")
        for count in (lax.clz, lax.population_count)
    ],
    "shifted": lambda i: (
        i << (i * 7),
        i >> (i * 9 - 20),
        lax.shift_right_logical(i, i * 7),
        (i + 250).astype(jnp.uint8) >> (i * 2).astype(jnp.uint8),
        i // (i - 3),
        lax.rem(i, i - 3),
    ),
    "clipped_at_6": lambda i: jnp.clip(i, 0, 6),
    "arithmetic": lambda i: (i // 3) * 2 + i % 3 + jnp.bitwise_and(i, 3) + (i << 1) + (i >> 1),
    "lookup": _lookup,
    "one_hot": lambda i: jax.nn.one_hot(i, 7),
}

FUNCTIONS: dict[str, Function] = {
    **{name: (function, _VECTOR, "float32") for name, function in _ON_VECTORS.items()},
    **{name: (function, _IMAGE, "float32") for name, function in _ON_IMAGES.items()},
    **{name: (function, _SEQUENCE, "float32") for name, function in _ON_SEQUENCES.items()},
    **{name: (function, (4, 4), "float32") for name, function in _ON_MATRICES.items()},
    **{name: (function, (5,), "int32") for name, function in _ON_INTEGERS.items()},
}
"""Functions of one array; their results are an array or a tuple of them."""

FIXED_ONLY = frozenset({"composite", "volume_transforms"})
"""Those that JAX itself cannot export with an open batch."""
