"""The check of the C structs finds every change that would matter, without crashing."""

from __future__ import annotations

import ctypes
import sys
from typing import TYPE_CHECKING, Any

import pytest

from litefuse.errors import InterpreterError
from litefuse.litert.runtime import abi, layout
from litefuse.litert.runtime.interpreter import Interpreter
from tests.litert.runtime.kernels import Double
from tests.litert.runtime.models import unary

if TYPE_CHECKING:
    from collections.abc import Sequence

STRUCTS = ("TfLiteTensor", "TfLiteNode", "TfLiteRegistration", "TfLiteContext", "StablehloCompositeParams")
# Nothing reads what comes after these, or only their being there.
LAST_FIELD = {
    "TfLiteTensor": "dims_signature",
    "TfLiteNode": "custom_initial_data_size",
    "TfLiteRegistration": "custom_name",
    "TfLiteContext": "ReleaseSubgraphContext",
    "StablehloCompositeParams": "attributes_size",
}


def fields(name: str) -> list[tuple[str, Any]]:
    return [(field[0], field[1]) for field in getattr(abi, name)._fields_]


def changed(name: str, declared: Sequence[tuple[str, Any]]) -> type[ctypes.Structure]:
    return type(name, (ctypes.Structure,), {"_fields_": tuple(declared)})


def insertions() -> list[tuple[str, int]]:
    places: list[tuple[str, int]] = []
    for name in STRUCTS:
        names = [field for field, _ in fields(name)]
        last = LAST_FIELD[name]
        if name == "TfLiteContext" and sys.platform == "win32":
            # Behind the struct are functions of the same library there, which look like its last ones. litefuse uses
            # none of these: a field that is new among them changes nothing.
            last = "GetEvalTensor"
        places.extend((name, place) for place in range(names.index(last) + 1))
    return places


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "_layout", None)


@pytest.mark.usefixtures("unchecked")
def test_the_installed_runtime_fits() -> None:
    found = layout.check_layout()

    assert found.unresolved_invoke
    assert layout.check_layout() is found


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("name", "place"), insertions())
def test_one_field_more_anywhere(name: str, place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    declared = fields(name)
    declared.insert(place, ("more", ctypes.c_void_p))
    monkeypatch.setattr(abi, name, changed(name, declared))

    with pytest.raises(InterpreterError, match="its delegate interface is not the one that litefuse knows"):
        layout.check_layout()


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("name", "field"), [("TfLiteTensor", "zero_point"), ("TfLiteContext", "impl_"), ("TfLiteNode", "user_data")]
)
def test_one_field_less(name: str, field: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(abi, name, changed(name, [entry for entry in fields(name) if entry[0] != field]))

    with pytest.raises(InterpreterError, match="its delegate interface is not the one that litefuse knows"):
        layout.check_layout()


@pytest.mark.usefixtures("unchecked")
def test_what_the_user_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        abi, "TfLiteTensor", changed("TfLiteTensor", [("more", ctypes.c_void_p), *fields("TfLiteTensor")])
    )

    with pytest.raises(
        InterpreterError, match=r"cannot run in ai-edge-litert \d+\.\d+.*TfLiteTensor.type of probe_input"
    ):
        Interpreter(unary("Double"), custom_ops=[Double])


def test_memory_that_is_not_there() -> None:
    with pytest.raises(Exception, match="nothing at address 0x8"):
        layout._peek(8, 4)  # pyright: ignore[reportPrivateUsage] # noqa: SLF001
    buffer = ctypes.create_string_buffer(b"1234")
    assert layout._peek(ctypes.addressof(buffer), 4) == b"1234"  # pyright: ignore[reportPrivateUsage] # noqa: SLF001
