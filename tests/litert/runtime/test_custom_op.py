"""Registering kernels and finding them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

import litefuse
from litefuse.errors import KernelError
from litefuse.kernels import ExtractImagePatches
from litefuse.litert.runtime import custom_op as module
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec, custom_op, find_kernel, kernels_by_name
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.support.plug_ins.entry_points import PlugIn, take_plug_ins
from tests.litert.runtime.kernels import Double
from tests.litert.runtime.models import unary

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def own_registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(module, "_registered", {})
    yield
    take_plug_ins(None)


def test_a_registered_kernel_is_found_and_used() -> None:
    @custom_op("Doubled")
    class Kernel(Double):
        pass

    assert Kernel.op_name == "Doubled"
    assert find_kernel("Doubled") is Kernel
    assert find_kernel("Double") is None
    interpreter = Interpreter(unary("Doubled"))
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, np.ones((2, 3), np.float32))
    interpreter.invoke()
    assert (interpreter.get_tensor(1) == 2).all()


def test_a_name_is_taken_once() -> None:
    @custom_op("Taken")
    class First(Double):
        pass

    with pytest.raises(KernelError, match=r"'Taken' already has the kernel .*First\n.*replace=True"):

        @custom_op("Taken")
        class Second(Double):  # pyright: ignore[reportUnusedClass]
            pass

    assert find_kernel("Taken") is First

    @custom_op("Taken", replace=True)
    class Third(Double):
        pass

    assert find_kernel("Taken") is Third


def test_a_class_defined_again_replaces_itself() -> None:
    def define() -> type[CustomOp]:
        @custom_op("Again")
        class Kernel(Double):
            pass

        return Kernel

    define()
    latest = define()

    assert find_kernel("Again") is latest


def test_a_registered_kernel_goes_before_the_pack() -> None:
    assert find_kernel("ExtractImagePatches") is ExtractImagePatches

    @custom_op("ExtractImagePatches")
    class Mine(ExtractImagePatches):
        pass

    assert find_kernel("ExtractImagePatches") is Mine


def test_what_is_no_kernel_is_answered_with_one() -> None:
    """The kernel in the message runs."""

    class Twice:
        pass

    for wrong in (unary, Twice):
        with pytest.raises(KernelError, match=r"is not a subclass of CustomOp\nA kernel is a class") as raised:
            custom_op("Twice")(cast("Any", wrong))
    exec(raised.value.hint.partition("\n")[2], {"litefuse": litefuse})
    interpreter = Interpreter(unary("Twice"))
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, np.full((2, 3), 3.0, np.float32))
    interpreter.invoke()
    assert (interpreter.get_tensor(1) == 6).all()


def test_incomplete_kernels() -> None:
    class Nothing(CustomOp):
        pass

    class Nameless(Double):
        op_name = ""

    with pytest.raises(KernelError, match=r"Nothing: the kernel does not define prepare and invoke"):
        custom_op("Nothing")(Nothing)
    with pytest.raises(KernelError, match=r"does not say which op it is for\n.*@custom_op"):
        kernels_by_name([Nameless])
    with pytest.raises(KernelError, match=r"two kernels for custom op 'Double'"):
        kernels_by_name([Double, type("Other", (Double,), {})])
    with pytest.raises(KernelError, match=r'needs a name\nWrite @custom_op\("NameOfTheOp"\)'):
        custom_op(object)  # pyright: ignore[reportArgumentType]
    with pytest.raises(KernelError, match="needs a name"):
        custom_op("")


class Plugin(Double):
    op_name = "Plugin"


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("Plugin", "tests.litert.runtime.test_custom_op:Plugin", None),
        (
            "Plugin",
            "tests.litert.runtime.absent:Plugin",
            r"Plugin = .* of the group litefuse.kernels: does not load: Module",
        ),
        ("Plugin", "tests.litert.runtime.test_custom_op:unary", "is not a subclass of CustomOp"),
        ("Other", "tests.litert.runtime.test_custom_op:Plugin", r"is a kernel of another op, 'Plugin'"),
    ],
)
def test_entry_points(name: str, value: str, error: str | None) -> None:
    take_plug_ins([PlugIn("litefuse.kernels", name, value, "package")])
    if error is None:
        assert find_kernel(name) is Plugin
    else:
        with pytest.raises(KernelError, match=error):
            find_kernel(name)
    assert find_kernel("Elsewhere") is None


def test_kernels_of_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """One package's kernel in C++ goes before its own in Python, whichever comes first; two packages do not mix."""
    mine, other = (PlugIn("litefuse", "all", "package", name) for name in ("mine", "other"))
    python = type("Kernel", (Double,), {"op_name": "Twin"})
    native = type("NativeOp", (Double,), {"op_name": "Twin", "library": "kernels.so"})
    for order in ((python, native), (native, python), (native, native)):
        monkeypatch.setattr(module, "_installed", {})
        for kernel in order:
            module.register_kernel(kernel, mine)
        assert find_kernel("Twin") is native
        assert module.installed_libraries() == {"kernels.so": ["Twin"]}
    with pytest.raises(KernelError, match=r"'Twin' already has the kernel .*NativeOp of mine"):
        module.register_kernel(python, other)
    assert module.package_kernels(["Twin", "Elsewhere"]) == {"Twin": "mine"}


def test_tensor_spec() -> None:
    spec = TensorSpec(np.array([2, 3]), "float32")

    assert spec == TensorSpec((2, 3), np.float32)
    assert spec.shape == (2, 3)
    assert spec.dtype is np.dtype(np.float32)
    assert TensorSpec(None, object) != TensorSpec((), object)
    with pytest.raises(AttributeError):
        spec.name = "x"  # pyright: ignore[reportAttributeAccessIssue]
