"""Variables of integers, in the place of those of float32 that a quantized model converts from and to integers."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

import numpy as np

from litefuse.conversion.quantization.calibration import Ranges
from litefuse.conversion.quantization.moved_constants import constant_integers
from litefuse.conversion.quantization.recurrent.needless_conversions import drop_unused, join_integers
from litefuse.conversion.quantization.recurrent.quantized_forms import scale_of
from litefuse.conversion.quantization.states.variables import Access, Variable, variables_of
from litefuse.litert.export.editor import GraphEditor, Scale
from litefuse.litert.runtime.schema_objects import dtype_of

_FLOAT = "what reads and writes this state computes in floating point, or no integers hold its initial value"
_APART = "this state is kept in floating point, or has masks among its numbers"


class _Form(NamedTuple):
    """The integers of a variable."""

    dtype: str
    scale: Scale

    def holds(self, values: Any) -> bool:
        """Whether these integers are near all of these numbers."""
        limits = np.iinfo(self.dtype)
        steps = np.asarray(values, np.float64) / self.scale.scale + self.scale.zero
        return not steps.size or bool(limits.min - 1 < steps.min() <= steps.max() < limits.max + 1)


def make_variables_integer(
    model: Any, bits: int, ranges: Ranges, reasons: dict[str, str], apart: Collection[str] = ()
) -> bool:
    """Has variables hold the integers that the ops around them compute with::

        %f = read_variable(%v)                    %q = read_variable(%v)
        %q = quantize(%f)                         ...
        ...                                  -->
        %g = dequantize(%r)                       assign_variable(%v, %r)
        assign_variable(%v, %g)

    They have the scale of what is written, or of what is made of what is read, if it holds the initial values; where
    an op needs another one, QUANTIZE makes it.

    Args:
        model: The quantized model, as the schema's objects.
        bits: The bits of activations.
        ranges: The ranges of its tensors, as ``tie_states`` returns them.
        reasons: Extended by why variables stay as they are, by the names of what is read and written.
        apart: The names of tensors that stay in floating point.

    Returns:
        Whether it changed.
    """
    changed: dict[int, GraphEditor] = {}
    for variable in variables_of(model):
        names = [access.name for access in variable.accesses]
        form = None if variable.reason or not set(names).isdisjoint(apart) else _form(variable, bits, ranges)
        if form is None:
            reason = variable.reason or (_APART if set(names).intersection(apart) else _FLOAT)
            for name in names:
                reasons.setdefault(name, reason)
            continue
        for access in variable.accesses:
            changed[id(access.graph.graph)] = access.graph
            (_read if access.reads else _write)(access, form)
    for graph in changed.values():
        join_integers(graph)
        _read_at_once(graph)
    if changed:
        drop_unused(model)
    return bool(changed)


def _form(variable: Variable, bits: int, ranges: Ranges) -> _Form | None:
    """Returns the integers that a variable can hold; None if none do, or nothing around it computes with integers."""
    constants = [access.graph.constant(access.value) for access in variable.accesses]
    values = [value for value in constants if value is not None]
    written = {form for access in variable.writes for form in _before(access)}
    taken = {form for access in variable.reads for form in _after(access)}
    for forms in (written, taken):
        if len(forms) == 1 and all(form.holds(value) for form in forms for value in values):
            return forms.pop()
    range_ = next((ranges[access.name] for access in variable.accesses if access.name in ranges), None)
    if range_ is None or not written | taken:
        return None
    low, high = float(range_["min"].item()), float(range_["max"].item())
    form = _Form(f"int{bits}", scale_of(low, high, bits))
    return form if all(form.holds(value) for value in values) else None


def _before(access: Access) -> Iterator[_Form]:
    """Yields the integers that what is written is made of."""
    producer = access.graph.producer(access.value)
    if producer is not None and access.graph.kind(producer) == "DEQUANTIZE":
        yield from _of(access.graph, int(producer.inputs[0]))


def _after(access: Access) -> Iterator[_Form]:
    """Yields the integers that are made of what is read."""
    for op in access.graph.consumers(access.value):
        if access.graph.kind(op) == "QUANTIZE":
            yield from _of(access.graph, int(op.outputs[0]))


def _of(graph: GraphEditor, index: int) -> Iterator[_Form]:
    dtype, scale = dtype_of(graph.tensor(index)), graph.scale(index)
    if dtype in {"int8", "int16"} and scale is not None:
        yield _Form(dtype, scale)


def _read(access: Access, form: _Form) -> None:
    graph, value = access.graph, access.value
    integers = graph.add_tensor(f"{access.name}_{form.dtype}", graph.shape(value), *form)
    access.op.outputs = [integers]
    graph.add_op(graph.after(access.op), "DEQUANTIZE", [integers], [value])


def _write(access: Access, form: _Form) -> None:
    graph, value, name = access.graph, access.value, f"{access.name}_{form.dtype}"
    constant = constant_integers(graph, value, form.scale, form.dtype)
    if constant is not None:
        integers = graph.add_constant(name, constant, form.scale)
    else:
        integers = graph.add_tensor(name, graph.shape(value), *form)
        graph.add_op(access.op, "QUANTIZE", [value], [integers])
    access.op.inputs = [int(access.op.inputs[0]), integers]


def _read_at_once(graph: GraphEditor) -> None:
    """Reads integers into an output, or the state of an op, without QUANTIZE between, if they are those already."""
    for op in [*graph.ops]:
        reader = graph.producer(int(op.inputs[0])) if graph.kind(op) == "QUANTIZE" else None
        if reader is None or graph.kind(reader) != "READ_VARIABLE":
            continue
        integers, result = int(op.inputs[0]), int(op.outputs[0])
        others = len([*graph.consumers(integers)]) > 1 or graph.is_output(integers)
        if not others and [*_of(graph, integers)] == [*_of(graph, result)]:
            reader.outputs = [result]
            graph.remove_op(op)
