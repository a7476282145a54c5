"""Each op of constants alone: the engine computes it while it converts, and must give TensorFlow's numbers.

``LITEFUSE_TESTS=all`` takes every case; without it, at least one of each op.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.in_part import in_part
from tests.tensorflow.op_suite.suite import chunks, name_of, recorded, selected
from tests.tensorflow.op_suite.verdict import build_cases, verdict_of_litefuse

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.tensorflow.op_suite.case import Case
    from tests.tensorflow.process import TensorFlow


def converting() -> list[Case]:
    known = recorded("litefuse")
    return [
        case
        for case in selected()
        if known[str(case)].startswith("converts")
        and not runs_without_inputs(case)
        and not is_refused_by_tensorflow(case)
    ]


def runs_without_inputs(case: Case) -> bool:
    """Whether the op stays in the model as a composite: the runtime dies of a model with a composite and no inputs."""
    return case.op == "Cumprod" and str(case.operands[0]).startswith("int32")


def is_refused_by_tensorflow(case: Case) -> bool:
    """Whether TensorFlow takes inputs, but no constants: it cannot tell the size of such a range."""
    return case.op == "Range" and str(case.operands[0]).startswith("float16")


@pytest.mark.parametrize("cases", in_part(chunks(converting()), 2), ids=name_of)
def test_ops_of_constants(tensorflow: TensorFlow, tmp_path: Path, cases: Sequence[Case]) -> None:
    wrong: list[str] = []
    for built in build_cases(tensorflow, tmp_path / "model", [case.of_constants() for case in cases]):
        if any(value.size == 0 for call in built.expected for value in call.values()):
            continue  # the runtime's interpreter in Python returns no empty tensors
        verdict = verdict_of_litefuse(built)
        if verdict.outcome != "converts":
            wrong.append(f"{built.case}: {verdict}")
    assert not wrong, "\n".join(wrong)
