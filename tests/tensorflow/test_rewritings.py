"""Forms that the engine rewrites, in each dtype: numbers are TensorFlow's, or the form is refused.

``LITEFUSE_TESTS=all pytest tests/tensorflow/test_rewritings.py`` runs all of them, some 8,000 forms.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.errors import UnsupportedOpsError
from tests.in_part import in_part
from tests.tensorflow.checking import difference, interpreter
from tests.tensorflow.rewritings import models
from tests.tensorflow.rewritings.form import DTYPES, FLOATS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from tests.tensorflow.process import TensorFlow

# Of a whole result: half a unit in the last place, some times.
_TOLERANCES = {"float32": 2e-6, "float64": 1e-6, "float16": 3e-3, "bfloat16": 2e-2}
_CASES = [(family, dtype) for family in models.FAMILIES for dtype in DTYPES if models.forms_of(family, dtype)]
_FORM = re.compile(r"\bform(\d+)/")


def _converted(
    tensorflow: TensorFlow, family: str, dtype: str, names: Sequence[str]
) -> tuple[litefuse.ConversionResult, Sequence[str]]:
    """The model of the forms that LiteRT has ops for, and their names."""
    try:
        path = tensorflow.save(models.model, family, dtype, tuple(names))
        return litefuse.convert(path, checks=litefuse.Checks(file=False)), names
    except UnsupportedOpsError as error:
        refused = {int(number) for op in error.ops for number in _FORM.findall(str(op))}
        if not refused:
            raise
        left = [name for number, name in enumerate(names) if number not in refused]
        return _converted(tensorflow, family, dtype, left)


def _comparable(value: Any) -> npt.NDArray[Any]:
    """The array; bfloat16, which numpy does not know, as float32."""
    array = np.array(value)
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


@pytest.mark.parametrize(("family", "dtype"), in_part(_CASES, len(_CASES)))
def test_rewritings(tensorflow: TensorFlow, family: str, dtype: str) -> None:
    sets = models.inputs(family, dtype)
    expected = tensorflow.call(models.expected, family, dtype, sets)
    known = [name for name, results in expected.items() if not isinstance(results, str)]
    result, names = _converted(tensorflow, family, dtype, known)
    # LiteRT has few ops of float64, none of which computes; a kernel of litefuse's does here and there.
    assert dtype == "float64" or len(names) > len(known) / 2
    if not names:
        return
    runner = interpreter(result.model_bytes, kernel_pack=dtype == "float64").get_signature_runner()
    wrong: dict[str, str] = {}
    for number, inputs in enumerate(sets):
        given = {f"{key}{n}": inputs[key] for n in range(len(names)) for key in "xy"}
        runner(**given)
        results = runner(**given)
        for n, name in enumerate(names):
            made, wanted = _comparable(results[f"z{n}"]), _comparable(expected[name][number])
            kinds = {dtype, str(expected[name][number].dtype)} & {*FLOATS}
            rtol = max((_TOLERANCES[kind] for kind in kinds), default=0.0)
            # A sum is as exact as the largest number that it passes.
            atol = rtol * float(np.abs(inputs["x"]).max()) if family == "reductions" and rtol else 0.0
            if problem := difference(made, wanted, rtol=rtol, atol=atol):
                wrong.setdefault(name, f"{problem}: {made.reshape(-1)[:12]}, not {wanted.reshape(-1)[:12]}")
    assert wrong == {}
