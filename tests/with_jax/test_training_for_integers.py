"""``litefuse.quantization_aware`` on Keras's backend JAX."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.frontends.trained_for_integers import LOOPS, MODELS, check, check_loop
from tests.in_part import in_part
from tests.with_jax.process import Maker


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Maker]:
    maker = Maker("make_trained", tmp_path_factory.mktemp("trained"), KERAS_BACKEND="jax")
    yield maker
    maker.close()


@pytest.mark.parametrize("name", in_part(MODELS, 1))
def test_files_have_the_outputs_of_the_trained_model(trained: Maker, name: str) -> None:
    folder: Path = trained(name, "npz").parent
    check(folder, name)


@pytest.mark.parametrize("name", in_part(LOOPS, 1))
def test_loops_compute_in_integers(trained: Maker, name: str) -> None:
    folder: Path = trained(name, "npz").parent
    check_loop(folder, name)
