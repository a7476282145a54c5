from __future__ import annotations

import pytest

from litefuse.recognizers.faster import loop_is_faster, unrolled_is_faster


@pytest.mark.parametrize(
    ("composite", "units", "steps", "faster"),
    [
        ("lstm_loop", 48, 100, False),
        ("lstm_loop", 64, None, True),
        ("lstm_loop", 128, 500, False),
        ("rnn_loop", 32, 20, False),
        ("rnn_loop", 128, 100, True),
        ("rnn_loop", 256, 500, False),
        ("rnn_loop", 512, 500, True),
        ("of_a_plugin", 512, 20, False),
    ],
)
def test_loop(composite: str, units: int, steps: int | None, faster: bool) -> None:
    assert loop_is_faster(composite, units, steps) == faster


@pytest.mark.parametrize(
    ("composite", "units", "steps", "faster"),
    [
        ("lstm_loop", 32, 32, True),
        ("lstm_loop", 128, 8, True),
        ("lstm_loop", 256, 8, False),
        ("rnn_loop", 256, 8, True),
        ("rnn_loop", 256, 32, False),
    ],
)
def test_unrolled(composite: str, units: int, steps: int, faster: bool) -> None:
    assert unrolled_is_faster(composite, units, steps) == faster
