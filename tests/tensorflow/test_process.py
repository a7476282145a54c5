from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np
import pytest

from tests.tensorflow.process import RemoteError, TensorFlow


def add_one(tf: Any, x: Any) -> Any:
    print("noise on standard output")
    os.write(1, b"and below Python")
    return (tf.constant(x) + 1).numpy()


def fail(tf: Any) -> Any:
    return tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))


def die(tf: Any) -> None:
    del tf
    os.write(2, b"last words")
    os.abort()


def return_tensor(tf: Any) -> Any:
    return tf.TensorShape([1, 2])


def sleep(tf: Any) -> None:
    import time

    del tf
    time.sleep(60)


def counter(tf: Any, start: float) -> Any:
    module = tf.Module()
    module.count = tf.Variable(start)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        return {"total": x + module.count.assign_add(1.0)}

    module.serve = serve
    return module, {"serving_default": serve}


def test_call_returns_arrays_and_survives_printing(tensorflow: TensorFlow) -> None:
    np.testing.assert_array_equal(tensorflow.call(add_one, np.arange(3, dtype=np.int64)), [1, 2, 3])


def test_tensorflow_is_not_imported_here(tensorflow: TensorFlow) -> None:
    tensorflow.call(add_one, 1)
    assert "tensorflow" not in sys.modules


def test_exception_carries_the_remote_traceback(tensorflow: TensorFlow) -> None:
    with pytest.raises(RemoteError, match=r"(?s)in fail.*Matrix size-incompatible") as caught:
        tensorflow.call(fail)
    assert caught.value.kind == "InvalidArgumentError"


def test_answer_that_needs_tensorflow_is_refused(tensorflow: TensorFlow) -> None:
    with pytest.raises(Exception, match="return numpy arrays"):
        tensorflow.call(return_tensor)
    assert "tensorflow" not in sys.modules
    assert tensorflow.call(add_one, 1) == 2


def test_local_function_is_refused(tensorflow: TensorFlow) -> None:
    def local(tf: Any) -> None:
        del tf

    with pytest.raises(TypeError, match="top level"):
        tensorflow.call(local)


def test_dead_process_is_reported_with_what_it_wrote(tensorflow: TensorFlow) -> None:
    doomed = TensorFlow(tensorflow.directory)
    with pytest.raises(RuntimeError, match=r"(?s)died in die: SIGABRT.*last words"):
        doomed.call(die)
    doomed.close()


def test_slow_call_is_ended(tensorflow: TensorFlow) -> None:
    slow = TensorFlow(tensorflow.directory)
    slow.call(add_one, 1)
    slow.timeout = 0.2
    with pytest.raises(RuntimeError, match=r"took more than 0\.2 s"):
        slow.call(sleep)


def test_save_is_cached_and_run_keeps_state(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(counter, 5.0)
    assert tensorflow.save(counter, 5.0) == path
    assert tensorflow.save(counter, 6.0) != path
    for _ in range(2):  # freshly loaded each time
        first, second = tensorflow.run(path, {"x": np.array([1.0, 2.0], np.float32)})
        np.testing.assert_array_equal(first["total"], [7.0, 8.0])
        np.testing.assert_array_equal(second["total"], [8.0, 9.0])


def test_stock_convert(tensorflow: TensorFlow) -> None:
    model = tensorflow.stock_convert(tensorflow.save(counter, 5.0))
    assert isinstance(model, bytes)
    assert model[4:8] == b"TFL3"
