"""experimental_from_jax of litefuse.compat.TFLiteConverter."""

from __future__ import annotations

from tests.with_jax.process import run


def test_a_function_of_jax() -> None:
    """What the reference's own method does no more with today's JAX."""
    hint = "refused: Call experimental_from_jax([function], [[('x', array)]])."
    assert run("compat_cases").splitlines() == [
        "floats: {'factor': 'float32', 'row': 'float32'} near",
        "dynamic: {'factor': 'float32', 'row': 'float32'} near",
        "report: True",
        *[hint] * 3,
    ]
