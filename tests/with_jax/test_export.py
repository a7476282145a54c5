"""Exported functions of JAX as sources: names, open sizes, and what is refused."""

from __future__ import annotations

from tests.with_jax.process import run


def test_in_a_process_with_jax() -> None:
    """All in one process of its own: each line is what one function of ``export_cases.py`` found."""
    lines = run("export_cases", KERAS_BACKEND="jax").splitlines()
    assert lines == [
        "names: ['args_0_b', 'args_0_w', 'args_1', 'scale'] -> ['y', 'z_0']",
        "order: 0 1 4 9 16 25 36 49 64 81 100 11",
        "open sizes: {'args_0': [-1, 3]} twice (2, 4) (5, 4)",
        "two open sizes: (2, 5, 3) (4, 2, 3) 0.0",
        "unused inputs: ['args_0', 'args_1'] 6.0",
        "no used inputs: [0. 1. 2.]",
        "platforms: 12.0",
        "not exported: the shapes of the inputs of the JAX function 'plain' are not known",
        "for another platform: it was exported for tpu",
        "float64: export it in float32, without jax_enable_x64",
        "two inputs of one length: 0.0",
        "states: which its program on JAX does not keep: the states of a recurrent layer",
        "same names: two of its values have the same name",
        "unknown call: code of JAX's own runtime",
        "annotated call: code of JAX's own runtime",
        "damaged annotations: as long as before",
        "int4: arithmetic of int4 is not supported",
        "damaged: cannot be read",
    ]
