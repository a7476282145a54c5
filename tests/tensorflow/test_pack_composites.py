"""The pack's kernels in the place of composites: the right ones are compared and stay, and wrong ones are refused."""

from __future__ import annotations

import inspect
import sys
import types
from typing import TYPE_CHECKING, Any

import pytest

import litefuse
from litefuse.kernels import PACK
from litefuse.litert.runtime.custom_op import CustomOp, registered_kernels
from tests.tensorflow.pack_composites import BODIES, composites

if TYPE_CHECKING:
    from collections.abc import Sequence

    from litefuse.support.options.forms import CompositeForm
    from litefuse.support.report import CompositeReport
    from tests.tensorflow.process import TensorFlow

OF_STRINGS = {name for name, each in BODIES.items() if any("string" in str(one) for one in each.arguments)}
GROUPS = {"numbers": [name for name in BODIES if name not in OF_STRINGS], "strings": sorted(OF_STRINGS)}
# What nothing but its own kernel computes.
OWN = {"AsString", "EncodeBase64"}


def outcomes(tensorflow: TensorFlow, names: Sequence[str], check: Any = True) -> dict[str, CompositeReport]:
    """What became of the composites in which kernels stand for bodies."""
    model = tensorflow.save(composites, names)
    forms: dict[str, CompositeForm] = {BODIES[name].op: "custom" for name in names}
    converted = litefuse.convert(
        model,
        composites=forms,
        checks=litefuse.Checks(fusions=check, file=False),
        debug=litefuse.Debugging(in_process=True),
    )
    return {each.name: each for each in converted.report.composites}


@pytest.mark.parametrize("group", GROUPS)
def test_right_kernels_are_compared_and_stay(tensorflow: TensorFlow, group: str) -> None:
    found = outcomes(tensorflow, GROUPS[group])
    assert {*found} == {BODIES[name].op for name in GROUPS[group]}
    assert {name: each.reason for name, each in found.items() if each.outcome != "fused"} == {}
    assert {name: each.unchecked for name, each in found.items() if each.error is None} == {
        name: f"the composite cannot be converted alone: it computes {name} itself, which only that kernel can"
        for name in OWN.intersection(found)
    }


# One change in the text of a kernel.
WRONG = {
    "AvgPool3D": ("total / count)", "total / (count + 1e-3))"),
    "Cholesky": ("factors[index] = np.nan", "factors[index] = 0"),
    "Convolution2DTransposeBias": ("padded // 2", "(padded + 1) // 2"),
    "CropAndResize": ("positions >= 0", "positions > 0"),
    "Cumprod": ("axis=0, out=result)", "axis=0, out=result); np.clip(result, -30, 30, out=result)"),
    "DenseBincount": ("np.add.at(counts, (row, rows[row, column]), ", "counts.__setitem__((row, rows[row, column]), "),
    "DenseImageWarp": ("0, size - 2)", "0, size - 3)"),
    "IRFFT": ("result.astype(real, copy=False)", "result.astype(np.float16).astype(real)"),
    "Landmarks2TransformMatrix": ("(self._size / 2)", "((self._size - 1) / 2)"),
    "MatrixInverse": ("inv(_adjoint(matrices) if adjoint else matrices)", "inv(matrices + 1e-5 * np.eye(2))"),
    "MatrixTriangularSolve": ("/= matrix[..., row, row, None]", "/= np.maximum(matrix[..., row, row, None], -2)"),
    "MaxPool3D": ("else -np.inf", "else 0"),
    "MaxPoolWithArgmax": ("(best[to] < images[pixels])", "(best[to] <= images[pixels])"),
    "MaxPoolingWithArgmax2D": ("(best[to] < images[pixels])", "(best[to] <= images[pixels])"),
    "MaxUnpooling2D": ("np.add.at(images.reshape(-1, depth), ", "images.reshape(-1, depth).__setitem__("),
    "RegexFullMatch": ("pattern.item()", "pattern.item()[:-1]"),
    "StringLength": ('unit == "BYTE"', "True"),
    "StringStrip": ("\\n\\v\\f\\r", "\\n\\r"),
    "Substr": ('unit == "BYTE"', "True"),
    "TransformTensorBilinear": ("(x <= cols - 1)", "(x <= cols)"),
    "UnravelIndex": ("// of_dims", "// of_dims[::-1]"),
    "tftext_Ngrams": ("size - width + 1", "size - width"),
}


def changed(op: str, old: str, new: str) -> type[CustomOp]:
    """A kernel of the pack with another text in its module."""
    module = inspect.getmodule(PACK[op])
    assert module is not None
    text = inspect.getsource(module)
    assert old in text, op
    made = types.ModuleType(f"{module.__name__}_{len(new)}")
    sys.modules[made.__name__] = made  # for its dataclasses
    exec(text.replace(old, new), made.__dict__)
    return getattr(made, PACK[op].__name__)


@pytest.mark.parametrize("group", GROUPS)
def test_wrong_kernels_are_refused(tensorflow: TensorFlow, monkeypatch: pytest.MonkeyPatch, group: str) -> None:
    names = [name for name in GROUPS[group] if name in WRONG]
    wrong = {BODIES[name].op: changed(BODIES[name].op, *WRONG[name]) for name in names}
    monkeypatch.setattr("litefuse.litert.runtime.custom_op._registered", registered_kernels() | wrong)
    found = outcomes(tensorflow, names, "thorough")
    assert {name for name, each in found.items() if each.outcome == "fused"} == set()
    assert {name for name, each in found.items() if ", with " not in (each.reason or "")} == set(), "the draw is told"
