from __future__ import annotations

import pytest

from litefuse.fusions.layer_arguments import loop_is_faster, unrolled_is_faster


@pytest.mark.parametrize(
    ("composite", "units", "steps", "batch", "faster"),
    [
        ("lstm_loop", 48, 100, 1, False),
        ("lstm_loop", 64, None, None, True),
        ("lstm_loop", 128, 500, 1, False),
        ("lstm_loop", 128, 500, 8, True),
        ("lstm_loop", 16, 20, 8, True),
        ("lstm_loop", 12, 100, 8, False),
        ("lstm_loop", 32, 100, 8, True),
        ("rnn_loop", 32, 20, None, False),
        ("rnn_loop", 96, 20, 1, True),
        ("rnn_loop", 80, 100, 1, False),
        ("rnn_loop", 256, 500, 1, False),
        ("rnn_loop", 512, 500, 1, True),
        ("of_a_plugin", 512, 20, 1, False),
    ],
)
def test_loop(composite: str, units: int, steps: int | None, batch: int | None, faster: bool) -> None:
    assert loop_is_faster(composite, units, steps, batch) == faster


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
