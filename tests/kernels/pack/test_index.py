"""The pack is made of its classes' decorators: none is forgotten, and what they say is so."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import litefuse.kernels
from litefuse.kernels import PACK, PYTHON_ONLY
from litefuse.kernels.pack.supported import LimitedKernel
from litefuse.litert.runtime.custom_op import CustomOp, PartlyNativeKernel, kernels_by_name
from litefuse.litert.runtime.kernel_pack import kernel_classes, pack_kernel
from litefuse.litert.runtime.outputs import Outputs
from tests.every import every
from tests.support.plug_ins.subclasses import own_subclasses


def forgotten(classes: Iterable[type[CustomOp]], index: Mapping[str, type[CustomOp]]) -> set[type[CustomOp]]:
    """The classes that are in no index, bases of others left out."""
    bases = {base for cls in classes for base in cls.__mro__[1:]}
    return {*classes} - bases - {*index.values()}


def test_no_kernel_is_forgotten() -> None:
    assert forgotten(own_subclasses(CustomOp, "litefuse.kernels"), PACK) == set()


def test_a_forgotten_kernel_is_found() -> None:
    class Forgotten(PACK["StringLower"]):
        def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs, *, encoding: str = "") -> None:
            del encoding
            outputs[0] = np.asarray(inputs[0])

    assert forgotten({*own_subclasses(CustomOp, "litefuse.kernels"), Forgotten}, PACK) == {Forgotten}


def test_every_op_has_one_kernel_which_is_complete() -> None:
    decorated = [each.load() for each in kernel_classes().values()]
    assert kernels_by_name(decorated) == dict(PACK)
    assert len({each.name for each in kernel_classes().values()}) == len(PACK)


def test_the_classes_are_attributes_of_the_package() -> None:
    assert every(getattr(litefuse.kernels, cls.__name__) is cls for cls in PACK.values())
    assert {*dir(litefuse.kernels)} >= {"PYTHON_ONLY", *(cls.__name__ for cls in PACK.values())}
    with pytest.raises(AttributeError, match="has no attribute 'NoSuchKernel'"):
        _ = litefuse.kernels.NoSuchKernel


def test_who_takes_some_forms_only_can_be_asked_which() -> None:
    limited = {op for op, each in kernel_classes().items() if each.keywords.get("limited")}
    partly = {op for op, each in kernel_classes().items() if each.keywords.get("native") == "partly"}
    assert limited == {op for op, kernel in PACK.items() if issubclass(kernel, LimitedKernel)}
    assert partly == {op for op, kernel in PACK.items() if issubclass(kernel, PartlyNativeKernel)}
    assert not partly & PYTHON_ONLY


def test_the_decorator_names_the_op() -> None:
    @pack_kernel("OfNoPack")
    class Kernel(CustomOp):
        pass

    assert Kernel.op_name == "OfNoPack"


def test_the_names_are_told_without_loading_a_kernel() -> None:
    program = (
        "import sys, litefuse.kernels as kernels\n"
        "assert 'Cross' in kernels.PACK and 'Cross' not in kernels.PYTHON_ONLY and 'CrossOver' not in kernels.PACK\n"
        "print(*(name for name in sys.modules if name.startswith('litefuse.kernels.')), 'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["False"]
