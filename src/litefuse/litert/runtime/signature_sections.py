"""The signatures of a loaded model as sections of a report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from litefuse.support.report.sections import Section, shape_text

if TYPE_CHECKING:
    from litefuse.litert.runtime.interpreter import Interpreter

__all__ = ["ShownTensor", "interpreter_sections", "signature_section"]


class ShownTensor(NamedTuple):
    """An input or output.

    Attributes:
        name: Its name.
        dtype: Its numpy dtype; None if numpy has none for it.
        shape: Its sizes, -1 for one that is dynamic.
    """

    name: str
    dtype: np.dtype[Any] | None
    shape: tuple[int, ...] = ()

    def __str__(self) -> str:
        if self.dtype is None:
            return "no numbers or strings"
        dtype = "string" if self.dtype.kind in "OSU" else str(self.dtype)
        return f"{dtype} {shape_text([None if size < 0 else size for size in self.shape])}"


def signature_section(title: str, inputs: Iterable[ShownTensor], outputs: Iterable[ShownTensor]) -> Section:
    """Returns the section with the inputs and outputs of a signature."""
    rows = [(role, each.name, str(each)) for role, part in (("in", inputs), ("out", outputs)) for each in part]
    return Section(title, rows)


def interpreter_sections(interpreter: Interpreter) -> list[Section]:
    """Returns the sections with the signatures of an interpreter's model; its inputs and outputs if it has none."""
    sections: list[Section] = []
    for key, names in interpreter.get_signature_list().items():
        try:
            runner = interpreter.get_signature_runner(key)
            inputs, outputs = (
                [_shown(details, name) for name, details in found.items()]
                for found in (runner.get_input_details(), runner.get_output_details())
            )
        except ValueError:  # the runtime has no numpy dtype for a tensor
            inputs, outputs = ([ShownTensor(name, None) for name in names[role]] for role in ("inputs", "outputs"))
        sections.append(signature_section(f"Signature {key}", inputs, outputs))
    if not sections:
        try:
            inputs, outputs = map(_listed, (interpreter.get_input_details(), interpreter.get_output_details()))
        except ValueError:
            return []
        sections.append(signature_section("Inputs and outputs", inputs, outputs))
    return sections


def _listed(found: Iterable[Mapping[str, Any]]) -> list[ShownTensor]:
    return [_shown(details, details["name"]) for details in found]


def _shown(details: Mapping[str, Any], name: str) -> ShownTensor:
    shape = details["shape_signature"] if len(details["shape_signature"]) else details["shape"]
    dtype = np.dtype(details["dtype"])
    # Strings are bytes here; handles of variables and tables are objects.
    return ShownTensor(name, None if dtype.kind == "O" else dtype, tuple(int(size) for size in shape))
