"""Arguments on both sides of a step, and ways on which a part of the arguments moves."""

from __future__ import annotations

import numpy as np

from litefuse.conversion.verify.steps import Arguments, beside_a_step, moved_in_part


def test_a_step_is_between_the_arguments_beside_it() -> None:
    def above(arguments: Arguments) -> Arguments:
        return {"y": (arguments["x"] > 0.3).astype(np.float32)}

    one, other = ({"x": np.full([1], value, np.float32)} for value in (0.0, 1.0))
    steps = [arguments["x"].item() for arguments in beside_a_step(above, one, other)]
    assert [step > 0.3 for step in steps] == [False, True, False, True]
    assert [abs(step - 0.3) < 1.1e-3 for step in steps] == [True] * 4
    assert [abs(step - 0.3) < 1e-4 for step in steps] == [False, False, True, True]


def test_without_a_step_there_are_no_arguments_beside_one() -> None:
    one, other = ({"x": np.full([1], value, np.float32)} for value in (0.0, 1.0))
    assert [*beside_a_step(lambda arguments: arguments, one, other)] == []


def test_each_part_of_the_arguments_moves() -> None:
    one: Arguments = {
        "boxes": np.zeros([5, 32], np.float32),
        "ids": np.zeros([5], np.int32),
        "scores": np.zeros([5, 16], np.float32),
        "scale": np.zeros([], np.float32),
    }
    other = {name: np.asarray(value + 1, value.dtype) for name, value in one.items()}

    def moved(number: int) -> dict[str, float]:
        part = moved_in_part(one, other, number)
        assert {name: (value.shape, value.dtype) for name, value in part.items()} == {
            name: (value.shape, value.dtype) for name, value in one.items()
        }
        assert np.ptp(part["boxes"], axis=0).max() == 0, "columns move as a whole"
        return {name: float(value.mean()) for name, value in part.items()}

    still = dict.fromkeys(one, 0.0)
    assert [moved(number) for number in (0, 3, 6)] == [
        {**still, "boxes": 1.0},
        {**still, "scores": 1.0},
        {**still, "boxes": 1.0},
    ]
    assert moved(2) == moved(5) == dict.fromkeys(one, 1.0)
    some, others = moved(1), moved(4)
    assert some != others
    assert [0.2 < part[name] < 0.8 for part in (some, others) for name in ("boxes", "scores")] == [True] * 4
    assert {part[name] for part in (some, others) for name in ("ids", "scale")} == {0.0}


def test_of_arguments_without_real_numbers_none_moves_alone() -> None:
    one, other = {"x": np.zeros([3], np.int32)}, {"x": np.ones([3], np.int32)}
    assert moved_in_part(one, other, 0)["x"].tolist() == [0, 0, 0]
