"""Linear algebra in builtin ops, what the op suite cannot compare: vectors up to their signs, and whole models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from tests.tensorflow.checking import check, normal, run_calls

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from tests.tensorflow.process import Call, TensorFlow

# Rounding grows with the condition of the matrices.
SOLVED = 5e-5


def served(tf: Any, function: Callable[[Any], dict[str, Any]], *shape: int | None) -> Any:
    module = tf.Module()
    spec = tf.TensorSpec(shape, tf.float32, name="x")
    module.serve = tf.function(function, input_signature=[spec], autograph=False)
    return module, {"serving_default": module.serve}


def definite(tf: Any, x: Any) -> Any:
    return tf.matmul(x, x, transpose_b=True) + 2.0 * tf.eye(tf.shape(x)[-1])


def library(tf: Any) -> Any:
    """Functions that consist of several ops."""

    def serve(x: Any) -> dict[str, Any]:
        symmetric = definite(tf, x)
        factors, rows = tf.linalg.lu(symmetric + x)
        return {
            "cholesky_solve": tf.linalg.cholesky_solve(tf.linalg.cholesky(symmetric), x),
            "exponential": tf.linalg.expm(x / 4),
            "least_squares": tf.linalg.lstsq(symmetric[..., :2], x, l2_regularizer=0.1),
            "logdet": tf.linalg.logdet(symmetric),
            "lu_solve": tf.linalg.lu_solve(factors, rows, x),
            "lu_inverse": tf.linalg.lu_matrix_inverse(factors, rows),
            "lu_reconstructed": tf.linalg.lu_reconstruct(factors, rows),
            "pseudo_inverse": tf.linalg.pinv(symmetric[..., :3]),
            "rank": tf.linalg.matrix_rank(x),
            "operator": tf.linalg.LinearOperatorFullMatrix(symmetric).solve(x),
        }

    return served(tf, serve, None, 4, 4)


def test_functions_of_several_ops(tensorflow: TensorFlow) -> None:
    result = check(tensorflow, tensorflow.save(library), normal({"x": (None, 4, 4)}), rtol=SOLVED)
    assert not result.report.custom_ops


def gradients(tf: Any) -> Any:
    def serve(x: Any) -> dict[str, Any]:
        functions: dict[str, Callable[[Any], Any]] = {
            "cholesky": tf.linalg.cholesky,
            "determinant": tf.linalg.det,
            "eigenvalues": tf.linalg.eigvalsh,
            "inverse": tf.linalg.inv,
            "orthogonal": lambda value: tf.linalg.qr(value)[1],
            "singular_values": lambda value: tf.linalg.svd(value, compute_uv=False),
        }
        found: dict[str, Any] = {}
        for name, function in functions.items():
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(tf.sin(function(definite(tf, x))))
            found[name] = tape.gradient(y, x)
        return found

    return served(tf, serve, None, 3, 3)


def test_gradients(tensorflow: TensorFlow) -> None:
    check(tensorflow, tensorflow.save(gradients), normal({"x": (None, 3, 3)}), rtol=SOLVED)


def kalman_filter(tf: Any) -> Any:
    """A filter over ``[batch, steps, 2]``: systems of equations in a loop, and factors in a branch of it."""
    turn = np.array([[0.9, 0.2], [-0.2, 0.9]], np.float32)

    def serve(x: Any) -> dict[str, Any]:
        batch = tf.shape(x)[0]

        def step(k: Any, mean: Any, spread: Any, total: Any) -> Any:
            mean, spread = tf.matmul(mean, turn), tf.matmul(turn, tf.matmul(spread, turn), transpose_a=True) + tf.eye(2)
            gain = tf.linalg.solve(spread + 0.5 * tf.eye(2), spread)
            mean += tf.matmul(x[:, k][:, None] - mean, gain)
            spread -= tf.matmul(spread, gain)
            likely = tf.cond(
                k > 1,
                lambda: tf.linalg.slogdet(spread)[1],
                lambda: tf.reduce_sum(tf.abs(tf.linalg.qr(spread)[1]), [1, 2]),
            )
            return k + 1, mean, spread, total + likely

        def goes_on(k: Any, *_: Any) -> Any:
            return k < tf.shape(x)[1]

        state = (tf.constant(0), tf.zeros([batch, 1, 2]), tf.eye(2, batch_shape=[batch]), tf.zeros([batch]))
        _, mean, spread, total = tf.while_loop(goes_on, step, state)
        return {"mean": mean, "spread": spread, "total": total}

    return served(tf, serve, None, None, 2)


def test_in_loops_and_branches(tensorflow: TensorFlow) -> None:
    random = np.random.default_rng(2)
    sizes = ((1, 5, 2), (3, 4, 2), (3, 1, 2))
    inputs = [{"x": random.normal(size=size).astype(np.float32)} for size in sizes]
    check(tensorflow, tensorflow.save(kalman_filter), inputs, rtol=SOLVED)


def eigenvectors(tf: Any, *shape: int | None) -> Any:
    return served(tf, lambda x: dict(zip(("values", "vectors"), tf.linalg.eigh(x), strict=True)), *shape)


def turned(matrices: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.swapaxes(matrices, -1, -2)


def check_orthonormal(columns: npt.NDArray[Any]) -> None:
    identity = np.eye(columns.shape[-1], dtype=np.float32)
    np.testing.assert_allclose(
        turned(columns) @ columns, np.broadcast_to(identity, columns.shape[:-2] + identity.shape), atol=SOLVED
    )


MATRICES: list[tuple[tuple[int | None, ...], list[tuple[int, ...]]]] = [
    ((None, 4, 4), [(1, 4, 4), (3, 4, 4)]),
    ((2, None, 5, 5), [(2, 1, 5, 5), (2, 3, 5, 5)]),
    ((None, None), [(1, 1), (6, 6), (7, 7)]),
    ((33, 33), [(33, 33)]),
]


@pytest.mark.parametrize("kind", ["full", "equal", "diagonal", "zero"])
@pytest.mark.parametrize(("shape", "sizes"), MATRICES)
def test_eigenvectors(
    tensorflow: TensorFlow, shape: tuple[int | None, ...], sizes: list[tuple[int, ...]], kind: str
) -> None:
    """As TensorFlow's, which reads the lower triangle."""
    path = tensorflow.save(eigenvectors, *shape)
    model = litefuse.convert(path).model_bytes
    random = np.random.default_rng(3)
    calls: list[Call] = []
    for size in sizes:
        x = (random.normal(size=size) * (kind != "zero")).astype(np.float32)
        if kind == "equal":  # two of the eigenvalues, and only two, but for signs
            vectors = x[..., :1] / np.linalg.norm(x[..., :1], axis=-2, keepdims=True)
            x = np.eye(size[-1], dtype=np.float32) * 2 - vectors @ turned(vectors)
        elif kind == "diagonal":
            x *= np.eye(size[-1], dtype=np.float32)
        calls += [("serving_default", {"x": x})] * 2
    for (_, inputs), ours, theirs in zip(
        calls, run_calls(model, calls), tensorflow.run_calls(path, calls), strict=True
    ):
        lower = np.tril(inputs["x"])
        symmetric = lower + turned(np.tril(lower, -1))
        scale = max(1.0, float(np.abs(theirs["values"]).max()))
        np.testing.assert_allclose(ours["values"], theirs["values"], atol=SOLVED * scale)
        check_orthonormal(ours["vectors"])
        np.testing.assert_allclose(
            (ours["vectors"] * ours["values"][..., None, :]) @ turned(ours["vectors"]), symmetric, atol=SOLVED * scale
        )


