from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

import pytest

from tests.tensorflow.process import TensorFlow, is_installed

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def tensorflow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorFlow]:
    """A TensorFlow process that all tests of this session (of this worker, under xdist) share."""
    if not is_installed():
        pytest.skip("TensorFlow is not installed")
    process = TensorFlow(tmp_path_factory.mktemp("tensorflow"))
    yield process
    process.close()


@pytest.fixture(scope="session")
def keras_2() -> None:
    """For tests whose models Keras 2 makes, in TensorFlow's process."""
    if importlib.util.find_spec("tf_keras") is None:
        pytest.skip("tf_keras is not installed")
