"""Cases come back from the disk as they were written, and only whole ones are found."""

from __future__ import annotations

import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from suites.cases import Case, find_cases, read_arrays, read_calls, read_case, write_arrays, write_case


def test_arrays_come_back_as_they_were(tmp_path: Path) -> None:
    arrays = {
        "x": np.arange(6, dtype=np.int64).reshape(2, 3),
        "größe/0:(x)": np.array(1.5, np.float32),
        "none": np.zeros((2, 0), np.float16),
        "complex": np.array([1 + 2j], np.complex64),
        "brain": np.array([1.0, -0.0, np.inf], ml_dtypes.bfloat16),
        "tiny (b)": np.array([[0.5]], ml_dtypes.float8_e4m3fn),
    }
    write_arrays(tmp_path / "a.npz", arrays)

    found = read_arrays(tmp_path / "a.npz")
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        assert found[name].shape == array.shape
        assert found[name].tobytes() == array.tobytes()


@pytest.mark.parametrize("strings", [[b"a\0", b"", b"\xff"], ["größe", ""]])
def test_strings_keep_their_bytes(strings: list[bytes | str], tmp_path: Path) -> None:
    write_arrays(tmp_path / "a.npz", {"words": np.array(strings, object)})

    assert read_arrays(tmp_path / "a.npz")["words"].tolist() == strings


def test_a_case_comes_back_as_it_was(tmp_path: Path) -> None:
    case = Case("a", "some", "serve", rtol=1e-3, atol=float("inf"))
    calls = [({"x": np.full(n, n)}, {"y": np.full(n, -n)}) for n in range(1, 4)]
    (tmp_path / "a" / "saved_model").mkdir(parents=True)
    write_case(tmp_path / "a", case, calls)

    assert read_case(tmp_path / "a") == case
    found = [
        ({k: v.tolist() for k, v in x.items()}, {k: v.tolist() for k, v in y.items()})
        for x, y in read_calls(tmp_path / "a")
    ]
    assert found == [
        ({"x": [1]}, {"y": [-1]}),
        ({"x": [2, 2]}, {"y": [-2, -2]}),
        ({"x": [3, 3, 3]}, {"y": [-3, -3, -3]}),
    ]


def test_a_case_has_a_model_and_calls(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="saved_model"):
        write_case(tmp_path, Case("a", "some"), [({}, {})])
    (tmp_path / "saved_model").mkdir()
    with pytest.raises(ValueError, match="no calls"):
        write_case(tmp_path, Case("a", "some"), [])


def test_outputs_that_are_missing_are_no_end_of_the_calls(tmp_path: Path) -> None:
    (tmp_path / "saved_model").mkdir()
    write_case(tmp_path, Case("a", "some"), [({}, {}), ({}, {})])
    (tmp_path / "outputs_1.npz").unlink()

    with pytest.raises(FileNotFoundError):
        list(read_calls(tmp_path))


def test_whole_cases_are_found_by_name(tmp_path: Path) -> None:
    for name in ("b-2", "a-1", "b-1", "begun"):
        (tmp_path / name / "saved_model").mkdir(parents=True)
        if name != "begun":
            write_case(tmp_path / name, Case(name, "some"), [({}, {})])

    assert [each.name for each in find_cases(tmp_path)] == ["a-1", "b-1", "b-2"]
    assert [each.name for each in find_cases(tmp_path, "^b|x")] == ["b-1", "b-2"]


def test_what_is_no_case_is_said(tmp_path: Path) -> None:
    (tmp_path / "case.json").write_text(json.dumps({"name": "a", "suite": "some", "colour": "red"}))
    with pytest.raises(ValueError, match="colour"):
        read_case(tmp_path)