def singular_vectors(tf: Any, full: bool, *shape: int | None) -> Any:
    def serve(x: Any) -> dict[str, Any]:
        values, left, right = tf.linalg.svd(x, full_matrices=full)
        return {"values": values, "left": left, "right": right}

    return served(tf, serve, *shape)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("rank", [None, 1, 0])
@pytest.mark.parametrize(
    ("shape", "sizes"),
    [
        ((None, 5, 3), [(1, 5, 3), (3, 5, 3)]),
        ((None, 3, 4), [(1, 3, 4), (2, 3, 4)]),
        ((None, None), [(1, 1), (5, 2), (2, 5), (4, 4)]),
        ((1, 4), [(1, 4)]),
    ],
)
def test_singular_vectors(
    tensorflow: TensorFlow, shape: tuple[int | None, ...], sizes: list[tuple[int, ...]], rank: int | None, full: bool
) -> None:
    path = tensorflow.save(singular_vectors, full, *shape)
    model = litefuse.convert(path).model_bytes
    random = np.random.default_rng(4)
    calls: list[Call] = []
    for size in sizes:
        x = random.normal(size=size)
        if rank is not None:
            x = x[..., :1] * random.normal(size=size)[..., :1, :] * rank
        calls += [("serving_default", {"x": x.astype(np.float32)})] * 2
    for (_, inputs), ours, theirs in zip(
        calls, run_calls(model, calls), tensorflow.run_calls(path, calls), strict=True
    ):
        assert {name: each.shape for name, each in ours.items()} == {name: each.shape for name, each in theirs.items()}
        scale = max(1.0, float(theirs["values"].max()))
        np.testing.assert_allclose(ours["values"], theirs["values"], atol=SOLVED * scale)
        check_orthonormal(ours["left"])
        check_orthonormal(ours["right"])
        count = ours["values"].shape[-1]
        left, right = ours["left"][..., :count], ours["right"][..., :count]
        product = (left * ours["values"][..., None, :]) @ turned(right)
        np.testing.assert_allclose(product, inputs["x"], atol=SOLVED * scale)


def cholesky(tf: Any) -> Any:
    return served(tf, lambda x: {"y": tf.linalg.band_part(tf.raw_ops.Cholesky(input=x), -1, 0)}, None, 3, 3)


def test_a_matrix_that_is_not_positive_definite_has_no_factor(tensorflow: TensorFlow) -> None:
    """What TensorFlow leaves above the diagonal is no number of anything."""
    x = np.stack([np.diag([4.0, -1, 3]), np.diag([4.0, 1, 9]), np.ones([3, 3]), np.diag([1.0, 1, -1])])
    result = check(tensorflow, tensorflow.save(cholesky), [{"x": each.astype(np.float32)} for each in (x, x[1:3])])
    (_, factor) = run_calls(result.model_bytes, [("serving_default", {"x": x.astype(np.float32)})] * 2)
    assert np.isnan(factor["y"]).any((1, 2)).tolist() == [True, False, True, True]
