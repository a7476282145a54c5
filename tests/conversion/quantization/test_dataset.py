"""What callers give as a representative dataset."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from litefuse.conversion.quantization.dataset import Sample, obtain_samples, samples_in
from litefuse.errors import LitefuseError

X = np.arange(3, dtype=np.float32)


def taken(dataset: Any) -> tuple[Sample, ...]:
    return tuple(samples_in(dataset))


def generated() -> Iterator[Any]:
    yield {"x": X}
    yield ("other", {"y": [1, 2]})


def test_an_archive_is_a_path_that_another_process_can_open(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    Path("samples.npz").touch()
    assert obtain_samples("samples.npz", tmp_path) == tmp_path / "samples.npz"
    assert obtain_samples(Path("samples.npz"), tmp_path) == tmp_path / "samples.npz"


def test_a_generator_function_is_called_and_read_to_its_end() -> None:
    first, second = taken(generated)
    assert (first.signature, [*first.inputs]) == (None, ["x"])
    assert (second.signature, [*second.inputs]) == ("other", ["y"])
    assert isinstance(second.inputs["y"], np.ndarray)


def test_one_array_and_a_list_of_one_are_for_the_only_input() -> None:
    for (signature, inputs), expected in zip(taken([X, [X], ("f", [X])]), (None, None, "f"), strict=True):
        assert signature == expected
        assert [*inputs] == [None]
        np.testing.assert_array_equal(inputs[None], X)


@pytest.mark.parametrize(
    ("dataset", "message"),
    [
        ([], "representative_dataset has no samples"),
        (lambda: iter(()), "representative_dataset has no samples"),
        ({"x": X}, "representative_dataset is a dict, not a sequence of samples"),
        (3, "representative_dataset is a int, not a sequence of samples"),
        ([{"x": X}, [X, X]], "sample 2 of the representative dataset is a list of 2 arrays"),
        ([(X, X)], "sample 1 of the representative dataset is a list of 2 arrays"),
    ],
)
def test_refused(dataset: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(LitefuseError) as raised:
        obtain_samples(dataset, tmp_path)
    assert message in str(raised.value)


def test_a_sample_that_is_no_array() -> None:
    with pytest.raises(LitefuseError, match=r"sample 1 of the representative dataset is not an array: .*inhomogeneous"):
        taken([{"x": [[1, 2], [3]]}])
