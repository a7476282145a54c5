from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.tensorflow.process import TensorFlow

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def tensorflow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorFlow]:
    """A TensorFlow process that all tests of this session (of this worker, under xdist) share."""
    process = TensorFlow(tmp_path_factory.mktemp("tensorflow"))
    yield process
    process.close()
