"""A constant expression that the lowering engine dies of, as an exception with what a bug report needs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import litefuse
from litefuse.errors import EngineCrashError
from tests.tensorflow.process import TensorFlow


def division_by_zero(tf: Any) -> Any:
    module = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32, name="x")])
    def serve(x: Any) -> Any:
        return {"y": x + tf.raw_ops.Div(x=tf.constant(1), y=tf.constant(0))}

    module.serve = serve
    return module, {"serving_default": serve}


def test_a_dying_engine_is_an_exception_with_the_module(tensorflow: TensorFlow) -> None:
    from litefuse.ir.mlir import ir, mlir_context  # the TensorFlow process imports this module, and not the engine

    path = tensorflow.save(division_by_zero)
    steps: list[str] = []
    with pytest.raises(EngineCrashError, match="SIGFPE") as caught:
        litefuse.convert(path, on_step=steps.append)
    assert caught.value.step == steps[-1] == "lower"
    assert caught.value.module_path is not None
    assert caught.value.module_path in caught.value.hint
    with mlir_context():
        module = ir.Module.parse(Path(caught.value.module_path).read_bytes())
        assert '"tf.Div"' in str(module)
    Path(caught.value.module_path).unlink()
